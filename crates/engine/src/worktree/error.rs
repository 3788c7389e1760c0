//! Why something could not be done with a worktree.

use std::io;
use std::path::{Path, PathBuf};

use crate::capture::CaptureError;
use crate::git::{GitError, StoreError};

/// Why a worktree could not be made, used again or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Something is there already, and it may hold work.
    #[error("could not make a worktree: {} is there already", path.display())]
    Exists {
        /// What is in the way.
        path: PathBuf,
    },
    /// The proof is of another worktree.
    #[error("could not remove {}: what is in it is not kept", path.display())]
    NotKept {
        /// The worktree.
        path: PathBuf,
    },
    /// A folder cannot be told to be like a fresh one.
    #[error("could not use {} again: {why}", path.display())]
    Unfit {
        /// The folder, or something in it.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What is in a worktree could not be kept, so it stays.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// Files could not be written or moved.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    move |source| WorktreeError::Io {
        doing,
        path,
        source,
    }
}
