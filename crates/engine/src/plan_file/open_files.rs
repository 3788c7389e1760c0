//! Whether any process has a file open, by what the system shows of processes.
//!
//! Sees the processes of this user, and all of them as root.

use std::fs;
use std::path::Path;

/// Whether somebody has the file open; true as well where nothing can be seen at all.
pub(super) fn is_open(file: &Path) -> bool {
    // The system shows the name that an open file has now, by its real path; names of ours are unlike all others.
    let Some(name) = file.file_name() else {
        return true;
    };
    let Ok(processes) = fs::read_dir("/proc") else {
        return true;
    };
    let folders = processes.flatten().map(|process| process.path().join("fd"));
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok());
    let mut open = files
        .flat_map(Iterator::flatten)
        .filter_map(|file| fs::read_link(file.path()).ok());
    open.any(|open| open.file_name() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_open_until_it_is_closed_whatever_it_is_called_by_then() {
        let folder = tempfile::tempdir().unwrap();
        let (before, after) = (folder.path().join("before"), folder.path().join("after"));
        let file = fs::File::create(&before).unwrap();
        fs::rename(&before, &after).unwrap();
        assert!(is_open(&after));
        drop(file);
        assert!(!is_open(&after));
    }
}
