//! What a person made of a conflict comes to the loop: taken in, and the places where it came about cleared.
//!
//! Knows nothing of how it was made.

use pleach_domain::batch::Message;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;

use super::attempt::explain;
use super::run_loop::Loop;
use crate::causes::with_causes;
use crate::git::CommitId;
use crate::git::read::text;
use crate::resolve::Desk;

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
            return Err("what was made of the conflict is no commit".to_owned());
        };
        let changes = self.workshop.store.changes(&basis, &commit);
        let changes = changes.map_err(|error| {
            let why = with_causes(&error);
            format!("what was made of the conflict cannot be read: {why}")
        })?;
        let paths = changes.iter().map(|change| text(&change.path));
        Ok(paths.collect())
    }

    /// What led to a conflict that is resolved is not needed any more; it is kept like everything else.
    pub(super) fn tidy_up(&mut self, task: usize) {
        self.clear_desk(task);
        // That of the agent goes when the result is woven and proved.
        if let Err(error) = self.watch_over_built(task) {
            let note = explain("its worktree could not be looked at", &error);
            let id = self.id(task);
            self.tell_notes(&id, vec![note]);
        }
    }

    /// Takes away the folder in which a conflict was resolved, if there is one.
    pub(super) fn clear_desk(&mut self, task: usize) {
        let id = self.id(task);
        let desk = Desk {
            store: &self.workshop.store,
            batch: self.workshop.number,
            segment: self.workshop.record.tasks[task].segment(),
            trees: self.workshop.trees(),
        };
        if desk.is_in_use()
            && let Err(error) = desk.clear()
        {
            let note = explain("the folder of its resolution could not be removed", &error);
            self.tell_notes(&id, vec![note]);
        }
    }
}
