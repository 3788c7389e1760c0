//! Brings a new worktree to where an earlier one of the same task was left, which is gone.
//!
//! Knows nothing of who works there, nor of why it goes on.

use pleach_system::files::plain_file;

use super::kept::is_unfinished;
use super::{Worktree, WorktreeError, copy_index, failed};
use crate::git::{CommitId, GitError, Store};

impl Worktree {
    /// Brings the kept state of an earlier worktree into this one, which is as it was made: its files as they were, and
    /// what was committed as commits.
    pub fn bring_back(&self, store: &Store, kept: &CommitId) -> Result<(), WorktreeError> {
        let scratch = store.scratch()?;
        let index = scratch.path().join("index");
        copy_index(&self.pristine_index, &index).map_err(failed("copy", &self.pristine_index))?;
        let read_tree = ["read-tree", "-m", "-u", self.basis.as_str(), kept.as_str()];
        let call = store.call().work_tree(&self.path).writing(&self.path);
        call.index(&index).args(read_tree).output()?;
        let head = head_of(store, kept)?;
        if head == self.basis {
            return Ok(());
        }
        let index = scratch.path().join("committed");
        let read_tree = ["read-tree", head.as_str()];
        store.call().index(&index).args(read_tree).output()?;
        let own = self.git_folder.join("index");
        copy_index(&index, &own).map_err(failed("write", &own))?;
        let branch = self.git_folder.join(self.branch_ref());
        let put = plain_file::replace(&branch, format!("{head}\n").as_bytes(), None);
        put.map_err(failed("write", &branch))
    }
}

/// What was committed of a state that was kept: all of it, or what comes before the commit that keeps the rest.
fn head_of(store: &Store, kept: &CommitId) -> Result<CommitId, GitError> {
    let show = ["log", "-1", "--format=%P%x00%B", kept.as_str()];
    let printed = store.call().args(show).output()?;
    let printed = String::from_utf8_lossy(&printed);
    let (parents, message) = printed.split_once('\0').unwrap_or_default();
    let before = is_unfinished(message).then(|| parents.trim().parse().ok());
    Ok(before.flatten().unwrap_or_else(|| kept.clone()))
}
