//! A folder of the user's in the part of a worktree: nothing is made for it, and nothing of it is ever taken away.
//!
//! Knows nothing of what is captured there.

use std::path::PathBuf;

use pleach_system::process::SweepScope;

use super::git_folder::git_folders;
use super::{Worktree, WorktreeSpec};
use crate::git::{CommitId, Store, ref_segment};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderOwner {
    /// Ours: made for a task, and taken away when what is in it is kept.
    Ours,
    /// The user's: it was there before, and stays.
    Users,
}

impl Worktree {
    /// The folder of a store that is of no repository, for work that begins with a commit.
    pub(crate) fn in_place(
        store: &Store,
        folder: PathBuf,
        branch: String,
        basis: CommitId,
    ) -> Self {
        // Never there, because nothing is registered.
        let git_folder = git_folders(store).join(ref_segment(&format!("in place {branch}")));
        Self {
            path: folder,
            branch,
            basis,
            git_folder,
            // The folder is one, whoever works there.
            pristine_index: store.home().join("index").join("folder"),
            tenure: FolderOwner::Users,
        }
    }

    /// The same for a worktree that is wanted, where the store has no others.
    pub(super) fn wanted_in_place(store: &Store, spec: &WorktreeSpec) -> Option<Self> {
        let folder = store.plain_folder()?.to_owned();
        let (branch, basis) = (spec.branch.clone(), spec.basis.clone());
        Some(Self::in_place(store, folder, branch, basis))
    }

    /// Which processes are the work of whoever works here: in a folder of the user's others do as well.
    pub fn sweeps(&self) -> SweepScope {
        match self.tenure {
            FolderOwner::Ours => SweepScope::MarkedAndThere,
            FolderOwner::Users => SweepScope::Marked,
        }
    }

    pub(crate) fn is_in_place(&self) -> bool {
        self.tenure == FolderOwner::Users
    }
}
