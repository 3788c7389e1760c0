//! Tells the events of one batch to programs, with what only its history knows.
//!
//! Follows the batch event by event; where these come from and who hears them is the caller's business.

use std::path::PathBuf;

use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::task_state::TaskOutcome;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::progress::{BatchState, seconds};
use super::replay::Replayed;
use super::task::{TaskNames, draw_task};
use super::wire::{name_tasks, wire_in, worktree_id};
use super::{Owner, Record, ViewError};
use crate::database::{LoadedBatch, StoredEvent};

/// Somebody who has followed a batch and tells what happens to it.
#[derive(Debug)]
pub struct Narrator {
    project: String,
    repository: PathBuf,
    plan: String,
    record: Record,
    names: TaskNames,
    history: Replayed,
}

/// The tasks of a completed batch by outcome, and its duration.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCounts {
    merged: usize,
    no_changes: usize,
    conflicted: usize,
    invalid: usize,
    failed: usize,
    timed_out: usize,
    blocked: usize,
    cancelled: usize,
    seconds: f64,
}

impl Narrator {
    /// One who has followed a stored batch up to the event of that number, and not that one.
    pub fn before(loaded: &LoadedBatch, seq: u64) -> Result<Self, ViewError> {
        let record = Record::of(loaded)?;
        let mut narrator = Self {
            project: loaded.project.clone(),
            repository: loaded.repository.clone(),
            plan: loaded.plan.clone(),
            names: record.names(loaded),
            history: Replayed::new(&record),
            record,
        };
        for stored in loaded.events.iter().take_while(|stored| stored.seq < seq) {
            narrator.follow(stored);
        }
        Ok(narrator)
    }

    pub fn is_over(&self) -> bool {
        self.history.batch.status.is_over()
    }

    fn follow(&mut self, stored: &StoredEvent) {
        // What does not fit is told as it is; it is not the teller who judges.
        let _ = self.history.follow(stored);
    }

    /// Takes an event in; its name and what it carries.
    pub fn tell(&mut self, stored: &StoredEvent) -> (&'static str, Value) {
        self.follow(stored);
        let (name, mut data) = wire_in(&self.history.batch.design, stored);
        match &stored.event {
            Event::Batch(BatchEvent::Created) => {
                let titles = self.record.tasks.iter().map(|task| &task.title);
                data["projectId"] = json!(self.project);
                data["mainRepoPath"] = json!(self.repository.to_string_lossy());
                data["plan"] = json!(self.plan);
                data["keys"] = data["tasks"].clone();
                data["titles"] = titles.map(String::as_str).collect();
            }
            Event::Batch(BatchEvent::StageEnded { stage, .. }) => {
                let stage = self.history.times.stages.get(*stage);
                let began = stage.and_then(|stage| stage.started_at);
                data["duration"] =
                    json!(began.map(|began| seconds(stored.at.saturating_sub(began))));
            }
            Event::Batch(BatchEvent::Completed { .. }) => data["summary"] = json!(self.counts()),
            Event::Task { task, .. } => {
                if let Some(position) = self.history.batch.position(task) {
                    self.tell_task(stored, position, &mut data);
                }
            }
            Event::Batch(_) => {}
        }
        name_tasks(&mut data, &self.names.ids);
        let state = BatchState::of(&self.history, Owner::Alive, stored.at);
        if let (Event::Batch(BatchEvent::Progressed { .. }), Value::Object(counts)) =
            (&stored.event, json!(state.progress))
        {
            data.as_object_mut().expect("it is one").extend(counts);
        }
        data["batch"] = json!(state);
        (name, data)
    }

    /// Adds the task as it stands after an event.
    fn tell_task(&self, stored: &StoredEvent, position: usize, data: &mut Value) {
        let (number, of_batch) = (stored.number, (&self.record, &self.names));
        let task = draw_task(number, &self.history, position, of_batch, stored.at);
        if data.get("worktreeId").is_some() {
            data["worktreeId"] = json!(worktree_id(number, &self.names.segments[position]));
        }
        // The event of one that was taken over does not know how it had ended.
        if data.get("outcome").is_some() && task.outcome.is_some() {
            data["outcome"] = json!(task.outcome);
        }
        data["task"] = json!(task);
        // An event tells the same whenever it is told; what is on the disk then, answers tell.
        data["task"]
            .as_object_mut()
            .expect("it is one")
            .remove("worktreePath");
    }

    fn counts(&self) -> OutcomeCounts {
        let mut counts = OutcomeCounts {
            seconds: seconds(self.history.times.time.so_far()),
            ..OutcomeCounts::default()
        };
        let tasks = self.history.batch.tasks.iter();
        for ending in tasks.filter_map(|task| task.state.ending()) {
            *match TaskOutcome::from(ending) {
                TaskOutcome::Merged => &mut counts.merged,
                TaskOutcome::NoChanges => &mut counts.no_changes,
                TaskOutcome::Conflicted => &mut counts.conflicted,
                TaskOutcome::Invalid => &mut counts.invalid,
                TaskOutcome::Failed => &mut counts.failed,
                TaskOutcome::TimedOut => &mut counts.timed_out,
                TaskOutcome::Blocked => &mut counts.blocked,
                TaskOutcome::Cancelled => &mut counts.cancelled,
            } += 1;
        }
        counts
    }
}
