//! One attempt of an agent on a task: worktree, setup, agent, capture.
//!
//! Knows nothing of other tasks, nor of who asked for it: whoever did hears of it as an `AttemptObserver`.

mod capture_result;
mod disposing;
mod judge;
mod log_listener;
mod places;
mod probe;
mod program;
mod spares;

use std::path::PathBuf;
use std::sync::Arc;

use pleach_domain::batch::{AttemptEnding, Spent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::{CommitId, Store};
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::{Ending, ProcessRecord, load_record};
use pleach_system::secrets::{Hider, Secrets};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;
use serde::{Deserialize, Serialize};

use pleach_engine::agent::Agent;
use pleach_engine::batch_record::AttemptSettings;
use pleach_engine::validate::Tests;
use pleach_engine::worktree_programs::AttemptObserver;
use pleach_git::worktree::{Included, Worktree, WorktreeError, WorktreeSpec};
use pleach_log::agent_report::AgentReport;
use pleach_log::batch_paths::{LOG, attempt_folder};
use pleach_log::database::ProcessPurpose;

pub(crate) use disposing::{AttemptTree, Disposal, RetireError};
pub(crate) use places::{NodePlace, not_kept};
pub(crate) use probe::{Probe, ProbeEnded};
pub(crate) use spares::Spares;

use judge::AgentVerdict;

#[derive(Debug)]
pub(crate) struct AttemptContext {
    pub(crate) store: Store,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) state: StateFolder,
    pub(crate) folder: PathBuf,
    pub(crate) number: BatchNumber,
    pub(crate) settings: AttemptSettings,
    pub(crate) trees: PathBuf,
    /// The folder of the user's that all tasks work in, if they do.
    pub(crate) shared_folder: Option<PathBuf>,
    /// Ignored files of the user's checkout that every worktree gets.
    pub(crate) included: Included,
    pub(crate) wrapper: PathBuf,
    /// The machine of a cluster that this is, if it is one.
    pub(crate) node: Option<NodePlace>,
    /// Pleach's own program, which git calls back.
    pub(crate) program: PathBuf,
    /// Worktrees of tasks that are over, for those that come.
    pub(crate) spares: Spares,
    pub(crate) secrets: Secrets,
    pub(crate) hider: Hider,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeSource {
    /// Another attempt was there before.
    Found,
    /// Nobody was, and it is as another attempt left one elsewhere.
    BroughtBack,
    /// Nobody was.
    Made,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) task: TaskId,
    pub(crate) title: String,
    pub(crate) number: u32,
    pub(crate) segment: String,
    /// Where its worktree is on this machine.
    #[serde(skip)]
    pub(crate) path: PathBuf,
    pub(crate) branch: String,
    pub(crate) basis: CommitId,
    pub(crate) prompt: String,
    pub(crate) session: Option<String>,
    pub(crate) spent_before: Spent,
    pub(crate) start: StartPoint,
    /// The last state of the attempt before, where this one goes on from that.
    #[serde(default)]
    pub(crate) kept: Option<CommitId>,
}

impl Attempt {
    pub(crate) fn whose(&self) -> ProcessPurpose {
        ProcessPurpose::Attempt(self.task.clone(), self.number)
    }

    fn begun_anew(&self) -> Self {
        Self {
            session: None,
            spent_before: Spent::default(),
            start: StartPoint::Scratch,
            kept: None,
            ..self.clone()
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartPoint {
    Scratch,
    /// Where its agent was when it was limited.
    Limited,
    /// Where its agent ended without having changed anything, or having said why.
    AskedAgain,
    /// Where the agent has ended under another engine.
    Result(ProcessRecord),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) task: TaskId,
    /// Which attempt on it, counted from 1.
    pub(crate) attempt: u32,
    pub(crate) ending: AttemptEnding,
    /// The last state of the worktree, where it was not taken as the task's work.
    pub(crate) kept: Option<CommitId>,
    pub(crate) spent: Option<Spent>,
    pub(crate) session: Option<String>,
    pub(crate) notes: Vec<String>,
    /// The fence of the unit that it was, on a cluster.
    #[serde(skip)]
    pub(crate) fence: Option<String>,
}

impl Finished {
    /// An attempt that ended so, of which nothing else is known.
    pub(crate) fn new(attempt: &Attempt, ending: AttemptEnding) -> Self {
        Self {
            task: attempt.task.clone(),
            attempt: attempt.number,
            ending,
            kept: None,
            spent: None,
            session: None,
            notes: Vec::new(),
            fence: None,
        }
    }

    pub(crate) fn take_in(&mut self, said: AgentReport) {
        self.spent = Some(said.spent).filter(|spent| *spent != Spent::default());
        self.session = said.session;
    }
}

impl AttemptContext {
    /// Carries an attempt out; what came of it, and the worktree if there is one.
    pub(crate) fn carry_out(
        &self,
        attempt: &Attempt,
        observer: &dyn AttemptObserver,
    ) -> (Finished, Option<AttemptTree>) {
        if !matches!(attempt.start, StartPoint::Result(_)) {
            crash_point(CrashPoint::TaskStarted);
        }
        let bug = "bug in Pleach: the attempt ended unexpectedly".to_owned();
        let mut finished = Finished::new(attempt, AttemptEnding::Failed(bug));
        // A bug in doing so is a failure of this task only.
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.try_out(attempt, observer, &mut finished)
        }));
        let tree = match tried {
            Ok((ending, tree)) => {
                finished.ending = ending;
                tree
            }
            Err(_) => None,
        };
        (finished, tree)
    }

    fn try_out(
        &self,
        attempt: &Attempt,
        observer: &dyn AttemptObserver,
        finished: &mut Finished,
    ) -> (AttemptEnding, Option<AttemptTree>) {
        let (worktree, source) = match self.worktree(attempt) {
            Ok(found_or_made) => found_or_made,
            Err(error) => return (AttemptEnding::NoWorktree(error), None),
        };
        let anew;
        let attempt = match source {
            TreeSource::Found | TreeSource::BroughtBack => attempt,
            // Whatever was done before is not here, and nobody must be told that it is.
            TreeSource::Made => {
                anew = attempt.begun_anew();
                &anew
            }
        };
        let mut cache = Vec::new();
        let place = (&worktree, source);
        let (ending, kept) = match self.run_in(attempt, place, observer, finished) {
            AgentVerdict::Succeeded { denials, unneeded } => {
                cache.clone_from(&self.settings.cache);
                let (ending, kept) = self.take(attempt, &worktree, finished);
                let ending = judge::with_words(ending, denials, unneeded, finished);
                (ending, kept)
            }
            AgentVerdict::Ended(ending) => (ending, None),
        };
        let kept = kept.or_else(|| self.keep_last_state(attempt, &worktree, finished));
        if kept.is_none() {
            self.note_what_is_left(attempt, &worktree, finished);
        }
        finished.notes.extend(not_kept(&self.store));
        crash_point(CrashPoint::WorkKept);
        let tree = AttemptTree {
            worktree,
            kept,
            cache,
        };
        (ending, Some(tree))
    }

    fn worktree(&self, attempt: &Attempt) -> Result<(Worktree, TreeSource), String> {
        let spec = WorktreeSpec {
            path: attempt.path.clone(),
            branch: attempt.branch.clone(),
            basis: attempt.basis.clone(),
        };
        let explained = |error| with_causes(&error);
        let goes_on = !matches!(attempt.start, StartPoint::Scratch);
        let found = goes_on.then(|| self.find_tree(&spec));
        match (
            found.transpose().map_err(explained)?.flatten(),
            &attempt.start,
        ) {
            (Some(found), _) => return Ok((found, TreeSource::Found)),
            (None, StartPoint::Result(_)) => return Err("its folder is gone".to_owned()),
            (None, StartPoint::Scratch | StartPoint::Limited | StartPoint::AskedAgain) => {}
        }
        if !self.is_in_place() && attempt.path.symlink_metadata().is_ok() {
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
        let source = self.bring_back(attempt, &made).map_err(explained)?;
        crash_point(CrashPoint::WorktreeMade);
        Ok((made, source))
    }

    /// On a cluster no worktree stays until an agent may go on: what it left comes along instead.
    fn bring_back(&self, attempt: &Attempt, made: &Worktree) -> Result<TreeSource, WorktreeError> {
        if self.node.is_none() || matches!(attempt.start, StartPoint::Scratch) {
            return Ok(TreeSource::Made);
        }
        if let Some(kept) = &attempt.kept {
            made.bring_back(&self.store, kept)?;
        }
        Ok(TreeSource::BroughtBack)
    }

    fn run_in(
        &self,
        attempt: &Attempt,
        place: (&Worktree, TreeSource),
        observer: &dyn AttemptObserver,
        finished: &mut Finished,
    ) -> AgentVerdict {
        let ran = match &attempt.start {
            StartPoint::Result(record) => {
                let said = self.said_by(&attempt.segment, attempt.number);
                finished.take_in(said);
                Ok((record.clone(), Vec::new()))
            }
            StartPoint::Scratch | StartPoint::Limited | StartPoint::AskedAgain => {
                self.run_afresh(attempt, place, observer, finished)
            }
        };
        crash_point(CrashPoint::AgentEnded);
        let (record, refused) = match ran {
            Ok(ran) => ran,
            Err(ending) => return AgentVerdict::Ended(ending),
        };
        judge::note(&record, &mut finished.notes);
        let log = attempt_folder(&self.folder, &attempt.segment, attempt.number).join(LOG);
        match judge::verdict(&*self.agent, &record.ending, &log, &self.settings) {
            AgentVerdict::Ended(ending) => AgentVerdict::Ended(explained(ending, &refused)),
            succeeded @ AgentVerdict::Succeeded { .. } => succeeded,
        }
    }

    /// What an attempt left of its result before its engine died, if it ended by itself.
    pub(crate) fn result_of(
        &self,
        segment: &str,
        attempt: u32,
        nonce: &str,
    ) -> Option<ProcessRecord> {
        let folder = attempt_folder(&self.folder, segment, attempt);
        let record = load_record(&folder.join("agent.exit.json"), nonce)?;
        let by_itself = !matches!(
            record.ending,
            Ending::Abandoned | Ending::Vanished | Ending::Cancelled
        );
        by_itself.then_some(record)
    }

    pub(crate) fn tests(&self) -> Option<Tests> {
        let settings = &self.settings;
        Some(Tests {
            command: settings.validate.clone()?,
            timeout: settings.validate_timeout,
            env: settings.validate_env.clone(),
            // A folder that all tasks share was set up for them.
            setup: settings.setup.clone().filter(|_| !self.is_in_place()),
            sandbox: settings.sandbox.clone(),
        })
    }
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

pub(crate) fn explain(what: &str, error: &dyn std::error::Error) -> String {
    format!("{what}: {}", with_causes(error))
}
