//! A batch as people and programs see it, made from what is stored.
//!
//! Changes nothing, and knows neither terminals nor the network.

mod attempts;
mod board_wire;
mod narrator;
mod order;
mod progress;
mod replay;
mod shape;
mod stage;
mod task;
mod validation;
mod wire;

use std::path::{Path, PathBuf};

use pleach_domain::batch::{BadEvent, Batch, Design, LandingResult};
use pleach_domain::choice::{Landing, Where};
use pleach_domain::id::BatchNumber;
use serde::Deserialize;
use serde::de::IgnoredAny;

pub use attempts::AttemptView;
pub use board_wire::board_wire;
pub use narrator::{Narrator, OutcomeCounts};
pub use order::{EdgeView, OrderView, OrderedStage};
pub use progress::{BatchState, ProgressView};
pub use shape::{BatchView, ConflictView, PredictedView, ResolvingView, SettingsView};
pub use stage::StageView;
pub use task::{TaskView, UnitView};
pub use validation::{RunView, RunWord, ValidationView, Verdict};
pub use wire::{usd, wire, wire_in, worktree_id};

use crate::batch_paths::{WorkPlace, segment_of};
use crate::branches::BranchNames;
use crate::database::{self, Database, DatabaseError, LoadedBatch};
use crate::earlier::BuildsOn;
use crate::earlier::Earlier;
use crate::ownership::{OwnershipError, is_owned};
use crate::queue_report::QueueReport;
use crate::task_ids::TaskIds;
use pleach_system::files::stored_path::StoredPath;
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::StateFolder;
use replay::Replayed;
use task::TaskNames;

#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    /// What was stored when it was made is not understood.
    #[error("could not read the record of batch {batch}")]
    Record {
        batch: BatchNumber,
        source: serde_json::Error,
    },
    #[error("could not replay event {seq} of batch {batch}")]
    Event {
        batch: BatchNumber,
        seq: u64,
        source: BadEvent,
    },
}

/// What a view needs of a batch's record; the rest is the loop's.
#[derive(Debug, Deserialize)]
pub(crate) struct Record {
    pub(crate) design: Design,
    #[serde(default)]
    tasks: Vec<TaskRecord>,
    base: Option<String>,
    #[serde(default)]
    base_branch: Option<String>,
    #[serde(default)]
    validate: Option<String>,
    #[serde(default)]
    sandbox: SandboxPolicy,
    #[serde(default)]
    earlier: Earlier,
    #[serde(default)]
    stands_on: Vec<BuildsOn>,
    #[serde(default)]
    branches: BranchNames,
    #[serde(default)]
    place: WorkPlace,
    /// Where its tasks work, if that is the user's folder.
    folder: Option<StoredPath>,
    /// Where its worktrees are, if not where they are usually.
    worktrees: Option<StoredPath>,
    /// What there is to know of the cluster that it was given to.
    #[serde(default)]
    cluster: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct TaskRecord {
    #[serde(default)]
    title: String,
    #[serde(default)]
    segment: Option<String>,
    #[serde(default)]
    opaque_id: Option<String>,
}

impl Record {
    fn of(loaded: &LoadedBatch) -> Result<Self, ViewError> {
        let batch = loaded.number;
        serde_json::from_str(&loaded.record).map_err(|source| ViewError::Record { batch, source })
    }

    fn worktrees(&self, state: &StateFolder, project: &str, batch: BatchNumber) -> PathBuf {
        let root = self.worktrees.as_ref().map(|root| root.0.as_path());
        state.worktrees(root, project, batch)
    }

    fn names(&self, loaded: &LoadedBatch) -> TaskNames {
        TaskNames {
            ids: self.task_ids(loaded),
            segments: self.segments(),
        }
    }

    fn is_in_place(&self) -> bool {
        self.place == WorkPlace::InPlace
    }

    /// Where its attempts and tests run.
    pub(crate) fn runs_on(&self) -> Where {
        match self.cluster {
            Some(_) => Where::Slurm,
            None => Where::Local,
        }
    }

    fn queue_report(&self, folder: &Path) -> QueueReport {
        match self.runs_on() {
            Where::Local => QueueReport::default(),
            Where::Slurm => QueueReport::read(folder),
        }
    }

    pub(crate) fn task_ids(&self, loaded: &LoadedBatch) -> TaskIds {
        let known = self.tasks.iter().map(|task| task.opaque_id.as_deref());
        let known = known.chain(std::iter::repeat(None));
        let keys = self.design.tasks.iter().map(|task| &task.id);
        TaskIds::of(&loaded.project, &loaded.plan, keys.zip(known))
    }

    /// What its tasks are called in refs and paths, in their order.
    pub(crate) fn segments(&self) -> Vec<String> {
        let stored = |at: usize| self.tasks.get(at).and_then(|task| task.segment.as_deref());
        let tasks = self.design.tasks.iter().enumerate();
        tasks
            .map(|(at, task)| segment_of(stored(at), &task.id))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Alive,
    Gone,
}

/// What a view says about the world, besides what is stored.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    pub worktrees: &'a Path,
    pub owner: Owner,
    /// What a cluster said last of its attempts.
    pub queue: &'a QueueReport,
    /// The time, in milliseconds since 1970.
    pub now: u64,
}

impl BatchView {
    pub fn load(
        state: &StateFolder,
        database: &Database,
        batch: u32,
    ) -> Result<Option<Self>, ViewError> {
        // Looked at first: an owner that ends in between has written its last event by then.
        let owner = if is_owned(&state.batch(batch))? {
            Owner::Alive
        } else {
            Owner::Gone
        };
        let Some(loaded) = database.load(batch)? else {
            return Ok(None);
        };
        let record = Record::of(&loaded)?;
        let surroundings = Surroundings {
            worktrees: &record.worktrees(state, &loaded.project, loaded.number),
            owner,
            queue: &record.queue_report(&state.batch(batch)),
            now: database::now(),
        };
        Self::drawn(&loaded, record, &surroundings).map(Some)
    }

    /// The id in the plan that a task of it has; the id itself for one that is not of it.
    pub fn key_of<'v>(&'v self, task_id: &'v str) -> &'v str {
        let mut tasks = self.tasks.iter();
        let found = tasks.find(|task| task.task_id == task_id);
        found.map_or(task_id, |task| task.key.as_str())
    }

    pub fn of(loaded: &LoadedBatch, surroundings: &Surroundings<'_>) -> Result<Self, ViewError> {
        Self::drawn(loaded, Record::of(loaded)?, surroundings)
    }

    fn drawn(
        loaded: &LoadedBatch,
        mut record: Record,
        surroundings: &Surroundings<'_>,
    ) -> Result<Self, ViewError> {
        let batch = loaded.number;
        let mut history = Replayed::new(&record);
        for stored in &loaded.events {
            history.follow(stored).map_err(|source| ViewError::Event {
                batch,
                seq: stored.seq,
                source,
            })?;
        }
        let hider = Secrets::of_environment(&[]).hider();
        let land_into = record.base_branch.take();
        let land_into = land_into.filter(|_| lands_here(&history.batch));
        let validate = record.validate.take();
        record.validate = validate.map(|command| hider.hidden(command));
        let mut builds_on = if history.batch.status.is_over() {
            let places = history.batch.earlier_of(&history.batch.woven);
            record.earlier.told(&places)
        } else {
            record.earlier.told_all()
        };
        builds_on.append(&mut record.stands_on);
        let view = shape::draw(loaded, &history, &record, surroundings);
        Ok(Self {
            land_into,
            builds_on,
            ..view
        })
    }
}

/// Whether a result that is to land goes to a local branch: it shall, or there is no server.
fn lands_here(batch: &Batch) -> bool {
    batch.design.settings.landing == Landing::Local
        || matches!(
            batch.landed,
            Some(LandingResult::NotLanded {
                no_server: true,
                ..
            })
        )
}
