//! Takes up a batch whose process died: ends what it left running, keeps its work, and goes on.
//!
//! Looks at what is there instead of assuming what was done.

use std::sync::Arc;
use std::sync::mpsc::channel;

use pleach_domain::batch::{AttemptEnding, BatchStatus, Jitter, Message};
use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::task_state::{Commit, Ending, TaskState};

use super::executor::{WrapperLaunch, tell_when_cleared};

use pleach_git::git::CommitId;
use pleach_git::worktree::committed;
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_log::batch_paths::task_branch;
use pleach_log::database::{NotedProcess, ProcessPurpose, SubmittedUnit};
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::process::{
    ProcessIdentity, ProcessRecord, SweepScope, end_leftovers, end_marked,
};
use pleach_system::sandbox::clear_temporary_files;

use super::run_loop::Loop;
use super::{LoopNotice, RunError};
use crate::attempt::{Disposal, RetireError, StartPoint, explain};
use pleach_engine::kept::refs_below;
use pleach_engine::run::PATIENCE;

impl Loop<'_> {
    /// The name of a task in paths.
    pub(super) fn segment(&self, task: usize) -> String {
        self.record.tasks[task].segment()
    }

    /// Brings a batch that was alive to a state from which the loop can go on.
    pub(super) fn take_up(&mut self) -> Result<(), RunError> {
        crash_point(CrashPoint::BatchTakenUp);
        self.take_in(Event::Batch(BatchEvent::Resumed));
        self.flush()?;
        crash_point(CrashPoint::ResumptionStored);
        self.forget_hold();
        self.end_what_runs()?;
        crash_point(CrashPoint::LeftoversEnded);
        clear_temporary_files(&self.context.state);
        pleach_git::worktree::sweep(&self.context.store)?;
        self.reset_batch_branch()?;
        crash_point(CrashPoint::BranchReset);
        let mut sent = self.sent_units()?;
        for task in 0..self.batch.tasks.len() {
            match self.batch.tasks[task].state.clone() {
                TaskState::Running { attempt } | TaskState::Stopping { attempt } => {
                    let whose = ProcessPurpose::Attempt(self.id(task), attempt);
                    self.take_up_attempt(task, attempt, sent.remove(&whose))?;
                }
                TaskState::RetryPause { pause } | TaskState::Limited { pause } => {
                    let id = self.id(task);
                    let since = self.history.tasks[task].last_at;
                    let rested = pleach_log::database::now().saturating_sub(since);
                    self.wait_for_agent(&id, pause.saturating_sub(rested));
                }
                TaskState::Queued | TaskState::Waiting { .. } => {}
                TaskState::Built { .. } => self.watch_over_built(task)?,
                TaskState::Ended(_) => {
                    // What another batch has is marked there.
                    if !self.batch.tasks[task].is_elsewhere {
                        self.mark_again(task);
                    }
                    if self.awaits_proof(task) {
                        self.watch_over_built(task)?;
                    }
                }
            }
            self.clear_tree_of(task);
            let state = &self.batch.tasks[task].state;
            if matches!(
                state,
                TaskState::Built { .. } | TaskState::Ended(Ending::Merged { .. })
            ) {
                self.clear_conflict_worktree(task);
            }
        }
        self.clear_probes()?;
        self.abandon(sent.into_values().collect())?;
        self.flush()
    }

    pub(super) fn continue_ended_batch(&mut self) -> Result<(), RunError> {
        if self.batch.status == BatchStatus::Cancelled {
            // Its branch may have been taken back, and with it the marks.
            for task in self.batch.woven.clone() {
                self.mark_again(task);
            }
        }
        for task in self.batch.woven.clone() {
            if self.awaits_proof(task) {
                self.watch_over_built(task)?;
            }
        }
        self.reset_batch_branch()
    }

    /// A wrapper may run its agent once the database knows whom to end after a crash.
    pub(super) fn note_process(&mut self, launched: WrapperLaunch) -> Result<(), RunError> {
        let process = &launched.process;
        let is_agent = matches!(launched.whose, ProcessPurpose::Attempt(..));
        let noted = NotedProcess {
            whose: launched.whose,
            boot_id: process.boot_id.clone(),
            pid: process.pid,
            start_time: process.start_time,
            nonce: process.nonce.clone(),
        };
        let id = self.batch_id;
        self.patiently(|database| database.note_process(id, &noted))?;
        // An attempt that does not listen any more has ended otherwise.
        let _ = launched.go.send(());
        if is_agent {
            self.check_base()?;
        }
        Ok(())
    }

    /// Agents of the dead process end by themselves when it does; this waits, and makes sure.
    fn end_what_runs(&mut self) -> Result<(), RunError> {
        for noted in self.database.processes(self.batch_id)? {
            let (path, what) = match &noted.whose {
                ProcessPurpose::Attempt(task, attempt) => {
                    let position = self.batch.position(task);
                    let state = position.map(|position| &self.batch.tasks[position].state);
                    if state.and_then(TaskState::attempt) != Some(*attempt) {
                        continue;
                    }
                    let path = self.context.tree_path(&self.record.segment(task));
                    (path, format!("task {task}"))
                }
                ProcessPurpose::Probe(number) if self.batch.is_judged(*number) => continue,
                ProcessPurpose::Probe(number) => {
                    let place = self.context.test_place(*number);
                    (place.tree, format!("test run {number}"))
                }
            };
            let identity = ProcessIdentity {
                boot_id: noted.boot_id,
                pid: noted.pid,
                start_time: noted.start_time,
                nonce: noted.nonce,
            };
            let ended = match self.context.sweeps() {
                SweepScope::MarkedAndThere => end_leftovers(&identity, &path, PATIENCE)?,
                SweepScope::Marked => end_marked(&identity, PATIENCE)?,
            };
            if !ended.is_empty() {
                let note =
                    format!("{what}: killed leftover processes of the interrupted run: {ended:?}");
                (self.told)(LoopNotice::Note(note));
            }
        }
        Ok(())
    }

    /// The branch may be ahead of what is stored: what was woven last is woven once more.
    fn reset_batch_branch(&mut self) -> Result<(), RunError> {
        let stored = self.batch.tip.as_ref();
        match stored.and_then(|tip| tip.0.parse::<CommitId>().ok()) {
            Some(tip) => {
                self.move_batch_branch(&tip)?;
                self.tip = tip;
                Ok(())
            }
            None => self.drop_batch_branch(),
        }
    }

    fn take_up_attempt(
        &mut self,
        task: usize,
        attempt: u32,
        sent: Option<SubmittedUnit>,
    ) -> Result<(), RunError> {
        let basis = self.batch.tasks[task].basis.as_ref();
        let basis: Option<CommitId> = basis.and_then(|basis| basis.0.parse().ok());
        let Some(basis) = basis else {
            return self.interrupted(task, None);
        };
        if let Some(sent) = sent {
            // It goes on without us, or has ended by now.
            self.follow(task, attempt, basis, sent);
            return Ok(());
        }
        let spec = self.tree_spec(task, basis.clone());
        let Some(worktree) = self.context.find_tree(&spec)? else {
            return self.interrupted(task, None);
        };
        if let Some(result) = self.result_of(task, attempt)? {
            // The agent had ended by itself: its work is judged as if nothing had happened.
            let from = (basis, None);
            self.send_out((task, attempt), from, StartPoint::Result(result), None);
            return Ok(());
        }
        let id = self.id(task);
        let name = self.context.keep_name(&self.segment(task), attempt);
        match self.context.retire(worktree, &name) {
            Ok((kept, notes)) => {
                crash_point(CrashPoint::AttemptRetired);
                self.tell_notes(&id, notes);
                self.interrupted(task, kept)
            }
            Err(failure) => {
                let RetireError { error, left } = *failure;
                // It stays, and the next attempt finds it in its way; the others go on.
                let why = explain("could not keep its last state", &error);
                let note = format!("{why}; its worktree stays at {}", spec.path.display());
                self.tell_notes(&id, vec![note]);
                let store = &self.context.store;
                let committed = left.as_ref().and_then(|left| committed(store, left, &name));
                // Whoever worked there was ended, so nobody undoes it.
                let notes = left.map(|left| self.context.make_safe(&left, None));
                self.tell_notes(&id, notes.unwrap_or_default());
                self.interrupted(task, committed)
            }
        }
    }

    /// The worktree of what is built goes when that is woven.
    pub(super) fn watch_over_built(&mut self, task: usize) -> Result<(), RunError> {
        let state = &self.batch.tasks[task];
        let basis = state.basis.as_ref().and_then(|basis| basis.0.parse().ok());
        let Some(basis) = basis else { return Ok(()) };
        let spec = self.tree_spec(task, basis);
        let worktree = Worktree::existing(&self.context.store, &spec)
            .map_err(Box::new)
            .map_err(RunError::Worktree)?;
        let Some(worktree) = worktree else {
            return Ok(());
        };
        let id = self.id(task);
        let (say, disposal) = channel();
        let name = self.context.keep_name(&self.segment(task), state.attempts);
        self.disposals.insert(task, say);
        let context = Arc::clone(&self.context);
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            tell_when_cleared(&id, &sender, || {
                let wanted = disposal.recv().unwrap_or(Disposal::Stay);
                context.dispose_of_earlier(worktree, &name, &wanted)
            });
        });
        Ok(())
    }

    fn result_of(&self, task: usize, attempt: u32) -> Result<Option<ProcessRecord>, RunError> {
        let id = self.id(task);
        let segment = self.segment(task);
        let noted = self.database.processes(self.batch_id)?;
        let mut noted = noted
            .into_iter()
            .filter(|noted| noted.whose == ProcessPurpose::Attempt(id.clone(), attempt));
        Ok(noted.find_map(|noted| self.context.result_of(&segment, attempt, &noted.nonce)))
    }

    fn interrupted(&mut self, task: usize, kept: Option<CommitId>) -> Result<(), RunError> {
        let attempt = self.batch.tasks[task].attempts;
        let said = self.context.said_by(&self.segment(task), attempt);
        let task = self.id(task);
        self.decide(Message::AttemptEnded {
            task,
            attempt,
            ending: AttemptEnding::Interrupted,
            kept: kept.map(|commit| Commit(commit.to_string())),
            spent: Some(said.spent),
            chance: Jitter(0),
        });
        self.flush()?;
        crash_point(CrashPoint::InterruptionStored);
        Ok(())
    }

    fn mark_again(&mut self, task: usize) {
        let change = self.mark_of(task);
        self.marks.set(change);
    }

    /// Runs of the tests that were under way are made again, in worktrees of their own.
    fn clear_probes(&mut self) -> Result<(), RunError> {
        for noted in self.database.processes(self.batch_id)? {
            if let ProcessPurpose::Probe(number) = noted.whose {
                self.runs = self.runs.max(number);
            }
        }
        let branches = format!("refs/heads/{}", self.context.test_branches());
        for (name, _) in refs_below(&self.context.store, &branches)? {
            let number = name.strip_prefix(&branches);
            let Some(number) = number.and_then(|number| number.parse().ok()) else {
                continue;
            };
            self.runs = self.runs.max(number);
            if let Err(error) = self.context.clear_run(number, &self.base) {
                let what = format!("could not remove the worktree of test run {number}");
                (self.told)(LoopNotice::Note(explain(&what, &error)));
            }
        }
        Ok(())
    }

    fn tree_spec(&self, task: usize, basis: CommitId) -> WorktreeSpec {
        let segment = self.segment(task);
        WorktreeSpec {
            path: self.context.tree_path(&segment),
            branch: task_branch(self.context.number, &segment),
            basis,
        }
    }

    /// A worktree whose task is over may have been on its way out.
    fn clear_tree_of(&mut self, task: usize) {
        let state = &self.batch.tasks[task];
        let wanted = self.disposal(task);
        let basis = state.basis.as_ref().and_then(|basis| basis.0.parse().ok());
        let (Some(wanted @ (Disposal::Remove | Disposal::Show)), Some(basis)) = (wanted, basis)
        else {
            return;
        };
        let spec = self.tree_spec(task, basis);
        if spec.path.symlink_metadata().is_err() {
            return;
        }
        let store = &self.context.store;
        let id = self.id(task);
        let name = self.context.keep_name(&self.segment(task), state.attempts);
        let cleared = Worktree::existing(store, &spec).map(|found| match found {
            Some(worktree) if matches!(wanted, Disposal::Show) => {
                self.context.show_earlier(&worktree, &name)
            }
            Some(worktree) => self.context.remove_earlier(worktree, &name),
            None => Vec::new(),
        });
        let told = |error| vec![explain("could not remove its worktree", &error)];
        self.tell_notes(&id, cleared.unwrap_or_else(told));
    }
}
