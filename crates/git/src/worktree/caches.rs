//! The paths that come along from one task to the next: taken out before the folder is tidied, put back after.
//!
//! Looks at nothing in them; follows no link on the way to them.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode};
use rustix::io::Errno;

use super::tidy::{FOLDER, TrashFolder};
use super::{WorktreeError, failed};
use crate::git::{Store, ignored, os_str};
use crate::index::EntryLookup;

/// What was taken out, in a folder of its own and by number.
pub(super) struct Caches {
    folder: PathBuf,
    paths: Vec<PathBuf>,
}

impl Caches {
    /// Takes out the files and folders of those paths; what git knows of stays, and so does a link.
    pub(super) fn take_out(
        tree: &Path,
        wanted: &[PathBuf],
        lookup: &EntryLookup<'_>,
        folder: PathBuf,
    ) -> Result<Self, WorktreeError> {
        std::fs::create_dir(&folder).map_err(failed("create", &folder))?;
        let mut caches = Self {
            folder,
            paths: Vec::new(),
        };
        for path in wanted {
            if is_known(lookup, path) {
                continue;
            }
            let Ok((above, name)) = open_above(tree, path, &mut Vec::new(), Missing::IsAnError)
            else {
                continue;
            };
            let stat = rustix::fs::statat(&above, &name, AtFlags::SYMLINK_NOFOLLOW);
            let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
            let is_plain = matches!(kind, Ok(FileType::Directory | FileType::RegularFile));
            let place = caches.place(caches.paths.len());
            // What cannot be moved is not kept.
            if is_plain && rustix::fs::renameat(&above, &name, CWD, &place).is_ok() {
                caches.paths.push(path.clone());
            }
        }
        Ok(caches)
    }

    fn place(&self, number: usize) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Puts back what git ignores and does not know in a folder that is tidy.
    pub(super) fn put_back(
        &self,
        store: &Store,
        tree: &Path,
        lookup: &EntryLookup<'_>,
        aside: &mut TrashFolder,
    ) -> Result<(), WorktreeError> {
        let mut made = Vec::new();
        let mut put: Vec<&PathBuf> = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            if is_known(lookup, path) || is_below_known(lookup, path) {
                continue;
            }
            let (above, name) = open_above(tree, path, &mut made, Missing::IsMade)
                .map_err(std::io::Error::from)
                .map_err(failed("create the folder of", path))?;
            let moved = rustix::fs::renameat(CWD, self.place(number), &above, &name);
            let moved = moved.map_err(std::io::Error::from);
            moved.map_err(failed("put back", path))?;
            put.push(path);
        }
        let paths = put.iter().map(|path| path.as_os_str().as_bytes());
        let ignored = ignored(store.call().work_tree(tree), paths)?;
        drop_what_is_not(&ignored, &put, tree, aside)?;
        // Folders above what was dropped; the others are not empty.
        for folder in made.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// What git does not ignore would become part of the next task's work.
fn drop_what_is_not(
    ignored: &HashSet<Vec<u8>>,
    put: &[&PathBuf],
    tree: &Path,
    aside: &mut TrashFolder,
) -> Result<(), WorktreeError> {
    let is_taken = |path: &&&PathBuf| !ignored.contains(path.as_os_str().as_bytes());
    for path in put.iter().filter(is_taken) {
        let dropped = open_above(tree, path, &mut Vec::new(), Missing::IsAnError)
            .map_err(std::io::Error::from)
            .and_then(|(above, name)| {
                let place = tree.join(path);
                let place = place.parent().unwrap_or(tree);
                aside.take(place, above.as_fd(), &name)
            });
        dropped.map_err(failed("clear", path))?;
    }
    Ok(())
}

/// Whether git knows something at or below a path.
fn is_known(lookup: &EntryLookup<'_>, path: &Path) -> bool {
    let path = path.as_os_str().as_bytes();
    lookup.position(path).is_some() || lookup.folder(path).is_some()
}

/// Whether git knows something above a path that is no folder.
fn is_below_known(lookup: &EntryLookup<'_>, path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    above.any(|above| lookup.position(above.as_os_str().as_bytes()).is_some())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    IsAnError,
    IsMade,
}

/// Opens the folder that a path is in, link by no link, and tells the name in it; folders that had to be made are noted.
fn open_above(
    tree: &Path,
    path: &Path,
    made: &mut Vec<PathBuf>,
    missing: Missing,
) -> Result<(OwnedFd, CString), Errno> {
    let mut folder = rustix::fs::open(tree, FOLDER, Mode::empty())?;
    let mut place = tree.to_owned();
    for part in path.parent().into_iter().flat_map(Path::iter) {
        place.push(part);
        let open = || rustix::fs::openat(&folder, part, FOLDER, Mode::empty());
        folder = match open() {
            Err(Errno::NOENT) if missing == Missing::IsMade => {
                rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777))?;
                made.push(place.clone());
                open()?
            }
            other => other?,
        };
    }
    let name = path.file_name().unwrap_or(os_str(b""));
    let name = CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?;
    Ok((folder, name))
}
