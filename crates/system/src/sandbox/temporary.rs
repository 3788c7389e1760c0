//! A folder for the temporary files of one run, which goes with it, or later if its process was killed.
//!
//! Each is noted in the state folder before it is made; the lock of the note says that somebody is there.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::files::removal::remove_all;
use crate::state_folder::StateFolder;

const PREFIX: &str = "pleach-";

/// A folder that only its owner may look into.
#[derive(Debug)]
pub(super) struct TemporaryFolder {
    path: PathBuf,
    note: PathBuf,
    /// Locked for as long as the folder is in use.
    _lock: File,
}

impl TemporaryFolder {
    /// Makes one where temporary files go, and clears those that nobody uses any more.
    pub(super) fn make(state: &StateFolder) -> io::Result<Self> {
        let notes = state.temporary().map_err(io::Error::other)?;
        sweep(&notes);
        let mut file = tempfile::Builder::new()
            .prefix("")
            .rand_bytes(8)
            .tempfile_in(&notes)?;
        file.as_file().lock()?;
        let name = file.path().file_name().unwrap_or_default();
        let above = std::env::temp_dir().canonicalize()?;
        let path = above.join(format!("{PREFIX}{}", name.to_string_lossy()));
        file.write_all(path.as_os_str().as_bytes())?;
        let (lock, note) = file.keep()?;
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self {
            path,
            note,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot go now is noted, and goes next time.
        remove(&self.path, &self.note);
    }
}

fn remove(path: &Path, note: &Path) {
    if remove_all(path).is_ok() {
        let _ = fs::remove_file(note);
    }
}

/// Clears what killed processes left behind; what cannot go now goes next time.
pub fn clear(state: &StateFolder) {
    if let Ok(notes) = state.temporary() {
        sweep(&notes);
    }
}

/// Clears what is noted and locked by nobody.
fn sweep(notes: &Path) {
    for entry in fs::read_dir(notes).into_iter().flatten().flatten() {
        let note = entry.path();
        let Ok(file) = File::open(&note) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        match fs::read(&note) {
            Ok(path) if is_one(&path) => {
                remove(Path::new(&std::ffi::OsString::from_vec(path)), &note);
            }
            // Its process died before there was a folder, or has just made the note and not locked it yet.
            Ok(_) if is_old(&file) => drop(fs::remove_file(&note)),
            _ => {}
        }
    }
}

fn is_one(path: &[u8]) -> bool {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    let name = path.file_name().and_then(|name| name.to_str());
    path.is_absolute() && name.is_some_and(|name| name.starts_with(PREFIX))
}

fn is_old(file: &File) -> bool {
    let made = file.metadata().and_then(|meta| meta.modified());
    let age = made.ok().and_then(|made| made.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 60)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn notes(state: &StateFolder) -> usize {
        fs::read_dir(state.temporary().unwrap()).unwrap().count()
    }

    #[test]
    fn it_is_private_and_goes_with_everything_in_it() {
        let home = tempfile::tempdir().unwrap();
        let state = StateFolder::at(home.path()).unwrap();
        let folder = TemporaryFolder::make(&state).unwrap();
        let path = folder.path().to_owned();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::create_dir(path.join("closed")).unwrap();
        fs::write(path.join("closed/file"), "").unwrap();
        fs::set_permissions(path.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
        drop(folder);
        assert!(!path.exists());
        assert_eq!(notes(&state), 0);
    }

    #[test]
    fn one_that_a_dead_process_left_goes_and_one_in_use_stays() {
        let home = tempfile::tempdir().unwrap();
        let state = StateFolder::at(home.path()).unwrap();
        let used = TemporaryFolder::make(&state).unwrap();
        let left = std::env::temp_dir().join(format!("{PREFIX}left-{}", std::process::id()));
        fs::create_dir(&left).unwrap();
        let note = state.temporary().unwrap().join("left");
        fs::write(&note, left.as_os_str().as_bytes()).unwrap();
        let foreign = state.temporary().unwrap().join("foreign");
        fs::write(&foreign, home.path().as_os_str().as_bytes()).unwrap();
        let another = TemporaryFolder::make(&state).unwrap();
        assert!(!left.exists() && !note.exists());
        assert!(used.path().exists() && another.path().exists());
        assert!(home.path().exists(), "only folders of ours are cleared");
    }
}
