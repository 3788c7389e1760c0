//! Names and folders of a batch: branches in the store, attempts, conflicts.

use pleach_domain::id::TaskId;
use pleach_git::git::ref_segment;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use pleach_domain::id::BatchNumber;

use pleach_git::git::Store;

pub fn project_name(store: &Store) -> String {
    let name = store.home().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The branch of a batch in the private store, whatever people see.
pub fn batch_branch(number: BatchNumber) -> String {
    format!("pleach/batch-{number}")
}

pub fn task_branch(number: BatchNumber, segment: &str) -> String {
    format!("pleach/task-{number}/{segment}")
}

pub const LOG: &str = "agent.log";

pub fn attempt_folder(batch: &Path, segment: &str, attempt: u32) -> PathBuf {
    batch
        .join(format!("task-{segment}"))
        .join(format!("attempt-{attempt}"))
}

/// The folder of a task's conflict among the worktrees of its batch.
pub fn conflict_folder(trees: &Path, segment: &str) -> PathBuf {
    trees.join(format!("resolve-{segment}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkPlace {
    #[default]
    Worktrees,
    /// All in the user's folder, which is no repository.
    InPlace,
}

/// What a task is called in refs and paths, by what is stored of it.
pub fn segment_of(stored: Option<&str>, id: &TaskId) -> String {
    stored.map_or_else(|| ref_segment(id.as_str()), str::to_owned)
}

/// The folder of what a run said, within that of the batch, by the number of its log.
pub fn probe_folder(batch: &Path, log: u32) -> PathBuf {
    batch.join("validation").join(format!("run-{log}"))
}

/// The highest number of a log that there is.
pub fn last_probe_log(batch: &Path) -> Option<u32> {
    let folders = std::fs::read_dir(batch.join("validation")).ok()?;
    let numbers = folders.flatten().filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("run-")?.parse().ok()
    });
    numbers.max()
}
