//! The end of a batch: the result is made, branches come to the user's repository, the summary is drawn up.
//!
//! Every step can be done again after a crash and comes to the same.

use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use pleach_domain::batch::{BatchStatus, LandingResult};
use pleach_domain::event::{BatchEvent, Event, Rollback, TaskEvent};
use pleach_domain::task_state::{Commit, Ending};
use pleach_git::git::CommitId;
use pleach_log::batch_paths::project_name;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::text::causes::with_causes;

use super::run_loop::Loop;
use super::{LoopInput, LoopNotice, RunError, Summary, TaskReport, TickedTask};
use pleach_engine::batch_record::TaskRecord;

impl Loop<'_> {
    /// Brings everything to its end and closes the batch with an event; nothing, if that is another one by now.
    pub(super) fn finish(
        &mut self,
        event: BatchEvent,
        inbox: &Receiver<LoopInput>,
    ) -> Result<(), RunError> {
        self.settle_without_proof();
        self.stop_proving();
        self.flush()?;
        let before = (self.batch.status.clone(), self.batch.landed.clone());
        while !self.clearing.is_empty() || !self.probes.is_empty() || self.lander.is_busy() {
            match inbox.recv() {
                Ok(heard) => self.hear(heard)?,
                Err(_) => break,
            }
        }
        if (&self.batch.status, &self.batch.landed) != (&before.0, &before.1) {
            // A person cancelled what was giving up, or what was stopped has landed all the same.
            return Ok(());
        }
        self.weave_result()?;
        crash_point(CrashPoint::ResultWoven);
        self.publish_result()?;
        self.publish_what_is_left_out();
        self.flush()?;
        self.context.spares.clear();
        pleach_git::worktree::finish_removals();
        // Kept worktrees keep their folder; an empty one is nobody's.
        let _ = std::fs::remove_dir(&self.context.trees);
        crash_point(CrashPoint::AllCleared);
        self.write_marks();
        self.marks.settle(self.told);
        crash_point(CrashPoint::PlanSettled);
        self.take_in(Event::Batch(event));
        self.flush()?;
        crash_point(CrashPoint::BatchEnded);
        Ok(())
    }

    pub(super) fn publish_result(&mut self) -> Result<(), RunError> {
        let rollback = BatchStatus::Cancelling {
            rollback: Rollback::Remove,
        };
        if self.batch.status == rollback {
            self.unpublish_result();
            let pushed = self.batch.pushed.as_ref();
            let is_there = |task: &&usize| pushed.is_some_and(|there| there.tasks.contains(task));
            for task in self.batch.woven.iter().filter(|task| !is_there(task)) {
                // Done means that somebody has it.
                let record = &self.record.tasks[*task];
                self.marks.set(record.taken_back());
            }
            return self.drop_batch_branch();
        }
        if self.batch.woven.is_empty() {
            self.unpublish_result();
            return Ok(());
        }
        if self.stays_where_it_was_proved().is_some() {
            return Ok(());
        }
        let wanted = self.record.branches.batch(self.context.number);
        let ours = self.published();
        let ours = ours.as_ref().map(|(branch, tip)| (branch.as_str(), tip));
        let tip = self.tip.clone();
        if let Some(branch) = self.publish(&tip, &wanted, ours) {
            crash_point(CrashPoint::BatchPublished);
            self.take_in(Event::Batch(BatchEvent::Published {
                branch,
                tip: Commit(tip.to_string()),
            }));
        }
        Ok(())
    }

    /// The base and the tip of the batch branch, where that keeps the result that was proved before the base moved.
    fn stays_where_it_was_proved(&self) -> Option<(CommitId, CommitId)> {
        let lost = self.batch.lost_proof.as_ref();
        let lost = lost.filter(|_| self.batch.status != BatchStatus::Landing)?;
        let (_, tip) = self.published()?;
        let base = lost.base.as_ref().map(|base| base.0.as_str());
        let base = base.unwrap_or(&self.record.base);
        Some((base.parse().ok()?, tip))
    }

    fn unpublish_result(&mut self) {
        if let Some((branch, tip)) = self.published() {
            self.unpublish(&branch, &tip);
            self.take_in(Event::Batch(BatchEvent::Unpublished));
        }
    }

    /// Where the batch branch was put before, and what it was then.
    fn published(&self) -> Option<(String, CommitId)> {
        place(self.batch.published.as_ref())
    }

    pub(super) fn publish_what_is_left_out(&mut self) {
        for task in 0..self.batch.tasks.len() {
            let state = &self.batch.tasks[task];
            let before = place(state.published.as_ref());
            let left_out: Option<CommitId> = match state.state.ending() {
                Some(Ending::Merged { .. } | Ending::NoChanges { .. }) => {
                    // Left out once, and in by now.
                    if let Some((branch, commit)) = before {
                        self.unpublish(&branch, &commit);
                    }
                    continue;
                }
                Some(Ending::Conflicted { commit, .. } | Ending::Invalid { commit, .. }) => {
                    commit.0.parse().ok()
                }
                Some(_) => state.kept.as_ref().and_then(|kept| kept.0.parse().ok()),
                None => None,
            };
            let Some(commit) = left_out else { continue };
            let id = self.id(task);
            let names = &self.record.branches;
            let record = &self.record.tasks[task];
            let wanted = names.task(self.context.number, &record.segment(), &record.title);
            let before = before.as_ref();
            let before = before.map(|(branch, commit)| (branch.as_str(), commit));
            if let Some(branch) = self.publish(&commit, &wanted, before) {
                crash_point(CrashPoint::TaskPublished);
                let commit = Commit(commit.to_string());
                let event = TaskEvent::Published { branch, commit };
                self.take_in(Event::Task { task: id, event });
            }
        }
    }

    /// Makes a branch in the user's repository; if that fails, says where the work is instead.
    fn publish(
        &mut self,
        commit: &CommitId,
        branch: &str,
        ours: Option<(&str, &CommitId)>,
    ) -> Option<String> {
        let store = &self.context.store;
        if store.plain_folder().is_some() {
            // There is no repository, and the work is in the folder.
            return None;
        }
        match store.publish(commit, branch, ours) {
            Ok(name) => Some(name),
            Err(error) => {
                let (why, home) = (with_causes(&error), store.git_dir());
                let note = format!(
                    "could not create the branch {branch} in your repository: {why}; the work is commit {commit} \
                     in {}",
                    home.display()
                );
                (self.told)(LoopNotice::Note(note));
                None
            }
        }
    }

    fn unpublish(&mut self, branch: &str, tip: &CommitId) {
        if let Err(error) = self.context.store.unpublish(branch, tip) {
            let why = with_causes(&error);
            let note = format!("could not remove the branch {branch}: {why}");
            (self.told)(LoopNotice::Note(note));
        }
    }

    /// A landing that a person asked for and that lacks a proof.
    fn refused_landing(&self) -> Option<LandingResult> {
        let because = self.batch.landing_refused()?;
        let again = self.again();
        Some(LandingResult::NotLanded {
            because: format!("not proved: {because}"),
            hint: Some(format!(
                "`{again} --unproved` lands it without passing tests"
            )),
            no_server: false,
        })
    }

    /// What was ticked, by the ids that it has in the batch.
    fn ticked(&self) -> Vec<TickedTask> {
        let record = &self.record;
        let mut ticked = self.marks.ticked();
        for tick in &mut ticked {
            let is_it = |task: &&TaskRecord| {
                let (plan, key) = record.home_of(task);
                plan.path() == Some(&tick.file) && *key == tick.task
            };
            if let Some(task) = record.tasks.iter().find(is_it) {
                tick.task = task.id.clone();
            }
        }
        ticked
    }

    pub(super) fn work_on(&self, task: usize) -> Option<Duration> {
        let times = &self.history.tasks[task];
        let was_tried = times.worked > 0 || times.at_work_since.is_some();
        was_tried.then(|| Duration::from_millis(times.worked))
    }

    pub(super) fn time_so_far(&self) -> Duration {
        Duration::from_millis(self.history.time.so_far())
    }

    fn task_reports(&self) -> Vec<TaskReport> {
        let record = &self.record;
        let ids = record.task_ids(&project_name(&self.context.store));
        let tasks = self.batch.tasks.iter().zip(&record.tasks).enumerate();
        let reports = tasks.map(|(position, (task, record))| TaskReport {
            id: record.id.clone(),
            home: record.home.clone(),
            task_id: ids.id(&record.id),
            title: record.title.clone(),
            ending: task.state.ending().cloned(),
            time: self.work_on(position),
            attempts: task.spent_attempts(),
            spent: task.spent,
            files: task.files.clone(),
            branch: task.published.as_ref().map(|(branch, _)| branch.clone()),
        });
        reports.collect()
    }

    pub(super) fn summary(&self) -> Summary {
        let kept = self.stays_where_it_was_proved();
        let is_kept = kept.is_some();
        let (base, tip) = kept.unwrap_or_else(|| (self.base.clone(), self.tip.clone()));
        Summary {
            number: self.context.number,
            id: self.batch_id,
            plan: self.record.plan.clone(),
            status: self.batch.status.clone(),
            base,
            tip,
            is_of_lost_proof: is_kept,
            branch: self.published().map(|(branch, _)| branch),
            ticked: self.ticked(),
            tasks: self.task_reports(),
            test_command: self
                .record
                .attempts
                .validate
                .clone()
                .map(|command| self.context.hider.hidden(command)),
            proof: self.batch.proof.clone(),
            test_runs: self
                .batch
                .test_runs
                .iter()
                .filter(|run| run.number.is_some())
                .count(),
            proved_earlier: self.batch.proved_earlier(),
            flaky: self.batch.flaky_trees().len(),
            pushed: self
                .batch
                .pushed
                .as_ref()
                .map(|pushed| pushed.branch.clone()),
            landed_in: self
                .batch
                .landing_into
                .clone()
                .filter(|_| self.batch.landed == Some(LandingResult::Landed)),
            landed: self.batch.landed.clone().or_else(|| self.refused_landing()),
            landing_was_stopped: self.lander.was_stopped,
            pr_url: self.batch.pr_url.clone(),
            time: self.time_so_far(),
            folder: self.context.store.plain_folder().map(Path::to_owned),
            builds_on: self.builds_on(),
        }
    }
}

/// A branch of the user's repository, and the commit that was put there.
fn place(published: Option<&(String, Commit)>) -> Option<(String, CommitId)> {
    let (branch, commit) = published?;
    Some((branch.clone(), commit.0.parse().ok()?))
}
