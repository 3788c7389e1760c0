//! Why something could not be done with a worktree.

use std::io;
use std::path::{Path, PathBuf};

use crate::git::{GitError, StoreError};
use crate::weave::WeaveError;

#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Something is there already, and it may hold work.
    #[error("could not create a worktree: {} already exists", path.display())]
    Exists { path: PathBuf },
    #[error("could not remove {}: its files are not kept yet", path.display())]
    NotKept { path: PathBuf },
    /// A folder cannot be told to be like a fresh one.
    #[error("could not reuse {}: {why}", path.display())]
    Unfit { path: PathBuf, why: &'static str },
    #[error(transparent)]
    Capture(Box<CaptureError>),
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Why the work could not be captured; the worktree is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The folder with the work is gone, or is no folder any more.
    #[error("could not capture the work: {} is no longer a folder", path.display())]
    Gone { path: PathBuf },
    #[error("could not read {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Something is in the place of a file that git has no room for.
    #[error("could not capture the work: {} is a pipe, a socket or a device now", path.display())]
    Special { path: PathBuf },
    /// Git refuses a name, because some system would take it for its own folder.
    #[error("could not capture the work: git does not accept a file named {}", path.display())]
    Name { path: PathBuf },
    /// A file that Git LFS keeps was changed.
    #[error(
        "could not capture the work: {} belongs to Git LFS, and its content cannot be stored",
        path.display()
    )]
    LargeFile { path: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Objects(Box<WeaveError>),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<CaptureError> for WorktreeError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(Box::new(error))
    }
}

impl From<WeaveError> for CaptureError {
    fn from(error: WeaveError) -> Self {
        Self::Objects(Box::new(error))
    }
}

pub(super) fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorktreeError {
    let path = path.to_owned();
    move |source| WorktreeError::Io {
        doing,
        path,
        source,
    }
}
