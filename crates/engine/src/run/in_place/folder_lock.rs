//! One batch at a time in a folder: locked files name the folders that batches are at work in.
//!
//! Knows nothing of batches; a process that ends in whatever way lets go of its folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pleach_git::git::Store;
use pleach_log::batch_paths::project_name;
use pleach_system::state_folder::{LockedFile, StateFolder, try_lock};

use super::InPlaceError;
use crate::run::RunError;

/// Whoever looks at the others holds it.
const TURN: &str = "turn";

/// The hold on a folder, and on everything above and below it.
#[derive(Debug)]
pub struct FolderLock {
    #[expect(dead_code, reason = "holding it is its use")]
    locked: LockedFile,
}

impl FolderLock {
    pub(super) fn take(
        state: &StateFolder,
        store: &Store,
        folder: &Path,
    ) -> Result<Self, RunError> {
        let place = state.in_place()?;
        let taken = take_in(&place, &project_name(store), folder);
        match taken.map_err(RunError::io("lock the folder"))? {
            Ok(locked) => Ok(Self { locked }),
            Err(folder) => Err(InPlaceError::Busy { folder }.into()),
        }
    }
}

/// The lock, or the folder of whoever is in the way.
fn take_in(place: &Path, name: &str, folder: &Path) -> io::Result<Result<LockedFile, PathBuf>> {
    let turn = File::options()
        .create(true)
        .append(true)
        .open(place.join(TURN))?;
    turn.lock()?;
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let named = fs::read(entry.path())?;
        let named = Path::new(OsStr::from_bytes(&named));
        let is_apart = !named.starts_with(folder) && !folder.starts_with(named);
        if entry.file_name() == TURN || named.as_os_str().is_empty() || is_apart {
            continue;
        }
        if try_lock(&entry.path())?.is_none() {
            return Ok(Err(named.to_owned()));
        }
    }
    let own = place.join(name);
    Ok(match try_lock(&own)? {
        Some(locked) => {
            fs::write(&own, folder.as_os_str().as_bytes())?;
            Ok(locked)
        }
        None => Err(folder.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_held_against_those_above_and_below_it_and_no_others() {
        let place = tempfile::tempdir().unwrap();
        let take = |name: &str, folder: &str| {
            take_in(place.path(), name, Path::new(folder))
                .unwrap()
                .map_err(|busy| busy.to_string_lossy().into_owned())
        };
        let held = take("a", "/x/a").unwrap();
        for (name, folder) in [("a", "/x/a"), ("above", "/x"), ("below", "/x/a/deep")] {
            assert_eq!(take(name, folder).err().as_deref(), Some("/x/a"));
        }
        let beside = take("b", "/x/ab").unwrap();
        drop(held);
        assert!(take("below", "/x/a/deep").is_ok());
        assert_eq!(take("above", "/x").err().as_deref(), Some("/x/ab"));
        drop(beside);
        assert!(take("above", "/x").is_ok());
    }
}
