//! Where a task stands within a batch, and which moves are legal.
//!
//! Knows one task at a time.

use serde::{Deserialize, Serialize};

use crate::event::TaskEvent;
use crate::id::TaskId;

/// A commit, by its full hexadecimal name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Commit(pub String);

/// Where a task stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// It has not started.
    Queued,
    /// An agent is at it.
    Running {
        /// Which attempt this is, counted from 1.
        attempt: u32,
    },
    /// Its agent was asked to stop and has not ended yet.
    Stopping {
        /// The attempt that is being stopped.
        attempt: u32,
    },
    /// Its work is a commit on its branch, not yet woven.
    Built {
        /// The tip of the task branch.
        commit: Commit,
    },
    /// It is over.
    Ended(Ending),
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its branch is in the batch branch.
    Merged {
        /// The tip of the task branch.
        commit: Commit,
    },
    /// The agent succeeded and changed nothing.
    NoChanges,
    /// Its branch does not merge cleanly; it is left out and kept.
    Conflicted {
        /// The tip of the task branch.
        commit: Commit,
        /// The files that conflict.
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// The agent failed.
    Failed {
        /// What happened.
        error: String,
    },
    /// The agent took too long.
    TimedOut,
    /// It never started, because of another task or for want of consent.
    Blocked {
        /// Why.
        because: String,
    },
    /// A person stopped it.
    Cancelled,
}

impl Ending {
    /// Whether tasks that need this one may go on.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Merged { .. } | Self::NoChanges)
    }

    /// The word for it on every surface.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Merged { .. } => "merged",
            Self::NoChanges => "no_changes",
            Self::Conflicted { .. } => "conflicted",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed_out",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A move that a state does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {state} cannot be {event}")]
pub struct IllegalMove {
    state: &'static str,
    event: &'static str,
}

impl TaskState {
    /// The word for it on every surface.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running { .. } => "running",
            Self::Stopping { .. } => "stopping",
            Self::Built { .. } => "built",
            Self::Ended(ending) => ending.outcome(),
        }
    }

    /// How it ended, if it did.
    pub fn ending(&self) -> Option<&Ending> {
        match self {
            Self::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// The state after an event.
    pub fn after(&self, event: &TaskEvent) -> Result<Self, IllegalMove> {
        use TaskEvent as Event;
        let next = match (self, event) {
            (Self::Queued, Event::Started { attempt }) => Self::Running { attempt: *attempt },
            (Self::Queued, Event::Blocked { because }) => Self::Ended(Ending::Blocked {
                because: because.clone(),
            }),
            (Self::Queued | Self::Stopping { .. }, Event::Cancelled) => {
                Self::Ended(Ending::Cancelled)
            }
            (Self::Running { attempt }, Event::StopRequested) => {
                Self::Stopping { attempt: *attempt }
            }
            // An agent may finish before it hears that it should stop: its work counts.
            (Self::Running { .. } | Self::Stopping { .. }, Event::Built { commit }) => {
                Self::Built {
                    commit: commit.clone(),
                }
            }
            (Self::Running { .. } | Self::Stopping { .. }, Event::Unchanged) => {
                Self::Ended(Ending::NoChanges)
            }
            // A branch that could not even be tried to weave fails its task too.
            (
                Self::Running { .. } | Self::Stopping { .. } | Self::Built { .. },
                Event::Failed { error },
            ) => Self::Ended(Ending::Failed {
                error: error.clone(),
            }),
            (Self::Running { .. } | Self::Stopping { .. }, Event::TimedOut) => {
                Self::Ended(Ending::TimedOut)
            }
            (Self::Built { commit }, Event::Woven { .. }) => Self::Ended(Ending::Merged {
                commit: commit.clone(),
            }),
            (Self::Built { commit }, Event::Conflicted { files, with }) => {
                Self::Ended(Ending::Conflicted {
                    commit: commit.clone(),
                    files: files.clone(),
                    with: with.clone(),
                })
            }
            (state, event) => {
                return Err(IllegalMove {
                    state: state.as_str(),
                    event: event.participle(),
                });
            }
        };
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn states() -> Vec<TaskState> {
        let commit = Commit("c1".into());
        vec![
            TaskState::Queued,
            TaskState::Running { attempt: 1 },
            TaskState::Stopping { attempt: 1 },
            TaskState::Built {
                commit: commit.clone(),
            },
            TaskState::Ended(Ending::Merged {
                commit: commit.clone(),
            }),
            TaskState::Ended(Ending::NoChanges),
            TaskState::Ended(Ending::Conflicted {
                commit,
                files: vec!["a".into()],
                with: vec![TaskId::new("1")],
            }),
            TaskState::Ended(Ending::Failed {
                error: "exit 1".into(),
            }),
            TaskState::Ended(Ending::TimedOut),
            TaskState::Ended(Ending::Blocked {
                because: "1 failed".into(),
            }),
            TaskState::Ended(Ending::Cancelled),
        ]
    }

    #[test]
    fn every_state_meets_every_event() {
        let events = TaskEvent::one_of_each();
        let mut table = format!("{:<11}", "");
        for event in &events {
            write!(table, "{:<15}", event.participle()).unwrap();
        }
        for state in states() {
            write!(table, "\n{:<11}", state.as_str()).unwrap();
            for event in &events {
                let next = state.after(event);
                let next = next.as_ref().map_or("·", TaskState::as_str);
                write!(table, "{next:<15}").unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn an_ended_task_never_moves_again() {
        for state in states().iter().filter(|state| state.ending().is_some()) {
            for event in TaskEvent::one_of_each() {
                assert!(state.after(&event).is_err(), "{state:?} {event:?}");
            }
        }
    }
}
