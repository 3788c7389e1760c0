//! Starts attempts: what they begin with, and who carries them out.

use pleach_domain::batch::Spent;
use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::task_state::Commit;
use pleach_git::git::CommitId;
use pleach_log::batch_paths::task_branch;
use pleach_log::database::SubmittedUnit;
use pleach_system::process::Cancel;
use pleach_system::slots::SlotGuard;

use super::executor::LoopHandle;
use super::run_loop::{AtWork, Effect, Loop};
use super::{LoopNotice, RunError};
use crate::attempt::{Attempt, StartPoint};

impl Loop<'_> {
    pub(super) fn start(&mut self, task: usize) -> Result<bool, RunError> {
        if self.is_held_back(task) {
            return Ok(false);
        }
        if !self.may_start()? {
            return Ok(true);
        }
        let mut slot = None;
        if !self.executor.is_elsewhere() {
            slot = self.slots.try_take().map_err(RunError::io("take a slot"))?;
            if slot.is_none() {
                self.wait_for_slots();
                return Ok(false);
            }
        }
        self.waits_for_slots = false;
        let (basis, start) = match self.goes_on_from(task) {
            Some(place) => place,
            None => match self.basis_or_why_not(task) {
                Ok(basis) => (basis, self.afresh(task)),
                Err(message) => return Ok(self.decide(*message)),
            },
        };
        let kept = self.left_elsewhere(task);
        let attempt = self.batch.tasks[task].attempts + 1;
        let event = TaskEvent::Started {
            attempt,
            basis: Commit(basis.to_string()),
        };
        let id = self.id(task);
        self.take_in(Event::Task { task: id, event });
        self.send_out((task, attempt), (basis, kept), start, slot);
        Ok(true)
    }

    /// Looks again soon, and says so once.
    pub(super) fn wait_for_slots(&mut self) {
        if !std::mem::replace(&mut self.waits_for_slots, true) {
            let limit = self.record.parallel_limit;
            let note = format!("waiting for a slot: {limit} agents are running (parallel_limit)");
            (self.told)(LoopNotice::Note(note));
        }
        self.timers.look_for_slots();
    }

    /// Has an attempt carried out, once what is pending is stored.
    pub(super) fn send_out(
        &mut self,
        which: (usize, u32),
        from: (CommitId, Option<CommitId>),
        start: StartPoint,
        slot: Option<SlotGuard>,
    ) {
        let (attempt, handle) = self.prepare_attempt(which, from, start, slot);
        self.outbox.push(Effect::Attend(attempt, handle));
    }

    /// What an attempt left whose agent goes on, where its worktree does not stay.
    fn left_elsewhere(&self, task: usize) -> Option<CommitId> {
        let state = &self.batch.tasks[task];
        let goes_on = state.goes_on && self.executor.is_elsewhere();
        let kept = state.kept.as_ref().filter(|_| goes_on)?;
        kept.0.parse().ok()
    }

    /// Goes on with an attempt that is under way somewhere else.
    pub(super) fn follow(
        &mut self,
        task: usize,
        number: u32,
        basis: CommitId,
        sent: SubmittedUnit,
    ) {
        let start = StartPoint::Scratch;
        let from = (basis, None);
        let (attempt, handle) = self.prepare_attempt((task, number), from, start, None);
        self.executor.follow(attempt, handle, sent);
    }

    fn prepare_attempt(
        &mut self,
        (task, number): (usize, u32),
        (basis, kept): (CommitId, Option<CommitId>),
        start: StartPoint,
        slot: Option<SlotGuard>,
    ) -> (Box<Attempt>, LoopHandle) {
        let cancel = Cancel::default();
        let record = &self.record.tasks[task];
        let segment = record.segment();
        let attempt = Attempt {
            task: record.id.clone(),
            title: record.title.clone(),
            number,
            path: self.context.tree_path(&segment),
            branch: task_branch(self.context.number, &segment),
            segment,
            basis,
            prompt: record.prompt.clone(),
            session: self.batch.tasks[task].session.clone(),
            spent_before: self.batch.tasks[task].spent_in_session,
            start,
            kept,
        };
        let handle = LoopHandle {
            inbox: self.sender.clone(),
            whose: attempt.whose(),
            cancel: cancel.clone(),
        };
        let spent = Spent::default();
        let at_work = AtWork {
            cancel,
            spent,
            slot,
        };
        self.at_work.insert(task, at_work);
        (Box::new(attempt), handle)
    }
}
