//! What becomes of the worktree of an attempt: it goes, or stays in a state in which git runs nothing of an agent's.
//!
//! Knows nothing of how the attempt went.

use std::path::{Path, PathBuf};

use pleach_git::capture::keep_last_state;
use pleach_git::git::CommitId;
use pleach_git::worktree::{KeptProof, NestedRepositories, Worktree, WorktreeError};
use pleach_system::crash_point::{CrashPoint, crash_point};

use super::spares::SparePromise;
use super::{Attempt, AttemptContext, explain};

#[derive(Debug)]
pub(crate) enum Disposal {
    /// Its agent goes on there, or nobody decided.
    Stay,
    /// It is for a person to look at.
    Show,
    Remove,
    /// It goes, and its files are for the next task.
    Recycle(SparePromise),
}

#[derive(Debug)]
pub(crate) struct AttemptTree {
    pub(crate) worktree: Worktree,
    pub(crate) kept: Option<KeptProof>,
    /// What may come along to the next task, if the agent ended well: what was broken off may be half written.
    pub(crate) cache: Vec<String>,
}

impl AttemptContext {
    /// Does with a worktree what is wanted, and returns what there is to tell.
    pub(crate) fn dispose(
        &self,
        attempt: &Attempt,
        tree: Option<AttemptTree>,
        wanted: Disposal,
    ) -> Vec<String> {
        let Some(AttemptTree {
            worktree,
            kept,
            cache,
        }) = tree
        else {
            return Vec::new();
        };
        let mut notes = Vec::new();
        let removed = match (wanted, kept) {
            (Disposal::Stay, _) => return Vec::new(),
            (_, None) if attempt.path.exists() => {
                let path = attempt.path.display();
                let mut notes = self.make_safe(&worktree, None);
                notes.push(format!(
                    "its worktree stays at {path}: its files could not be kept otherwise"
                ));
                return notes;
            }
            (Disposal::Show, kept) => return self.make_safe(&worktree, kept.as_ref()),
            (_, None) => return Vec::new(),
            (Disposal::Recycle(promise), Some(kept)) => {
                notes.extend(self.save_commits(&worktree, &kept));
                worktree
                    .release(&self.store, &kept, &cache)
                    .map(|spare| self.spares.put(spare, promise))
            }
            (Disposal::Remove, Some(kept)) => {
                notes.extend(self.save_commits(&worktree, &kept));
                worktree.remove(&self.store, &kept)
            }
        };
        crash_point(CrashPoint::WorktreeRemoved);
        notes.extend(removed.err().as_ref().map(not_removed));
        notes
    }

    /// The same for a worktree that an earlier process left behind.
    pub(crate) fn dispose_of_earlier(
        &self,
        worktree: Worktree,
        name: &str,
        wanted: &Disposal,
    ) -> Vec<String> {
        match wanted {
            Disposal::Stay => Vec::new(),
            Disposal::Show => self.show_earlier(&worktree, name),
            Disposal::Remove | Disposal::Recycle(_) => self.remove_earlier(worktree, name),
        }
    }

    /// Keeps what is in a worktree that stays, and lets a person run git there.
    pub(crate) fn show_earlier(&self, worktree: &Worktree, name: &str) -> Vec<String> {
        if worktree.is_safe(&self.store) {
            return Vec::new();
        }
        let kept = keep_last_state(&self.store, worktree, name);
        let mut notes = self.make_safe(worktree, kept.as_ref().ok());
        notes.extend(kept.err().map(|error| not_kept(&error)));
        notes
    }

    /// Keeps what is in a worktree and removes it; whatever cannot be kept stays there for a person.
    pub(crate) fn remove_earlier(&self, worktree: Worktree, name: &str) -> Vec<String> {
        match self.retire(worktree, name) {
            Ok((_, notes)) => notes,
            Err(failure) => {
                let mut notes = vec![not_removed(&failure.error)];
                let left = failure.left.iter();
                notes.extend(left.flat_map(|left| self.make_safe(left, None)));
                notes
            }
        }
    }

    /// Keeps what is in a worktree and removes it; tells the commit that holds it.
    pub(crate) fn retire(
        &self,
        worktree: Worktree,
        name: &str,
    ) -> Result<(Option<CommitId>, Vec<String>), Box<RetireError>> {
        let kept = match keep_last_state(&self.store, &worktree, name) {
            Ok(kept) => kept,
            Err(error) => {
                let (error, left) = (error.into(), Some(worktree));
                return Err(Box::new(RetireError { error, left }));
            }
        };
        let notes = self.save_commits(&worktree, &kept).into_iter().collect();
        let removed = worktree.remove(&self.store, &kept);
        removed.map_err(|error| Box::new(RetireError { error, left: None }))?;
        Ok((kept.into_commit(), notes))
    }

    /// Lets a person run git in a worktree that stays.
    pub(crate) fn make_safe(&self, worktree: &Worktree, kept: Option<&KeptProof>) -> Vec<String> {
        let made = match worktree.make_safe(&self.store, kept) {
            Ok(made) => made,
            Err(error) => {
                let what = "could not make its worktree safe; do not run git in it";
                return vec![explain(what, &error)];
            }
        };
        let mut notes = notes_on(&made.nested);
        notes.extend(made.saved.map(|folder| commits_saved(&folder)));
        notes
    }

    /// Puts the commits away that the store did not take, before their worktree goes.
    fn save_commits(&self, worktree: &Worktree, kept: &KeptProof) -> Option<String> {
        match worktree.save_commits(&self.store, Some(kept)) {
            Ok(saved) => saved.map(|folder: PathBuf| commits_saved(&folder)),
            // It fails once more when the worktree is removed, and is told then.
            Err(_) => None,
        }
    }
}

/// Why a worktree was not removed, and the worktree if it was not touched.
#[derive(Debug)]
pub(crate) struct RetireError {
    pub(crate) error: WorktreeError,
    pub(crate) left: Option<Worktree>,
}

fn not_removed(error: &WorktreeError) -> String {
    explain("could not remove its worktree", error)
}

fn not_kept(error: &dyn std::error::Error) -> String {
    explain("could not keep its last state", error)
}

fn commits_saved(folder: &Path) -> String {
    format!(
        "could not read some of the agent's commits; its git folder was moved to {}",
        folder.display()
    )
}

/// What there is to say about other repositories in a worktree that stays.
fn notes_on(nested: &NestedRepositories) -> Vec<String> {
    let disabled = nested.disabled.first().map(|first| {
        let (count, first) = (nested.disabled.len(), first.display());
        format!(
            "{count} other git repositories in its worktree were disabled, such as {first}: check the config of one \
             before you rename its .git.disabled to .git, or its HEAD.disabled to HEAD"
        )
    });
    let left = nested.left.first().map(|first| {
        let (count, first) = (nested.left.len(), first.display());
        format!(
            "{count} folders of its worktree may hold other git repositories, such as {first}: do not run git there, because it \
             would do what the agent configured"
        )
    });
    disabled.into_iter().chain(left).collect()
}
