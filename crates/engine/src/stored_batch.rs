//! A batch as it is stored, replayed: for those who act on what it left behind.
//!
//! Reads only; who shows a batch to people uses `view`.

mod on_nodes;

use std::path::PathBuf;

use pleach_domain::batch::Batch;
use pleach_domain::history::{AttemptHistory, History};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::{Git, Store, StoreError};
use pleach_git::worktree::{ListedWorktree, WorktreeError, WorktreeSpec};
use pleach_log::batch_paths::task_branch;
use pleach_log::database::Database;
use pleach_log::task_ids::TaskIds;
use pleach_log::view::ViewError;
use pleach_system::state_folder::StateFolder;

use crate::batch_record::BatchRecord;

pub use on_nodes::NodeWorktree;

#[derive(Debug)]
pub struct StoredBatch {
    pub id: u32,
    pub number: BatchNumber,
    pub project: String,
    pub batch: Batch,
    pub(crate) record: BatchRecord,
    history: History,
}

#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    #[error("batch {0} not found")]
    NoBatch(u32),
    #[error("task {task} not found in batch {batch}")]
    NoTask {
        batch: BatchNumber,
        task: TaskId,
        known: Vec<TaskId>,
    },
    #[error(transparent)]
    View(#[from] ViewError),
}

impl LookupError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoBatch(_) => Some("`pleach status --all` lists all batches".into()),
            Self::NoTask { known, .. } => {
                let ids: Vec<&str> = known.iter().take(12).map(TaskId::as_str).collect();
                let more = if known.len() > ids.len() { ", …" } else { "" };
                Some(format!("its tasks are {}{more}", ids.join(", ")))
            }
            Self::View(_) => None,
        }
    }
}

impl From<pleach_log::database::DatabaseError> for LookupError {
    fn from(error: pleach_log::database::DatabaseError) -> Self {
        Self::View(error.into())
    }
}

impl StoredBatch {
    pub fn load(database: &Database, id: u32) -> Result<Self, LookupError> {
        let loaded = database.load(id)?.ok_or(LookupError::NoBatch(id))?;
        let record: BatchRecord =
            serde_json::from_str(&loaded.record).map_err(|source| ViewError::Record {
                batch: loaded.number,
                source,
            })?;
        let mut batch = Batch::new(record.design.clone());
        let mut history = History::new(&record.design, record.runs_on());
        for stored in &loaded.events {
            batch
                .apply(&stored.event)
                .map_err(|source| ViewError::Event {
                    batch: loaded.number,
                    seq: stored.seq,
                    source,
                })?;
            history.take_in(&stored.event, stored.at);
        }
        Ok(Self {
            id,
            number: loaded.number,
            project: loaded.project,
            batch,
            record,
            history,
        })
    }

    pub fn position(&self, task: &TaskId) -> Result<usize, LookupError> {
        let found = self.batch.position(task);
        found.ok_or_else(|| LookupError::NoTask {
            batch: self.number,
            task: task.clone(),
            known: self.ids().cloned().collect(),
        })
    }

    pub fn key_of(&self, named: &str) -> Result<TaskId, LookupError> {
        let key = TaskId::new(named);
        if self.batch.position(&key).is_some() {
            return Ok(key);
        }
        let ids = self.task_ids();
        let found = ids.key(named).cloned();
        found.ok_or_else(|| LookupError::NoTask {
            batch: self.number,
            task: key,
            known: self.ids().cloned().collect(),
        })
    }

    pub fn task_ids(&self) -> TaskIds {
        self.record.task_ids(&self.project)
    }

    pub fn ids(&self) -> impl Iterator<Item = &TaskId> {
        self.batch.tasks.iter().map(|task| &task.design.id)
    }

    /// The task that a piece of a ref or folder name stands for.
    pub(crate) fn task_of_segment(&self, segment: &str) -> Option<usize> {
        let mut tasks = self.record.tasks.iter();
        tasks.position(|task| task.segment() == segment)
    }

    pub fn segment(&self, task: usize) -> String {
        self.record.tasks[task].segment()
    }

    /// The last attempt of that number.
    pub(crate) fn attempt(&self, task: usize, number: u32) -> Option<&AttemptHistory> {
        let attempts = self.history.tasks[task].attempts.iter();
        attempts.rev().find(|attempt| attempt.number == number)
    }

    pub fn store(&self, state: &StateFolder) -> Result<Option<Store>, StoreError> {
        let (git, stores, folder) = (Git::find()?, state.stores(), &self.record.folder);
        if self.record.is_in_place() {
            Store::existing_plain(git, &stores, folder)
        } else {
            Store::existing(git, &stores, folder)
        }
    }

    pub fn is_in_place(&self) -> bool {
        self.record.is_in_place()
    }

    pub fn folder(&self) -> &std::path::Path {
        &self.record.folder
    }

    /// What there is of its worktrees; those of tests and of conflicts in hand are among them.
    pub fn worktrees(&self, state: &StateFolder) -> Result<Vec<ListedWorktree>, WorktreeError> {
        if self.record.is_in_place() {
            return Ok(Vec::new());
        }
        let Some(store) = self.store(state)? else {
            return Ok(Vec::new());
        };
        let mut all = pleach_git::worktree::list(&store)?;
        let trees = self.trees(state);
        all.retain(|tree| tree.path.starts_with(&trees));
        Ok(all)
    }

    pub fn task_of_worktree(&self, tree: &ListedWorktree) -> Option<&TaskId> {
        let name = tree.path.file_name()?.to_str()?;
        let position = self.task_of_segment(name.strip_prefix("task-")?)?;
        Some(&self.batch.tasks[position].design.id)
    }

    pub(crate) fn trees(&self, state: &StateFolder) -> PathBuf {
        let root = self.record.worktrees.as_ref().map(|root| root.0.as_path());
        state.worktrees(root, &self.project, self.number)
    }

    /// The worktree of the last attempt of a task, if there was one.
    pub(crate) fn tree_spec(&self, state: &StateFolder, task: usize) -> Option<WorktreeSpec> {
        if self.record.is_in_place() {
            // Whatever is in the user's folder by now is nobody's last state.
            return None;
        }
        let segment = self.segment(task);
        let task = &self.batch.tasks[task];
        Some(WorktreeSpec {
            path: self.trees(state).join(format!("task-{segment}")),
            branch: task_branch(self.number, &segment),
            basis: task.basis.as_ref()?.0.parse().ok()?,
        })
    }

    pub(crate) fn keep_name(&self, task: usize, attempt: u32) -> String {
        let segment = self.segment(task);
        format!("batch-{}/task-{segment}/attempt-{attempt}", self.number)
    }
}
