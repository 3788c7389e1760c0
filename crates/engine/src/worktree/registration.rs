//! What makes a folder a worktree of the store: the branch, the name, and git's notes about it.
//!
//! Knows nothing of the files in it.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::record::{Record, Stage};
use super::trash::remove_all;
use super::{GITDIR, LOCK, Worktree, WorktreeError, failed, is_present};
use crate::git::{GitError, Store};
use crate::plain_file;
use crate::step::{Step, reached};

/// So often a branch is taken before giving up.
const TRIES: usize = 4;

impl Worktree {
    /// Takes the folder, the branch and the name, or nothing of them.
    pub(super) fn register(
        &self,
        store: &Store,
        place_folder: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<(), WorktreeError> {
        let _lock = store.lock(LOCK)?;
        self.clear_way(store)?;
        if let Some(taken) = [&self.path, &self.admin]
            .into_iter()
            .find(|path| is_present(path))
        {
            return Err(WorktreeError::Exists {
                path: taken.clone(),
            });
        }
        // Before there is anything, so that whatever a killed process leaves is known for what it is.
        self.note(store, Stage::Making)?;
        reached(Step::WorktreeNoted);
        let linked = place_folder(&self.path)
            .map_err(failed("create", &self.path))
            .and_then(|()| self.link(store));
        if linked.is_err() {
            // It was made a moment ago; the first error counts.
            let _ = self.put_away(store);
        }
        linked
    }

    /// Takes away what is left of an earlier worktree of that name, if nothing of it can be lost.
    fn clear_way(&self, store: &Store) -> Result<(), WorktreeError> {
        if let Some(record) = Record::load(store, &self.id()) {
            if record.stage != Stage::Made && !store.is_alive(&record.sign)? {
                Self::of_record(store, &record).put_away(store)?;
            } else if record.path != self.path && is_present(&record.path) {
                return Err(WorktreeError::Exists { path: record.path });
            }
        }
        if self.is_registered(store) && !is_present(&self.path) {
            // The files are gone, and where the worktree was is all that is left to keep.
            let head = self.head_name().unwrap_or_default();
            let head = store.look_up(&[format!("{head}^{{commit}}")])?;
            if let Some(head) = head.into_iter().flatten().next() {
                let head = head.parse().map_err(|_| GitError::Garbled {
                    what: "cat-file".into(),
                    printed: head,
                })?;
                store.keep(&head, &self.branch)?;
            }
            self.put_away(store)?;
        }
        self.clear_registration(store)
    }

    /// The last step brings the registration in as a whole, so that nobody's git sees half of it.
    fn link(&self, store: &Store) -> Result<(), WorktreeError> {
        self.write_git_file()
            .map_err(failed("write to", &self.path))?;
        self.take_branch(store)?;
        reached(Step::BranchTaken);
        let stage = self.stage(store)?;
        remove_all(&stage)
            .and_then(|()| fs::create_dir_all(&stage))
            .and_then(|()| self.fill_admin(&stage))
            .and_then(|()| fs::create_dir_all(store.git_dir().join("worktrees")))
            .and_then(|()| fs::rename(&stage, &self.admin))
            .map_err(failed("set up", &self.admin))
    }

    pub(super) fn write_git_file(&self) -> io::Result<()> {
        plain_file::replace(
            &self.path.join(".git"),
            &line("gitdir: ", &self.admin),
            None,
        )
    }

    /// Where the registration is built before it is in use, and taken apart afterwards.
    fn stage(&self, store: &Store) -> Result<PathBuf, WorktreeError> {
        let name = format!("{}.{}", self.id(), store.sign()?);
        Ok(store.git_dir().join("wt-stage").join(name))
    }

    /// Again if the branch moved meanwhile: a git that outlived its Pleach may be at it.
    fn take_branch(&self, store: &Store) -> Result<(), WorktreeError> {
        for _ in 1..TRIES {
            if self.try_to_take_branch(store).is_ok() {
                return Ok(());
            }
        }
        self.try_to_take_branch(store)
    }

    fn try_to_take_branch(&self, store: &Store) -> Result<(), WorktreeError> {
        let name = self.branch_ref();
        store.clear_lock_of(&name)?;
        let Err(error) = store.swap_ref(&name, &self.basis, None) else {
            return Ok(());
        };
        let Some(earlier) = store.ref_commit(&name)? else {
            return Err(error.into());
        };
        if earlier == self.basis {
            return Ok(());
        }
        store.keep(&earlier, &self.branch)?;
        Ok(store.swap_ref(&name, &self.basis, Some(&earlier))?)
    }

    fn fill_admin(&self, folder: &Path) -> io::Result<()> {
        fs::write(folder.join(GITDIR), line("", &self.path.join(".git")))?;
        fs::write(folder.join("commondir"), "../..\n")?;
        fs::write(folder.join("HEAD"), format!("ref: {}\n", self.branch_ref()))?;
        // So that nobody's `git worktree prune` takes it away.
        fs::write(folder.join("locked"), "in use by pleach\n")
    }

    /// Whether there is a registration, and not just what is left of one.
    pub(super) fn is_registered(&self, store: &Store) -> bool {
        let is_known = || Record::load(store, &self.id()).is_some();
        is_present(&self.admin) && (is_present(&self.admin.join(GITDIR)) || is_known())
    }

    /// What is left of the registration of a worktree that went is in nobody's way.
    fn clear_registration(&self, store: &Store) -> Result<(), WorktreeError> {
        if is_present(&self.admin) && !is_present(&self.admin.join(GITDIR)) {
            let gone = self.stage(store)?;
            remove_all(&gone)
                .and_then(|()| fs::create_dir_all(gone.parent().unwrap_or(&gone)))
                .and_then(|()| move_if_present(&self.admin, &gone))
                .and_then(|()| remove_all(&gone))
                .map_err(failed("move away", &self.admin))?;
        }
        Ok(())
    }
}

/// A line of one of git's own files, whose paths need not be text.
fn line(before: &str, path: &Path) -> Vec<u8> {
    [before.as_bytes(), path.as_os_str().as_bytes(), b"\n"].concat()
}

fn move_if_present(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
