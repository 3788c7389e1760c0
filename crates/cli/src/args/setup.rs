//! The words of the commands that set Pleach up: what is configured, which agents there are, and whether
//! everything is there.

use clap::{Args, Subcommand};
use pleach_domain::choice::Where;

#[derive(Debug, Args)]
#[command(
    after_help = "Detects the plan, the installed agents, and the commands that test and set up the project. An\n\
                  existing pleach.toml is never overwritten."
)]
pub(crate) struct InitArgs {
    /// Print the file instead of writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 ready to run · 3 a problem prevents a run")]
pub(crate) struct DoctorArgs {
    /// Also contact the repository's server; nothing else uses the network
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Also look at a node of a cluster, by a unit that is sent there
    #[arg(long = "where", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<Where>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples: pleach agents · pleach agents test claude · pleach agents test codex --model gpt-5 · pleach agents resume claude\n\n\
                  Logins are read from files on this machine, without using the network."
)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<AgentsAction>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsAction {
    /// Run an agent on a tiny task in a temporary repository
    Test(AgentTestArgs),
    /// Lift an agent's usage-limit pause, in all repositories
    Resume(AgentResumeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentResumeArgs {
    /// The agent's name, as listed by `pleach agents`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the agent works · 1 it failed · 3 it is not installed or not logged in"
)]
pub(crate) struct AgentTestArgs {
    /// The agent: a preset, one from pleach.toml, acp:COMMAND, or demo
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The model for the agent to use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Where to run it
    #[arg(long = "where", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<Where>,
    /// Keep the temporary repository and the transcript
    #[arg(long)]
    pub(crate) keep: bool,
    /// Consent to the agent settings in this repository's pleach.toml
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples: pleach config · pleach config retries · pleach config set retries 3 · \
                  pleach config set validate \"cargo test\" --repo\n\n\
                  Precedence, lowest first: ~/.config/pleach/config.toml, pleach.toml, variables such as\n\
                  PLEACH_RETRIES, flags."
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) change: Option<ConfigChange>,
    /// Print only the value of this key
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigChange {
    /// Set a key, in your own file or the repository's; comments are kept
    Set(SetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The key, such as retries or agents.mine.command
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// The value; write a list as in TOML, in brackets
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
    /// Write to ~/.config/pleach/config.toml, for all repositories (default)
    #[arg(long, conflicts_with = "repo")]
    pub(crate) user: bool,
    /// Write to this repository's pleach.toml
    #[arg(long)]
    pub(crate) repo: bool,
}
