//! What follows when an attempt ends.
//!
//! Decides and changes nothing; `Batch::apply` does.

use serde::{Deserialize, Serialize};

use super::decide::{fell_back, of_task};
use super::{Batch, BatchTask, Fallback, Spent};
use crate::choice::NoChanges;
use crate::event::{CHANGED_NOTHING, Event, TaskEvent};
use crate::id::TaskId;
use crate::task_state::{Commit, TaskState};

/// The longest pause before a repetition, in milliseconds.
const LONGEST_PAUSE: u64 = 15 * 60 * 1_000;

/// So many limits one after the other mean that several at once are too many.
const LIMITS_BEFORE_FALLBACK: u32 = 3;

/// So often a task is put off by limits before it fails.
const MOST_LIMITS: u32 = 100;

/// A task waits no longer than this in all, in milliseconds, or than four times the longest wait for one limit:
/// while it waits, the agent is paused for everybody.
const LONGEST_WAIT: u64 = 24 * HOUR;
const MOST_WAITS: u64 = 4;

/// So many attempts in a row are lost with their machines before the task fails: it may be what brings them down.
const MOST_LOSSES: u32 = 6;

const HOUR: u64 = 60 * 60 * 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptEnding {
    Built {
        /// The tip of the task branch.
        commit: Commit,
        files: Vec<String>,
    },
    /// It changed nothing, and said why nothing was needed or did not.
    Unchanged(Option<String>),
    /// It failed, and may succeed another time.
    Failed(String),
    /// It failed in a way that no repetition mends.
    Hopeless(String),
    /// The agent may not work for now, for so many milliseconds if it said so.
    Limited(String, Option<u64>),
    /// What the agent talks to is overloaded, for so many milliseconds if it said so.
    Overloaded(String, Option<u64>),
    TimedOut,
    Stopped,
    NoWorktree(String),
    /// The process that ran it died.
    Interrupted,
    /// The machine that ran it is gone, and this is what is known of that.
    Lost(String),
}

/// A throw of the dice, from 0 to 999; the core has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jitter(pub u16);

impl Batch {
    pub(super) fn attempt_ended(
        &self,
        (task, attempt): (&TaskId, u32),
        ending: AttemptEnding,
        (kept, spent): (Option<Commit>, Option<Spent>),
        chance: Jitter,
    ) -> Vec<Event> {
        let Some(position) = self.position(task) else {
            return Vec::new();
        };
        let state = &self.tasks[position].state;
        // One that was given up may end after the next one began.
        if state.attempt() != Some(attempt) {
            return Vec::new();
        }
        let mut events = Vec::new();
        if let Some(commit) = kept {
            events.push(of_task(task, TaskEvent::Kept { commit }));
        }
        if let Some(spent) = spent.filter(|spent| *spent != Spent::default()) {
            events.push(of_task(task, TaskEvent::Spent(spent)));
        }
        let over = self.over_task_budget(position, spent.unwrap_or_default());
        let stopping = matches!(state, TaskState::Stopping { .. });
        let event = match ending {
            AttemptEnding::Built { commit, files } => TaskEvent::Built { commit, files },
            AttemptEnding::Unchanged(reason) if self.counts_as_done(reason.as_ref()) => {
                TaskEvent::Unchanged { reason }
            }
            // Nobody waits for another attempt of what was asked to stop.
            _ if stopping => TaskEvent::Cancelled,
            AttemptEnding::TimedOut => TaskEvent::TimedOut,
            AttemptEnding::Hopeless(error) => TaskEvent::Failed { error },
            _ if over.is_some() => TaskEvent::Failed {
                error: over.unwrap_or_default(),
            },
            AttemptEnding::Unchanged(_) if !self.tasks[position].asked_again => {
                TaskEvent::AskedAgain
            }
            AttemptEnding::Unchanged(_) => TaskEvent::Failed {
                error: CHANGED_NOTHING.to_owned(),
            },
            AttemptEnding::Failed(error) => self.failed(position, error, chance),
            AttemptEnding::Stopped | AttemptEnding::Interrupted => TaskEvent::Interrupted,
            AttemptEnding::Lost(because) => self.lost(position, because),
            AttemptEnding::Limited(error, pause) => {
                return self.limited(position, events, error, pause, chance);
            }
            AttemptEnding::Overloaded(error, pause) => {
                return self.overloaded(position, events, error, pause, chance);
            }
            AttemptEnding::NoWorktree(error) => {
                return self.no_worktree(position, events, &error, chance);
            }
        };
        let succeeded = matches!(event, TaskEvent::Built { .. } | TaskEvent::Unchanged { .. });
        events.push(of_task(task, event));
        events.extend(succeeded.then(|| self.grown()).flatten());
        events
    }

    fn counts_as_done(&self, reason: Option<&String>) -> bool {
        reason.is_some() || self.design.settings.no_changes == NoChanges::Done
    }

    pub(super) fn session_began(&self, task: &TaskId, session: String) -> Vec<Event> {
        let known = self.position(task).map(|position| &self.tasks[position]);
        let is_news = known.is_some_and(|task| {
            task.state.attempt().is_some() && task.session.as_ref() != Some(&session)
        });
        let event = is_news.then(|| of_task(task, TaskEvent::SessionBegan { session }));
        event.into_iter().collect()
    }

    /// An attempt gets its machine once.
    pub(super) fn placed(&self, task: &TaskId, attempt: u32, node: String) -> Vec<Event> {
        let known = self.position(task).map(|position| &self.tasks[position]);
        let is_news =
            known.is_some_and(|task| task.state.attempt() == Some(attempt) && task.node.is_none());
        let event = is_news.then(|| of_task(task, TaskEvent::Placed { attempt, node }));
        event.into_iter().collect()
    }

    fn lost(&self, position: usize, because: String) -> TaskEvent {
        if self.tasks[position].losses + 1 >= MOST_LOSSES {
            let error = format!("lost {MOST_LOSSES} times in a row: {because}");
            return TaskEvent::Failed { error };
        }
        TaskEvent::Lost { because }
    }

    fn failed(&self, position: usize, error: String, chance: Jitter) -> TaskEvent {
        let task = &self.tasks[position];
        let settings = &self.design.settings;
        if task.failures >= settings.retries {
            return TaskEvent::Failed { error };
        }
        TaskEvent::AttemptFailed {
            error,
            pause: pause(settings.retry_pause, task.failures, chance),
        }
    }

    fn limited(
        &self,
        position: usize,
        mut events: Vec<Event>,
        error: String,
        stated: Option<u64>,
        chance: Jitter,
    ) -> Vec<Event> {
        let task = &self.tasks[position];
        let id = &task.design.id;
        let settings = &self.design.settings;
        let longer = pause(settings.retry_pause, task.limits, chance);
        let pause = stated.unwrap_or(longer);
        if self.waits_for_ever(position, pause) {
            events.push(of_task(id, self.gave_up_waiting(position, &error)));
            return events;
        }
        // What was under way when the last limit was counted says nothing new.
        let again = self.limits_in_a_row + u32::from(self.is_news(position));
        let often = again >= LIMITS_BEFORE_FALLBACK && self.is_parallel();
        let reason = format!("the agent keeps hitting its usage limit: {error}");
        if often && settings.fallback == Fallback::Fail {
            events.push(of_task(id, TaskEvent::Failed { error }));
            events.extend(self.give_up_except(position, reason));
            return events;
        }
        events.push(of_task(id, TaskEvent::Limited { error, pause }));
        if often {
            events.push(fell_back(reason, None));
        }
        events
    }

    /// Whether a task was put off so often or for so long that another pause is one too many.
    fn waits_for_ever(&self, position: usize, pause: u64) -> bool {
        let task = &self.tasks[position];
        let limit_wait = self.design.settings.limit_wait;
        let longest = limit_wait.saturating_mul(MOST_WAITS).max(LONGEST_WAIT);
        task.limits >= MOST_LIMITS || task.waited.saturating_add(pause) > longest
    }

    fn gave_up_waiting(&self, position: usize, error: &str) -> TaskEvent {
        let BatchTask { limits, waited, .. } = &self.tasks[position];
        let hours = waited / HOUR;
        TaskEvent::Failed {
            error: format!("gave up after {limits} usage limits and {hours} h of waiting: {error}"),
        }
    }

    /// Whether an attempt began after the last limit that was counted, and so tells of another one.
    pub(super) fn is_news(&self, position: usize) -> bool {
        self.tasks[position].started_as > self.limited_at
    }

    fn overloaded(
        &self,
        position: usize,
        mut events: Vec<Event>,
        error: String,
        stated: Option<u64>,
        chance: Jitter,
    ) -> Vec<Event> {
        let task = &self.tasks[position];
        let id = &task.design.id;
        let longer = pause(self.design.settings.retry_pause, task.limits, chance);
        let pause = stated.unwrap_or(longer);
        if self.waits_for_ever(position, pause) {
            events.push(of_task(id, self.gave_up_waiting(position, &error)));
            return events;
        }
        let slots = self.slots();
        let again = self.overloads_in_a_row > 0 && task.started_as > self.slots.shrunk_at;
        let because = format!("the agent keeps reporting overload: {error}");
        events.push(of_task(id, TaskEvent::Overloaded { error, pause }));
        if again && slots > 1 {
            events.push(self.slots_changed(slots / 2, because));
        }
        events
    }

    fn no_worktree(
        &self,
        position: usize,
        mut events: Vec<Event>,
        error: &str,
        chance: Jitter,
    ) -> Vec<Event> {
        let id = &self.tasks[position].design.id;
        let fallback = self.design.settings.fallback;
        let because = format!("could not create its worktree: {error}");
        if !self.is_parallel() {
            events.push(of_task(id, self.failed(position, because, chance)));
        } else if fallback == Fallback::OneAtATime {
            events.push(of_task(id, TaskEvent::Requeued { because }));
            let reason = format!("could not create a worktree: {error}");
            events.push(fell_back(reason, None));
        } else {
            events.push(of_task(
                id,
                TaskEvent::Failed {
                    error: because.clone(),
                },
            ));
            events.extend(self.give_up_except(position, because));
        }
        events
    }
}

/// Twice as long after each time, give or take a quarter.
fn pause(first: u64, times_before: u32, Jitter(chance): Jitter) -> u64 {
    let doubled = first.saturating_mul(1_u64.checked_shl(times_before).unwrap_or(u64::MAX));
    let bounded = doubled.min(LONGEST_PAUSE / 5 * 4);
    bounded * 3 / 4 + bounded * u64::from(chance.min(999)) / 2_000
}
