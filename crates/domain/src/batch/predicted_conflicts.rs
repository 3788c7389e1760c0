//! Predicted conflicts: which of them still stand, and whether that is news.
//!
//! Knows nothing of how they are found.

use super::{Batch, BatchStatus};
use crate::event::{BatchEvent, Event, PredictedConflict};
use crate::id::TaskId;
use crate::task_state::{Ending, TaskState};

impl Batch {
    /// What follows from a look at all that is under way: nothing, unless it differs from the last one.
    pub fn predict(&self, mut pairs: Vec<PredictedConflict>) -> Vec<Event> {
        pairs.retain(|pair| self.stands(pair));
        if pairs == self.predicted || self.status != BatchStatus::Running {
            return Vec::new();
        }
        vec![Event::Batch(BatchEvent::ConflictsPredicted { pairs })]
    }

    /// Everything a task waits for, through tasks that were left out as well, by position.
    pub fn comes_after(&self, position: usize) -> Vec<bool> {
        self.waited_for(position)
    }

    /// Forgets pairs of which one cannot conflict any more.
    pub(super) fn forget_what_is_past(&mut self) {
        let mut pairs = std::mem::take(&mut self.predicted);
        pairs.retain(|pair| self.stands(pair));
        self.predicted = pairs;
    }

    /// Whether both may still be woven, or are, and one of them can still be helped.
    fn stands(&self, pair: &PredictedConflict) -> bool {
        let state = |task: &TaskId| self.position(task).map(|at| &self.tasks[at].state);
        let is_open = |state: &TaskState| {
            matches!(
                state,
                TaskState::Running { .. } | TaskState::Limited { .. } | TaskState::Built { .. }
            )
        };
        let is_woven = |state: &TaskState| matches!(state, TaskState::Ended(Ending::Merged { .. }));
        match (state(&pair.a), state(&pair.b)) {
            (Some(a), Some(b)) => {
                is_open(a) && (is_open(b) || is_woven(b)) || is_open(b) && is_woven(a)
            }
            _ => false,
        }
    }
}
