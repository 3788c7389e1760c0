//! When what happened to the tasks of a batch, read from its stored events.

use std::collections::HashMap;
use std::time::Duration;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;

use crate::batch_time::BatchTime;
use crate::database::StoredEvent;

/// The times of a batch, in milliseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Clock {
    time: BatchTime,
    tasks: HashMap<TaskId, TaskClock>,
    last_started: Option<TaskId>,
}

#[derive(Debug, Default, Clone, Copy)]
struct TaskClock {
    /// When the attempt that is under way began.
    began: Option<u64>,
    /// What the attempts before it took.
    worked: u64,
    /// When its last event was.
    last: u64,
}

impl TaskClock {
    fn end_at(&mut self, at: u64) {
        if let Some(began) = self.began.take() {
            self.worked += at.saturating_sub(began);
        }
    }
}

impl Clock {
    pub(super) fn take_in(&mut self, stored: &StoredEvent) {
        let before = self.time.last();
        self.time.take_in(stored);
        match &stored.event {
            Event::Batch(BatchEvent::Resumed) => {
                // Agents ended with the process that died.
                for clock in self.tasks.values_mut() {
                    clock.end_at(before);
                }
            }
            Event::Batch(_) => {}
            Event::Task { task, event } => {
                let clock = self.tasks.entry(task.clone()).or_default();
                clock.last = stored.at;
                match event {
                    TaskEvent::Started { .. } => {
                        clock.began = Some(stored.at);
                        self.last_started = Some(task.clone());
                    }
                    TaskEvent::Kept { .. } | TaskEvent::StopRequested | TaskEvent::Spent(_) => {}
                    TaskEvent::TakenOver { .. } => clock.end_at(before),
                    _ => clock.end_at(stored.at),
                }
            }
        }
    }

    /// How long agents were at a task, if any was.
    pub(super) fn work_on(&self, task: &TaskId) -> Option<Duration> {
        self.tasks
            .get(task)
            .filter(|clock| clock.worked > 0 || clock.began.is_some())
            .map(|clock| Duration::from_millis(clock.worked))
    }

    /// When something last happened to a task, in milliseconds since 1970.
    pub(super) fn last_of(&self, task: &TaskId) -> Option<u64> {
        self.tasks.get(task).map(|clock| clock.last)
    }

    /// The task that an agent was put to last.
    pub(super) fn last_started(&self) -> Option<&TaskId> {
        self.last_started.as_ref()
    }

    /// How long somebody has run the batch.
    pub(super) fn total(&self) -> Duration {
        Duration::from_millis(self.time.so_far())
    }
}
