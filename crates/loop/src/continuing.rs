//! What is on the server is only ever added to: how a result that was made anew continues it.
//!
//! Makes commits in the store and moves no ref.

use pleach_domain::batch::Pushed;

use super::RunError;
use super::run_loop::Loop;
use pleach_domain::choice::Strategy;
use pleach_git::git::CommitId;
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, tree_of, weave};
use pleach_system::text::neutral_text::neutral;

impl Loop<'_> {
    /// The commit that continues what is on the server and has the tree of a result that was woven afresh onto the
    /// base; or the result itself, if there is no such commit or nothing was pushed. Says whether it stands apart.
    pub(super) fn continued(
        &self,
        fresh: &CommitId,
        stays: &[usize],
    ) -> Result<(CommitId, bool), RunError> {
        let Some(pushed) = &self.batch.pushed else {
            return Ok((fresh.clone(), false));
        };
        let Ok(there) = pushed.commit.0.parse::<CommitId>() else {
            return Ok((fresh.clone(), true));
        };
        // Woven onto it in the first place.
        if self.context.store.is_ancestor(&there, fresh)? {
            return Ok((fresh.clone(), false));
        }
        let wanted = tree_of(&self.context.store, fresh)?;
        let tip = self.added_to(&there, pushed, stays)?;
        let tip = match tip {
            Some(tip) if tree_of(&self.context.store, &tip)? == wanted => Some(tip),
            _ => None,
        };
        let apart = tip.is_none();
        Ok((tip.unwrap_or_else(|| fresh.clone()), apart))
    }

    /// Whether the result was added to what is on the server after the base moved: then it has its history.
    pub(super) fn continues_on_another_base(&self) -> Result<bool, RunError> {
        let pushed = self.batch.pushed.as_ref();
        let pushed = pushed.filter(|pushed| pushed.base != self.batch.base);
        let there = pushed.and_then(|pushed| pushed.commit.0.parse::<CommitId>().ok());
        match there {
            Some(there) => Ok(self.context.store.is_ancestor(&there, &self.tip)?),
            None => Ok(false),
        }
    }

    /// What is on the server with the base merged in, what must go reverted, and what is new; nothing if that
    /// conflicts.
    fn added_to(
        &self,
        there: &CommitId,
        pushed: &Pushed,
        stays: &[usize],
    ) -> Result<Option<CommitId>, RunError> {
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let base = Strand {
            subject: "the base".to_owned(),
            commit: self.base.clone(),
            basis: None,
        };
        let onto = weave(&weave_folder, there, &[base], Strategy::Merge)?;
        if onto.outcomes.iter().any(is_conflict) {
            return Ok(None);
        }
        let places = self.earlier_beyond(stays, &pushed.tasks);
        let ground = self.ground(&onto.tip, &places)?;
        if ground.conflict.is_some() {
            return Ok(None);
        }
        let mut strands = Vec::new();
        for task in pushed
            .tasks
            .iter()
            .rev()
            .filter(|task| !stays.contains(task))
        {
            match self.revert(*task)? {
                Some(revert) => strands.push(revert),
                None => return Ok(None),
            }
        }
        let new = stays.iter().filter(|task| !pushed.tasks.contains(task));
        strands.extend(new.filter_map(|task| Some(self.strand(*task, &self.task_commit(*task)?))));
        let woven = weave(&weave_folder, &ground.commit, &strands, self.record.merge)?;
        let is_whole = !woven.outcomes.iter().any(is_conflict);
        Ok(is_whole.then_some(woven.tip))
    }

    /// A commit that takes back what a task did, as a strand of its own.
    fn revert(&self, task: usize) -> Result<Option<Strand>, RunError> {
        let store = &self.context.store;
        let basis = self.batch.tasks[task].basis.as_ref();
        let basis = basis.and_then(|basis| basis.0.parse::<CommitId>().ok());
        let (Some(basis), Some(commit)) = (basis, self.task_commit(task)) else {
            return Ok(None);
        };
        let record = &self.record.tasks[task];
        let title = neutral(&record.title);
        let subject = format!("revert of task {}: {title}", record.id);
        let before = tree_of(store, &basis)?;
        let message = format!("Revert task {}: {title}\n", record.id);
        let undone = store.commit_tree(&before, &[&commit], &message, None)?;
        Ok(Some(Strand {
            subject,
            commit: undone,
            basis: Some(commit),
        }))
    }
}

fn is_conflict(outcome: &StrandOutcome) -> bool {
    matches!(outcome, StrandOutcome::Conflict(_))
}
