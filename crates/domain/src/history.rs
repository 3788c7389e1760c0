//! When things happened to a batch, its tasks and its stages, folded from its events.
//!
//! The only such fold: whoever shows times, attempts or the last error of a task reads them here. Moments are
//! milliseconds since 1970.

mod attempt_history;
mod batch_time;

use std::collections::HashMap;

pub use attempt_history::{AttemptHistory, AttemptOutcome};
pub use batch_time::BatchTime;

use crate::batch::Design;
use crate::choice::Where;
use crate::event::{BatchEvent, Event, INTERRUPTED, MergeStatus, TaskEvent};
use crate::id::TaskId;
use crate::task_status_word::TaskStatusWord;

#[derive(Debug, Clone)]
pub struct History {
    positions: HashMap<TaskId, usize>,
    /// Elsewhere, an attempt waits for a machine before it begins to work.
    place: Where,
    /// Those of its tasks, in the order of the design.
    pub tasks: Vec<TaskHistory>,
    pub stages: Vec<StageHistory>,
    pub started_at: Option<u64>,
    pub ended_at: Option<u64>,
    /// How long somebody ran it.
    pub time: BatchTime,
    /// The task that an agent was put to last.
    pub last_started: Option<usize>,
}

#[derive(Debug, Clone, Default)]
pub struct TaskHistory {
    /// When its first attempt began to work, since a person last wanted it tried again.
    pub started_at: Option<u64>,
    pub ended_at: Option<u64>,
    /// Since when the attempt that is under way works; none while it waits for a machine.
    pub at_work_since: Option<u64>,
    /// How long attempts that are over took.
    pub worked: u64,
    pub last_error: Option<String>,
    pub last_at: u64,
    /// All attempts, those before a person wanted it tried again too.
    pub attempts: Vec<AttemptHistory>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct StageHistory {
    pub started_at: Option<u64>,
    pub ended: Option<(u64, MergeStatus, bool)>,
}

enum AttemptChange<'e> {
    Begins,
    /// It waited for a machine until now.
    IsPlaced,
    GoesOn,
    /// With the reason, where it did not do the task.
    IsOver(Option<&'e str>),
    /// A person wants the task tried again.
    IsForgotten,
}

impl<'e> AttemptChange<'e> {
    fn after(event: &'e TaskEvent) -> Self {
        match event {
            TaskEvent::Started { .. } => Self::Begins,
            TaskEvent::Placed { .. } => Self::IsPlaced,
            TaskEvent::Kept { .. }
            | TaskEvent::Published { .. }
            | TaskEvent::SessionBegan { .. }
            | TaskEvent::Spent(_)
            | TaskEvent::StopRequested => Self::GoesOn,
            TaskEvent::AttemptFailed { error, .. }
            | TaskEvent::Overloaded { error, .. }
            | TaskEvent::Limited { error, .. }
            | TaskEvent::Lost { because: error }
            | TaskEvent::Requeued { because: error } => Self::IsOver(Some(error)),
            TaskEvent::Interrupted => Self::IsOver(Some(INTERRUPTED)),
            TaskEvent::Retried => Self::IsForgotten,
            TaskEvent::Waiting { .. }
            | TaskEvent::Approved
            | TaskEvent::Built { .. }
            | TaskEvent::AskedAgain
            | TaskEvent::PauseEnded
            | TaskEvent::Resolved { .. }
            | TaskEvent::Unchanged { .. }
            | TaskEvent::Woven { .. }
            | TaskEvent::Failed { .. }
            | TaskEvent::TimedOut
            | TaskEvent::Conflicted { .. }
            | TaskEvent::Invalid { .. }
            | TaskEvent::Blocked { .. }
            | TaskEvent::TakenOver { .. }
            | TaskEvent::Cancelled => Self::IsOver(None),
        }
    }
}

impl TaskHistory {
    fn end_work_at(&mut self, at: u64) {
        if let Some(since) = self.at_work_since.take() {
            self.worked += at.saturating_sub(since);
        }
    }

    fn take_in_of_attempt(&mut self, event: &TaskEvent, at: u64) {
        let last = self.attempts.last_mut();
        if let TaskEvent::Started { attempt, basis } = event {
            let began = AttemptHistory::new(*attempt, basis, at, last.as_deref());
            self.attempts.push(began);
        } else if let Some(last) = last {
            last.take_in(event, at);
        }
    }

    pub fn worked_until(&self, now: u64) -> u64 {
        let current = self.at_work_since.map(|since| now.saturating_sub(since));
        self.worked + current.unwrap_or(0)
    }

    fn begin_work_at(&mut self, at: u64) {
        self.started_at.get_or_insert(at);
        self.at_work_since = Some(at);
    }

    fn take_in(&mut self, event: &TaskEvent, at: u64, place: Where) {
        self.last_at = at;
        self.take_in_of_attempt(event, at);
        match AttemptChange::after(event) {
            AttemptChange::Begins => {
                self.last_error = None;
                if place == Where::Local {
                    self.begin_work_at(at);
                }
            }
            AttemptChange::IsPlaced => self.begin_work_at(at),
            AttemptChange::GoesOn => {}
            AttemptChange::IsOver(why) => {
                self.end_work_at(at);
                self.last_error = why.map(str::to_owned).or(self.last_error.take());
            }
            AttemptChange::IsForgotten => {
                *self = Self {
                    worked: self.worked,
                    last_at: at,
                    attempts: std::mem::take(&mut self.attempts),
                    ..Self::default()
                };
            }
        }
        let is_over = match TaskStatusWord::after(event) {
            Some((_, outcome)) => outcome.is_some(),
            // It was over before, or is now: nobody runs it here.
            None => matches!(event, TaskEvent::TakenOver { .. }),
        };
        if is_over {
            self.ended_at.get_or_insert(at);
        }
    }
}

impl History {
    /// What happened to a task; nothing where the batch has no such task.
    pub fn of_task(&self, task: &TaskId) -> Option<&TaskHistory> {
        self.tasks.get(*self.positions.get(task)?)
    }

    pub fn new(design: &Design, place: Where) -> Self {
        let ids = design.tasks.iter().map(|task| task.id.clone());
        Self {
            positions: ids.zip(0..).collect(),
            place,
            tasks: vec![TaskHistory::default(); design.tasks.len()],
            stages: vec![StageHistory::default(); design.stages.len()],
            started_at: None,
            ended_at: None,
            time: BatchTime::default(),
            last_started: None,
        }
    }

    pub fn take_in(&mut self, event: &Event, at: u64) {
        let before = self.time.last();
        self.time.take_in(event, at);
        match event {
            Event::Task { task, event } => {
                // What nobody ran any more was over before it was taken away.
                let at = match event {
                    TaskEvent::TakenOver { .. } => before,
                    _ => at,
                };
                let Some(position) = self.positions.get(task).copied() else {
                    return;
                };
                if let TaskEvent::Started { .. } = event {
                    self.last_started = Some(position);
                }
                self.tasks[position].take_in(event, at, self.place);
            }
            Event::Batch(event) => self.take_in_of_batch(event, at, before),
        }
    }

    fn take_in_of_batch(&mut self, event: &BatchEvent, at: u64, before: u64) {
        match event {
            BatchEvent::Started => self.started_at = Some(at),
            // Agents ended with the process that died.
            BatchEvent::Resumed => {
                for task in &mut self.tasks {
                    task.end_work_at(before);
                }
            }
            BatchEvent::StageStarted { stage } => {
                self.stages[*stage] = StageHistory {
                    started_at: Some(at),
                    ended: None,
                };
            }
            BatchEvent::StageEnded {
                stage,
                merge_status,
                success,
            } => self.stages[*stage].ended = Some((at, *merge_status, *success)),
            BatchEvent::Completed { .. } | BatchEvent::Failed { .. } | BatchEvent::Cancelled => {
                self.ended_at.get_or_insert(at);
            }
            BatchEvent::Reopened
            | BatchEvent::LandingAsked { .. }
            | BatchEvent::CancelRequested { .. } => self.ended_at = None,
            BatchEvent::Created
            | BatchEvent::Progressed { .. }
            | BatchEvent::FellBack { .. }
            | BatchEvent::ConflictsPredicted { .. }
            | BatchEvent::StopRequested
            | BatchEvent::GaveUp { .. }
            | BatchEvent::Paused { .. }
            | BatchEvent::Unpaused
            | BatchEvent::SlotsChanged { .. }
            | BatchEvent::Merging
            | BatchEvent::Published { .. }
            | BatchEvent::Unpublished
            | BatchEvent::Validating { .. }
            | BatchEvent::TestsRan { .. }
            | BatchEvent::NoLongerMerges { .. }
            | BatchEvent::Rewoven { .. }
            | BatchEvent::Proved { .. }
            | BatchEvent::NotProved { .. }
            | BatchEvent::Landing { .. }
            | BatchEvent::Pushing { .. }
            | BatchEvent::Pushed { .. }
            | BatchEvent::Landed { .. }
            | BatchEvent::NotLanded { .. } => {}
        }
    }
}
