//! Where a task stands within a batch, coarsely, as all surfaces say it.

use serde::{Deserialize, Serialize};

use crate::event::TaskEvent;
use crate::task_state::{Ending, TaskState};

/// The status of a task in a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum TaskStatusWord {
    Queued,
    Waiting,
    Limited,
    Running,
    Completed,
    Failed,
    Skipped,
    Cancelled,
}

impl TaskStatusWord {
    /// The word for a state.
    pub fn from_state(state: &TaskState) -> Self {
        match state {
            TaskState::Queued | TaskState::RetryPause { .. } => Self::Queued,
            TaskState::Waiting { .. } => Self::Waiting,
            TaskState::Limited { .. } => Self::Limited,
            TaskState::Running { .. } | TaskState::Stopping { .. } | TaskState::Built { .. } => {
                Self::Running
            }
            TaskState::Ended(ending) => match ending {
                Ending::Merged { .. } | Ending::NoChanges { .. } => Self::Completed,
                Ending::Failed { .. } | Ending::TimedOut => Self::Failed,
                Ending::Conflicted { .. } | Ending::Invalid { .. } | Ending::Blocked { .. } => {
                    Self::Skipped
                }
                Ending::Cancelled => Self::Cancelled,
            },
        }
    }

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Waiting => "waiting",
            Self::Limited => "limited",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }

    /// Where an event leaves a task and how it ended, whatever was before; nothing, where it moves nothing.
    pub fn after(event: &TaskEvent) -> Option<(Self, Option<&'static str>)> {
        Some(match event {
            TaskEvent::Kept { .. }
            | TaskEvent::Published { .. }
            | TaskEvent::Spent(_)
            | TaskEvent::SessionBegan { .. }
            | TaskEvent::Placed { .. }
            // What it ended as before, it stays.
            | TaskEvent::TakenOver { .. } => return None,
            TaskEvent::Waiting { .. } => (Self::Waiting, None),
            TaskEvent::Limited { .. } => (Self::Limited, None),
            TaskEvent::Approved
            | TaskEvent::AttemptFailed { .. }
            | TaskEvent::Overloaded { .. }
            | TaskEvent::PauseEnded
            | TaskEvent::Interrupted
            | TaskEvent::Lost { .. }
            | TaskEvent::AskedAgain
            | TaskEvent::Requeued { .. }
            | TaskEvent::Retried => (Self::Queued, None),
            TaskEvent::Started { .. }
            | TaskEvent::StopRequested
            | TaskEvent::Built { .. }
            | TaskEvent::Resolved { .. } => (Self::Running, None),
            TaskEvent::Woven { .. } => (Self::Completed, Some("merged")),
            TaskEvent::Unchanged { .. } => (Self::Completed, Some("no_changes")),
            TaskEvent::Failed { .. } => (Self::Failed, Some("failed")),
            TaskEvent::TimedOut => (Self::Failed, Some("timed_out")),
            TaskEvent::Conflicted { .. } => (Self::Skipped, Some("conflicted")),
            TaskEvent::Invalid { .. } => (Self::Skipped, Some("invalid")),
            TaskEvent::Blocked { .. } => (Self::Skipped, Some("blocked")),
            TaskEvent::Cancelled => (Self::Cancelled, Some("cancelled")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(state: &TaskState) -> (TaskStatusWord, Option<&'static str>) {
        let outcome = state.ending().map(Ending::outcome);
        (TaskStatusWord::from_state(state), outcome)
    }

    #[test]
    fn an_event_alone_tells_where_it_leaves_a_task() {
        let mut states = vec![TaskState::Queued];
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            for event in TaskEvent::one_of_each() {
                let Ok(next) = state.after(&event) else {
                    continue;
                };
                // What is taken over keeps its ending if it has one, which the event does not know.
                if matches!(event, TaskEvent::TakenOver { .. }) {
                    continue;
                }
                let alone = TaskStatusWord::after(&event).unwrap_or_else(|| told(&state));
                assert_eq!(alone, told(&next), "{state:?} {event:?}");
                if !states.contains(&next) {
                    states.push(next);
                }
            }
            at += 1;
        }
        assert!(states.len() >= 15, "{states:?}");
    }
}
