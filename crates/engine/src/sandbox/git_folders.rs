//! Which parts of the store a worktree has to write to, so that git can commit there.
//!
//! Packs, other branches, the configuration and the hooks are not among them.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use crate::git::{PACKED, Store};
use crate::worktree::Worktree;

/// The registration, loose objects, the folder of the branch and its log.
pub(super) fn own(store: &Store, worktree: &Worktree) -> io::Result<Vec<PathBuf>> {
    let git_dir = store.git_dir();
    let mut open = vec![worktree.admin().to_owned(), git_dir.join(PACKED)];
    // Not what is above them: packs are there, and the user's repository may share their files.
    for number in 0..=u8::MAX {
        let folder = git_dir.join("objects").join(format!("{number:02x}"));
        made(fs::create_dir(&folder))?;
        open.push(folder);
    }
    let branch = worktree.branch_ref();
    let log = git_dir.join("logs").join(&branch);
    for file in [&git_dir.join(&branch), &log] {
        let folder = file.parent().unwrap_or(&git_dir);
        fs::create_dir_all(folder)?;
    }
    File::options().append(true).create(true).open(&log)?;
    open.extend(git_dir.join(branch).parent().map(Into::into));
    open.push(log);
    Ok(open)
}

fn made(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
