//! What becomes of the worktree of an attempt: it goes, or stays in a state in which git runs nothing of an agent's.
//!
//! Knows nothing of how the attempt went.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

use pleach_domain::id::TaskId;

use super::attempt::{Attempt, Workshop, explain};
use super::spares::Promise;
use crate::capture::{Kept, keep_last_state};
use crate::git::CommitId;
use crate::step::{Step, reached};
use crate::worktree::{Nested, Worktree, WorktreeError};

/// What becomes of a worktree whose attempt is over.
#[derive(Debug)]
pub(super) enum Disposal {
    /// Its agent goes on there, or nobody decided.
    Stay,
    /// It is for a person to look at.
    Show,
    Remove,
    /// It goes, and its files are for the next task.
    Recycle(Promise),
}

/// A worktree whose attempt is over.
pub(super) struct Tree {
    pub(super) worktree: Worktree,
    /// Proof that what is in it is kept, if there is any.
    pub(super) kept: Option<Kept>,
    /// What may come along to the next task, if the agent ended well: what was broken off may be half written.
    pub(super) cache: Vec<String>,
}

impl Workshop {
    /// Does with a worktree what the loop says, and returns what there is to tell.
    pub(super) fn dispose(
        &self,
        attempt: &Attempt,
        tree: Option<Tree>,
        disposal: &Receiver<Disposal>,
    ) -> Vec<String> {
        let wanted = disposal.recv().unwrap_or(Disposal::Stay);
        let Some(Tree {
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
                    "its worktree stays at {path}, because it could not be kept otherwise"
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
        reached(Step::WorktreeRemoved);
        notes.extend(removed.err().as_ref().map(not_removed));
        notes
    }

    /// The same for a worktree that an earlier process left behind.
    pub(super) fn dispose_of_earlier(
        &self,
        worktree: Worktree,
        task: &TaskId,
        attempt: u32,
        disposal: &Receiver<Disposal>,
    ) -> Vec<String> {
        let name = self.keep_name(&self.record.segment(task), attempt);
        match disposal.recv() {
            Ok(Disposal::Stay) | Err(_) => Vec::new(),
            Ok(Disposal::Show) => self.show_earlier(&worktree, &name),
            Ok(Disposal::Remove | Disposal::Recycle(_)) => self.remove_earlier(worktree, &name),
        }
    }

    /// Keeps what is in a worktree that stays, and lets a person run git there.
    pub(super) fn show_earlier(&self, worktree: &Worktree, name: &str) -> Vec<String> {
        if worktree.is_safe(&self.store) {
            return Vec::new();
        }
        let kept = keep_last_state(&self.store, worktree, name);
        let mut notes = self.make_safe(worktree, kept.as_ref().ok());
        notes.extend(kept.err().map(|error| not_kept(&error)));
        notes
    }

    /// Keeps what is in a worktree and removes it; whatever cannot be kept stays there for a person.
    pub(super) fn remove_earlier(&self, worktree: Worktree, name: &str) -> Vec<String> {
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
    pub(super) fn retire(
        &self,
        worktree: Worktree,
        name: &str,
    ) -> Result<(Option<CommitId>, Vec<String>), Box<NotRetired>> {
        let kept = match keep_last_state(&self.store, &worktree, name) {
            Ok(kept) => kept,
            Err(error) => {
                let (error, left) = (error.into(), Some(worktree));
                return Err(Box::new(NotRetired { error, left }));
            }
        };
        let notes = self.save_commits(&worktree, &kept).into_iter().collect();
        let removed = worktree.remove(&self.store, &kept);
        removed.map_err(|error| Box::new(NotRetired { error, left: None }))?;
        Ok((kept.into_commit(), notes))
    }

    /// Lets a person run git in a worktree that stays.
    pub(super) fn make_safe(&self, worktree: &Worktree, kept: Option<&Kept>) -> Vec<String> {
        let made = match worktree.make_safe(&self.store, kept) {
            Ok(made) => made,
            Err(error) => {
                let what = "its worktree could not be made safe, so run no git in it";
                return vec![explain(what, &error)];
            }
        };
        let mut notes = notes_on(&made.nested);
        notes.extend(made.saved.map(|folder| commits_saved(&folder)));
        notes
    }

    /// Puts the commits away that the store did not take, before their worktree goes.
    fn save_commits(&self, worktree: &Worktree, kept: &Kept) -> Option<String> {
        match worktree.save_commits(&self.store, Some(kept)) {
            Ok(saved) => saved.map(|folder: PathBuf| commits_saved(&folder)),
            // It fails once more when the worktree is removed, and is told then.
            Err(_) => None,
        }
    }
}

/// Why a worktree was not removed, and the worktree if it was not touched.
#[derive(Debug)]
pub(super) struct NotRetired {
    pub(super) error: WorktreeError,
    pub(super) left: Option<Worktree>,
}

fn not_removed(error: &WorktreeError) -> String {
    explain("its worktree could not be removed", error)
}

fn not_kept(error: &dyn std::error::Error) -> String {
    explain("its last state could not be kept", error)
}

fn commits_saved(folder: &Path) -> String {
    format!(
        "some of the agent's commits could not be read; its git folder was moved to {}",
        folder.display()
    )
}

/// What there is to say about other repositories in a worktree that stays.
fn notes_on(nested: &Nested) -> Vec<String> {
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
            "{count} folders of its worktree may hold other git repositories, such as {first}: run no git there, which \
             would do what the agent configured"
        )
    });
    disabled.into_iter().chain(left).collect()
}
