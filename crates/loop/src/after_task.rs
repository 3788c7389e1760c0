//! What the state of a task means for its mark in the plan and for its worktree.

use pleach_domain::task_state::{Ending, TaskState};

use super::run_loop::{Effect, Loop};
use crate::attempt::Disposal;
use pleach_engine::batch_record::Marking;

impl Loop<'_> {
    /// Marks a task and lets its worktree go or stay, as far as that is decided.
    pub(super) fn settle_task(&mut self, task: usize) {
        let change = self.mark_of(task);
        self.marks.set(change);
        let Some(disposal) = self.disposal(task) else {
            return;
        };
        self.dispose_of_tree(task, disposal);
    }

    /// Lets go of the worktrees that wait for a proof which does not come any more.
    pub(super) fn settle_without_proof(&mut self) {
        for task in self.batch.woven.clone() {
            if self.awaits_proof(task) {
                let record = &self.record.tasks[task];
                let before = if self.batch.tasks[task].was_done {
                    record.taken_back()
                } else {
                    record.as_before()
                };
                self.marks.set(before);
                let disposal = self.disposal_of_failed();
                self.dispose_of_tree(task, disposal);
            }
        }
    }

    pub(super) fn dispose_of_tree(&mut self, task: usize, disposal: Disposal) {
        if let Some(line) = self.disposals.remove(&task) {
            // LoopNotice once the event is stored; an attempt that hears nothing keeps its worktree.
            self.clearing.insert(task);
            let disposal = match disposal {
                Disposal::Remove if self.wants_worktrees() => {
                    Disposal::Recycle(self.context.spares.promise())
                }
                other => other,
            };
            self.outbox.push(Effect::Dispose(task, line, disposal));
        }
    }

    /// Whether a task is still to begin, this one again or another, and in a worktree of its own.
    fn wants_worktrees(&self) -> bool {
        let makes_any = !self.record.is_in_place();
        makes_any
            && self.batch.tasks.iter().any(|task| {
                matches!(
                    task.state,
                    TaskState::Queued
                        | TaskState::Waiting { .. }
                        | TaskState::RetryPause { .. }
                        | TaskState::Limited { .. }
                )
            })
    }

    /// Whether a task is woven, and nobody knows yet whether it may stay.
    pub(super) fn awaits_proof(&self, task: usize) -> bool {
        let merged = matches!(
            self.batch.tasks[task].state,
            TaskState::Ended(Ending::Merged { .. })
        );
        merged && !self.batch.is_done(task)
    }

    pub(super) fn mark_of(&self, task: usize) -> Option<Marking> {
        let (record, state) = (&self.record.tasks[task], &self.batch.tasks[task]);
        state.state.ending()?;
        if self.batch.is_done(task) {
            record.done()
        } else if self.awaits_proof(task) {
            None
        } else if state.was_done {
            record.taken_back()
        } else {
            record.as_before().filter(|_| state.attempts > 0)
        }
    }

    /// What becomes of the worktree of a task, if that is decided.
    pub(super) fn disposal(&self, task: usize) -> Option<Disposal> {
        match &self.batch.tasks[task].state {
            TaskState::Built { .. } | TaskState::Running { .. } | TaskState::Stopping { .. } => {
                None
            }
            // Its agent goes on there.
            TaskState::Queued | TaskState::RetryPause { .. } | TaskState::Limited { .. }
                if self.batch.tasks[task].goes_on =>
            {
                None
            }
            TaskState::Ended(Ending::Merged { .. } | Ending::NoChanges { .. }) => {
                self.batch.is_done(task).then_some(Disposal::Remove)
            }
            TaskState::Ended(_) => Some(self.disposal_of_failed()),
            _ => Some(Disposal::Remove),
        }
    }

    fn disposal_of_failed(&self) -> Disposal {
        if self.record.keep_failed {
            Disposal::Show
        } else {
            Disposal::Remove
        }
    }
}
