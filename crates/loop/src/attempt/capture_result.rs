//! What an attempt leaves in its worktree: taken as the task's work, or kept.
//!
//! Knows nothing of how the agent ran.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pleach_domain::batch::AttemptEnding;
use pleach_domain::task_state::Commit;
use pleach_git::capture::{CaptureOptions, Captured, capture, keep_captured, keep_last_state};
use pleach_git::worktree::Worktree;
use pleach_git::worktree::{AgentHistory, KeptProof, committed};
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::text::neutral_text::neutral;

use super::{Attempt, AttemptContext, Finished, explain};

impl AttemptContext {
    /// Makes the task's commit of what the agent did, and keeps it; proves so if that is all there is.
    pub(super) fn take(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> (AttemptEnding, Option<KeptProof>) {
        let options = CaptureOptions {
            message: format!("Task {}: {}\n", attempt.task, neutral(&attempt.title)),
            leave_out: self.left_out(),
        };
        let captured = match capture(&self.store, worktree, &options) {
            Ok(captured) => captured,
            Err(error) => {
                let error = explain("could not capture its work", &error);
                return (AttemptEnding::Failed(error), None);
            }
        };
        crash_point(CrashPoint::WorkCaptured);
        let name = self.keep_name(&attempt.segment, attempt.number);
        let kept = match keep_captured(&self.store, worktree, &captured, &name) {
            Ok(kept) => kept,
            Err(error) => {
                let error = explain("could not keep its work", &error);
                return (AttemptEnding::Failed(error), None);
            }
        };
        let (ending, left_out) = match captured {
            Captured::Unchanged { left_out, .. } => (AttemptEnding::Unchanged(None), left_out),
            Captured::Changed {
                commit,
                files,
                left_out,
                history,
                ..
            } => {
                finished.notes.extend(note_on(history));
                finished
                    .notes
                    .extend(note_on_nested(worktree.path(), &files));
                let commit = Commit(commit.to_string());
                (AttemptEnding::Built { commit, files }, left_out)
            }
        };
        for path in left_out {
            let is_plan = self.settings.leave_out.iter().any(|plan| plan.0 == path);
            let why = if is_plan {
                "it is the plan file"
            } else {
                "it was copied from your checkout (.worktreeinclude)"
            };
            let path = path.display();
            let note = format!("the agent's changes to {path} are left out: {why}");
            finished.notes.push(note);
        }
        (ending, kept)
    }

    /// The plan, which is marked for agents, and what is ignored in the user's own checkout.
    pub(crate) fn left_out(&self) -> Vec<PathBuf> {
        if self.is_in_place() {
            // The store knows of the plan, and nothing else came along.
            return Vec::new();
        }
        let plan = self.settings.leave_out.iter().map(|path| path.0.clone());
        let included = self.included.paths().map(Path::to_owned);
        plan.chain(included).collect()
    }

    /// Keeps whatever is in the worktree, and proves it, so that it may go then.
    pub(super) fn keep_last_state(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> Option<KeptProof> {
        let name = self.keep_name(&attempt.segment, attempt.number);
        match keep_last_state(&self.store, worktree, &name) {
            Ok(kept) => {
                finished.kept = kept.commit().cloned();
                Some(kept)
            }
            Err(error) => {
                let note = explain("could not keep its last state", &error);
                finished.notes.push(note);
                None
            }
        }
    }

    /// Where the work is when the worktree could not be read: what was committed can be.
    pub(super) fn note_what_is_left(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) {
        let name = self.keep_name(&attempt.segment, attempt.number);
        finished.kept = committed(&self.store, worktree, &name);
    }
}

/// What there is to say about repositories that an agent made in its worktree: their files are work like any other.
fn note_on_nested(root: &Path, files: &[String]) -> Option<String> {
    let folders = files.iter().flat_map(|file| Path::new(file).ancestors());
    let folders: BTreeSet<&Path> = folders.skip(1).collect();
    let is_nested = |folder: &&&Path| {
        let git = root.join(folder).join(".git");
        !folder.as_os_str().is_empty() && git.symlink_metadata().is_ok()
    };
    let nested: Vec<_> = folders.iter().filter(is_nested).collect();
    let first = nested.first()?.display();
    let more = match nested.len() {
        1 => String::new(),
        number => format!(" (and {} more)", number - 1),
    };
    Some(format!(
        "{first}{more} is a separate git repository: its files are in the result, its commits are not"
    ))
}

fn note_on(history: AgentHistory) -> Option<String> {
    let note = match history {
        AgentHistory::Continued => return None,
        AgentHistory::Abandoned => {
            "the agent rewrote its branch; its files were taken as one commit, and its own commits are kept"
        }
        AgentHistory::Damaged => {
            "the agent's commits are damaged and were left out; its files were taken as one commit"
        }
    };
    Some(note.to_owned())
}
