//! Replays the events of a batch and notes when things happened.
//!
//! The state itself is the core's; this adds times and the last errors.

use pleach_domain::batch::{BadEvent, Batch, Design};
use pleach_domain::event::{BatchEvent, Event, MergeStatus, TaskEvent};

use super::wire::INTERRUPTED;
use crate::batch_time::BatchTime;
use crate::database::StoredEvent;

/// A batch with its times.
#[derive(Debug)]
pub(super) struct History {
    pub(super) batch: Batch,
    pub(super) tasks: Vec<TaskHistory>,
    pub(super) stages: Vec<StageHistory>,
    pub(super) started_at: Option<u64>,
    pub(super) ended_at: Option<u64>,
    pub(super) time: BatchTime,
}

/// When things happened to a task, in milliseconds since 1970.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskHistory {
    pub(super) started_at: Option<u64>,
    pub(super) ended_at: Option<u64>,
    /// The start of the attempt that is under way.
    pub(super) at_work_since: Option<u64>,
    /// How long attempts that are over took.
    pub(super) worked: u64,
    /// Why the last attempt did not do it.
    pub(super) last_error: Option<String>,
}

/// When things happened to a stage.
#[derive(Debug, Clone, Default)]
pub(super) struct StageHistory {
    pub(super) started_at: Option<u64>,
    pub(super) ended: Option<(u64, MergeStatus, bool)>,
}

impl TaskHistory {
    fn end_work_at(&mut self, at: u64) {
        if let Some(since) = self.at_work_since.take() {
            self.worked += at.saturating_sub(since);
        }
    }

    /// How long agents worked on it so far.
    pub(super) fn worked_until(&self, now: u64) -> u64 {
        let current = self.at_work_since.map(|since| now.saturating_sub(since));
        self.worked + current.unwrap_or(0)
    }
}

impl History {
    pub(super) fn of(design: Design) -> Self {
        let batch = Batch::new(design);
        Self {
            tasks: vec![TaskHistory::default(); batch.tasks.len()],
            stages: vec![StageHistory::default(); batch.stages.len()],
            batch,
            started_at: None,
            ended_at: None,
            time: BatchTime::default(),
        }
    }

    pub(super) fn follow(&mut self, stored: &StoredEvent) -> Result<(), BadEvent> {
        self.batch.apply(&stored.event)?;
        let before = self.time.last();
        self.time.take_in(stored);
        match &stored.event {
            Event::Task { task, event } => {
                // What nobody ran any more was over before it was taken away.
                let at = match event {
                    TaskEvent::TakenOver { .. } => before,
                    _ => stored.at,
                };
                if let Some(position) = self.batch.position(task) {
                    self.follow_task(position, event, at);
                }
            }
            Event::Batch(BatchEvent::Resumed) => {
                // Agents ended with the process that died.
                for task in &mut self.tasks {
                    task.end_work_at(before);
                }
            }
            Event::Batch(event) => self.follow_batch(event, stored.at),
        }
        Ok(())
    }

    fn follow_task(&mut self, position: usize, event: &TaskEvent, at: u64) {
        let state = &self.batch.tasks[position].state;
        let task = &mut self.tasks[position];
        match event {
            TaskEvent::Started { .. } => {
                task.started_at.get_or_insert(at);
                task.at_work_since = Some(at);
                task.last_error = None;
            }
            TaskEvent::AttemptFailed { error, .. }
            | TaskEvent::Overloaded { error, .. }
            | TaskEvent::Limited { error, .. } => {
                task.last_error = Some(error.clone());
            }
            TaskEvent::Requeued { because } => task.last_error = Some(because.clone()),
            TaskEvent::Interrupted => {
                task.last_error = Some(INTERRUPTED.into());
            }
            TaskEvent::Retried => {
                *task = TaskHistory {
                    worked: task.worked,
                    ..TaskHistory::default()
                };
            }
            _ => {}
        }
        if state.attempt().is_none() {
            task.end_work_at(at);
        }
        if state.ending().is_some() {
            task.ended_at.get_or_insert(at);
        }
    }

    fn follow_batch(&mut self, event: &BatchEvent, at: u64) {
        match event {
            BatchEvent::Started => self.started_at = Some(at),
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
            _ => {}
        }
        let is_over = self.batch.status.is_over();
        self.ended_at = is_over.then(|| self.ended_at.unwrap_or(at));
    }
}
