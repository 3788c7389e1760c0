//! What a person made of a conflict comes to the loop: taken in, and the places where it came about cleared.
//!
//! Knows nothing of how it was made.

use pleach_domain::batch::Message;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_git::git::CommitId;
use pleach_git::git::read::text;
use pleach_system::text::causes::with_causes;

use super::run_loop::Loop;
use crate::attempt::explain;
use pleach_engine::resolve::ConflictWorktree;

impl Loop<'_> {
    /// Takes in a commit that a person made; tells whether anything follows, or why it cannot be read.
    pub(super) fn take_resolved(
        &mut self,
        task: TaskId,
        commit: Commit,
        basis: Commit,
    ) -> Result<bool, String> {
        let files = self.changed_between(&basis, &commit)?;
        Ok(self.decide(Message::Resolve {
            task,
            commit,
            basis,
            files,
        }))
    }

    fn changed_between(&self, basis: &Commit, commit: &Commit) -> Result<Vec<String>, String> {
        let id = |commit: &Commit| commit.0.parse::<CommitId>().ok();
        let (Some(basis), Some(commit)) = (id(basis), id(commit)) else {
            return Err("the resolution is not a commit".to_owned());
        };
        let changes = self.context.store.changes(&basis, &commit);
        let changes = changes.map_err(|error| {
            let why = with_causes(&error);
            format!("could not read the resolution: {why}")
        })?;
        let paths = changes.iter().map(|change| text(&change.path));
        Ok(paths.collect())
    }

    /// What led to a conflict that is resolved is not needed any more; it is kept like everything else.
    pub(super) fn tidy_up(&mut self, task: usize) {
        self.clear_conflict_worktree(task);
        // That of the agent goes when the result is woven and proved.
        if let Err(error) = self.watch_over_built(task) {
            let note = explain("could not inspect its worktree", &error);
            let id = self.id(task);
            self.tell_notes(&id, vec![note]);
        }
    }

    /// Takes away the folder in which a conflict was resolved, if there is one.
    pub(super) fn clear_conflict_worktree(&mut self, task: usize) {
        let id = self.id(task);
        let conflict_worktree = ConflictWorktree {
            store: &self.context.store,
            batch: self.context.number,
            segment: self.record.tasks[task].segment(),
            trees: self.context.trees.clone(),
        };
        if conflict_worktree.is_in_use()
            && let Err(error) = conflict_worktree.clear()
        {
            let note = explain("could not remove the worktree of its resolution", &error);
            self.tell_notes(&id, vec![note]);
        }
    }
}
