//! The command line of the server.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[command(
    after_help = "The first Ctrl-C stops running agents and keeps all work (with --drain it waits for them to finish); the \
                  second exits at once. The next `pleach serve` resumes interrupted batches."
)]
pub(crate) struct ServeArgs {
    /// The port to listen on; 0 for any free one
    #[arg(long, default_value_t = 3001)]
    pub(crate) port: u16,
    /// The address to listen on, if not loopback; needs --insecure and --allow-host
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<IpAddr>,
    /// Listen beyond loopback without TLS, behind a reverse proxy that adds it
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Another host name to accept, such as a proxy's, with its port unless that is the default one
    #[arg(long, value_name = "NAME[:PORT]")]
    pub(crate) allow_host: Vec<String>,
    /// Open the board in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// On shutdown, accept no new batches and wait for the running ones to finish
    #[arg(long)]
    pub(crate) drain: bool,
    /// Consent to the files and settings that control agents, for every batch
    #[arg(long, visible_alias = "autonomous")]
    pub(crate) yes: bool,
    /// The format of the log on standard error; `PLEACH_LOG` sets its level (`info` by default)
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
    /// Print the address and link as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A project's pleach.toml can turn its sandbox off or loosen it. `pleach run` asks for consent to\n\
                  that; requests to `pleach serve` are refused until you trust the project here. Changed settings\n\
                  need trust again."
)]
pub(crate) struct TrustArgs {
    /// The folder of the project
    #[arg(default_value = ".")]
    pub(crate) project: PathBuf,
    /// Trust the project without asking
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Revoke trust
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text
    Text,
    /// One JSON object per line
    Json,
    /// No log
    Off,
}
