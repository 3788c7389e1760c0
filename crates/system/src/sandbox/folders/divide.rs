//! Opens what is in a folder one by one, around what stays closed.
//!
//! Knows nothing of why something is closed.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DividedEntries {
    /// Folders, also behind links.
    Folders,
    /// Files too; links lead to what is found at its own place.
    Everything,
}

/// Opens a folder, or what is in it and not closed.
pub(super) fn divide(
    folder: &Path,
    closed: &[PathBuf],
    want: DividedEntries,
    found: &mut Vec<PathBuf>,
) {
    if closed.iter().any(|closed| folder.starts_with(closed)) {
        return;
    }
    if !closed.iter().any(|closed| closed.starts_with(folder)) {
        found.push(folder.to_owned());
        return;
    }
    // Links lead anywhere, but only folders are looked for behind them.
    let below = match want {
        DividedEntries::Folders => closed.to_vec(),
        DividedEntries::Everything => closed
            .iter()
            .filter(|path| path.starts_with(folder))
            .cloned()
            .collect(),
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_entry(&entry, &below, want, found);
    }
}

pub(super) fn open_entry(
    entry: &DirEntry,
    closed: &[PathBuf],
    want: DividedEntries,
    found: &mut Vec<PathBuf>,
) {
    let path = entry.path();
    let Ok(kind) = entry.file_type() else {
        return;
    };
    if kind.is_symlink() {
        let target = path.canonicalize().ok().filter(|target| target.is_dir());
        let Some(target) = target.filter(|_| want == DividedEntries::Folders) else {
            return;
        };
        let is_near = |closed: &PathBuf| closed.starts_with(&target) || target.starts_with(closed);
        if !closed.contains(&path) && !closed.iter().any(is_near) {
            found.push(target);
        }
    } else if kind.is_dir() {
        divide(&path, closed, want, found);
    } else if want == DividedEntries::Everything && !closed.contains(&path) {
        found.push(path);
    }
}
