//! What makes a folder a worktree of the store: the branch, the name, and a git folder of its own.
//!
//! Knows nothing of the files in it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::files::removal::remove_all;

use super::record::{WorktreeRecord, WorktreeStage};
use super::{KeptProof, LOCK, Worktree, WorktreeError, failed, is_present};
use crate::git::Store;

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
        if let Some(taken) = [&self.path, &self.git_folder]
            .into_iter()
            .find(|path| is_present(path))
        {
            return Err(WorktreeError::Exists {
                path: taken.clone(),
            });
        }
        // Before there is anything, so that whatever a killed process leaves is known for what it is.
        self.note(store, WorktreeStage::Making)?;
        crash_point(CrashPoint::WorktreeNoted);
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
        if let Some(record) = WorktreeRecord::load(store, &self.id()) {
            if record.stage != WorktreeStage::Made && !store.is_alive(&record.sign)? {
                Self::of_record(store, &record).put_away(store)?;
            } else if record.path != self.path && is_present(&record.path) {
                return Err(WorktreeError::Exists { path: record.path });
            }
        }
        if is_present(&self.git_folder) && !is_present(&self.path) {
            // The files are gone, and what was committed is all that is left to keep.
            let kept = KeptProof::keep_commits(store, self, &self.branch)?;
            self.save_commits(store, Some(&kept))?;
            self.put_away(store)?;
        }
        Ok(())
    }

    /// The last step brings the git folder in as a whole, so that nobody's git sees half of it.
    fn link(&self, store: &Store) -> Result<(), WorktreeError> {
        self.write_git_file()
            .map_err(failed("write to", &self.path))?;
        self.take_branch(store)?;
        crash_point(CrashPoint::BranchTaken);
        let stage = self.build_git_folder(store, &self.basis)?;
        fs::rename(&stage, &self.git_folder).map_err(failed("set up", &self.git_folder))
    }

    pub(super) fn write_git_file(&self) -> io::Result<()> {
        let file = self.path.join(".git");
        let text = [b"gitdir: ", self.git_folder.as_os_str().as_bytes(), b"\n"].concat();
        // Whatever is there, a link above all, is not what is written to.
        remove_all(&file)?;
        let mut file = File::create_new(&file)?;
        file.write_all(&text)
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

    /// Whether there is a git folder for it.
    pub(super) fn is_registered(&self) -> bool {
        is_present(&self.git_folder)
    }
}
