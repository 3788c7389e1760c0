//! How long a batch took: the time in which somebody ran it, without the gaps in which nobody did.

use crate::event::{BatchEvent, Event, TaskEvent};

/// The time that a batch took, counted from its events; moments are milliseconds since 1970.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct BatchTime {
    /// What ended before the current stretch.
    before: u64,
    /// When somebody began to run it, if that goes on as far as is known.
    since: Option<u64>,
    /// When something happened last while somebody ran it.
    last: u64,
}

impl BatchTime {
    pub fn take_in(&mut self, event: &Event, at: u64) {
        match event {
            // Somebody else's doing, while nobody runs it.
            Event::Task {
                event: TaskEvent::TakenOver { .. },
                ..
            } => return,
            Event::Batch(
                BatchEvent::Started
                | BatchEvent::Resumed
                | BatchEvent::Reopened
                | BatchEvent::LandingAsked { .. },
            ) => {
                // A process that died told nothing of its end.
                self.end_at(self.last);
                self.since = Some(at);
            }
            Event::Batch(
                BatchEvent::Completed { .. } | BatchEvent::Failed { .. } | BatchEvent::Cancelled,
            ) => self.end_at(at),
            _ => {}
        }
        self.last = self.last.max(at);
    }

    fn end_at(&mut self, at: u64) {
        if let Some(since) = self.since.take() {
            self.before += at.saturating_sub(since);
        }
    }

    /// What it took up to its last event, in milliseconds.
    pub fn so_far(&self) -> u64 {
        self.until(self.last)
    }

    /// What it took up to now if somebody runs it, in milliseconds.
    pub fn until(&self, now: u64) -> u64 {
        let current = self.since.map(|since| now.saturating_sub(since));
        self.before + current.unwrap_or(0)
    }

    pub fn last(&self) -> u64 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Rollback;
    use crate::id::TaskId;

    use super::*;

    fn time_of(events: &[(u64, Event)]) -> BatchTime {
        let mut time = BatchTime::default();
        for (at, event) in events {
            time.take_in(event, *at);
        }
        time
    }

    #[test]
    fn gaps_in_which_nobody_runs_it_do_not_count() {
        let batch = Event::Batch;
        let taken = Event::Task {
            task: TaskId::new("1"),
            event: TaskEvent::TakenOver {
                because: String::new(),
            },
        };
        let rollback = Rollback::Keep;
        let mut events = vec![
            (5, batch(BatchEvent::Created)),
            (10, batch(BatchEvent::Started)),
            (25, batch(BatchEvent::Merging)),
            // It is interrupted, and somebody takes a task of it.
            (900, taken),
            (1_000, batch(BatchEvent::Resumed)),
            (1_010, batch(BatchEvent::CancelRequested { rollback })),
        ];
        let running = time_of(&events);
        assert_eq!((running.so_far(), running.until(1_012)), (25, 27));
        events.push((1_020, batch(BatchEvent::Cancelled)));
        let over = time_of(&events);
        assert_eq!((over.so_far(), over.until(5_000)), (35, 35));
        events.push((9_000, batch(BatchEvent::Reopened)));
        events.push((9_001, batch(BatchEvent::Cancelled)));
        assert_eq!(time_of(&events).so_far(), 36);
    }
}
