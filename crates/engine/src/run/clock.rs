//! When what happened to the tasks of a batch, read from its stored events.

use std::collections::HashMap;
use std::time::Duration;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;

use crate::database::StoredEvent;

/// The times of a batch, in milliseconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Clock {
    began: Option<u64>,
    last: u64,
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

impl Clock {
    pub(super) fn take_in(&mut self, stored: &StoredEvent) {
        let is_end = matches!(
            stored.event,
            Event::Batch(
                BatchEvent::Completed { .. } | BatchEvent::Failed { .. } | BatchEvent::Cancelled
            )
        );
        // What comes between the last task and the end is waiting for people who may be saving the plan.
        if !is_end {
            self.last = self.last.max(stored.at);
        }
        match &stored.event {
            Event::Batch(
                BatchEvent::Started | BatchEvent::Reopened | BatchEvent::LandingAsked { .. },
            ) => {
                self.began = Some(stored.at);
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
                    _ => {
                        if let Some(began) = clock.began.take() {
                            clock.worked += stored.at.saturating_sub(began);
                        }
                    }
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

    /// How long the batch has taken since it began, or since it was opened again.
    pub(super) fn total(&self) -> Duration {
        let began = self.began.unwrap_or(self.last);
        Duration::from_millis(self.last.saturating_sub(began))
    }
}
