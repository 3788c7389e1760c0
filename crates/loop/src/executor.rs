//! Where attempts and runs of the tests leave the loop.
//!
//! Decides nothing: what it hears of them goes to the loop's inbox.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use pleach_domain::batch::AttemptEnding;
use pleach_domain::id::TaskId;
use pleach_system::process::{Cancel, ProcessIdentity};

use super::LoopInput;
use crate::attempt::{Attempt, AttemptContext, Disposal, Finished, Probe, ProbeEnded};
use pleach_engine::validate::RunEnding;
use pleach_engine::worktree_programs::AttemptObserver;
use pleach_log::agent_report::AgentReport;
use pleach_log::database::{ProcessPurpose, SubmittedUnit};

/// Carries out what the loop sends out, and tells it the end of each.
pub(super) trait Executor {
    fn attend(&self, attempt: Box<Attempt>, handle: LoopHandle);

    fn judge(&self, probe: Box<Probe>, handle: LoopHandle);

    /// Goes on with an attempt that another process sent out.
    fn follow(&self, attempt: Box<Attempt>, handle: LoopHandle, _sent: SubmittedUnit) {
        self.attend(attempt, handle);
    }

    /// Hears that what came of a unit is stored.
    fn forget(&self, _fence: String) {}

    /// Has everything of this batch end that another process sent and nobody follows.
    fn abandon_the_rest(&self) {}

    /// Has attempts come back that have not begun: their agent may not work.
    fn take_back(&self) {}

    /// Whether what it carries out uses nothing of this machine, and goes on without this process.
    fn is_elsewhere(&self) -> bool {
        false
    }
}

#[derive(Debug, Clone)]
pub(super) struct LoopHandle {
    pub(super) inbox: Sender<LoopInput>,
    pub(super) whose: ProcessPurpose,
    pub(super) cancel: Cancel,
}

/// A wrapper that waits to be noted.
#[derive(Debug)]
pub(super) struct WrapperLaunch {
    pub(super) whose: ProcessPurpose,
    pub(super) process: ProcessIdentity,
    /// Sent to when it is noted, dropped when it must not run.
    pub(super) go: Sender<()>,
}

impl LoopHandle {
    /// Nobody listens only when the loop failed, and all work is kept by then.
    pub(super) fn tell(&self, input: LoopInput) {
        let _ = self.inbox.send(input);
    }
}

impl AttemptObserver for LoopHandle {
    fn launched(&self, process: &ProcessIdentity) -> bool {
        let (go, gone_ahead) = channel();
        self.tell(LoopInput::Launched(Box::new(WrapperLaunch {
            whose: self.whose.clone(),
            process: process.clone(),
            go,
        })));
        gone_ahead.recv().is_ok()
    }

    fn said(&self, said: &AgentReport) {
        if let ProcessPurpose::Attempt(task, attempt) = &self.whose {
            self.tell(LoopInput::Said {
                task: task.clone(),
                attempt: *attempt,
                said: said.clone(),
            });
        }
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

/// Does everything on this machine, each on a thread of its own.
#[derive(Debug)]
pub(super) struct LocalExecutor(pub(super) Arc<AttemptContext>);

impl Executor for LocalExecutor {
    fn attend(&self, attempt: Box<Attempt>, handle: LoopHandle) {
        let context = Arc::clone(&self.0);
        let (tried, told) = (attempt.clone(), handle.clone());
        let attend = move || {
            let (finished, tree) = context.carry_out(&attempt, &handle);
            let (say, disposal) = channel();
            handle.tell(LoopInput::Finished(Box::new(finished), say));
            tell_when_cleared(&attempt.task, &handle.inbox, || {
                let wanted = disposal.recv().unwrap_or(Disposal::Stay);
                context.dispose(&attempt, tree, wanted)
            });
        };
        if let Err(error) = std::thread::Builder::new().spawn(attend) {
            let why = format!("the attempt could not start: {error}");
            let finished = Finished::new(&tried, AttemptEnding::Failed(why));
            told.tell(LoopInput::Finished(Box::new(finished), channel().0));
        }
    }

    fn judge(&self, probe: Box<Probe>, handle: LoopHandle) {
        let context = Arc::clone(&self.0);
        let (tried, told) = (probe.clone(), handle.clone());
        let judge = move || {
            let ended = context.judge(&probe, &handle);
            handle.tell(LoopInput::Judged(Box::new(ended)));
        };
        if let Err(error) = std::thread::Builder::new().spawn(judge) {
            let why = format!("no space left: {error}");
            let ended = ProbeEnded::new(&tried, RunEnding::Trouble(why));
            told.tell(LoopInput::Judged(Box::new(ended)));
        }
    }
}

/// Clears up and says so, whatever happens: the end of the batch waits for it.
pub(super) fn tell_when_cleared(
    task: &TaskId,
    inbox: &Sender<LoopInput>,
    clear: impl FnOnce() -> Vec<String>,
) {
    let cleared = std::panic::catch_unwind(std::panic::AssertUnwindSafe(clear));
    let bug = |_| vec!["bug in Pleach: its worktree may still exist".to_owned()];
    let notes = cleared.unwrap_or_else(bug);
    let task = task.clone();
    // Nobody listens only when the loop failed, and then everything stays.
    let _ = inbox.send(LoopInput::Cleared { task, notes });
}
