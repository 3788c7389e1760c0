//! The place where a conflict is resolved: a folder, a branch and a note, which come and go together.
//!
//! Knows names, and nothing of what the conflict is.

use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::id::BatchNumber;
use pleach_git::git::{CommitId, Store, ref_segment};
use pleach_git::worktree::{CONFLICT_BRANCHES, Worktree, WorktreeSpec};
use pleach_log::batch_paths::conflict_folder;
use pleach_system::state_folder::StateFolder;

use super::note::ResolutionNote;
use super::{ClearedResolution, ResolveError};
use crate::stored_batch::StoredBatch;

/// Whoever begins or ends a resolution holds it.
const LOCK: &str = "resolve.lock";

impl StoredBatch {
    pub fn conflict_worktree<'s>(
        &self,
        state: &StateFolder,
        store: &'s Store,
        task: usize,
    ) -> ConflictWorktree<'s> {
        ConflictWorktree {
            store,
            batch: self.number,
            segment: self.segment(task),
            trees: self.trees(state),
        }
    }
}

#[derive(Debug, Clone)]
pub struct ConflictWorktree<'s> {
    pub store: &'s Store,
    pub batch: BatchNumber,
    pub segment: String,
    pub trees: PathBuf,
}

impl ConflictWorktree<'_> {
    /// The folder and its age, if it is there.
    pub fn folder(&self) -> Option<(PathBuf, Duration)> {
        let worktree = Worktree::on_branch(self.store, &self.branch())?;
        let age = worktree.age(self.store).unwrap_or_default();
        Some((worktree.path().to_owned(), age))
    }

    /// Whether anything of a resolution is there, a folder or what is left of one.
    pub fn is_in_use(&self) -> bool {
        self.folder().is_some()
            || ResolutionNote::load(self.store, &ref_segment(&self.branch())).is_some()
    }

    /// Keeps what is in the folder and takes it away, whatever became of it; nothing, if there is none.
    pub fn clear(&self) -> Result<Option<ClearedResolution>, ResolveError> {
        let _lock = self.lock()?;
        self.clear_away()
    }

    pub(super) fn lock(&self) -> Result<std::fs::File, ResolveError> {
        Ok(self.store.lock(LOCK)?)
    }

    /// The worktree and what is noted of it, if a resolution is under way.
    pub(super) fn open(&self) -> Result<Option<(Worktree, ResolutionNote)>, ResolveError> {
        let branch = self.branch();
        let Some(note) = ResolutionNote::load(self.store, &ref_segment(&branch)) else {
            return Ok(None);
        };
        let worktree = Worktree::on_branch(self.store, &branch);
        let Some(worktree) = worktree.filter(|worktree| worktree.path().is_dir()) else {
            return Ok(None);
        };
        // Whoever made it may have been killed, and its git be at work.
        let worktree = Worktree::existing(self.store, &self.spec(worktree.basis().clone()))?;
        Ok(worktree.map(|worktree| (worktree, note)))
    }

    /// Under the lock.
    pub(super) fn clear_away(&self) -> Result<Option<ClearedResolution>, ResolveError> {
        let mut basis = None;
        let mut cleared = None;
        if let Some(worktree) = Worktree::on_branch(self.store, &self.branch()) {
            basis = Some(worktree.basis().clone());
            let path = worktree.path().to_owned();
            let kept = worktree.retire(self.store, &self.keep_name())?;
            cleared = Some(ClearedResolution { path, kept });
        }
        let name = format!("refs/heads/{}", self.branch());
        if let Some(commit) = self.store.ref_commit(&name)? {
            if basis.as_ref() != Some(&commit) {
                self.store.keep(&commit, &self.keep_name())?;
            }
            self.store.drop_ref(&name, &commit)?;
        }
        self.delete_note()?;
        Ok(cleared)
    }

    pub(super) fn save_note(&self, note: &ResolutionNote) -> Result<(), ResolveError> {
        Ok(note.save(self.store, &ref_segment(&self.branch()))?)
    }

    fn delete_note(&self) -> Result<(), ResolveError> {
        Ok(ResolutionNote::delete(
            self.store,
            &ref_segment(&self.branch()),
        )?)
    }

    pub(super) fn spec(&self, basis: CommitId) -> WorktreeSpec {
        WorktreeSpec {
            path: conflict_folder(&self.trees, &self.segment),
            branch: self.branch(),
            basis,
        }
    }

    fn branch(&self) -> String {
        format!("{CONFLICT_BRANCHES}{}/{}", self.batch, self.segment)
    }

    pub(super) fn keep_name(&self) -> String {
        format!("batch-{}/task-{}/resolve", self.batch, self.segment)
    }
}
