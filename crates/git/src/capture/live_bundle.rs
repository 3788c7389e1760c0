//! What an agent has made so far, as a file for another machine, again and again while it works.
//!
//! Leaves no trace in the worktree, and knows nothing of where the file goes.

use std::path::{Path, PathBuf};

use super::CaptureError;
use super::live::{LiveSnapshot, look};
use crate::git::{Store, TreeId};
use crate::weave;
use crate::worktree::{Worktree, unfinished};

#[derive(Debug)]
pub struct LiveBundles<'s> {
    store: &'s Store,
    /// The branch of the worktree.
    branch: String,
    /// The name under which what is in a file is kept.
    keep_as: String,
    /// Paths whose changes are no part of the work.
    leave_out: Vec<PathBuf>,
    seen: Option<LiveSnapshot>,
    /// What the last file held.
    written: Option<TreeId>,
}

impl<'s> LiveBundles<'s> {
    pub fn new(store: &'s Store, branch: String, keep_as: String, leave_out: Vec<PathBuf>) -> Self {
        Self {
            store,
            branch,
            keep_as,
            leave_out,
            seen: None,
            written: None,
        }
    }

    /// Writes the files of the worktree to a file, as a commit on its basis; tells whether they are news.
    pub fn write(&mut self, file: &Path) -> Result<bool, CaptureError> {
        let Some(worktree) = Worktree::on_branch(self.store, &self.branch) else {
            return Ok(false);
        };
        let basis = worktree.basis();
        let seen = look(
            self.store,
            &worktree,
            &self.leave_out,
            None,
            self.seen.as_ref(),
        )?;
        let tree = seen.tree().clone();
        self.seen = Some(seen);
        let known = match &self.written {
            Some(written) => written.clone(),
            None => weave::tree_of(self.store, basis)?,
        };
        if tree == known {
            return Ok(false);
        }
        let message = unfinished(&self.keep_as);
        let commit = self.store.commit_tree(&tree, &[basis], &message, None)?;
        self.store
            .bundle_commit(file, (&commit, &self.keep_as), basis)?;
        self.written = Some(tree);
        Ok(true)
    }
}
