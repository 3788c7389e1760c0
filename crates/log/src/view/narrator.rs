//! Tells the events of one batch to programs, with what only its history knows.
//!
//! Follows the batch event by event; where these come from and who hears them is the caller's business.

use std::path::PathBuf;

use pleach_domain::batch::Design;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::task_state::{Ending, TaskState};
use serde_json::{Map, Value, json};

use super::replay::Replayed;
use super::shape::{progress_of, seconds};
use super::wire::{name_tasks, wire_in, worktree_id};
use super::{Record, ViewError};
use crate::database::{LoadedBatch, StoredEvent};
use crate::task_ids::TaskIds;
use pleach_domain::task_status_word::TaskStatusWord;

/// The outcomes that a summary counts, by their word and by their name for programs.
const OUTCOMES: [(&str, &str); 8] = [
    ("merged", "merged"),
    ("no_changes", "noChanges"),
    ("conflicted", "conflicted"),
    ("invalid", "invalid"),
    ("failed", "failed"),
    ("timed_out", "timedOut"),
    ("blocked", "blocked"),
    ("cancelled", "cancelled"),
];

/// Somebody who has followed a batch and tells what happens to it.
#[derive(Debug)]
pub struct Narrator {
    history: Replayed,
    origin: Option<Origin>,
}

/// What a batch was made of, besides its design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The project it belongs to.
    pub project: String,
    /// The user's repository.
    pub repository: PathBuf,
    /// The plan, by its name within the project.
    pub plan: String,
    /// The titles of its tasks, in their order.
    pub titles: Vec<String>,
    /// What they are called in refs and paths.
    pub segments: Vec<String>,
    /// What programs know its tasks by.
    pub ids: TaskIds,
}

impl Narrator {
    /// One who knows of no event yet.
    pub fn new(design: Design) -> Self {
        Self {
            history: Replayed::new(design),
            origin: None,
        }
    }

    /// The same, who knows what the batch was made of.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// One who has followed a stored batch up to the event of that number, and not that one.
    pub fn before(loaded: &LoadedBatch, seq: u64) -> Result<Self, ViewError> {
        let record: Record = serde_json::from_str(&loaded.record).map_err(|source| {
            let batch = loaded.number;
            ViewError::Record { batch, source }
        })?;
        let segments = record.segments();
        let ids = record.task_ids(loaded);
        let titles = record.tasks.into_iter().map(|task| task.title);
        let mut narrator = Self::new(record.design).with_origin(Origin {
            project: loaded.project.clone(),
            repository: loaded.repository.clone(),
            plan: loaded.plan.clone(),
            titles: titles.collect(),
            segments,
            ids,
        });
        for stored in loaded.events.iter().take_while(|stored| stored.seq < seq) {
            narrator.follow(stored);
        }
        Ok(narrator)
    }

    /// Whether the batch is over by now.
    pub fn is_over(&self) -> bool {
        self.history.batch.status.is_over()
    }

    /// Takes an event in without telling it.
    pub fn follow(&mut self, stored: &StoredEvent) {
        // What does not fit is told as it is; it is not the teller who judges.
        let _ = self.history.follow(stored);
    }

    /// Takes an event in; its name and what it carries.
    pub fn tell(&mut self, stored: &StoredEvent) -> (&'static str, Value) {
        self.follow(stored);
        let (name, mut data) = wire_in(&self.history.batch.design, stored);
        match &stored.event {
            Event::Batch(BatchEvent::Created) => {
                if let Some(origin) = &self.origin {
                    data["projectId"] = json!(origin.project);
                    data["mainRepoPath"] = json!(origin.repository.to_string_lossy());
                    data["plan"] = json!(origin.plan);
                    data["keys"] = data["tasks"].clone();
                    data["titles"] = json!(origin.titles);
                }
            }
            Event::Batch(BatchEvent::Progressed { .. }) => {
                let tasks = self.history.batch.tasks.iter();
                let counted =
                    progress_of(tasks.map(|task| TaskStatusWord::from_state(&task.state)));
                if let Value::Object(counts) = json!(counted) {
                    data.as_object_mut().expect("it is one").extend(counts);
                }
            }
            Event::Batch(BatchEvent::StageEnded { stage, .. }) => {
                let stage = self.history.times.stages.get(*stage);
                let began = stage.and_then(|stage| stage.started_at);
                data["duration"] =
                    json!(began.map(|began| seconds(stored.at.saturating_sub(began))));
            }
            Event::Batch(BatchEvent::Completed { .. }) => data["summary"] = self.summary(),
            Event::Task {
                task,
                event: TaskEvent::TakenOver { .. },
            } => {
                let position = self.history.batch.position(task);
                let state = position.map(|at| &self.history.batch.tasks[at].state);
                if let Some(ending) = state.and_then(TaskState::ending) {
                    data["outcome"] = json!(ending.outcome());
                }
            }
            Event::Task { task, .. } if data.get("worktreeId").is_some() => {
                let position = self.history.batch.position(task);
                let segments = self.origin.as_ref().map(|origin| &origin.segments);
                if let Some(segment) = segments.zip(position).and_then(|(all, at)| all.get(at)) {
                    data["worktreeId"] = json!(worktree_id(stored.number, segment));
                }
            }
            _ => {}
        }
        if let Some(origin) = &self.origin {
            name_tasks(&mut data, &origin.ids);
        }
        (name, data)
    }

    fn summary(&self) -> Value {
        let tasks = self.history.batch.tasks.iter();
        let ended = tasks.filter_map(|task| task.state.ending().map(Ending::outcome));
        let ended: Vec<&str> = ended.collect();
        let count = |(word, name): &(&str, &str)| {
            let count = ended.iter().filter(|outcome| *outcome == word).count();
            ((*name).to_owned(), json!(count))
        };
        let mut summary: Map<String, Value> = OUTCOMES.iter().map(count).collect();
        let took = seconds(self.history.times.time.so_far());
        summary.insert("seconds".to_owned(), json!(took));
        Value::Object(summary)
    }
}
