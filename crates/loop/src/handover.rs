//! Leaves a batch that is not over: what runs is asked to stop, its work is kept, and another process goes on.
//!
//! Decides nothing about the batch: it is as if its process had died at a convenient moment.

use super::RunError;
use super::run_loop::Loop;

impl Loop<'_> {
    pub(super) fn leave(&mut self) {
        self.wants_to_leave = true;
        if !self.executor.is_elsewhere() {
            for at_work in self.at_work.values() {
                at_work.cancel.cancel();
            }
            self.stop_proving();
        }
        self.lander.stop();
    }

    /// Whether nothing new is begun; a batch that is stopping anyway comes to its end first.
    pub(super) fn is_leaving(&self) -> bool {
        self.wants_to_leave && !self.batch.status.is_stopping() && !self.batch.status.is_over()
    }

    /// Whether somebody is still at something that would be left alone.
    pub(super) fn is_busy(&self) -> bool {
        let is_at_work = !self.at_work.is_empty() || !self.probes.is_empty();
        is_at_work && !self.executor.is_elsewhere()
            || !self.clearing.is_empty()
            || self.lander.is_busy()
    }

    pub(super) fn take_leave(&mut self) -> Result<(), RunError> {
        self.flush()?;
        // Worktrees of tasks that are over; those of the others stay for whoever goes on.
        self.context.spares.clear();
        pleach_git::worktree::finish_removals();
        // Nobody is at them any more; whoever goes on says so again.
        for task in self.batch.tasks.iter().zip(&self.record.tasks) {
            let (state, record) = task;
            if state.state.ending().is_none() && state.attempts > 0 {
                self.marks.set(record.as_before());
            }
        }
        self.write_marks();
        self.marks.settle(self.told);
        Ok(())
    }
}
