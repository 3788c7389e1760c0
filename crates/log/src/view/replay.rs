//! A batch as its stored events leave it, with its times.

use pleach_domain::batch::{BadEvent, Batch};
use pleach_domain::choice::Where;
use pleach_domain::history::History;
use pleach_domain::task_state::{TaskState, TaskWord};
use pleach_domain::task_status_word::TaskStatusWord;

use super::Record;
use crate::database::StoredEvent;

#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) batch: Batch,
    pub(super) times: History,
    place: Where,
}

impl Replayed {
    pub(super) fn new(record: &Record) -> Self {
        let (design, place) = (&record.design, record.runs_on());
        Self {
            times: History::new(design, place),
            batch: Batch::new(design.clone()),
            place,
        }
    }

    pub(super) fn follow(&mut self, stored: &StoredEvent) -> Result<(), BadEvent> {
        self.batch.apply(&stored.event)?;
        self.times.take_in(&stored.event, stored.at);
        Ok(())
    }

    /// Whether an attempt on a task was given to a cluster, and no node has begun with it.
    pub(super) fn waits_for_node(&self, position: usize) -> bool {
        let task = &self.batch.tasks[position];
        let is_running = matches!(task.state, TaskState::Running { .. });
        self.place != Where::Local && is_running && task.node.is_none()
    }

    /// Where a task stands, coarsely and as exactly as there is a word for.
    pub(super) fn standing_of(&self, position: usize) -> (TaskStatusWord, TaskWord) {
        if self.waits_for_node(position) {
            return (TaskStatusWord::Queued, TaskWord::Queued);
        }
        let state = &self.batch.tasks[position].state;
        (TaskStatusWord::from_state(state), state.word())
    }
}
