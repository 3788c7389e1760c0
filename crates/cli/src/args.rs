//! The command line.
//!
//! Words and help only; what they do is in `commands`.

mod following;
mod run;
mod serving;
mod setup;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use pleach_domain::choice::Strategy;
use pleach_domain::phase::Threshold;

pub(crate) use following::{
    ApproveArgs, CancelArgs, DiffArgs, GcArgs, LandArgs, LogsArgs, ProgressArgs, RecoverArgs,
    ResolveArgs, ResumeArgs, RetryArgs, StatusArgs, StopArgs,
};
pub(crate) use run::RunArgs;
pub(crate) use serving::{LogFormat, ServeArgs, TrustArgs};
pub(crate) use setup::{
    AgentResumeArgs, AgentTestArgs, AgentsAction, AgentsArgs, ConfigArgs, ConfigChange, DoctorArgs,
    InitArgs, SetArgs,
};

/// Run coding agents on a list of tasks, each in its own worktree, and weave their branches into one
#[derive(Debug, Parser)]
#[command(name = "pleach", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 everything succeeded · 1 some tasks failed, or the result did not land · \
                  2 wrong usage or plan · 3 setup problem · 70 internal error · 130 interrupted"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a plan: waves, dependencies, collisions and the critical path
    Plan(PlanArgs),
    /// Show which tasks to do next
    Next(NextArgs),
    /// Set the status of tasks by hand
    Mark(MarkArgs),
    /// Run an agent on each task of the plan and weave the results into one branch
    Run(RunArgs),
    /// Resume an interrupted batch
    Resume(ResumeArgs),
    /// Weave branches of this repository into one, leaving out those that conflict
    Weave(WeaveArgs),
    /// Show the state of batches and what to do next
    Status(StatusArgs),
    /// Show the progress of the plan, phase by phase
    Progress(ProgressArgs),
    /// Print the transcript of a task's agent, or the output of the tests
    Logs(LogsArgs),
    /// Show what a batch or a task changed
    Diff(DiffArgs),
    /// Start the next queued task
    Approve(ApproveArgs),
    /// Let the running tasks of a batch finish, and start no others
    Stop(StopArgs),
    /// Cancel a batch or a task; all work is kept
    Cancel(CancelArgs),
    /// Retry tasks that failed or were left out
    Retry(RetryArgs),
    /// Push a batch and open its pull request, or fast-forward a local branch to it
    Land(LandArgs),
    /// Resolve the merge conflict of a task by hand
    Resolve(ResolveArgs),
    /// List kept work, or restore it as branches
    Recover(RecoverArgs),
    /// List the worktrees of this repository's tasks
    Worktrees(WorktreesArgs),
    /// Remove what is no longer needed, after showing it
    Gc(GcArgs),
    /// Write a pleach.toml that lists every key and sets what was detected
    Init(InitArgs),
    /// Check git, the repository, the agent and the machine, with a fix for each problem
    Doctor(DoctorArgs),
    /// List agents with their versions and logins, or test one on a tiny task
    Agents(AgentsArgs),
    /// Show every setting and where it comes from, or change one
    Config(ConfigArgs),
    /// Trust a project whose pleach.toml loosens its sandbox, for batches of `pleach serve`
    Trust(TrustArgs),
    /// Serve the API and the board on this machine
    Serve(ServeArgs),
    /// Run a sample batch on a temporary repository; needs no account
    Demo,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example: pleach completions bash > ~/.local/share/bash-completion/completions/pleach"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// The scripted agent of the demo: does what the script in its prompt says
    #[command(hide = true)]
    DemoAgent,
    /// Hands git the login for one server; git calls it
    #[command(hide = true)]
    GitCredential {
        /// What git wants: get, store or erase
        operation: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A tree of waves
    Text,
    /// JSON
    Json,
    /// Mermaid, for Markdown pages
    Mermaid,
    /// Graphviz
    Dot,
    /// An SVG image
    Svg,
}

const SELECTIONS: &str = "Ways to select tasks: 63 · 63,64 · 65-67 · 3.1-3.4 · phase:1 · label:backend · \
                          failed · next:5 · all";

#[derive(Debug, Args)]
#[command(after_help = SELECTIONS)]
pub(crate) struct PlanArgs {
    /// The plan file, then the tasks to show
    #[arg(value_name = "FILE] [SELECT")]
    pub(crate) words: Vec<String>,
    /// The plan file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show every task, even of a large plan
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
}

/// How the plan's own rules are taken.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// The share of each earlier phase that must be done before a phase opens, from 0 to 1 [default: `phase_threshold`, or 0.8]
    #[arg(long, value_name = "SHARE", value_parser = threshold)]
    pub(crate) phase_threshold: Option<Threshold>,
    /// Treat a dependency that is not in the plan as an error, in TODO sections too
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What decides the order of tasks.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// Also select the tasks that the selected ones need
    #[arg(long)]
    pub(crate) with_deps: bool,
    /// Let tasks that declare the same file run at the same time
    #[arg(long)]
    pub(crate) allow_overlap: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

#[derive(Debug, Args)]
pub(crate) struct NextArgs {
    /// The maximum number of tasks
    #[arg(default_value_t = 3, value_name = "N")]
    pub(crate) count: usize,
    /// The plan file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Read task states from this status.json
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Include tasks whose dependencies are not done
    #[arg(long)]
    pub(crate) ignore_deps: bool,
    /// Include tasks that collide with each other
    #[arg(long)]
    pub(crate) ignore_conflicts: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// In progress
    Started,
    /// Done
    Complete,
    /// Failed
    Failed,
    /// Left out
    Skipped,
    /// Not started
    Pending,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: pleach mark 1.1 1.2 complete")]
pub(crate) struct MarkArgs {
    /// The tasks: ids, ranges such as 3.1-3.4, or phase:1
    #[arg(required = true, value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// The new status
    #[arg(value_enum)]
    pub(crate) state: State,
    /// The plan file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Write to this status.json instead of the plan
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with a branch that does not merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OnBranchConflict {
    /// Leave the branch out
    #[default]
    Skip,
    /// Write nothing
    Fail,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: pleach weave feature/a feature/b --onto main --as hedge\n\n\
                        Branches are merged in the order given, without touching your checkout. A branch that\n\
                        conflicts is left out, and its conflicting files and branches are listed."
)]
pub(crate) struct WeaveArgs {
    /// The branches, tags or commits to weave, in order
    #[arg(required = true, value_name = "BRANCH")]
    pub(crate) branches: Vec<String>,
    /// The branch or commit to weave onto [default: the current branch, or its upstream if that is ahead]
    #[arg(long, value_name = "BASE")]
    pub(crate) onto: Option<String>,
    /// The name of the branch to create
    #[arg(long = "as", value_name = "NAME", required_unless_present = "dry_run")]
    pub(crate) name: Option<String>,
    /// The history to write; the resulting tree is the same
    #[arg(long, value_enum, value_name = "STRATEGY", default_value_t)]
    pub(crate) merge: Strategy,
    /// What to do with a branch that conflicts
    #[arg(long, value_enum, default_value_t)]
    pub(crate) on_conflict: OnBranchConflict,
    /// A command that tests the result; branches that make it fail are found and left out
    #[arg(long, value_name = "CMD")]
    pub(crate) validate: Option<String>,
    /// Show the result without writing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreesArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn jobs(text: &str) -> Result<u64, String> {
    // What is too much for where the batch runs is refused once that is known.
    let number = text.parse().ok();
    let number = number.filter(|number| (1..=10_000).contains(number));
    number.ok_or_else(|| "write a number from 1 to 64, or up to 10000 on a cluster".to_owned())
}

fn threshold(text: &str) -> Result<Threshold, String> {
    let share = text.parse().ok().and_then(Threshold::new);
    share.ok_or_else(|| "write a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
