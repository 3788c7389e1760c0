//! Where a task stands within a batch, and which moves are legal.
//!
//! Knows one task at a time.

use crate::event::TaskEvent;
use crate::id::TaskId;
use crate::words::words;
pub use crate::work::{Commit, Consent, SteeringFile};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// It has not started, or not again.
    Queued,
    /// It may start once a person approves.
    Waiting {
        /// What a person must consent to, where that is what it waits for.
        consent: Option<Consent>,
    },
    /// Its last attempt failed, and the next one comes after a pause.
    RetryPause {
        /// How long, in milliseconds.
        pause: u64,
    },
    /// Its agent may not work for now.
    Limited {
        /// How long, in milliseconds.
        pause: u64,
    },
    Running {
        /// Which attempt this is, counted from 1.
        attempt: u32,
    },
    /// Its agent was asked to stop and has not ended yet.
    Stopping {
        attempt: u32,
    },
    /// Its work is a commit on its branch, not yet woven.
    Built {
        /// The tip of the task branch.
        commit: Commit,
    },
    Ended(Ending),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Its branch is in the batch branch.
    Merged {
        /// The tip of the task branch.
        commit: Commit,
    },
    NoChanges {
        /// Why nothing was needed, as the agent says.
        reason: Option<String>,
    },
    /// Its branch does not merge cleanly; it is left out and kept.
    Conflicted {
        commit: Commit,
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// The tests fail with it; it is left out and kept.
    Invalid {
        commit: Commit,
        because: String,
        /// The tasks that were in when they failed first.
        with: Vec<TaskId>,
    },
    Failed {
        error: String,
    },
    TimedOut,
    /// It never started or is left out, because of another task or for want of consent.
    Blocked {
        because: String,
    },
    /// A person stopped it, or the batch did.
    Cancelled,
}

impl Ending {
    /// Whether tasks that need this one may go on.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Merged { .. } | Self::NoChanges { .. })
    }

    /// Whether it was tried and did not make it.
    pub fn is_failure(&self) -> bool {
        matches!(
            self,
            Self::Conflicted { .. } | Self::Invalid { .. } | Self::Failed { .. } | Self::TimedOut
        )
    }

    pub fn outcome(&self) -> &'static str {
        TaskOutcome::from(self).as_str()
    }
}

words! {
    /// How a task ended, in one word.
    pub enum TaskOutcome {
        Merged = "merged",
        NoChanges = "no_changes",
        Conflicted = "conflicted",
        Invalid = "invalid",
        Failed = "failed",
        TimedOut = "timed_out",
        Blocked = "blocked",
        Cancelled = "cancelled",
    }
}

words! {
    /// Where a task stands, in one word.
    pub enum TaskWord {
        Pending = "pending",
        InProgress = "in_progress",
        Queued = "queued",
        Waiting = "waiting",
        Limited = "limited",
        Running = "running",
        Stopping = "stopping",
        Built = "built",
        Completed = "completed",
        Merged = "merged",
        NoChanges = "no_changes",
        Conflicted = "conflicted",
        Invalid = "invalid",
        Failed = "failed",
        TimedOut = "timed_out",
        Blocked = "blocked",
        Skipped = "skipped",
        Cancelled = "cancelled",
    }
}

impl From<TaskOutcome> for TaskWord {
    fn from(outcome: TaskOutcome) -> Self {
        match outcome {
            TaskOutcome::Merged => Self::Merged,
            TaskOutcome::NoChanges => Self::NoChanges,
            TaskOutcome::Conflicted => Self::Conflicted,
            TaskOutcome::Invalid => Self::Invalid,
            TaskOutcome::Failed => Self::Failed,
            TaskOutcome::TimedOut => Self::TimedOut,
            TaskOutcome::Blocked => Self::Blocked,
            TaskOutcome::Cancelled => Self::Cancelled,
        }
    }
}

impl From<&Ending> for TaskOutcome {
    fn from(ending: &Ending) -> Self {
        match ending {
            Ending::Merged { .. } => Self::Merged,
            Ending::NoChanges { .. } => Self::NoChanges,
            Ending::Conflicted { .. } => Self::Conflicted,
            Ending::Invalid { .. } => Self::Invalid,
            Ending::Failed { .. } => Self::Failed,
            Ending::TimedOut => Self::TimedOut,
            Ending::Blocked { .. } => Self::Blocked,
            Ending::Cancelled => Self::Cancelled,
        }
    }
}

/// Why a task cannot run without one that it needs, by the state of that.
pub(crate) fn broken_need(needed: &TaskId, state: &str) -> String {
    format!("needs {needed}, which {}", verb(state))
}

/// What a task did that has not succeeded, after "task 1".
pub(crate) fn verb(state: &str) -> String {
    match state {
        "failed" | "conflicted" => state.to_owned(),
        "timed_out" => "timed out".to_owned(),
        "invalid" => "fails the tests".to_owned(),
        "cancelled" => "was cancelled".to_owned(),
        other => format!("is {}", other.replace('_', " ")),
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {state} cannot be {event}")]
pub struct IllegalMove {
    state: &'static str,
    event: &'static str,
}

impl TaskState {
    pub fn word(&self) -> TaskWord {
        match self {
            Self::Queued | Self::RetryPause { .. } => TaskWord::Queued,
            Self::Waiting { .. } => TaskWord::Waiting,
            Self::Limited { .. } => TaskWord::Limited,
            Self::Running { .. } => TaskWord::Running,
            Self::Stopping { .. } => TaskWord::Stopping,
            Self::Built { .. } => TaskWord::Built,
            Self::Ended(ending) => TaskOutcome::from(ending).into(),
        }
    }

    pub fn as_str(&self) -> &'static str {
        self.word().as_str()
    }

    pub fn ending(&self) -> Option<&Ending> {
        match self {
            Self::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// Whether it ended well, as far as is known.
    pub fn is_success(&self) -> bool {
        self.ending().is_some_and(Ending::is_success)
    }

    /// The commit that holds its work, where that is built.
    pub fn commit(&self) -> Option<&Commit> {
        match self {
            Self::Built { commit }
            | Self::Ended(
                Ending::Merged { commit }
                | Ending::Conflicted { commit, .. }
                | Ending::Invalid { commit, .. },
            ) => Some(commit),
            _ => None,
        }
    }

    pub fn attempt(&self) -> Option<u32> {
        match self {
            Self::Running { attempt } | Self::Stopping { attempt } => Some(*attempt),
            _ => None,
        }
    }

    /// Whether no agent is at it and it is not over.
    pub fn is_idle(&self) -> bool {
        matches!(
            self,
            Self::Queued | Self::Waiting { .. } | Self::RetryPause { .. } | Self::Limited { .. }
        )
    }

    /// Whether it can go out for the sake of another one.
    fn may_be_blocked(&self) -> bool {
        self.is_idle() || self.is_success() || matches!(self, Self::Built { .. })
    }

    /// Whether another batch may take it while nobody runs this one: there is no work of it here that counts.
    pub fn may_be_taken_over(&self) -> bool {
        !self.is_success() && !matches!(self, Self::Built { .. })
    }

    pub fn after(&self, event: &TaskEvent) -> Result<Self, IllegalMove> {
        use TaskEvent as Event;
        let at_work = self.attempt().is_some();
        let next = match (self, event) {
            // Where the last state of an attempt is, and under which name, changes nothing.
            (_, Event::Kept { .. } | Event::Published { .. })
            | (
                Self::Running { .. } | Self::Stopping { .. },
                Event::Spent(_) | Event::SessionBegan { .. },
            ) => self.clone(),
            (_, Event::Placed { attempt, .. }) if self.attempt() == Some(*attempt) => self.clone(),
            (Self::Queued, Event::Waiting { consent }) => Self::Waiting {
                consent: consent.clone(),
            },
            (Self::Waiting { .. }, Event::Approved)
            | (Self::RetryPause { .. } | Self::Limited { .. }, Event::PauseEnded)
            | (Self::Built { .. }, Event::Requeued { .. })
            | (
                Self::Running { .. },
                Event::Interrupted
                | Event::Lost { .. }
                | Event::Requeued { .. }
                | Event::AskedAgain,
            ) => Self::Queued,
            (Self::Queued, Event::Started { attempt, .. }) => Self::Running { attempt: *attempt },
            (Self::Running { attempt }, Event::StopRequested) => {
                Self::Stopping { attempt: *attempt }
            }
            (
                Self::Running { .. },
                Event::AttemptFailed { pause, .. } | Event::Overloaded { pause, .. },
            ) => Self::RetryPause { pause: *pause },
            (Self::Running { .. }, Event::Limited { pause, .. }) => Self::Limited { pause: *pause },
            // An agent may finish before it hears that it should stop: its work counts.
            (_, Event::Built { commit, .. }) if at_work => Self::Built {
                commit: commit.clone(),
            },
            (Self::Ended(ending), Event::Retried) if !ending.is_success() => Self::Queued,
            (Self::Ended(Ending::Conflicted { .. }), Event::Resolved { commit, .. }) => {
                Self::Built {
                    commit: commit.clone(),
                }
            }
            (state, event) => match state.ending_after(event) {
                Some(ending) => Self::Ended(ending),
                None => {
                    return Err(IllegalMove {
                        state: state.as_str(),
                        event: event.participle(),
                    });
                }
            },
        };
        Ok(next)
    }

    fn ending_after(&self, event: &TaskEvent) -> Option<Ending> {
        use TaskEvent as Event;
        let at_work = self.attempt().is_some();
        match (self, event) {
            (state, Event::Blocked { because }) if state.may_be_blocked() => {
                Some(Ending::Blocked {
                    because: because.clone(),
                })
            }
            // How it ended here stays so, whoever runs it next: the batch was judged by it.
            (Self::Ended(ending), Event::TakenOver { .. }) if !ending.is_success() => {
                Some(ending.clone())
            }
            (state, Event::TakenOver { because }) if state.may_be_taken_over() => {
                Some(Ending::Blocked {
                    because: because.clone(),
                })
            }
            (Self::Ended(Ending::Merged { commit }), Event::Invalid { because, with }) => {
                Some(Ending::Invalid {
                    commit: commit.clone(),
                    because: because.clone(),
                    with: with.clone(),
                })
            }
            (Self::Stopping { .. }, Event::Cancelled) => Some(Ending::Cancelled),
            (state, Event::Cancelled) if state.is_idle() => Some(Ending::Cancelled),
            (_, Event::Unchanged { reason }) if at_work => Some(Ending::NoChanges {
                reason: reason.clone(),
            }),
            (_, Event::TimedOut) if at_work => Some(Ending::TimedOut),
            // A branch that could not even be tried to weave fails its task too.
            (Self::Built { .. }, Event::Failed { error }) => Some(Ending::Failed {
                error: error.clone(),
            }),
            (_, Event::Failed { error }) if at_work => Some(Ending::Failed {
                error: error.clone(),
            }),
            (Self::Built { commit }, Event::Woven { .. }) => Some(Ending::Merged {
                commit: commit.clone(),
            }),
            (
                Self::Built { commit } | Self::Ended(Ending::Merged { commit }),
                Event::Conflicted { files, with },
            ) => Some(Ending::Conflicted {
                commit: commit.clone(),
                files: files.clone(),
                with: with.clone(),
            }),
            _ => None,
        }
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
            TaskState::Waiting { consent: None },
            TaskState::RetryPause { pause: 5 },
            TaskState::Limited { pause: 5 },
            TaskState::Running { attempt: 1 },
            TaskState::Stopping { attempt: 1 },
            TaskState::Built {
                commit: commit.clone(),
            },
            TaskState::Ended(Ending::Merged {
                commit: commit.clone(),
            }),
            TaskState::Ended(Ending::NoChanges { reason: None }),
            TaskState::Ended(Ending::Conflicted {
                commit,
                files: vec!["a".into()],
                with: vec![TaskId::new("1")],
            }),
            TaskState::Ended(Ending::Invalid {
                commit: Commit("c1".into()),
                because: "the tests fail with it".into(),
                with: Vec::new(),
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
    fn an_ended_task_moves_only_when_it_is_left_out_after_all_or_a_person_wants_it() {
        for state in states() {
            let Some(ending) = state.ending() else {
                continue;
            };
            let merged = matches!(ending, Ending::Merged { .. });
            for event in TaskEvent::one_of_each() {
                let moves = match event {
                    TaskEvent::Retried => !ending.is_success(),
                    TaskEvent::Invalid { .. } | TaskEvent::Conflicted { .. } => merged,
                    TaskEvent::Blocked { .. } => ending.is_success(),
                    TaskEvent::Resolved { .. } => matches!(ending, Ending::Conflicted { .. }),
                    _ => false,
                };
                match state.after(&event) {
                    Ok(next) => assert!(moves || next == state, "{state:?} {event:?}"),
                    Err(_) => assert!(!moves, "{state:?} {event:?}"),
                }
            }
        }
    }
}
