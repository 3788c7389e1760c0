//! Brings kept work back where there is no repository: as a new folder, beside everything else that is Pleach's own.
//!
//! Replaces nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pleach_git::capture::check_out_into;
use pleach_git::git::{CommitId, Store};
use pleach_git::worktree::CaptureError;
use pleach_system::state_folder::{StateFolder, private_folder};

use super::KeptError;
use crate::stored_batch::StoredBatch;

/// Puts a state of a folder into a new one, and tells where that is.
pub(super) fn bring_back(
    state: &StateFolder,
    stored: &StoredBatch,
    store: &Store,
    commit: &CommitId,
    segment: &str,
) -> Result<PathBuf, KeptError> {
    let above = state.recovered(&stored.project, stored.number);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| KeptError::Folder { path, source }
    };
    private_folder(&above).map_err(|error| failed(&above)(io::Error::other(error)))?;
    let folder = new_folder(&above, &format!("task-{segment}")).map_err(failed(&above))?;
    let brought = check_out_into(store, commit, &folder);
    brought.map_err(|error: CaptureError| KeptError::Worktree(Box::new(error.into())))?;
    Ok(folder)
}

/// A new folder of that name, numbered if it is taken.
fn new_folder(above: &Path, name: &str) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let folder = match number {
            1 => above.join(name),
            _ => above.join(format!("{name}-{number}")),
        };
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| folder),
        }
    }
}
