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
    /// The batch; those that are not over if none is named, else the last one
    pub(crate) batch: Option<BatchNumber>,
    /// List every batch there was
    #[arg(long, conflicts_with_all = ["batch", "watch"])]
    pub(crate) all: bool,
    /// Go on showing until it is over
    #[arg(long)]
    pub(crate) watch: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach progress · pleach progress --watch")]
pub(crate) struct ProgressArgs {
    /// The plan's file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// A status.json to read the states of tasks from
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// Go on showing while a batch of the plan runs
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
    /// What the tests said instead of the agent of a task
    #[arg(long, conflicts_with_all = ["task", "prompt"])]
    pub(crate) validation: bool,
    /// Go on printing until the task is over, or the tests are
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Which attempt, or which run of the tests, counted from 1; the last one if none is named
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// Print what the agent was told instead
    #[arg(long, conflicts_with = "follow")]
    pub(crate) prompt: bool,
    /// Print the lines as they are stored: JSON, where the agent tells what it does
    #[arg(long, conflicts_with_all = ["prompt", "validation"])]
    pub(crate) raw: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach diff 3 · pleach diff 3 1.2 --stat")]
pub(crate) struct DiffArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task; everything that is merged if none is named
    #[arg(value_parser = task)]
    pub(crate) task: Option<TaskId>,
    /// Only which files changed, and how much
    #[arg(long)]
    pub(crate) stat: bool,
    /// Lines that differ only in white space are the same
    #[arg(long, short = 'w')]
    pub(crate) ignore_whitespace: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: pleach approve 3")]
pub(crate) struct ApproveArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// Do not ask; consent to what tasks changed in the files that control agents
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach cancel 3 · pleach cancel 3 1.2 · pleach cancel 3 --rollback\n\n\
                        It answers when what was asked for has ended. All work is kept; `pleach recover` brings it back."
)]
pub(crate) struct CancelArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task; the whole batch if none is named
    #[arg(value_parser = task, conflicts_with = "rollback")]
    pub(crate) task: Option<TaskId>,
    /// Remove the branch of the batch too, also of one that is over and has not landed
    #[arg(long)]
    pub(crate) rollback: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach stop · pleach stop 3\n\n\
                        What runs is finished, the other tasks are cancelled, and what merged is proved and lands.\n\
                        It answers at once; `pleach status --watch` follows the batch to its end.")]
pub(crate) struct StopArgs {
    /// The batch; the last one of this project that is not over if none is named
    pub(crate) batch: Option<BatchNumber>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach land 3 · pleach land 3 --into main\n\n\
                        A batch that completed lands by itself, as `land` in pleach.toml says. This lands one that\n\
                        did not, or again. What is not proved yet is proved first, and what cannot be proved does not land\n\
                        without --unproved.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch on the command line"
)]
pub(crate) struct LandArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// Bring it to this local branch instead, as `git merge --ff-only` does
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// Push it although something was found that should not leave the machine
    #[arg(long, conflicts_with = "into")]
    pub(crate) despite_findings: bool,
    /// Land it without a proof; the pull request says so in its first line
    #[arg(long)]
    pub(crate) unproved: bool,
    /// Run the tests again, also where they passed before
    #[arg(long, conflicts_with = "unproved")]
    pub(crate) prove_again: bool,
    /// Confirm the first push of this project
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print one event a line as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach resume · pleach resume 3\n\n\
                        Ctrl-C, a crash or a power cut leave a batch interrupted. Tasks that a newer batch has taken since\n\
                        are left out. `pleach cancel` gives a batch up.")]
pub(crate) struct ResumeArgs {
    /// The batch; the last interrupted one of this repository if none is named
    pub(crate) batch: Option<BatchNumber>,
    /// Go on in the background; `pleach status` tells how far it is
    #[arg(long)]
    pub(crate) detach: bool,
    /// Set by --detach for the process that goes on in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// Print one event a line as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples: pleach retry 3 1.2 · pleach retry 3\n\n\
                        While the batch runs, the tasks are queued again there. A batch that is over is opened again and\n\
                        runs here, as `pleach run` does.")]
pub(crate) struct RetryArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The tasks; all that did not make it if none is named
    #[arg(value_parser = task, value_name = "TASK")]
    pub(crate) tasks: Vec<TaskId>,
    /// Go on in the background; `pleach status` tells how far it is
    #[arg(long)]
    pub(crate) detach: bool,
    /// Set by --detach for the process that goes on in the background
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
                        First it makes a folder with the conflict in it, as `git merge` would leave it, and prints where. Edit the\n\
                        files there, with any tool; commit or not. While the batch runs, the result is woven there. A batch that is\n\
                        over is opened again and runs here, with what was blocked behind the conflict."
)]
pub(crate) struct ResolveArgs {
    /// The batch
    pub(crate) batch: BatchNumber,
    /// The task whose branch does not merge
    #[arg(value_parser = task)]
    pub(crate) task: TaskId,
    /// Open the files in your editor (VISUAL, EDITOR) and wait until it is closed
    #[arg(long, conflicts_with_all = ["done", "abort"])]
    pub(crate) edit: bool,
    /// Weave what is in the folder, and go on with the batch
    #[arg(long, conflicts_with = "abort")]
    pub(crate) done: bool,
    /// Leave the task out; what is in the folder is kept, and the folder goes
    #[arg(long)]
    pub(crate) abort: bool,
    /// With --done: go on in the background; `pleach status` tells how far it is
    #[arg(long, requires = "done")]
    pub(crate) detach: bool,
    /// Set by --detach for the process that goes on in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach recover · pleach recover 3 · pleach recover 3 1.2 --attempt 1\n\n\
                        Without a batch it lists what is kept. With one it makes branches pleach/recovered-3/… in the\n\
                        repository of the batch; your checkout is not touched."
)]
pub(crate) struct RecoverArgs {
    /// The batch
    pub(crate) batch: Option<BatchNumber>,
    /// The task; every task that is not merged if none is named
    #[arg(value_parser = task)]
    pub(crate) task: Option<TaskId>,
    /// Which attempt, counted from 1; the last one if none is named
    #[arg(long, value_name = "K", requires = "task", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
    /// What you last had in the folder of a conflict, instead of what an agent left
    #[arg(long, requires = "task", conflicts_with = "attempt")]
    pub(crate) by_hand: bool,
    /// List what is merged already, too
    #[arg(long, conflicts_with = "batch")]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples: pleach gc --dry-run · pleach gc --yes · pleach gc --keep 30d\n\n\
                        Nothing of a batch that runs or is interrupted is touched, and no kept work that is younger than\n\
                        keep_work (90d)."
)]
pub(crate) struct GcArgs {
    /// How long kept work stays, for this call; 500ms, 90s, 30m, 1h, 2d
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) keep: Option<Duration>,
    /// Only show what would be removed
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Remove it without asking
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
        .ok_or_else(|| "a time above zero is written 500ms, 90s, 30m, 1h or 2d".to_owned())
}
