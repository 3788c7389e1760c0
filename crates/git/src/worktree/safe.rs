//! Worktrees that stay for people: nothing that an agent configured makes git run a program there.
//!
//! Runs no git in them before that. Knows nothing of why one stays.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_system::files::removal::remove_all;

use super::git_folder::git_folders;
use super::nested::{NestedRepositories, Treatment, nested_repositories};
use super::trash::{self, delete_later};
use super::{KeptProof, LOCK, Worktree, WorktreeError, failed, is_present};
use crate::git::Store;

/// What was done so that git runs nothing of an agent's.
#[derive(Debug, Default)]
pub struct MadeSafe {
    pub nested: NestedRepositories,
    /// The agent's own git folder, where commits in it could not be kept otherwise.
    pub saved: Option<PathBuf>,
}

impl Worktree {
    /// Replaces everything that could make git run a program here: for a person who will look around.
    ///
    /// The agent's git folder goes only for proof that all commits in it are kept.
    pub fn make_safe(
        &self,
        store: &Store,
        kept: Option<&KeptProof>,
    ) -> Result<MadeSafe, WorktreeError> {
        if self.is_in_place() {
            let nested = nested_repositories(&self.path, Treatment::Leave);
            return Ok(MadeSafe {
                nested,
                saved: None,
            });
        }
        if !is_present(&self.path) {
            return Ok(MadeSafe::default());
        }
        let stage = self.fresh_git_folder(store)?;
        let saved = self.save_commits(store, kept)?;
        self.replace_git_folder(store, &stage)?;
        let nested = nested_repositories(&self.path, Treatment::Disable);
        if nested.left.is_empty() {
            let mark = mark_of(store, &self.id());
            fs::create_dir_all(marks(store))
                .and_then(|()| fs::write(&mark, ""))
                .map_err(failed("write", &mark))?;
        }
        Ok(MadeSafe { nested, saved })
    }

    /// Moves the git folder aside unless all commits in it are kept; returns where it is then.
    pub fn save_commits(
        &self,
        store: &Store,
        kept: Option<&KeptProof>,
    ) -> Result<Option<PathBuf>, WorktreeError> {
        let is_kept = kept.is_some_and(KeptProof::has_all_commits);
        if is_kept || self.is_in_place() || !is_present(&self.git_folder) {
            return Ok(None);
        }
        let folder = store.damaged_folder()?.join(self.id());
        fs::rename(&self.git_folder, &folder).map_err(failed("move away", &self.git_folder))?;
        Ok(Some(folder))
    }

    /// Whether git was made safe to run here, and nobody worked here since.
    pub fn is_safe(&self, store: &Store) -> bool {
        is_safe(store, &self.id())
    }

    /// Notes that an agent may work here from now on.
    pub(super) fn forget_safety(&self, store: &Store) -> Result<(), WorktreeError> {
        let mark = mark_of(store, &self.id());
        remove_all(&mark).map_err(failed("remove", &mark))
    }

    /// Builds a git folder where the agent's head is, if the store has that, or at the basis.
    fn fresh_git_folder(&self, store: &Store) -> Result<PathBuf, WorktreeError> {
        let head = self.left_commits().head;
        let known = head.filter(|head| store.has_commit(head));
        let mut commits = known.iter().chain([&self.basis]);
        loop {
            let commit = commits.next().unwrap_or(&self.basis);
            let stage = self.build_git_folder(store, commit)?;
            let index = stage.join("index");
            let read = ["read-tree", commit.as_str()];
            match store.call().index(&index).args(read).output() {
                // Something of it may be missing.
                Err(_) if *commit != self.basis => {}
                read => return Ok(read.map(|_| stage)?),
            }
        }
    }

    fn replace_git_folder(&self, store: &Store, stage: &Path) -> Result<(), WorktreeError> {
        let _lock = store.lock(LOCK)?;
        if is_present(&self.git_folder) {
            delete_later(trash::move_away(store, &self.git_folder)?);
        }
        fs::rename(stage, &self.git_folder).map_err(failed("set up", &self.git_folder))?;
        self.write_git_file()
            .map_err(failed("write to", &self.path))
    }
}

/// Whether a worktree was made safe and nobody worked there since.
pub(super) fn is_safe(store: &Store, id: &str) -> bool {
    is_present(&mark_of(store, id)) && is_present(&git_folders(store).join(id))
}

fn mark_of(store: &Store, id: &str) -> PathBuf {
    marks(store).join(id)
}

fn marks(store: &Store) -> PathBuf {
    store.home().join("safe")
}
