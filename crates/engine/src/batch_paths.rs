//! Names and folders of a batch: branches in the store, attempts, conflicts.

use std::path::{Path, PathBuf};

use pleach_domain::id::BatchNumber;

use crate::git::Store;

/// The name of a project among the stores.
pub(crate) fn project_name(store: &Store) -> String {
    let name = store.home().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The branch of a batch in the private store, whatever people see.
pub(crate) fn batch_branch(number: BatchNumber) -> String {
    format!("pleach/batch-{number}")
}

/// The branch of a task there, which its agent works on.
pub(crate) fn task_branch(number: BatchNumber, segment: &str) -> String {
    format!("pleach/task-{number}/{segment}")
}

/// The transcript of an attempt, in its folder.
pub const LOG: &str = "agent.log";

/// Where what an attempt says and how it ended is kept.
pub fn attempt_folder(batch: &Path, segment: &str, attempt: u32) -> PathBuf {
    batch
        .join(format!("task-{segment}"))
        .join(format!("attempt-{attempt}"))
}

/// The folder of a task's conflict among the worktrees of its batch.
pub(crate) fn conflict_folder(trees: &Path, segment: &str) -> PathBuf {
    trees.join(format!("resolve-{segment}"))
}
