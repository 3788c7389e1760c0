//! How far a batch is, in numbers that everybody can show.

use super::Batch;
use crate::event::BatchEvent;
use crate::task_state::TaskState;

/// How many tasks of a batch are over, and how many are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Those that are over, however they ended.
    pub over: usize,
    pub total: usize,
    /// Those that are under way: at work, stopping, or built and not woven yet.
    pub running: usize,
}

impl Progress {
    /// Of the tasks that are over, rounded down.
    pub fn percentage(self) -> usize {
        (100 * self.over).checked_div(self.total).unwrap_or(100)
    }

    pub fn event(self) -> BatchEvent {
        let Self {
            over,
            total,
            running,
        } = self;
        BatchEvent::Progressed {
            over,
            total,
            running,
        }
    }
}

impl Batch {
    pub fn progress(&self) -> Progress {
        let count = |is: fn(&TaskState) -> bool| {
            let states = self.tasks.iter().map(|task| &task.state);
            states.filter(|state| is(state)).count()
        };
        Progress {
            over: count(|state| state.ending().is_some()),
            total: self.tasks.len(),
            running: count(|state| {
                matches!(
                    state,
                    TaskState::Running { .. }
                        | TaskState::Stopping { .. }
                        | TaskState::Built { .. }
                )
            }),
        }
    }
}
