//! Points at which a run can be made to die, so that every one of them can be tried.
//!
//! `PLEACH_DIE_AT` names the point; without it nothing happens here.

use std::ffi::OsString;
use std::sync::OnceLock;

use rustix::process::{Signal, getpid, kill_process};

/// The variable that names the point.
pub const DIE_AT: &str = "PLEACH_DIE_AT";

/// Every point, in the order in which a run comes by.
pub const ALL: [Step; 22] = [
    Step::FolderMade,
    Step::BatchStored,
    Step::BatchStarted,
    Step::TaskStarted,
    Step::WorktreeMade,
    Step::SetupRun,
    Step::WrapperLaunched,
    Step::ProcessNoted,
    Step::AgentEnded,
    Step::WorkCaptured,
    Step::WorkKept,
    Step::EndingHeard,
    Step::BranchWoven,
    Step::WeavingStored,
    Step::WorktreeRemoved,
    Step::PlanMarked,
    Step::AllOver,
    Step::ResultWoven,
    Step::BatchPublished,
    Step::TaskPublished,
    Step::BatchEnded,
    Step::BatchTakenUp,
];

/// A point between two effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A batch has a number and a folder, and is not stored.
    FolderMade,
    /// It is stored and has not begun.
    BatchStored,
    /// It has begun.
    BatchStarted,
    /// A task is stored as started and has no worktree.
    TaskStarted,
    /// Its worktree is made.
    WorktreeMade,
    /// Its setup has run.
    SetupRun,
    /// Its wrapper waits, unknown to the database.
    WrapperLaunched,
    /// The wrapper is noted and waits.
    ProcessNoted,
    /// The agent ended; its result record is written.
    AgentEnded,
    /// Its work is a commit on the task branch.
    WorkCaptured,
    /// Its work is kept.
    WorkKept,
    /// The loop heard of it, and nothing is stored.
    EndingHeard,
    /// The batch branch moved, and nothing is stored.
    BranchWoven,
    /// That is stored.
    WeavingStored,
    /// The worktree of a woven task is gone.
    WorktreeRemoved,
    /// The plan was marked.
    PlanMarked,
    /// All tasks are over, and that is stored.
    AllOver,
    /// The result is woven in the wanted way.
    ResultWoven,
    /// The batch branch is in the user's repository.
    BatchPublished,
    /// A branch that was left out is in the user's repository.
    TaskPublished,
    /// The end of the batch is stored.
    BatchEnded,
    /// An interrupted batch was taken up, and nothing of it was looked at.
    BatchTakenUp,
}

/// Comes by a point, and dies there if that is wanted.
pub(crate) fn reached(step: Step) {
    static WANTED: OnceLock<Option<OsString>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| std::env::var_os(DIE_AT));
    if wanted
        .as_ref()
        .is_some_and(|name| name == format!("{step:?}").as_str())
    {
        // As by somebody else: nothing is flushed, dropped or told.
        let _ = kill_process(getpid(), Signal::KILL);
    }
}
