//! The command line.
//!
//! Words and help only; what they do is in `commands`.

mod following;
mod serving;
mod setup;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use pleach_domain::choice::Strategy;
use pleach_domain::id::BatchNumber;
use pleach_domain::phase::Threshold;

pub(crate) use following::{
    ApproveArgs, CancelArgs, DiffArgs, GcArgs, LandArgs, LogsArgs, ProgressArgs, RecoverArgs,
    ResolveArgs, ResumeArgs, RetryArgs, StatusArgs, StopArgs,
};
pub(crate) use serving::{LogFormat, ServeArgs, TrustArgs};
pub(crate) use setup::{
    AgentResumeArgs, AgentTestArgs, AgentsAction, AgentsArgs, ConfigArgs, ConfigChange, DoctorArgs,
    InitArgs, SetArgs,
};

/// Runs coding agents on a list of tasks, each in its own worktree, and weaves the branches into one.
#[derive(Debug, Parser)]
#[command(name = "pleach", version, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 all done · 1 some task did not make it · 2 wrong usage or plan · \
                        3 the environment is not fit · 70 a bug · 130 interrupted"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a plan: waves, who waits for whom and why, the longest chain
    Plan(PlanArgs),
    /// Say what to do now
    Next(NextArgs),
    /// Set the status of tasks by hand
    Mark(MarkArgs),
    /// Run an agent on tasks of the plan and weave what it did into one branch
    Run(RunArgs),
    /// Go on with an interrupted batch
    Resume(ResumeArgs),
    /// Weave branches of this repository into one, leaving out what conflicts
    Weave(WeaveArgs),
    /// Show how far batches are, and what is to do
    Status(StatusArgs),
    /// Show how far the plan is, phase by phase
    Progress(ProgressArgs),
    /// Print what the agent of a task said
    Logs(LogsArgs),
    /// Show what a batch or a task changed
    Diff(DiffArgs),
    /// Let the task that waits start
    Approve(ApproveArgs),
    /// Finish what runs of a batch, and start nothing new
    Stop(StopArgs),
    /// Cancel a batch or a task: what runs is stopped, and its work kept
    Cancel(CancelArgs),
    /// Try tasks again that did not make it
    Retry(RetryArgs),
    /// Push the result of a batch and open its pull request, or bring it to a local branch
    Land(LandArgs),
    /// Resolve the conflict of a task by hand, and have the result woven
    Resolve(ResolveArgs),
    /// List the work that is kept, or bring it back as branches
    Recover(RecoverArgs),
    /// List what is checked out for tasks of this repository, or left over from them
    Worktrees(WorktreesArgs),
    /// Remove what is no longer needed, after showing it
    Gc(GcArgs),
    /// Write a first pleach.toml: every key with its default, and what was found set
    Init(InitArgs),
    /// Check git, the repository, the agent and the machine, and say what to do about each
    Doctor(DoctorArgs),
    /// List agents with their versions and logins, or have one do a tiny real task
    Agents(AgentsArgs),
    /// Show every setting with where it is from, or set one
    Config(ConfigArgs),
    /// Trust a project whose own pleach.toml opens its sandbox, for batches of `pleach serve`
    Trust(TrustArgs),
    /// Serve the API and the board on this machine
    Serve(ServeArgs),
    /// Show a whole run on a small repository in a temporary folder; needs no account
    Demo,
    /// Print the completions for a shell
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
    /// For programs
    Json,
    /// For Markdown pages
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

const SELECTIONS: &str = "Tasks are chosen by: 63 · 63,64 · 65-67 · 3.1-3.4 · phase:1 · label:backend · \
                          failed · next:5 · all";

#[derive(Debug, Args)]
#[command(after_help = SELECTIONS)]
pub(crate) struct PlanArgs {
    /// The plan's file, then the tasks to look at
    #[arg(value_name = "FILE] [SELECT")]
    pub(crate) words: Vec<String>,
    /// The plan's file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show every task of a large plan
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
}

/// How the plan's own rules are taken.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// The share of earlier phases that must be done before a phase opens, from 0 to 1; as configured, or 0.8
    #[arg(long, value_name = "SHARE", value_parser = threshold)]
    pub(crate) phase_threshold: Option<Threshold>,
    /// Take a dependency that is not in the plan as an error in every dialect
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What decides the order of tasks.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// Take along what the chosen tasks need
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
    /// How many tasks at most
    #[arg(default_value_t = 3, value_name = "N")]
    pub(crate) count: usize,
    /// The plan's file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// A status.json to read the states of tasks from
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Offer tasks whose dependencies are open too
    #[arg(long)]
    pub(crate) ignore_deps: bool,
    /// Offer tasks that collide with each other too
    #[arg(long)]
    pub(crate) ignore_conflicts: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    /// Somebody is at it
    Started,
    /// It is done
    Complete,
    /// It was tried in vain
    Failed,
    /// It is left out
    Skipped,
    /// It is still to do
    Pending,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: pleach mark 1.1 1.2 complete")]
pub(crate) struct MarkArgs {
    /// The tasks: ids, ranges such as 3.1-3.4, or phase:1
    #[arg(required = true, value_name = "TASK")]
    pub(crate) tasks: Vec<String>,
    /// What they are
    #[arg(value_enum)]
    pub(crate) state: State,
    /// The plan's file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// A status.json to write to instead of the plan
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, Args)]
#[command(after_help = SELECTIONS)]
pub(crate) struct RunArgs {
    /// The tasks to run; all open ones if none is named
    #[arg(value_name = "SELECT")]
    pub(crate) select: Vec<String>,
    /// Run the tasks that are named even if they are done
    #[arg(long, requires = "select")]
    pub(crate) redo: bool,
    /// The plan's file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// A status.json that says what is done instead of the database, and is kept up to date
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// How many tasks run at once, from 1 to 64
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) jobs: Option<u64>,
    /// Whether tasks run side by side or one by one
    #[arg(long, value_enum)]
    pub(crate) mode: Option<ModeArg>,
    /// The agent, by its name: one that `pleach agents` lists, or one of pleach.toml
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model that the agent is to use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Tell agents this too; with places such as {{title}} it is all they are told. @FILE reads it from a file
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) prompt: Option<String>,
    /// Let every wave wait until the one before is over and woven
    #[arg(long)]
    pub(crate) waves: bool,
    /// Which history leads to the result; the tree is the same
    #[arg(long, value_enum, value_name = "STRATEGY")]
    pub(crate) merge: Option<MergeStrategy>,
    /// What to do with a branch that does not merge cleanly
    #[arg(long, value_enum)]
    pub(crate) on_conflict: Option<OnTaskConflict>,
    /// The command that tests what is woven; an empty one means no tests
    #[arg(long, value_name = "CMD")]
    pub(crate) validate: Option<String>,
    /// Push the result and open a pull request, whatever the configuration says
    #[arg(long, conflicts_with = "no_pr")]
    pub(crate) pr: bool,
    /// Leave the result a local branch, whatever the configuration says
    #[arg(long)]
    pub(crate) no_pr: bool,
    /// Start nothing new once a task did not make it, and stop what runs
    #[arg(long)]
    pub(crate) stop_on_failure: bool,
    /// Fail instead of going on one at a time when several at once do not work out
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// Run the tests also on results that they passed on before
    #[arg(long)]
    pub(crate) prove_again: bool,
    /// Go on with a batch that was interrupted, and with nothing else; the last one if none is named
    #[arg(long, value_name = "BATCH", num_args = 0..=1, conflicts_with_all = ["select", "dry_run"])]
    #[expect(
        clippy::option_option,
        reason = "the flag may stand with and without a number"
    )]
    pub(crate) resume: Option<Option<BatchNumber>>,
    /// Go on in the background; `pleach status` tells how far it is
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) detach: bool,
    /// Set by --detach for the process that goes on in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// The ref to start from instead of the current branch; `last` is the branch of the last batch
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,
    /// Take what earlier batches did for landed, where the base does not show it
    #[arg(long)]
    pub(crate) assume_landed: bool,
    /// Fetch from origin first, and start from what is there; nothing else uses the network
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask no questions: consent to the agent, to the files that steer it, and to the first push of this project
    #[arg(long, visible_alias = "autonomous")]
    pub(crate) yes: bool,
    /// Print one event a line as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
}

/// Which history leads to the woven tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum MergeStrategy {
    /// One merge commit a branch
    #[default]
    Merge,
    /// One commit a branch
    Squash,
    /// The commits of each branch, one after the other
    Rebase,
    /// One commit with all branches as parents
    Octopus,
}

impl MergeStrategy {
    /// What it means.
    pub(crate) fn strategy(self) -> Strategy {
        match self {
            Self::Merge => Strategy::Merge,
            Self::Squash => Strategy::Squash,
            Self::Rebase => Strategy::Rebase,
            Self::Octopus => Strategy::Octopus,
        }
    }
}

/// How tasks take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Several at once
    Parallel,
    /// One by one; after each, the next waits for `pleach approve`
    Queue,
    /// One by one, without asking
    Serial,
}

/// What to do with a task whose branch does not merge cleanly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnTaskConflict {
    /// Leave it out, and go on
    Skip,
    /// Give the whole batch up
    Fail,
    /// Have the agent do the task again on the woven result, once
    Rerun,
}

/// What to do with a branch that does not merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OnConflict {
    /// Leave it out and say so
    #[default]
    Skip,
    /// Write nothing at all
    Fail,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example: pleach weave feature/a feature/b --onto main --as hedge\n\n\
                        Branches are merged in the order given, without touching your checkout. One that\n\
                        conflicts is left out, with its files, whom it collides with, and the command that shows it."
)]
pub(crate) struct WeaveArgs {
    /// The branches, in their order; tags and commits will do as well
    #[arg(required = true, value_name = "BRANCH")]
    pub(crate) branches: Vec<String>,
    /// The branch or commit to weave onto [default: the current branch, or its upstream if that is ahead]
    #[arg(long, value_name = "BASE")]
    pub(crate) onto: Option<String>,
    /// The branch to make of it
    #[arg(long = "as", value_name = "NAME", required_unless_present = "dry_run")]
    pub(crate) name: Option<String>,
    /// Which history leads to the result; the tree is the same
    #[arg(long, value_enum, value_name = "STRATEGY", default_value_t)]
    pub(crate) merge: MergeStrategy,
    /// What to do with a branch that conflicts
    #[arg(long, value_enum, default_value_t)]
    pub(crate) on_conflict: OnConflict,
    /// A command that tests the result; branches that it fails with are found and left out
    #[arg(long, value_name = "CMD")]
    pub(crate) validate: Option<String>,
    /// Show what would come of it, and write nothing
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

fn threshold(text: &str) -> Result<Threshold, String> {
    let share = text.parse().ok().and_then(Threshold::new);
    share.ok_or_else(|| "a share is a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Arguments::command().debug_assert();
    }
}
