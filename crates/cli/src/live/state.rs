//! What the live view knows of a batch: where it stands, since when, and what agents do right now.
//!
//! Hears what is told and draws nothing.

use std::collections::HashMap;
use std::time::Duration;

use pleach_domain::batch::{Batch, Design, Mode, Spent};
use pleach_domain::choice::Where;
use pleach_domain::estimate::batch_seconds_left;
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::history::History;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::TaskState;
use pleach_engine::run::Progress;
use pleach_log::database::StoredEvent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopRequest {
    Not,
    /// What runs was asked to stop.
    Asked,
    /// What runs is stopped.
    AtOnce,
}

#[derive(Debug)]
pub(crate) struct LiveState {
    pub(super) batch: Batch,
    pub(super) number: Option<BatchNumber>,
    pub(super) titles: Vec<String>,
    pub(super) times: Vec<TaskTimes>,
    pub(super) history: History,
    place: Where,
    /// When the batch as a whole last took a step.
    pub(super) stepped: u64,
    pub(super) stop: StopRequest,
    past: HashMap<TaskId, Duration>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct TaskTimes {
    pub(super) since: u64,
    pub(super) action: Option<String>,
    /// What the attempt that is under way took.
    pub(super) spent: Spent,
    /// What earlier ones took.
    spent_before: Spent,
}

impl LiveState {
    pub(crate) fn new(
        design: &Design,
        place: Where,
        titles: &HashMap<TaskId, String>,
        past: HashMap<TaskId, Duration>,
    ) -> Self {
        let title = |id: &TaskId| titles.get(id).cloned().unwrap_or_default();
        Self {
            titles: design.tasks.iter().map(|task| title(&task.id)).collect(),
            times: vec![TaskTimes::default(); design.tasks.len()],
            batch: Batch::new(design.clone()),
            number: None,
            history: History::new(design, place),
            place,
            stepped: 0,
            stop: StopRequest::Not,
            past,
        }
    }

    pub(crate) fn hear(&mut self, stored: &StoredEvent) {
        self.number = Some(stored.number);
        self.history.take_in(&stored.event, stored.at);
        let at = stored.at;
        match &stored.event {
            Event::Batch(_) => self.stepped = at,
            Event::Task { task, event } => {
                if let Some(place) = self.place(task) {
                    self.step(place, event, at);
                }
            }
        }
        // What the view does not understand, it does not show; nobody is stopped by that.
        let _ = self.batch.apply(&stored.event);
    }

    pub(crate) fn hear_progress(&mut self, progress: &Progress) {
        let Some(place) = self.place(&progress.task) else {
            return;
        };
        if self.batch.tasks[place].state.attempt() != Some(progress.attempt) {
            return;
        }
        let times = &mut self.times[place];
        if progress.action.is_some() {
            times.action.clone_from(&progress.action);
        }
        times.spent = progress.spent;
    }

    /// Takes in that somebody wants it to end, and how often that was so before.
    pub(crate) fn hear_stop(&mut self, before: usize) {
        self.stop = match before {
            0 => StopRequest::Asked,
            _ => StopRequest::AtOnce,
        };
    }

    /// Whether an attempt was given to a cluster, and no node has begun with it.
    pub(super) fn waits_for_node(&self, place: usize) -> bool {
        let task = &self.batch.tasks[place];
        let is_running = matches!(task.state, TaskState::Running { .. });
        self.place != Where::Local && is_running && task.node.is_none()
    }

    /// Whether so much as one task is left to be waited for.
    pub(super) fn at_once(&self) -> usize {
        match self.batch.design.settings.mode {
            Mode::Parallel { slots } if !self.batch.one_at_a_time => slots,
            _ => 1,
        }
    }

    fn place(&self, task: &TaskId) -> Option<usize> {
        let mut tasks = self.batch.design.tasks.iter();
        tasks.position(|design| design.id == *task)
    }

    fn step(&mut self, place: usize, event: &TaskEvent, at: u64) {
        let times = &mut self.times[place];
        if let TaskEvent::Started { .. } = event {
            times.action = None;
            times.spent_before = sum(times.spent_before, times.spent);
            times.spent = Spent::default();
        }
        if let TaskEvent::Placed { .. } = event {
            times.action = None;
            times.since = at;
        }
        // Not every event moves a task: an attempt goes on when its agent names its session or is asked to stop.
        let state = &self.batch.tasks[place].state;
        let is_asked = matches!(event, TaskEvent::StopRequested);
        if !is_asked && state.after(event).is_ok_and(|next| next != *state) {
            times.since = at;
        }
    }

    pub(super) fn spent(&self) -> Spent {
        let each = self.times.iter();
        each.fold(Spent::default(), |total, times| {
            sum(total, sum(times.spent_before, times.spent))
        })
    }

    /// How long the rest takes, as far as earlier runs and what is done so far tell.
    pub(super) fn left(&self, now: u64) -> Option<Duration> {
        let tasks = || self.batch.tasks.iter().zip(&self.history.tasks);
        let done = tasks().filter(|(task, times)| task.state.is_success() && times.worked > 0);
        let done = done.map(|(_, times)| Duration::from_millis(times.worked).as_secs_f64());
        let known: Vec<f64> = done
            .chain(self.past.values().map(Duration::as_secs_f64))
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "no batch has 2^52 tasks")]
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let lefts = tasks().map(|(task, times)| {
            if task.state.ending().is_some() {
                return None;
            }
            let took = self.past.get(&task.design.id);
            let took = took.map_or(mean, Duration::as_secs_f64);
            let since = times.at_work_since;
            let spent = since.map_or(0, |since| now.saturating_sub(since));
            Some(took - Duration::from_millis(spent).as_secs_f64())
        });
        let lefts: Vec<Option<f64>> = lefts.collect();
        let left = batch_seconds_left(&self.batch.design, &lefts, self.at_once());
        let left = left.filter(|_| !known.is_empty())?;
        // Whoever takes longer than usual makes every estimate nothing.
        (left >= 1.0).then(|| Duration::from_secs_f64(left))
    }
}

fn sum(one: Spent, other: Spent) -> Spent {
    Spent {
        tokens: one.tokens.saturating_add(other.tokens),
        micro_usd: one.micro_usd.saturating_add(other.micro_usd),
    }
}
