//! What happened to a batch, in the past tense.
//!
//! Only the loop that owns a batch makes events; everybody else reads them.

use crate::id::TaskId;
use crate::task_state::Commit;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Something happened to the batch as a whole.
    Batch(BatchEvent),
    /// Something happened to one task.
    Task {
        /// The task.
        task: TaskId,
        /// What happened to it.
        event: TaskEvent,
    },
}

/// What can happen to a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchEvent {
    /// It began.
    Started,
    /// A person asked to stop it.
    CancelRequested,
    /// Everything it had to do is over, and something was merged or nothing needed to be.
    Completed,
    /// It is over and nothing was merged.
    Failed,
    /// It was stopped by a person.
    Cancelled,
}

impl BatchEvent {
    /// The event as a word.
    pub fn participle(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::CancelRequested => "asked to stop",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Every event once.
    pub fn one_of_each() -> [Self; 5] {
        [
            Self::Started,
            Self::CancelRequested,
            Self::Completed,
            Self::Failed,
            Self::Cancelled,
        ]
    }
}

/// What can happen to a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEvent {
    /// An agent began.
    Started {
        /// Which attempt this is, counted from 1.
        attempt: u32,
    },
    /// Its agent was asked to stop.
    StopRequested,
    /// The agent succeeded; its work is a commit.
    Built {
        /// The tip of the task branch.
        commit: Commit,
    },
    /// The agent succeeded and changed nothing.
    Unchanged,
    /// The agent failed.
    Failed {
        /// What happened.
        error: String,
    },
    /// The agent took too long and was stopped.
    TimedOut,
    /// The branch is in the batch branch.
    Woven {
        /// The new tip of the batch branch.
        tip: Commit,
    },
    /// The branch does not merge cleanly.
    Conflicted {
        /// The files that conflict.
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// It will not start.
    Blocked {
        /// Why.
        because: String,
    },
    /// It was stopped by a person.
    Cancelled,
}

impl TaskEvent {
    /// The event as a word.
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::StopRequested => "asked to stop",
            Self::Built { .. } => "built",
            Self::Unchanged => "left unchanged",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed out",
            Self::Woven { .. } => "woven",
            Self::Conflicted { .. } => "conflicted",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// Every event once, with some data.
    pub fn one_of_each() -> Vec<Self> {
        let commit = Commit("c2".into());
        vec![
            Self::Started { attempt: 1 },
            Self::StopRequested,
            Self::Built {
                commit: commit.clone(),
            },
            Self::Unchanged,
            Self::Failed {
                error: "exit 1".into(),
            },
            Self::TimedOut,
            Self::Woven { tip: commit },
            Self::Conflicted {
                files: vec!["a".into()],
                with: vec![TaskId::new("1")],
            },
            Self::Blocked {
                because: "1 failed".into(),
            },
            Self::Cancelled,
        ]
    }
}
