//! The steps of a batch that differ where its tasks work in the user's folder: where one starts, how its work is
//! taken in, and how the result is proved.
//!
//! Reads the folder; what the loop does otherwise is the same for all batches.

use pleach_domain::batch::{Proof, WeaveEnding};
use pleach_domain::bisect::BisectStep;
use pleach_domain::event::UnprovedReason;
use pleach_domain::task_state::Commit;

use crate::attempt::{StartPoint, not_kept};
use crate::run_loop::Loop;
use crate::{LoopNotice, RunError};
use pleach_git::capture::state_of_folder;
use pleach_git::git::CommitId;

impl Loop<'_> {
    /// The folder as it is now; for another attempt at the task that was at work last, as it was before the first.
    pub(crate) fn basis_in_place(&self, task: usize) -> Result<CommitId, RunError> {
        let state = &self.batch.tasks[task];
        if state.attempts > 0 && self.is_as_left(task) {
            let before = state.basis.as_ref();
            if let Some(before) = before.and_then(|basis| basis.0.parse().ok()) {
                return Ok(before);
            }
        }
        let message = "Changes between two tasks\n";
        Ok(state_of_folder(&self.context.store, &self.tip, message)?)
    }

    /// Whether nobody else was put to work where a task worked before: worktrees are each task's own.
    pub(crate) fn is_as_left(&self, task: usize) -> bool {
        !self.context.is_in_place() || self.history.last_started == Some(task)
    }

    /// How a task begins whose basis was just looked for: in a folder that all share, what a limited agent did is
    /// still there.
    pub(crate) fn afresh(&self, task: usize) -> StartPoint {
        if self.context.is_in_place() && self.batch.tasks[task].goes_on {
            StartPoint::Limited
        } else {
            StartPoint::Scratch
        }
    }

    /// Takes a task's work in: it stands on all that was there.
    pub(crate) fn weave_in_place(&mut self, commit: &CommitId) -> Result<WeaveEnding, RunError> {
        self.move_batch_branch(commit)?;
        self.tip = commit.clone();
        Ok(WeaveEnding::Woven(Commit(commit.to_string())))
    }

    pub(crate) fn tell_what_is_not_kept(&mut self) {
        if let Some(note) = not_kept(&self.context.store) {
            (self.told)(LoopNotice::Note(note));
        }
    }

    /// Has the tests run in the folder; red twice, and nobody is looked for, for nothing can be left out there.
    pub(crate) fn prove_in_place(&mut self) -> Result<bool, RunError> {
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        let whole = searching.search.kept().to_vec();
        let under_way = vec![whole.clone(); self.probes.len()];
        match searching.search.next(1, &under_way) {
            BisectStep::Proved => self.take_proof(&whole),
            BisectStep::Run(sets) if sets.is_empty() && !under_way.is_empty() => Ok(false),
            BisectStep::Run(sets) if sets.first() == Some(&whole) => {
                // Whatever is in the folder by now is what they run on.
                let message = "Changes before the tests\n";
                self.tip = state_of_folder(&self.context.store, &self.tip, message)?;
                self.probe(whole)
            }
            BisectStep::Run(_) | BisectStep::BaseRed => {
                let because = "the tests fail on the folder; nothing is undone";
                Ok(self.doubt(UnprovedReason::Red, because.to_owned()))
            }
        }
    }
}
