//! What happened to a batch, in the past tense.
//!
//! Only the loop that owns a batch makes events; everybody else reads them.

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::task_state::Commit;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    /// Something happened to one task.
    Task {
        /// The task.
        task: TaskId,
        /// What happened to it.
        #[serde(flatten)]
        event: TaskEvent,
    },
    /// Something happened to the batch as a whole.
    Batch(BatchEvent),
}

/// What becomes of the batch branch when a batch is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rollback {
    /// It stays with what was woven.
    Keep,
    /// It goes.
    Remove,
}

/// How the weaving of a stage went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeStatus {
    /// What was built is woven.
    Success,
    /// Something was left out.
    Conflicts,
    /// The woven result failed its tests.
    TestFailed,
    /// There was nothing to weave.
    Skipped,
}

/// What can happen to a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BatchEvent {
    /// It began.
    Started,
    /// The process that ran it died; another one goes on.
    Resumed,
    /// A stage or wave began.
    StageStarted {
        /// Its place, counted from 0.
        stage: usize,
    },
    /// All tasks of a stage or wave are over.
    StageEnded {
        /// Its place, counted from 0.
        stage: usize,
        /// How its weaving went.
        merge_status: MergeStatus,
        /// Whether the next one may start.
        success: bool,
    },
    /// Running several at once did not work out; what is left runs one at a time.
    FellBack {
        /// Why.
        reason: String,
        /// The stage that it concerns, or the whole batch.
        stage: Option<usize>,
    },
    /// A person asked to stop it.
    CancelRequested {
        /// What becomes of its branch.
        rollback: Rollback,
    },
    /// A rule says that nothing more shall start.
    GaveUp {
        /// The rule and what hit it.
        because: String,
    },
    /// The last task ended; the woven result is made and brought to the user.
    Merging,
    /// The batch branch is in the user's repository.
    Published {
        /// Its name there.
        branch: String,
        /// The commit it is at.
        tip: Commit,
    },
    /// Everything it had to do is over, and something was merged or nothing needed to be.
    Completed,
    /// It is over, and nothing was merged or a rule was hit.
    Failed {
        /// Why.
        error: String,
    },
    /// It was stopped by a person.
    Cancelled,
    /// A person wants some of its tasks tried again.
    Reopened,
}

impl BatchEvent {
    /// The event as a word.
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Resumed => "resumed",
            Self::StageStarted { .. } => "stage started",
            Self::StageEnded { .. } => "stage ended",
            Self::FellBack { .. } => "fallen back",
            Self::CancelRequested { .. } => "asked to stop",
            Self::GaveUp { .. } => "given up",
            Self::Merging => "merging",
            Self::Published { .. } => "published",
            Self::Completed => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled => "cancelled",
            Self::Reopened => "reopened",
        }
    }

    /// Every event once, with some data.
    pub fn one_of_each() -> Vec<Self> {
        vec![
            Self::Started,
            Self::Resumed,
            Self::StageStarted { stage: 0 },
            Self::StageEnded {
                stage: 0,
                merge_status: MergeStatus::Success,
                success: true,
            },
            Self::FellBack {
                reason: "no room".into(),
                stage: None,
            },
            Self::CancelRequested {
                rollback: Rollback::Keep,
            },
            Self::GaveUp {
                because: "1 failed".into(),
            },
            Self::Merging,
            Self::Published {
                branch: "pleach/batch-1".into(),
                tip: Commit("c3".into()),
            },
            Self::Completed,
            Self::Failed {
                error: "nothing was merged".into(),
            },
            Self::Cancelled,
            Self::Reopened,
        ]
    }
}

/// What can happen to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEvent {
    /// It waits until a person approves it.
    Waiting,
    /// A person approved it.
    Approved,
    /// An agent began.
    Started {
        /// Which attempt this is, counted from 1.
        attempt: u32,
        /// The commit it starts from.
        basis: Commit,
    },
    /// Its agent was asked to stop.
    StopRequested,
    /// The last state of an attempt was kept.
    Kept {
        /// The commit that holds it.
        commit: Commit,
    },
    /// The agent succeeded; its work is a commit.
    Built {
        /// The tip of the task branch.
        commit: Commit,
        /// The files it changed.
        files: Vec<String>,
    },
    /// The agent succeeded and changed nothing.
    Unchanged,
    /// The attempt failed, and another one follows after a pause.
    AttemptFailed {
        /// What happened.
        error: String,
        /// How long to wait, in milliseconds.
        pause: u64,
    },
    /// The agent may not work for now; no attempt is spent.
    Limited {
        /// What it said.
        error: String,
        /// How long to wait, in milliseconds.
        pause: u64,
    },
    /// The pause is over.
    Rested,
    /// The process that ran the attempt died, and the agent with it.
    Interrupted,
    /// It runs once more, on the woven result.
    Requeued {
        /// Why.
        because: String,
    },
    /// The task failed for good.
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
    /// It was stopped by a person, or because the batch stopped.
    Cancelled,
    /// A person wants it tried again.
    Retried,
    /// Its work is a branch in the user's repository.
    Published {
        /// Its name there.
        branch: String,
        /// The commit it is at.
        commit: Commit,
    },
}

impl TaskEvent {
    /// The event as a word.
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Waiting => "held",
            Self::Approved => "approved",
            Self::Started { .. } => "started",
            Self::StopRequested => "asked to stop",
            Self::Kept { .. } => "kept",
            Self::Built { .. } => "built",
            Self::Unchanged => "left unchanged",
            Self::AttemptFailed { .. } => "tried in vain",
            Self::Limited { .. } => "limited",
            Self::Rested => "rested",
            Self::Interrupted => "interrupted",
            Self::Requeued { .. } => "requeued",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed out",
            Self::Woven { .. } => "woven",
            Self::Conflicted { .. } => "conflicted",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
            Self::Retried => "retried",
            Self::Published { .. } => "published",
        }
    }

    /// Every event once, with some data.
    pub fn one_of_each() -> Vec<Self> {
        let commit = Commit("c2".into());
        let error = || "exit 1".to_owned();
        vec![
            Self::Waiting,
            Self::Approved,
            Self::Started {
                attempt: 1,
                basis: commit.clone(),
            },
            Self::StopRequested,
            Self::Kept {
                commit: commit.clone(),
            },
            Self::Built {
                commit: commit.clone(),
                files: vec!["a".into()],
            },
            Self::Unchanged,
            Self::AttemptFailed {
                error: error(),
                pause: 5_000,
            },
            Self::Limited {
                error: error(),
                pause: 5_000,
            },
            Self::Rested,
            Self::Interrupted,
            Self::Requeued {
                because: "it collided".into(),
            },
            Self::Failed { error: error() },
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
            Self::Retried,
            Self::Published {
                branch: "pleach/task-1/1".into(),
                commit: Commit("c4".into()),
            },
        ]
    }
}
