//! The words of the commands that set Pleach up: what is configured, which agents there are, and whether
//! everything is there.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "Finds the plan in use, the installed agents, and the commands that test and prepare the project. A\n\
                  pleach.toml that is there is never written over."
)]
pub(crate) struct InitArgs {
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 a run would work, whatever else was found · 3 something would keep it from working"
)]
pub(crate) struct DoctorArgs {
    /// Ask the server of the repository as well; nothing else uses the network
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples: pleach agents · pleach agents test claude · pleach agents test codex --model gpt-5 · pleach agents resume claude\n\n\
                  Logins are looked for on this machine; nobody is asked over the network."
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
    /// Have one agent do a tiny real task in a temporary repository, and tell what was learnt
    Test(AgentTestArgs),
    /// Lift an agent's usage-limit pause, in all repositories
    Resume(AgentResumeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgentResumeArgs {
    /// The agent, as `pleach agents` names it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 it works · 1 it did not make it · 3 it is not installed or not logged in"
)]
pub(crate) struct AgentTestArgs {
    /// The agent: a preset, one of pleach.toml, acp: with a command, or demo
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The model that it is to use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Leave the temporary repository and the transcript in their place
    #[arg(long)]
    pub(crate) keep: bool,
    /// Consent to what pleach.toml of this repository says of the agent
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
                  Later wins: ~/.config/pleach/config.toml, pleach.toml, variables such as PLEACH_RETRIES, flags."
)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) change: Option<ConfigChange>,
    /// Print the value of this key, and nothing else
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigChange {
    /// Set a key in your own file, or in the repository's; comments stay
    Set(SetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The key, such as retries or agents.mine.command
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// The value; a list is written as in a file, in brackets
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
    /// In ~/.config/pleach/config.toml, for all repositories; the default
    #[arg(long, conflicts_with = "repo")]
    pub(crate) user: bool,
    /// In pleach.toml of this repository
    #[arg(long)]
    pub(crate) repo: bool,
}
