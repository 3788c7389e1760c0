//! The words of the commands around a run: looking at batches, acting on them, clearing up after them.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_engine::config::duration;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach status · pleach status 3 --watch · pleach status --all --json"
)]
pub(crate) struct StatusArgs {
    /// The batch [default: all unfinished batches, or else the last one]
    pub(crate) batch: Option<BatchNumber>,
    /// List all batches
    #[arg(long, conflicts_with_all = ["batch", "watch"])]
    pub(crate) all: bool,
    /// Keep updating until the batch finishes
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach progress · pleach progress --watch")]
pub(crate) struct ProgressArgs {
    /// The plan file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Read task states from this status.json
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Keep updating while a batch of the plan runs
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach logs 3 1.2 -f · pleach logs 3 1.2 --attempt 1 | less · pleach logs 3 1.2 --prompt · \
                  pleach logs 3 --validation"
)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag that people type"
)]
pub(crate) struct LogsArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task
    #[arg(value_parser = task, required_unless_present = "validation")]
    pub(crate) task: Option<TaskId>,
    /// Print the output of the tests instead
    #[arg(long, conflicts_with_all = ["task", "prompt"])]
    pub(crate) validation: bool,
    /// Keep printing until the task or the tests finish
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// The attempt, or the test run, counted from 1 [default: the last one]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// Print the agent's prompt instead
    #[arg(long, conflicts_with = "follow")]
    pub(crate) prompt: bool,
    /// Print the lines as they are stored (JSON for known agents)
    #[arg(long, conflicts_with_all = ["prompt", "validation"])]
    pub(crate) raw: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach diff 3 · pleach diff 3 1.2 --stat")]
pub(crate) struct DiffArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task [default: everything that was merged]
    #[arg(value_parser = task)]
    pub(crate) task: Option<TaskId>,
    /// Show only the changed files and line counts
    #[arg(long)]
    pub(crate) stat: bool,
    /// Ignore changes in white space
    #[arg(long, short = 'w')]
    pub(crate) ignore_whitespace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: pleach approve 3")]
pub(crate) struct ApproveArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// Do not ask; consent to what tasks changed in files that control agents
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach cancel 3 · pleach cancel 3 1.2 · pleach cancel 3 --rollback\n\n\
                        Waits until the batch or task has stopped. All work is kept; `pleach recover` restores it."
)]
pub(crate) struct CancelArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task [default: the whole batch]
    #[arg(value_parser = task, conflicts_with = "rollback")]
    pub(crate) task: Option<TaskId>,
    /// Also remove the batch branch, even of a finished batch, unless it has landed
    #[arg(long)]
    pub(crate) rollback: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach stop · pleach stop 3\n\n\
                        Running tasks finish, the others are cancelled, and what merged is tested and lands.\n\
                        Returns at once; `pleach status --watch` follows the batch until it finishes.")]
pub(crate) struct StopArgs {
    /// The batch [default: the last unfinished one of this project]
    pub(crate) batch: Option<BatchNumber>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach land 3 · pleach land 3 --into main\n\n\
                        A completed batch lands automatically, as `land` in pleach.toml says. Use this for a batch that did\n\
                        not, or to land it again. An untested result is tested first; one that does not pass lands only\n\
                        with --unproved.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct LandArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// Fast-forward this local branch instead, as `git merge --ff-only` does
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// Push even if the check for secrets found something
    #[arg(long, conflicts_with = "into")]
    pub(crate) despite_findings: bool,
    /// Land without passing tests; the pull request says so in its first line
    #[arg(long)]
    pub(crate) unproved: bool,
    /// Run the tests again even if they passed before
    #[arg(long, conflicts_with = "unproved")]
    pub(crate) prove_again: bool,
    /// Confirm the first push of this project
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach resume · pleach resume 3\n\n\
                        Ctrl-C, a crash or a power cut leaves a batch interrupted. Tasks that a newer batch has taken\n\
                        since are left out. `pleach cancel` cancels a batch for good.")]
pub(crate) struct ResumeArgs {
    /// The batch [default: the last interrupted one of this repository]
    pub(crate) batch: Option<BatchNumber>,
    /// Run in the background; `pleach status` shows the progress
    #[arg(long)]
    pub(crate) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach retry 3 1.2 · pleach retry 3\n\n\
                        In a running batch, the tasks are queued again. A finished batch is reopened and runs here, as\n\
                        with `pleach run`.")]
pub(crate) struct RetryArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The tasks [default: all that failed or were left out]
    #[arg(value_parser = task, value_name = "TASK")]
    pub(crate) tasks: Vec<TaskId>,
    /// Run in the background; `pleach status` shows the progress
    #[arg(long)]
    pub(crate) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach resolve 3 1.2 --edit · pleach resolve 3 1.2 --done · pleach resolve 3 1.2 --abort\n\n\
                        Creates a worktree with the conflict in it, as `git merge` would leave it, and prints its path. Edit\n\
                        the files there with any tool; committing is optional. With --done, a running batch weaves the\n\
                        result; a finished batch is reopened and runs here, with the tasks that the conflict blocked."
)]
pub(crate) struct ResolveArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The conflicted task
    #[arg(value_parser = task)]
    pub(crate) task: TaskId,
    /// Open the files in $VISUAL or $EDITOR and wait until it exits
    #[arg(long, conflicts_with_all = ["done", "abort"])]
    pub(crate) edit: bool,
    /// Weave the files in the worktree and continue the batch
    #[arg(long, conflicts_with = "abort")]
    pub(crate) done: bool,
    /// Leave the task out and remove the worktree; its files are kept for `pleach recover`
    #[arg(long)]
    pub(crate) abort: bool,
    /// With --done: run in the background; `pleach status` shows the progress
    #[arg(long, requires = "done")]
    pub(crate) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach recover · pleach recover 3 · pleach recover 3 1.2 --attempt 1\n\n\
                        Without a batch, lists kept work. With one, creates branches pleach/recovered-3/… in the\n\
                        batch's repository; your checkout is not touched."
)]
pub(crate) struct RecoverArgs {
    /// The batch
    pub(crate) batch: Option<BatchNumber>,
    /// The task [default: every task that was not merged]
    #[arg(value_parser = task)]
    pub(crate) task: Option<TaskId>,
    /// The attempt, counted from 1 [default: the last one]
    #[arg(long, value_name = "K", requires = "task", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// Restore your own work in a `pleach resolve` worktree instead of the agent's
    #[arg(long, requires = "task", conflicts_with = "attempt")]
    pub(crate) by_hand: bool,
    /// Also list work that is already merged
    #[arg(long, conflicts_with = "batch")]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach gc --dry-run · pleach gc --yes · pleach gc --keep 30d\n\n\
                        Running and interrupted batches are not touched, nor is kept work younger than keep_work (90d)."
)]
pub(crate) struct GcArgs {
    /// Overrides `keep_work`, such as 30d or 12h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) keep: Option<Duration>,
    /// Show what would be removed, without removing it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Remove without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "what reads a word may refuse it, and this takes any"
)]
fn task(text: &str) -> Result<TaskId, std::convert::Infallible> {
    Ok(TaskId::new(text))
}

fn time(text: &str) -> Result<Duration, String> {
    duration(text)
        .ok_or_else(|| "write a time above zero, such as 500ms, 90s, 30m, 1h or 2d".to_owned())
}
