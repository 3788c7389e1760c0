//! When the loop must wake although nobody says anything.
//!
//! Knows times and tasks; what to do then is the loop's business.

use std::time::{Duration, Instant};

use pleach_domain::batch::Jitter;
use pleach_domain::id::TaskId;

const SLOT_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub(super) struct Timers {
    pauses: Vec<(Instant, TaskId)>,
    slots: Option<Instant>,
    obstacle: Option<Instant>,
    machine: Option<Instant>,
    limit: Option<Instant>,
}

impl Timers {
    pub(super) fn pause(&mut self, task: &TaskId, milliseconds: u64) {
        let end = Instant::now().checked_add(Duration::from_millis(milliseconds));
        // A pause that no clock can measure lasts until somebody cancels.
        if let Some(end) = end {
            self.pauses.push((end, task.clone()));
        }
    }

    /// There was no free slot; it is worth another look soon.
    pub(super) fn look_for_slots(&mut self) {
        self.slots = Some(Instant::now() + SLOT_PAUSE);
    }

    /// Something is in the way of starting; it is worth another look then.
    pub(super) fn look_at_obstacle(&mut self, pause: Duration) {
        self.obstacle = Some(Instant::now() + pause);
    }

    pub(super) fn look_at_machine(&mut self, pause: Duration) {
        self.machine = Some(Instant::now() + pause);
    }

    /// A person may have lifted the pause of the agent by then.
    pub(super) fn look_at_limit(&mut self, pause: Duration) {
        self.limit = Some(Instant::now() + pause);
    }

    pub(super) fn is_time_for_limit(&mut self) -> bool {
        is_due(&mut self.limit)
    }

    pub(super) fn is_time_for_obstacle(&mut self) -> bool {
        is_due(&mut self.obstacle)
    }

    pub(super) fn is_time_for_advice(&mut self) -> bool {
        is_due(&mut self.machine)
    }

    /// How long the loop may sleep, if there is a limit.
    pub(super) fn next(&self) -> Option<Duration> {
        let pauses = self.pauses.iter().map(|(end, _)| *end);
        let looks = self
            .slots
            .into_iter()
            .chain(self.obstacle)
            .chain(self.machine)
            .chain(self.limit);
        let next = pauses.chain(looks).min()?;
        Some(next.saturating_duration_since(Instant::now()))
    }

    pub(super) fn over(&mut self) -> Vec<TaskId> {
        let now = Instant::now();
        self.slots = self.slots.filter(|end| *end > now);
        let (over, left) = std::mem::take(&mut self.pauses)
            .into_iter()
            .partition(|(end, _)| *end <= now);
        self.pauses = left;
        let over: Vec<(Instant, TaskId)> = over;
        over.into_iter().map(|(_, task)| task).collect()
    }
}

/// Whether a time has come; if so, it is none any more.
fn is_due(time: &mut Option<Instant>) -> bool {
    let due = time.is_some_and(|time| time <= Instant::now());
    if due {
        *time = None;
    }
    due
}

/// So that tasks that failed together do not come back together.
pub(super) fn chance() -> Jitter {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    Jitter(u16::try_from(random % 1_000).unwrap_or_default())
}
