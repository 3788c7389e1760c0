//! One attempt of an agent on a task: worktree, setup, agent, capture, and the worktree away again.
//!
//! Knows nothing of other tasks; runs on a thread of its own.

mod program;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use pleach_domain::batch::{AttemptEnding, Spent};
use pleach_domain::id::{BatchNumber, TaskId};

use super::Heard;
use super::disposing::Tree;
use super::judge::{self, Judged};
use super::spares::Spares;
use crate::agent::{Agent, Said};
use crate::batch_paths::{LOG, attempt_folder};
use crate::batch_record::BatchRecord;
use crate::causes::with_causes;
use crate::database::Whose;
use crate::git::{CommitId, Store};
use crate::process::{Cancel, Ending, ProcessIdentity, Record, load_record};
use crate::secrets::{Hider, Secrets};
use crate::state_folder::StateFolder;
use crate::step::{Step, reached};
use crate::validate::Tests;
use crate::worktree::{Included, Worktree, WorktreeSpec};

/// What all attempts of a batch share.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) store: Store,
    pub(super) agent: Arc<dyn Agent>,
    pub(super) state: StateFolder,
    /// Where prompts and logs go.
    pub(super) folder: PathBuf,
    /// The id of the batch.
    pub(super) id: u32,
    /// The number of the batch.
    pub(super) number: BatchNumber,
    pub(super) record: BatchRecord,
    /// Ignored files of the user's checkout that every worktree gets.
    pub(super) included: Included,
    /// The program that wraps agents.
    pub(super) wrapper: PathBuf,
    /// Pleach's own program, which git calls back.
    pub(super) program: PathBuf,
    /// Worktrees of tasks that are over, for those that come.
    pub(super) spares: Spares,
    /// What proves the result.
    pub(super) tests: Option<Tests>,
    /// What nobody may see.
    pub(super) secrets: Secrets,
    pub(super) hider: Hider,
}

/// Where an attempt works.
enum Place {
    /// Where another attempt was before.
    Found,
    /// Where nobody was.
    Made,
}

/// What is to be tried.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) task: TaskId,
    pub(super) title: String,
    pub(super) number: u32,
    pub(super) segment: String,
    pub(super) path: PathBuf,
    pub(super) branch: String,
    pub(super) basis: CommitId,
    pub(super) prompt: String,
    /// The agent's own session that goes on.
    pub(super) session: Option<String>,
    /// What that session took before.
    pub(super) spent_before: Spent,
    pub(super) from: From,
}

impl Attempt {
    /// The same, with nothing there of what was before.
    fn begun_anew(&self) -> Self {
        Self {
            session: None,
            spent_before: Spent::default(),
            from: From::Scratch,
            ..self.clone()
        }
    }
}

/// Where an attempt begins.
#[derive(Debug, Clone)]
pub(super) enum From {
    /// Where everything begins.
    Scratch,
    /// Where its agent was when it was limited.
    Limited,
    /// Where its agent ended without having changed anything, or having said why.
    AskedAgain,
    /// Where the agent has ended under another engine.
    Result(Record),
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) task: TaskId,
    pub(super) ending: AttemptEnding,
    /// The last state of the worktree, where it was not taken as the task's work.
    pub(super) kept: Option<CommitId>,
    /// What the agent took, as it says.
    pub(super) spent: Option<Spent>,
    /// The agent's own session, as it says.
    pub(super) session: Option<String>,
    pub(super) notes: Vec<String>,
}

impl Finished {
    /// Notes what the agent said of itself in all.
    pub(super) fn take_in(&mut self, said: Said) {
        self.spent = Some(said.spent).filter(|spent| *spent != Spent::default());
        self.session = said.session;
    }

    /// The end of an attempt that the system had no thread for.
    pub(super) fn never_begun(task: TaskId, error: &std::io::Error) -> Self {
        Self {
            task,
            ending: AttemptEnding::Failed(format!("the attempt could not begin: {error}")),
            kept: None,
            spent: None,
            session: None,
            notes: Vec::new(),
        }
    }
}

/// The attempt's line to the loop.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) loop_: Sender<Heard>,
    pub(super) cancel: Cancel,
}

impl Workshop {
    /// Carries an attempt out, tells the loop, and does with the worktree what that says.
    pub(super) fn attend(&self, attempt: &Attempt, line: &Line) {
        if !matches!(attempt.from, From::Result(_)) {
            reached(Step::TaskStarted);
        }
        let mut finished = Finished {
            task: attempt.task.clone(),
            ending: AttemptEnding::Failed("Pleach has a bug: the attempt broke off".to_owned()),
            kept: None,
            spent: None,
            session: None,
            notes: Vec::new(),
        };
        // A bug in doing so is a failure of this task only.
        let carried_out = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.carry_out(attempt, line, &mut finished)
        }));
        let tree = match carried_out {
            Ok((ending, tree)) => {
                finished.ending = ending;
                tree
            }
            Err(_) => None,
        };
        let (say, disposal) = channel();
        let heard = Heard::Finished(Box::new(finished), say);
        // Nobody listens only when the loop failed, and the work is kept by then.
        let _ = line.loop_.send(heard);
        tell_when_cleared(&attempt.task, &line.loop_, || {
            self.dispose(attempt, tree, &disposal)
        });
    }

    fn carry_out(
        &self,
        attempt: &Attempt,
        line: &Line,
        finished: &mut Finished,
    ) -> (AttemptEnding, Option<Tree>) {
        let (worktree, place) = match self.worktree(attempt) {
            Ok(found_or_made) => found_or_made,
            Err(error) => return (AttemptEnding::NoWorktree(error), None),
        };
        let anew;
        let attempt = match place {
            Place::Found => attempt,
            // Whatever was done before is not here, and nobody must be told that it is.
            Place::Made => {
                anew = attempt.begun_anew();
                &anew
            }
        };
        let judged = self.run_in(attempt, &worktree, line, finished);
        let mut cache = Vec::new();
        let (ending, kept) = match judged {
            Judged::Succeeded { denials, unneeded } => {
                cache.clone_from(&self.record.cache);
                let (ending, kept) = self.take(attempt, &worktree, finished);
                let ending = judge::with_words(ending, denials, unneeded, finished);
                (ending, kept)
            }
            Judged::Ended(ending) => (ending, None),
        };
        let kept = kept.or_else(|| self.keep_last_state(attempt, &worktree, finished));
        if kept.is_none() {
            self.note_what_is_left(attempt, &worktree, finished);
        }
        self.note_what_is_not_kept(finished);
        reached(Step::WorkKept);
        let tree = Tree {
            worktree,
            kept,
            cache,
        };
        (ending, Some(tree))
    }

    fn worktree(&self, attempt: &Attempt) -> Result<(Worktree, Place), String> {
        let spec = WorktreeSpec {
            path: attempt.path.clone(),
            branch: attempt.branch.clone(),
            basis: attempt.basis.clone(),
        };
        let explained = |error| with_causes(&error);
        let goes_on = !matches!(attempt.from, From::Scratch);
        let found = goes_on.then(|| self.find_tree(&spec));
        match (
            found.transpose().map_err(explained)?.flatten(),
            &attempt.from,
        ) {
            (Some(found), _) => return Ok((found, Place::Found)),
            (None, From::Result(_)) => return Err("its folder is gone".to_owned()),
            (None, From::Scratch | From::Limited | From::AskedAgain) => {}
        }
        if !self.record.is_in_place() && attempt.path.symlink_metadata().is_ok() {
            // One of an earlier attempt, which stayed for somebody to look at.
            let earlier = Worktree::existing(&self.store, &spec).map_err(explained)?;
            let name = self.keep_name(&attempt.segment, attempt.number.saturating_sub(1));
            if let Some(earlier) = earlier {
                earlier.retire(&self.store, &name).map_err(explained)?;
            }
        }
        let recycle = |spare| Worktree::recycle(&self.store, &spec, spare).ok();
        // Whatever keeps a spare one from being used, a fresh one is as good.
        let made = match self.spares.take().and_then(recycle) {
            Some(made) => made,
            None => Worktree::create(&self.store, &spec).map_err(explained)?,
        };
        reached(Step::WorktreeMade);
        Ok((made, Place::Made))
    }

    fn run_in(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        line: &Line,
        finished: &mut Finished,
    ) -> Judged {
        let ran = match &attempt.from {
            From::Result(record) => {
                let said = self.said_by(&attempt.segment, attempt.number);
                finished.take_in(said);
                Ok((record.clone(), Vec::new()))
            }
            From::Scratch | From::Limited | From::AskedAgain => {
                self.run_afresh(attempt, worktree, line, finished)
            }
        };
        reached(Step::AgentEnded);
        let (record, refused) = match ran {
            Ok(ran) => ran,
            Err(NotRun::Ended(ending)) => return Judged::Ended(ending),
            Err(NotRun::Broke(error)) => return Judged::Ended(AttemptEnding::Failed(error)),
        };
        judge::note(&record, &mut finished.notes);
        let log = attempt_folder(&self.folder, &attempt.segment, attempt.number).join(LOG);
        match judge::verdict(&*self.agent, &record.ending, &log, &self.record) {
            Judged::Ended(ending) => Judged::Ended(explained(ending, &refused)),
            succeeded @ Judged::Succeeded { .. } => succeeded,
        }
    }

    /// The record of the agent, and what the sandbox refused it.
    /// What an attempt left of its result before its engine died, if it ended by itself.
    pub(super) fn result_of(&self, segment: &str, attempt: u32, nonce: &str) -> Option<Record> {
        let folder = attempt_folder(&self.folder, segment, attempt);
        let record = load_record(&folder.join("agent.exit.json"), nonce)?;
        let by_itself = !matches!(
            record.ending,
            Ending::Abandoned | Ending::Vanished | Ending::Cancelled
        );
        by_itself.then_some(record)
    }
}

/// A wrapper that waits to be noted.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) whose: Whose,
    pub(super) process: ProcessIdentity,
    /// Sent to when it is noted, dropped when it must not run.
    pub(super) go: Sender<()>,
}

/// Why there is no result of an agent.
pub(super) enum NotRun {
    /// It came to an end before the agent.
    Ended(AttemptEnding),
    /// Something of ours failed.
    Broke(String),
}

impl NotRun {
    fn broke<E: std::error::Error>(what: &'static str) -> impl FnOnce(E) -> Self + Copy {
        move |error| Self::Broke(explain(what, &error))
    }
}

/// Clears up and says so, whatever happens: the end of the batch waits for it.
pub(super) fn tell_when_cleared(
    task: &TaskId,
    loop_: &Sender<Heard>,
    clear: impl FnOnce() -> Vec<String>,
) {
    let cleared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(clear));
    let bug = |_| vec!["Pleach has a bug: its worktree may not be gone".to_owned()];
    let notes = cleared.unwrap_or_else(bug);
    let task = task.clone();
    // Nobody listens only when the loop failed, and then everything stays.
    let _ = loop_.send(Heard::Cleared { task, notes });
}

/// An ending that tells what the sandbox refused as well, for that may be why.
fn explained(ending: AttemptEnding, refused: &[String]) -> AttemptEnding {
    let with = |error: String| {
        let parts = std::iter::once(error).chain(refused.iter().cloned());
        parts.collect::<Vec<_>>().join("; ")
    };
    match ending {
        AttemptEnding::Failed(error) => AttemptEnding::Failed(with(error)),
        AttemptEnding::Hopeless(error) => AttemptEnding::Hopeless(with(error)),
        other => other,
    }
}

pub(super) fn explain(what: &str, error: &dyn std::error::Error) -> String {
    format!("{what}: {}", with_causes(error))
}

/// How long recovery waits for the wrapper of a dead engine, beyond what an agent may take to stop.
pub(super) const PATIENCE: Duration = Duration::from_secs(15);
