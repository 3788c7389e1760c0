//! The words of `pleach run`, and the settings that they stand for.

use std::path::PathBuf;

use clap::Args;
use pleach_domain::batch::{Barriers, Fallback};
use pleach_domain::choice::{Landing, OnConflict, RunMode, Strategy, Where};
use pleach_domain::id::BatchNumber;
use pleach_engine::config::{Config, MaxParallel};
use pleach_engine::run::{EarlierBatches, Fetch};

use super::{OrderArgs, SELECTIONS, jobs};

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line"
)]
#[derive(Debug, Args)]
#[command(after_help = SELECTIONS)]
pub(crate) struct RunArgs {
    /// The tasks to run [default: all open tasks]
    #[arg(value_name = "SELECT")]
    pub(crate) select: Vec<String>,
    /// Run the selected tasks even if they are done
    #[arg(long, requires = "select")]
    pub(crate) redo: bool,
    /// The plan file
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Read what is done from this status.json instead of the database, and keep it up to date
    #[arg(long, value_name = "FILE")]
    pub(crate) status: Option<PathBuf>,
    /// The number of tasks to run at once, from 1 to 64; on a cluster up to cluster.most
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<u64>,
    /// Whether to run tasks in parallel or one at a time
    #[arg(long, value_enum)]
    pub(crate) mode: Option<RunMode>,
    /// Where to run attempts and tests
    #[arg(long = "where", value_enum, value_name = "PLACE")]
    pub(crate) place: Option<Where>,
    /// The agent: one that `pleach agents` lists
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The model for the agent to use
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Text to add to the prompt, or a whole prompt if it has placeholders such as {{title}}; @FILE reads it from a file
    #[arg(long, value_name = "TEXT|@FILE")]
    pub(crate) prompt: Option<String>,
    /// Start each wave only after the one before it has been woven and tested
    #[arg(long)]
    pub(crate) waves: bool,
    /// The history to write; the resulting tree is the same
    #[arg(long, value_enum, value_name = "STRATEGY")]
    pub(crate) merge: Option<Strategy>,
    /// What to do with a branch that does not merge cleanly
    #[arg(long, value_enum)]
    pub(crate) on_conflict: Option<OnConflict>,
    /// The command that tests the woven result; "" for none
    #[arg(long, value_name = "CMD")]
    pub(crate) validate: Option<String>,
    /// Push the result and open a pull request, regardless of the configuration
    #[arg(long, conflicts_with = "no_pr")]
    pub(crate) pr: bool,
    /// Leave the result as a local branch, regardless of the configuration
    #[arg(long)]
    pub(crate) no_pr: bool,
    /// Cancel the rest of the batch as soon as a task fails
    #[arg(long)]
    pub(crate) stop_on_failure: bool,
    /// Fail instead of falling back to one task at a time when parallel execution does not work
    #[arg(long)]
    pub(crate) no_fallback: bool,
    /// Run the tests again even on a result that passed before
    #[arg(long)]
    pub(crate) prove_again: bool,
    /// Only resume an interrupted batch [default: the last one]
    #[arg(long, value_name = "BATCH", num_args = 0..=1, conflicts_with_all = ["select", "dry_run"])]
    #[expect(
        clippy::option_option,
        reason = "the flag may stand with and without a number"
    )]
    pub(crate) resume: Option<Option<BatchNumber>>,
    /// Run in the background; `pleach status` shows the progress
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) detach: bool,
    /// Set by --detach for the process in the background
    #[arg(long, hide = true)]
    pub(crate) in_background: bool,
    /// The ref to start from instead of the current branch; `last` is the branch of the last batch
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,
    /// Assume that the work of earlier batches has landed, even if the base does not show it
    #[arg(long)]
    pub(crate) assume_landed: bool,
    /// Fetch from origin first and start from its branch
    #[arg(long)]
    pub(crate) fetch: bool,
    /// Show what would happen, without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask nothing: consent to the agent, the files that control it, and the first push of this project
    #[arg(long, visible_alias = "autonomous")]
    pub(crate) yes: bool,
    /// Print one JSON event per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
}

impl RunArgs {
    pub(crate) fn flags(&self) -> Config {
        Config {
            base: self.base.clone(),
            agent: self.agent.clone(),
            model: self.model.clone(),
            max_parallel: self
                .jobs
                .and_then(|jobs| usize::try_from(jobs).ok())
                .map(MaxParallel::AtMost),
            mode: self.mode,
            place: self.place,
            merge: self.merge,
            on_conflict: self.on_conflict,
            stop_on_failure: self.stop_on_failure.then_some(true),
            phase_threshold: self.order.rules.phase_threshold,
            validate: self.validate.clone(),
            land: match (self.pr, self.no_pr) {
                (true, _) => Some(Landing::PullRequest),
                (_, true) => Some(Landing::Nowhere),
                _ => None,
            },
            ..Config::default()
        }
    }

    pub(crate) fn barriers(&self) -> Barriers {
        if self.waves {
            Barriers::Waves
        } else {
            Barriers::Stages
        }
    }

    pub(crate) fn fallback(&self) -> Fallback {
        if self.no_fallback {
            Fallback::Fail
        } else {
            Fallback::OneAtATime
        }
    }

    pub(crate) fn earlier(&self) -> EarlierBatches {
        if self.assume_landed {
            EarlierBatches::AssumeLanded
        } else {
            EarlierBatches::Weave
        }
    }

    pub(crate) fn fetch(&self) -> Fetch {
        if self.fetch {
            Fetch::Origin
        } else {
            Fetch::Nothing
        }
    }
}
