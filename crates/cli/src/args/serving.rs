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
    after_help = "The first Ctrl-C asks what runs to stop and keeps all work (with --drain it waits for it), the second \
                  does not wait any more; the next `pleach serve` goes on with what was interrupted."
)]
pub(crate) struct ServeArgs {
    /// The port to listen at; 0 for any that is free
    #[arg(long, default_value_t = 3001)]
    pub(crate) port: u16,
    /// An address beyond this machine to listen at; needs --insecure and --allow-host
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<IpAddr>,
    /// Listen where others can hear what is said: Pleach speaks no TLS, so put a proxy in front
    #[arg(long)]
    pub(crate) insecure: bool,
    /// A further name to answer to, such as the one of a proxy, with its port if that is not the usual one
    #[arg(long, value_name = "NAME[:PORT]")]
    pub(crate) allow_host: Vec<String>,
    /// Open a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// When asked to stop, take no new batches and wait for those that run
    #[arg(long)]
    pub(crate) drain: bool,
    /// Consent to the files and settings that steer agents, for every batch that is asked for
    #[arg(long, visible_alias = "autonomous")]
    pub(crate) yes: bool,
    /// How to write the log, to standard error; `PLEACH_LOG` chooses what is in it (`info` by default)
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,
    /// Say where it listens as one line of JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A project's pleach.toml can switch its sandbox off or widen it. `pleach run` asks for consent to that; requests to\n\
                  `pleach serve` are refused until a person has trusted the project here. Changed settings need trust again."
)]
pub(crate) struct TrustArgs {
    /// The folder of the project
    #[arg(default_value = ".")]
    pub(crate) project: PathBuf,
    /// Trust it without being asked
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    /// Revoke trust
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One object a line
    Json,
    /// Nothing
    Off,
}
