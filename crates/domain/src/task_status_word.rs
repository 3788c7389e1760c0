//! Where a task stands within a batch, coarsely, as all surfaces say it.

use crate::event::TaskEvent;
use crate::task_state::{Ending, TaskOutcome, TaskState};
use crate::words::words;

words! {
    /// The status of a task in a batch.
    pub enum TaskStatusWord {
        Queued = "queued",
        Waiting = "waiting",
        Limited = "limited",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Skipped = "skipped",
        Cancelled = "cancelled",
    }
}

impl TaskStatusWord {
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

    /// Where an event leaves a task and how it ended, whatever was before; nothing, where it moves nothing.
    pub fn after(event: &TaskEvent) -> Option<(Self, Option<TaskOutcome>)> {
        Some(match event {
            TaskEvent::Kept { .. }
            | TaskEvent::Published { .. }
            | TaskEvent::Spent(_)
            | TaskEvent::SessionBegan { .. }
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
            | TaskEvent::Placed { .. }
            | TaskEvent::StopRequested
            | TaskEvent::Built { .. }
            | TaskEvent::Resolved { .. } => (Self::Running, None),
            TaskEvent::Woven { .. } => (Self::Completed, Some(TaskOutcome::Merged)),
            TaskEvent::Unchanged { .. } => (Self::Completed, Some(TaskOutcome::NoChanges)),
            TaskEvent::Failed { .. } => (Self::Failed, Some(TaskOutcome::Failed)),
            TaskEvent::TimedOut => (Self::Failed, Some(TaskOutcome::TimedOut)),
            TaskEvent::Conflicted { .. } => (Self::Skipped, Some(TaskOutcome::Conflicted)),
            TaskEvent::Invalid { .. } => (Self::Skipped, Some(TaskOutcome::Invalid)),
            TaskEvent::Blocked { .. } => (Self::Skipped, Some(TaskOutcome::Blocked)),
            TaskEvent::Cancelled => (Self::Cancelled, Some(TaskOutcome::Cancelled)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(state: &TaskState) -> (TaskStatusWord, Option<TaskOutcome>) {
        let outcome = state.ending().map(TaskOutcome::from);
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
