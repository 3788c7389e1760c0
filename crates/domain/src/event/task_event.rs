//! What can happen to a task.

use serde::{Deserialize, Serialize};

use crate::id::TaskId;
use crate::work::{Commit, Consent, Spent};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskEvent {
    /// It waits until a person approves it.
    Waiting {
        /// What that person consents to with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        consent: Option<Consent>,
    },
    Approved,
    Started {
        /// Which attempt this is, counted from 1.
        attempt: u32,
        /// The commit it starts from.
        basis: Commit,
    },
    /// The attempt got a machine to run on, which it may have waited for.
    Placed {
        attempt: u32,
        node: String,
    },
    StopRequested,
    /// The last state of an attempt was kept.
    Kept {
        commit: Commit,
    },
    /// The agent succeeded; its work is a commit.
    Built {
        /// The tip of the task branch.
        commit: Commit,
        files: Vec<String>,
    },
    Unchanged {
        /// Why nothing was needed, as the agent says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The agent changed nothing without saying why, and is asked once more in the same worktree.
    AskedAgain,
    /// The attempt failed, and another one follows after a pause.
    AttemptFailed {
        error: String,
        /// How long to wait, in milliseconds.
        pause: u64,
    },
    /// The agent may not work for now; no attempt is spent.
    Limited {
        error: String,
        /// How long to wait, in milliseconds.
        pause: u64,
    },
    /// What the agent talks to is overloaded; no attempt is spent.
    Overloaded {
        error: String,
        /// How long to wait, in milliseconds.
        pause: u64,
    },
    Spent(Spent),
    /// The agent's own session began, by which it can go on later.
    SessionBegan {
        session: String,
    },
    #[serde(rename = "rested")]
    PauseEnded,
    /// The process that ran the attempt died, and the agent with it.
    Interrupted,
    /// The machine that ran the attempt is gone; no failure is counted.
    Lost {
        because: String,
    },
    /// It runs once more, on the woven result.
    Requeued {
        because: String,
    },
    /// The task failed for good.
    Failed {
        error: String,
    },
    TimedOut,
    /// The branch is in the batch branch.
    Woven {
        /// The new tip of the batch branch.
        tip: Commit,
    },
    Conflicted {
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// The tests fail with it, so it is left out.
    Invalid {
        because: String,
        /// The tasks that were in when they failed first.
        #[serde(default)]
        with: Vec<TaskId>,
    },
    /// A person made a commit of a branch that did not merge.
    Resolved {
        /// The new tip of the task branch.
        commit: Commit,
        /// The commit it was resolved on.
        basis: Commit,
        files: Vec<String>,
    },
    /// It will not start, or what it did is left out with what it needs.
    Blocked {
        because: String,
    },
    /// Nobody ran the batch, and another one has taken the task.
    TakenOver {
        because: String,
    },
    /// It was stopped by a person, or because the batch stopped.
    Cancelled,
    Retried,
    /// Its work is a branch in the user's repository.
    Published {
        branch: String,
        commit: Commit,
    },
}

impl TaskEvent {
    pub fn participle(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "held",
            Self::Approved => "approved",
            Self::Started { .. } => "started",
            Self::Placed { .. } => "placed",
            Self::StopRequested => "asked to stop",
            Self::Kept { .. } => "kept",
            Self::Built { .. } => "built",
            Self::Unchanged { .. } => "left unchanged",
            Self::AskedAgain => "asked again",
            Self::AttemptFailed { .. } => "tried in vain",
            Self::Limited { .. } => "limited",
            Self::Overloaded { .. } => "overloaded",
            Self::Spent(_) => "charged",
            Self::SessionBegan { .. } => "spoken to",
            Self::PauseEnded => "rested",
            Self::Interrupted => "interrupted",
            Self::Lost { .. } => "lost",
            Self::Requeued { .. } => "requeued",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed out",
            Self::Woven { .. } => "woven",
            Self::Conflicted { .. } => "conflicted",
            Self::Invalid { .. } => "found invalid",
            Self::Resolved { .. } => "resolved",
            Self::Blocked { .. } => "blocked",
            Self::TakenOver { .. } => "taken over",
            Self::Cancelled => "cancelled",
            Self::Retried => "retried",
            Self::Published { .. } => "published",
        }
    }

    /// Every event once of an attempt that goes on or that another one follows, with some data.
    fn one_of_each_pause() -> Vec<Self> {
        let error = || "exit 1".to_owned();
        vec![
            Self::AttemptFailed {
                error: error(),
                pause: 5_000,
            },
            Self::Limited {
                error: error(),
                pause: 5_000,
            },
            Self::Overloaded {
                error: error(),
                pause: 5_000,
            },
            Self::Spent(Spent {
                tokens: 1_200,
                micro_usd: 30_000,
            }),
            Self::SessionBegan {
                session: "s1".into(),
            },
            Self::Placed {
                attempt: 1,
                node: "node7".into(),
            },
            Self::Lost {
                because: "node7 went down".into(),
            },
        ]
    }

    pub fn one_of_each() -> Vec<Self> {
        let commit = Commit("c2".into());
        let error = || "exit 1".to_owned();
        let mut events = vec![
            Self::Waiting { consent: None },
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
            Self::Unchanged { reason: None },
            Self::AskedAgain,
            Self::PauseEnded,
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
            Self::Invalid {
                because: "the tests fail with it".into(),
                with: Vec::new(),
            },
            Self::Resolved {
                commit: Commit("c5".into()),
                basis: Commit("c3".into()),
                files: vec!["a".into()],
            },
            Self::Blocked {
                because: "1 failed".into(),
            },
            Self::TakenOver {
                because: "batch 2 has it".into(),
            },
            Self::Cancelled,
            Self::Retried,
            Self::Published {
                branch: "pleach/task-1/1".into(),
                commit: Commit("c4".into()),
            },
        ];
        events.extend(Self::one_of_each_pause());
        events
    }
}
