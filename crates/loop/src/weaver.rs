//! The git half of the loop: where tasks start, and how their branches become one.
//!
//! Moves refs of the store only.

use pleach_domain::batch::{Message, WeaveEnding};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, Consent, Ending, TaskState};

use super::RunError;

use super::run_loop::Loop;
use pleach_domain::choice::Strategy;
use pleach_git::git::CommitId;
use pleach_git::weave::{Folded, Strand, StrandOutcome, WeaveFolder, fold, foresee, weave};
use pleach_log::batch_paths::batch_branch;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::text::causes::with_causes;
use pleach_system::text::neutral_text::neutral;

enum Basis {
    At(CommitId),
    /// Nowhere: what it waited for does not merge.
    Conflict(String),
    /// Not before a person has consented to what other tasks changed.
    Unapproved(Consent),
}

impl Loop<'_> {
    /// The commit that a task starts from, or what is to be said of it instead.
    pub(super) fn basis_or_why_not(&self, task: usize) -> Result<CommitId, Box<Message>> {
        match self.basis(task) {
            Ok(Basis::At(basis)) => Ok(basis),
            Ok(Basis::Conflict(because)) => Err(Message::CannotStart(self.id(task), because)),
            Ok(Basis::Unapproved(consent)) => Err(Message::NeedsConsent(self.id(task), consent)),
            Err(error) => {
                let because = format!("could not create its basis: {error}");
                Err(Message::CannotStart(self.id(task), because))
            }
        }
        .map_err(Box::new)
    }

    fn basis(&self, task: usize) -> Result<Basis, RunError> {
        let basis = if self.record.is_in_place() {
            self.basis_in_place(task)?
        } else {
            match self.woven_basis(task)? {
                Ok(basis) => basis,
                Err(because) => return Ok(Basis::Conflict(because)),
            }
        };
        if basis == self.base {
            return Ok(Basis::At(basis));
        }
        let there = self.steering.in_commit(&self.context.store, &basis)?;
        let known = &self.batch.consented;
        let mut files = self.steering.steering_in(&there);
        files.retain(|file| !known.contains(file));
        Ok(if files.is_empty() {
            Basis::At(basis)
        } else {
            Basis::Unapproved(Consent { files })
        })
    }

    /// The base with everything that a task waited for, of this batch and of earlier ones; or why there is no such
    /// commit.
    fn woven_basis(&self, task: usize) -> Result<Result<CommitId, String>, RunError> {
        let needed = self.batch.basis_of(task);
        // Everything that is woven is one commit already.
        let is_all = needed.len() == self.batch.woven.len();
        let concerned: Vec<usize> = needed.iter().copied().chain([task]).collect();
        let ground = if is_all {
            let places = self.earlier_beyond(&concerned, &needed);
            self.ground(&self.tip, &places)?
        } else {
            self.ground(&self.base, &self.batch.earlier_of(&concerned))?
        };
        if let Some((place, files)) = ground.conflict {
            let earlier = &self.record.earlier;
            return Ok(Err(earlier.why_not(place, &files)));
        }
        if is_all {
            return Ok(Ok(ground.commit));
        }
        let named = |other: &usize| {
            let what = format!("task {}", neutral(self.id(*other).as_str()));
            Some((self.task_commit(*other)?, what))
        };
        let commits: Vec<(CommitId, String)> = needed.iter().filter_map(named).collect();
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        Ok(match fold(&weave_folder, &ground.commit, &commits)? {
            Folded::Basis(basis) => Ok(basis),
            Folded::Conflict { files, .. } => {
                let files = files.join(", ");
                Err(format!("the tasks it waited for conflict in {files}"))
            }
        })
    }

    pub(super) fn task_commit(&self, task: usize) -> Option<CommitId> {
        match &self.batch.tasks[task].state {
            TaskState::Built { commit } | TaskState::Ended(Ending::Merged { commit }) => {
                commit.0.parse().ok()
            }
            _ => None,
        }
    }

    pub(super) fn weave(&mut self, task: usize) -> Result<bool, RunError> {
        let commit = self.task_commit(task).expect("only built tasks are woven");
        let ending = self.weave_commit(task, &commit).unwrap_or_else(|error| {
            let why = with_causes(&error);
            WeaveEnding::Failed(format!("could not weave its branch: {why}"))
        });
        crash_point(CrashPoint::BranchWoven);
        let failed = matches!(ending, WeaveEnding::Failed(_));
        let id = self.id(task);
        if failed {
            // Its work is on no branch of the result, so it is told where it is.
            let kept = pleach_domain::event::TaskEvent::Kept {
                commit: Commit(commit.to_string()),
            };
            self.take_in(pleach_domain::event::Event::Task {
                task: id.clone(),
                event: kept,
            });
        }
        let moved = self.decide(Message::WeaveEnded(id, ending));
        self.flush()?;
        crash_point(CrashPoint::WeavingStored);
        Ok(moved)
    }

    fn weave_commit(&mut self, task: usize, commit: &CommitId) -> Result<WeaveEnding, RunError> {
        if self.record.is_in_place() {
            return self.weave_in_place(commit);
        }
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let mut strands = self.ground_of_task(task)?;
        strands.push(self.strand(task, commit));
        let woven = weave(&weave_folder, &self.tip, &strands, Strategy::Merge)?;
        let conflict = woven.outcomes.iter().find_map(|outcome| match outcome {
            StrandOutcome::Conflict(conflict) => Some(conflict),
            _ => None,
        });
        if let Some(conflict) = conflict {
            return Ok(WeaveEnding::Conflict {
                files: conflict.paths(),
                with: self.partners(&weave_folder, task, strands.split_off(strands.len() - 1))?,
            });
        }
        self.move_batch_branch(&woven.tip)?;
        self.tip = woven.tip;
        Ok(WeaveEnding::Woven(Commit(self.tip.to_string())))
    }

    pub(super) fn strand(&self, task: usize, commit: &CommitId) -> Strand {
        let record = &self.record.tasks[task];
        let basis = self.batch.tasks[task].basis.as_ref();
        Strand {
            subject: format!("task {}: {}", record.id, neutral(&record.title)),
            commit: commit.clone(),
            basis: basis.and_then(|basis| basis.0.parse().ok()),
        }
    }

    /// Everything that is woven, in its order.
    fn strands(&self) -> (Vec<usize>, Vec<Strand>) {
        let woven = self.batch.woven.iter().filter_map(|task| {
            let commit = self.task_commit(*task)?;
            Some((*task, self.strand(*task, &commit)))
        });
        woven.unzip()
    }

    /// Everything that is woven and not on the server, in its order.
    fn unpushed_strands(&self) -> Vec<Strand> {
        let (tasks, strands) = self.strands();
        let both = tasks.into_iter().zip(strands);
        both.filter(|(task, _)| !self.batch.is_pushed(*task))
            .map(|(_, strand)| strand)
            .collect()
    }

    /// The woven tasks that a task collides with, found by weaving all of them once more.
    fn partners(
        &self,
        weave_folder: &WeaveFolder,
        task: usize,
        left_out: Vec<Strand>,
    ) -> Result<Vec<TaskId>, RunError> {
        let (tasks, mut strands) = self.strands();
        strands.extend(left_out);
        let all: Vec<usize> = tasks.iter().copied().chain([task]).collect();
        let ground = self.ground(&self.base, &self.batch.earlier_of(&all))?;
        let seen = foresee(weave_folder, &ground.commit, &strands, Strategy::Merge)?;
        let Some(StrandOutcome::Conflict(conflict)) = seen.weave.outcomes.last() else {
            return Ok(Vec::new());
        };
        let places = conflict.with.iter().flatten();
        Ok(places.map(|place| self.id(tasks[*place])).collect())
    }

    /// The result with the history that was asked for; the tree is the same for all.
    pub(super) fn weave_result(&mut self) -> Result<(), RunError> {
        let strategy = self.record.merge;
        if strategy == Strategy::Merge || self.batch.woven.is_empty() {
            return Ok(());
        }
        if self.continues_on_another_base()? {
            return Ok(());
        }
        let weave_folder = WeaveFolder::of_store(&self.context.store)?;
        let strands = self.unpushed_strands();
        if strands.is_empty() {
            return Ok(());
        }
        let onto = self.onto(&self.batch.woven)?;
        let woven = weave(&weave_folder, &onto, &strands, strategy)?;
        let all_in = !woven
            .outcomes
            .iter()
            .any(|outcome| matches!(outcome, StrandOutcome::Conflict(_)));
        if all_in {
            self.tip = woven.tip;
            self.move_batch_branch(&self.tip.clone())?;
        }
        Ok(())
    }

    /// In the store, so that what was woven outlives this process.
    pub(super) fn move_batch_branch(&self, tip: &CommitId) -> Result<(), RunError> {
        let name = format!("refs/heads/{}", batch_branch(self.context.number));
        let seen = self.context.store.ref_commit(&name)?;
        if seen.as_ref() != Some(tip) {
            self.context.store.swap_ref(&name, tip, seen.as_ref())?;
        }
        Ok(())
    }

    pub(super) fn drop_batch_branch(&self) -> Result<(), RunError> {
        let name = format!("refs/heads/{}", batch_branch(self.context.number));
        if let Some(seen) = self.context.store.ref_commit(&name)? {
            self.context.store.drop_ref(&name, &seen)?;
        }
        Ok(())
    }
}
