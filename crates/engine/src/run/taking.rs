//! What an attempt leaves in its worktree: taken as the task's work, or kept; and what agents share put right.
//!
//! Knows nothing of how the agent ran.

use std::path::{Path, PathBuf};

use pleach_domain::batch::AttemptEnding;
use pleach_domain::task_state::Commit;

use super::attempt::{Attempt, Finished, Workshop, explain};
use crate::capture::{
    CaptureOptions, Captured, History, Kept, capture, keep_captured, keep_last_state,
};
use crate::git::CommitId;
use crate::landing::body::harmless::neutral;
use crate::step::{Step, reached};
use crate::worktree::Worktree;

impl Workshop {
    /// Makes the task's commit of what the agent did, and keeps it; proves so if that is all there is.
    pub(super) fn take(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> (AttemptEnding, Option<Kept>) {
        let options = CaptureOptions {
            message: format!("Task {}: {}\n", attempt.task, neutral(&attempt.title)),
            leave_out: self.left_out(),
        };
        let captured = match capture(&self.store, worktree, &options) {
            Ok(captured) => captured,
            Err(error) => {
                let error = explain("its work could not be taken", &error);
                return (AttemptEnding::Failed(error), None);
            }
        };
        reached(Step::WorkCaptured);
        let name = self.keep_name(&attempt.segment, attempt.number);
        let kept = match keep_captured(&self.store, worktree, &captured, &name) {
            Ok(kept) => kept,
            Err(error) => {
                let error = explain("its work could not be kept", &error);
                return (AttemptEnding::Failed(error), None);
            }
        };
        let (ending, left_out) = match captured {
            Captured::Unchanged { left_out } => (AttemptEnding::Unchanged, left_out),
            Captured::Changed {
                commit,
                files,
                left_out,
                history,
                ..
            } => {
                if history == History::Abandoned {
                    finished.notes.push(
                        "the agent left the history it was given; its files were taken as one commit, and its own \
                         commits are kept"
                            .to_owned(),
                    );
                }
                let commit = Commit(commit.to_string());
                (AttemptEnding::Built { commit, files }, left_out)
            }
        };
        for path in left_out {
            let is_plan = self.record.leave_out.iter().any(|plan| plan.0 == path);
            let why = if is_plan {
                "it is the plan"
            } else {
                "it came from your checkout by .worktreeinclude"
            };
            let path = path.display();
            let note = format!("the agent's change of {path} is left out: {why}");
            finished.notes.push(note);
        }
        (ending, kept)
    }

    /// The plan, which is marked for agents, and what is ignored in the user's own checkout.
    pub(super) fn left_out(&self) -> Vec<PathBuf> {
        if self.record.is_in_place() {
            // The store knows of the plan, and nothing else came along.
            return Vec::new();
        }
        let plan = self.record.leave_out.iter().map(|path| path.0.clone());
        let included = self.included.paths().map(Path::to_owned);
        plan.chain(included).collect()
    }

    /// Keeps whatever is in the worktree, and proves it, so that it may go then.
    pub(super) fn keep_last_state(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> Option<Kept> {
        let name = self.keep_name(&attempt.segment, attempt.number);
        match keep_last_state(&self.store, worktree, &name) {
            Ok(kept) => {
                finished.kept = kept.commit().cloned();
                Some(kept)
            }
            Err(error) => {
                let note = explain("its last state could not be kept", &error);
                finished.notes.push(note);
                None
            }
        }
    }

    /// Where the work is when the worktree could not be read: what was committed is on its branch.
    pub(super) fn note_what_is_left(&self, attempt: &Attempt, finished: &mut Finished) {
        finished.kept = self.committed(&attempt.branch, &attempt.basis);
    }

    /// What was committed to the branch of a task since its basis.
    pub(super) fn committed(&self, branch: &str, basis: &CommitId) -> Option<CommitId> {
        let branch = format!("refs/heads/{branch}");
        let committed = self.store.ref_commit(&branch).ok().flatten();
        committed.filter(|commit| commit != basis)
    }

    /// Puts back what agents share; whichever agent changed it, the next one to end tells.
    pub(super) fn mend_what_is_shared(&self, finished: &mut Finished) {
        match self.store.mend() {
            Ok(mended) => finished
                .notes
                .extend(mended.iter().map(ToString::to_string)),
            Err(error) => finished
                .notes
                .push(explain("what agents share could not be looked at", &error)),
        }
        match self.store.restore_refs(&self.refs) {
            Ok(moved) => finished.notes.extend(moved.iter().map(ToString::to_string)),
            Err(error) => finished.notes.push(explain(
                "the refs of the store could not be looked at",
                &error,
            )),
        }
    }

    /// The name under which the work of an attempt is kept.
    pub(super) fn keep_name(&self, segment: &str, attempt: u32) -> String {
        format!("batch-{}/task-{segment}/attempt-{attempt}", self.number)
    }
}
