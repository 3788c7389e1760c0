//! The loop that owns a running batch.
//!
//! Asks the core what follows and what to do, and has it done; decides nothing itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use pleach_domain::batch::{Batch, Message, WeaveEnding};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::{Commit, Ending, TaskState};
use pleach_formats::Document;

use super::attempt::{Attempt, Workshop};
use super::marks::Marks;
use super::{Heard, RunError, Summary, TaskReport, Told};
use crate::causes::with_causes;
use crate::consent::SteeringFiles;
use crate::git::{CommitId, GitError, ref_segment};
use crate::prompt::prompt;
use crate::state_folder::StateFolder;
use crate::weave::{Folded, Loom, Outcome, Strand, Strategy, fold, foresee, weave};

/// The owner of a running batch.
pub(super) struct Loop<'r> {
    pub(super) document: &'r Document,
    pub(super) chosen: &'r [usize],
    pub(super) state: &'r StateFolder,
    pub(super) plan_name: String,
    pub(super) batch: Batch,
    pub(super) base: CommitId,
    pub(super) tip: CommitId,
    pub(super) steering: SteeringFiles,
    pub(super) slots: usize,
    pub(super) workshop: Arc<Workshop>,
    pub(super) marks: Marks<'r>,
    pub(super) reports: Vec<TaskReport>,
    pub(super) began: Instant,
    pub(super) started: HashMap<usize, Instant>,
    /// The commits that tasks began at.
    pub(super) bases: HashMap<usize, CommitId>,
    pub(super) sender: Sender<Heard>,
    pub(super) told: &'r mut dyn FnMut(Told<'_>),
}

impl Loop<'_> {
    /// Runs until every task has ended.
    pub(super) fn run_to_the_end(mut self, inbox: &Receiver<Heard>) -> Summary {
        self.take_in(vec![Event::Batch(BatchEvent::Started)]);
        while !self.batch.status.is_over() {
            let mut moved = false;
            for action in schedule(&self.batch, self.slots) {
                moved |= self.act(action);
            }
            if !moved {
                self.marks.write(self.told);
                // The loop holds a sender itself, so the channel never closes.
                let heard = inbox.recv();
                self.hear(heard.expect("the channel is open while the loop runs"));
            }
        }
        self.close()
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Cancel => {
                let events = self.batch.decide(Message::Cancel);
                self.take_in(events);
            }
            Heard::Finished(finished) => {
                for note in finished.notes {
                    (self.told)(Told::Note(format!("task {}: {note}", finished.task)));
                }
                if let Some(position) = self.batch.position(&finished.task) {
                    let report = &mut self.reports[position];
                    report.files = finished.files;
                    report.kept = finished.kept;
                }
                let events = self
                    .batch
                    .decide(Message::AttemptEnded(finished.task, finished.ending));
                self.take_in(events);
            }
        }
    }

    /// Applies and tells events; the core made them for this very state.
    fn take_in(&mut self, events: Vec<Event>) {
        for event in events {
            self.batch
                .apply(&event)
                .expect("the core decided it for this state");
            if let Event::Task { task, event } = &event {
                self.note_task(task, event);
            }
            (self.told)(Told::Event(&event));
        }
    }

    fn note_task(&mut self, task: &TaskId, event: &TaskEvent) {
        let Some(position) = self.batch.position(task) else {
            return;
        };
        if let TaskEvent::Started { .. } = event {
            self.started.insert(position, Instant::now());
            self.marks.started(self.chosen[position]);
        }
        if let TaskState::Ended(ending) = &self.batch.tasks[position].state {
            let report = &mut self.reports[position];
            report.ending = Some(ending.clone());
            report.time = self.started.get(&position).map(Instant::elapsed);
            self.marks.ended(self.chosen[position], ending);
        }
    }

    /// Does one thing; tells whether the state moved.
    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::Block { task, because } => self.block(task, because),
            Action::Weave(task) => self.weave(task),
            Action::Start(task) => self.start(task),
            Action::End(event) => self.take_in(vec![Event::Batch(event)]),
            Action::Stop(_) => {
                self.workshop.cancel.cancel();
                return false;
            }
        }
        true
    }

    fn block(&mut self, task: usize, because: String) {
        let id = self.batch.tasks[task].id.clone();
        let events = self.batch.decide(Message::CannotStart(id, because));
        self.take_in(events);
    }

    fn start(&mut self, task: usize) {
        match self.basis(task) {
            Ok(Ok(basis)) => {
                let event = TaskEvent::Started { attempt: 1 };
                let id = self.batch.tasks[task].id.clone();
                self.take_in(vec![Event::Task { task: id, event }]);
                self.bases.insert(task, basis.clone());
                self.send_out(task, basis);
            }
            Ok(Err(because)) => self.block(task, because),
            Err(error) => self.block(task, format!("its basis could not be made: {error}")),
        }
    }

    /// The commit that a task starts from, or why it cannot start there.
    fn basis(&self, task: usize) -> Result<Result<CommitId, String>, RunError> {
        let needed = self.batch.basis_of(task);
        let commits: Vec<CommitId> = needed
            .iter()
            .filter_map(|other| self.task_commit(*other))
            .collect();
        let store = &self.workshop.store;
        let basis = match fold(&Loom::of_store(store)?, &self.base, &commits)? {
            Folded::Basis(basis) => basis,
            Folded::Conflict { files, .. } => {
                return Ok(Err(format!(
                    "what it waited for conflicts in {}",
                    files.join(", ")
                )));
            }
        };
        let changed = self.steering.changed_in(&SteeringFiles::at(store, &basis)?);
        Ok(if changed.is_empty() {
            Ok(basis)
        } else {
            Err(format!(
                "what it waited for changed {}, which needs your consent: land that first, then run this task",
                changed.join(", ")
            ))
        })
    }

    fn task_commit(&self, task: usize) -> Option<CommitId> {
        match &self.batch.tasks[task].state {
            TaskState::Built { commit } | TaskState::Ended(Ending::Merged { commit }) => {
                commit.0.parse().ok()
            }
            _ => None,
        }
    }

    fn send_out(&self, task: usize, basis: CommitId) {
        let workshop = Arc::clone(&self.workshop);
        let written = &self.document.plan.tasks[self.chosen[task]];
        let segment = ref_segment(written.id.as_str());
        let attempt = Attempt {
            task: written.id.clone(),
            title: written.title.clone(),
            path: self
                .state
                .worktrees(&project_name(&workshop), workshop.number)
                .join(format!("task-{segment}")),
            branch: task_branch(workshop.number, &segment),
            segment,
            basis,
            prompt: prompt(&self.document.plan, written, &self.plan_name, None),
        };
        let sender = self.sender.clone();
        std::thread::spawn(move || {
            let finished = workshop.carry_out_safely(&attempt);
            // Nobody listens only when the loop failed, and the work is kept by then.
            let _ = sender.send(Heard::Finished(Box::new(finished)));
        });
    }

    fn weave(&mut self, task: usize) {
        let id = self.batch.tasks[task].id.clone();
        let commit = self.task_commit(task).expect("only built tasks are woven");
        let ending = self.weave_commit(task, &commit).unwrap_or_else(|error| {
            self.reports[task].kept = Some(commit);
            let why = with_causes(&error);
            WeaveEnding::Failed(format!("its branch could not be woven: {why}"))
        });
        let events = self.batch.decide(Message::WeaveEnded(id, ending));
        self.take_in(events);
    }

    fn weave_commit(&mut self, task: usize, commit: &CommitId) -> Result<WeaveEnding, RunError> {
        let loom = Loom::of_store(&self.workshop.store)?;
        let strand = [self.strand(task, commit)];
        let woven = weave(&loom, &self.tip, &strand, Strategy::Merge)?;
        if let [Outcome::Conflict(conflict)] = woven.outcomes.as_slice() {
            return Ok(WeaveEnding::Conflict {
                files: conflict.paths(),
                with: self.partners(&loom, strand)?,
            });
        }
        let tip = woven.tip;
        self.move_batch_branch(&tip)?;
        self.tip = tip;
        Ok(WeaveEnding::Woven(Commit(self.tip.to_string())))
    }

    fn strand(&self, task: usize, commit: &CommitId) -> Strand {
        let written = &self.document.plan.tasks[self.chosen[task]];
        Strand {
            subject: format!("task {}: {}", written.id, written.title),
            commit: commit.clone(),
            basis: self.bases.get(&task).cloned(),
        }
    }

    /// The woven tasks that a task collides with, found by weaving all of them once more.
    fn partners(&self, loom: &Loom, left_out: [Strand; 1]) -> Result<Vec<TaskId>, RunError> {
        let woven = self.batch.woven.iter().filter_map(|task| {
            let commit = self.task_commit(*task)?;
            Some((*task, self.strand(*task, &commit)))
        });
        let (tasks, mut strands): (Vec<usize>, Vec<Strand>) = woven.unzip();
        strands.extend(left_out);
        let seen = foresee(loom, &self.base, &strands, Strategy::Merge)?;
        let Some(Outcome::Conflict(conflict)) = seen.weave.outcomes.last() else {
            return Ok(Vec::new());
        };
        let places = conflict.with.iter().flatten();
        let id = |place: &usize| self.batch.tasks[tasks[*place]].id.clone();
        Ok(places.map(id).collect())
    }

    /// In the store, so that what was woven outlives this process.
    fn move_batch_branch(&self, tip: &CommitId) -> Result<(), GitError> {
        let name = format!("refs/heads/{}", batch_branch(self.workshop.number));
        let seen = self.workshop.store.ref_commit(&name)?;
        self.workshop.store.swap_ref(&name, tip, seen.as_ref())
    }

    /// Brings the branches to the user's repository and makes the summary.
    fn close(mut self) -> Summary {
        self.marks.write(self.told);
        let number = self.workshop.number;
        let branch = (!self.batch.woven.is_empty())
            .then(|| self.publish(&self.tip.clone(), &batch_branch(number)))
            .flatten();
        for task in 0..self.reports.len() {
            let report = &self.reports[task];
            let left_out: Option<CommitId> = match &report.ending {
                Some(Ending::Merged { .. } | Ending::NoChanges) => None,
                Some(Ending::Conflicted { commit, .. }) => commit.0.parse().ok(),
                _ => report.kept.clone(),
            };
            if let Some(commit) = left_out {
                let wanted = task_branch(number, &ref_segment(report.id.as_str()));
                self.reports[task].branch = self.publish(&commit, &wanted);
            }
        }
        let time = self.began.elapsed();
        crate::worktree::finish_removals();
        // Kept worktrees keep their folder; an empty one is nobody's.
        let worktrees = self.state.worktrees(&project_name(&self.workshop), number);
        let _ = std::fs::remove_dir(worktrees);
        self.marks.settle(self.told);
        Summary {
            number,
            status: self.batch.status,
            base: self.base,
            tip: self.tip,
            branch,
            tasks: self.reports,
            time,
            logs: self.workshop.folder.clone(),
        }
    }

    /// Makes a branch in the user's repository; if that fails, says where the work is instead.
    fn publish(&mut self, commit: &CommitId, branch: &str) -> Option<String> {
        let store = &self.workshop.store;
        match store.publish(commit, branch) {
            Ok(name) => Some(name),
            Err(error) => {
                let (why, home) = (with_causes(&error), store.git_dir());
                let note = format!(
                    "the branch {branch} could not be made in your repository: {why}; the work is commit {commit} \
                     in {}",
                    home.display()
                );
                (self.told)(Told::Note(note));
                None
            }
        }
    }
}

fn project_name(workshop: &Workshop) -> String {
    let name = workshop.store.home().file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn batch_branch(number: u32) -> String {
    format!("pleach/batch-{number}")
}

fn task_branch(number: u32, segment: &str) -> String {
    format!("pleach/task-{number}/{segment}")
}
