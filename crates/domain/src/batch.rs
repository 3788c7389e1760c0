//! One execution of some tasks: its state, and how events change it.
//!
//! Knows nothing of git, processes or time; `schedule` says what to do next.

mod attempts;
mod closing;
mod decide;
mod design;
mod governors;
mod predicted_conflicts;
mod progress;
mod proof;
mod status;
mod task;

use std::collections::{BTreeSet, HashMap};

pub use attempts::{AttemptEnding, Jitter};
pub use closing::DroppedStrand;
pub use decide::{Message, WeaveEnding};
pub use design::{
    Approval, Barriers, BatchSettings, Budget, Design, FailedStage, Fallback, Mode, OnFailure,
    StageDesign, TaskDesign, Validation,
};
pub use governors::{BudgetExceeded, SlotsNow, dollars};
pub use progress::Progress;
pub use proof::{Proof, ProofSearch, TestRun};
pub use status::{BatchStatus, BatchStatusWord};
pub use task::BatchTask;

pub use crate::work::Spent;

use crate::event::{BatchEvent, Event, PredictedConflict, TaskEvent};
use crate::id::TaskId;
use crate::task_state::{Commit, Ending, IllegalMove, SteeringFile, TaskState};

#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub design: Design,
    pub tasks: Vec<BatchTask>,
    pub status: BatchStatus,
    /// The positions of woven tasks, in the order they were woven.
    pub woven: Vec<usize>,
    /// The positions of built tasks, in the order they were built.
    pub built: Vec<usize>,
    /// The commit that everything woven ends in, if anything is.
    pub tip: Option<Commit>,
    /// The commit that everything is woven onto, where that is not the one it began with.
    pub base: Option<Commit>,
    /// How often the base moved while the result was to land.
    pub base_moves: u32,
    pub proof: Proof,
    /// A proof that held on the base before this one, and does not hold on this one so far.
    pub lost_proof: Option<LostProof>,
    pub searches: u32,
    /// The stages at whose end what was woven could not be proved.
    pub unproved_stages: Vec<usize>,
    pub test_runs: Vec<TestRun>,
    /// What is on the server, and what was woven then; it is never taken back.
    pub pushed: Option<Pushed>,
    /// What was about to be pushed when that was stored last; the server may have it or not.
    pub pushing: Option<Pushed>,
    pub landing_asked: Option<LandingRequest>,
    /// The local branch that gets the result, where it is not pushed.
    pub landing_into: Option<String>,
    pub landed: Option<LandingResult>,
    /// How often a result of it landed; what failed after that takes nothing back.
    pub landings: u32,
    /// Whether it was cancelled together with its branch.
    pub rolled_back: bool,
    pub pr_url: Option<String>,
    /// The pull request before that one, which could not be continued.
    pub follows: Option<String>,
    /// Its branch in the user's repository, and the commit that was put there.
    pub published: Option<(String, Commit)>,
    /// Conflicts that are coming, as far as what is under way shows.
    pub predicted: Vec<PredictedConflict>,
    /// Whether running several at once was given up.
    pub one_at_a_time: bool,
    pub stages: Vec<StageProgress>,
    pub slots: SlotsNow,
    /// Whether a person wants nothing new to start; what runs is finished.
    pub finishes: bool,
    pub held: Option<String>,
    /// What steers agents and was changed by tasks, as far as a person consented to it.
    pub consented: Vec<SteeringFile>,
    /// What had been spent when a person opened it again.
    spent_before: Spent,
    starts: u32,
    /// How many of them had begun when a limit was counted last.
    limited_at: u32,
    limits_in_a_row: u32,
    overloads_in_a_row: u32,
    positions: HashMap<TaskId, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    pub branch: String,
    pub commit: Commit,
    /// The positions of the tasks that are in it.
    pub tasks: Vec<usize>,
    /// The base that they were woven onto, where that is not the one the batch began with.
    pub base: Option<Commit>,
}

/// A proof that a moved base made worthless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostProof {
    /// The base it was about, where that is not the one the batch began with.
    pub base: Option<Commit>,
}

/// That a person wants a batch landed that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingRequest {
    /// The local branch that shall get it, instead of the server.
    pub into: Option<String>,
    /// Whether it is pushed although something in it should not leave the machine.
    pub despite_findings: bool,
    /// Whether it lands without a proof.
    pub unproved: bool,
    /// Whether no verdict of before counts.
    pub prove_again: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandingResult {
    Landed,
    NotLanded {
        because: String,
        hint: Option<String>,
        /// Whether there is no server to land on, so that nothing failed.
        no_server: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageProgress {
    pub started: bool,
    pub ended: bool,
    /// That its tasks run one at a time from now on.
    pub fell_back: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEvent {
    #[error("task {task}: {source}")]
    Task { task: TaskId, source: IllegalMove },
    #[error("task {0} is not in the batch")]
    UnknownTask(TaskId),
    #[error("a batch that is {state} cannot be {event}")]
    Batch {
        state: &'static str,
        event: &'static str,
    },
    #[error("the batch has no stage {0}")]
    NoStage(usize),
}

impl Batch {
    pub fn new(design: Design) -> Self {
        let tasks: Vec<BatchTask> = design.tasks.iter().map(BatchTask::new).collect();
        let ids = design.tasks.iter().map(|task| task.id.clone());
        Self {
            positions: ids.zip(0..).collect(),
            tasks,
            status: BatchStatus::Pending,
            woven: Vec::new(),
            built: Vec::new(),
            tip: None,
            base: None,
            base_moves: 0,
            proof: Proof::Unknown,
            lost_proof: None,
            searches: 0,
            test_runs: Vec::new(),
            unproved_stages: Vec::new(),
            pushed: None,
            pushing: None,
            landing_asked: None,
            landing_into: None,
            landed: None,
            landings: 0,
            rolled_back: false,
            pr_url: None,
            follows: None,
            published: None,
            predicted: Vec::new(),
            one_at_a_time: false,
            stages: vec![StageProgress::default(); design.stages.len()],
            slots: SlotsNow::new(&design),
            finishes: false,
            held: None,
            consented: Vec::new(),
            spent_before: Spent::default(),
            starts: 0,
            limited_at: 0,
            limits_in_a_row: 0,
            overloads_in_a_row: 0,
            design,
        }
    }

    /// Whether it is over and its result can be taken back: nobody but this repository has it.
    pub fn can_roll_back(&self) -> bool {
        let is_out = self.pushed.is_some() || self.landings > 0;
        self.status.is_over() && !is_out && !self.rolled_back && !self.woven.is_empty()
    }

    pub fn position(&self, task: &TaskId) -> Option<usize> {
        self.positions.get(task).copied()
    }

    /// Takes an event into the state, live and in replay alike.
    pub fn apply(&mut self, event: &Event) -> Result<(), BadEvent> {
        match event {
            Event::Batch(event) => self.apply_to_batch(event),
            Event::Task { task, event } => {
                let position = self
                    .position(task)
                    .ok_or_else(|| BadEvent::UnknownTask(task.clone()))?;
                self.apply_to_task(position, event)
                    .map_err(|source| BadEvent::Task {
                        task: task.clone(),
                        source,
                    })
            }
        }
    }

    fn apply_to_batch(&mut self, event: &BatchEvent) -> Result<(), BadEvent> {
        let next = self.status.after(event).ok_or(BadEvent::Batch {
            state: self.status.as_str(),
            event: event.participle(),
        })?;
        let stage = match event {
            BatchEvent::StageStarted { stage } | BatchEvent::StageEnded { stage, .. } => {
                Some(*stage)
            }
            BatchEvent::FellBack { stage, .. } => *stage,
            _ => None,
        };
        self.apply_to_proof(event)?;
        self.apply_to_landing(event);
        self.apply_to_governors(event);
        if let Some(number) = stage {
            let told = self.stages.get_mut(number);
            let told = told.ok_or(BadEvent::NoStage(number))?;
            match event {
                BatchEvent::StageStarted { .. } => told.started = true,
                BatchEvent::StageEnded { .. } => told.ended = true,
                _ => told.fell_back = true,
            }
        }
        match event {
            BatchEvent::FellBack { stage: None, .. } => self.one_at_a_time = true,
            BatchEvent::Published { branch, tip } => {
                self.published = Some((branch.clone(), tip.clone()));
            }
            BatchEvent::Unpublished => self.published = None,
            BatchEvent::ConflictsPredicted { pairs } => self.predicted.clone_from(pairs),
            BatchEvent::StopRequested => self.finishes = true,
            BatchEvent::Reopened => {
                self.finishes = false;
                self.limits_in_a_row = 0;
                self.overloads_in_a_row = 0;
                self.spent_before = self.spent();
                for task in &mut self.tasks {
                    task.excused = true;
                }
            }
            _ => {}
        }
        self.status = next;
        Ok(())
    }

    fn apply_to_task(&mut self, position: usize, event: &TaskEvent) -> Result<(), IllegalMove> {
        let next = self.tasks[position].state.after(event)?;
        self.count(position, event);
        match event {
            TaskEvent::Woven { tip } => {
                self.tip = Some(tip.clone());
                self.proof = Proof::Unknown;
                self.lost_proof = None;
            }
            TaskEvent::Retried | TaskEvent::Resolved { .. } => {
                self.hope_again();
                let stage = self.tasks[position].design.stage;
                if let Some(told) = stage.map(|stage| &mut self.stages[stage]) {
                    if told.ended {
                        *told = StageProgress::default();
                    }
                    // Nothing needs to start for what a person made, but the stage ends once more.
                    told.started |= matches!(event, TaskEvent::Resolved { .. });
                }
            }
            _ => {}
        }
        if !matches!(next, TaskState::Built { .. }) {
            self.built.retain(|built| *built != position);
        } else if !self.built.contains(&position) {
            self.built.push(position);
        }
        let merged = matches!(next, TaskState::Ended(Ending::Merged { .. }));
        if !merged {
            self.woven.retain(|woven| *woven != position);
        } else if !self.woven.contains(&position) {
            self.woven.push(position);
        }
        self.tasks[position].take_in(event);
        self.tasks[position].proved &= merged;
        self.tasks[position].state = next;
        self.tasks[position].was_done |= self.is_done(position);
        self.forget_what_is_past();
        Ok(())
    }

    /// The woven tasks that must be in the basis of a task, in the order they were woven.
    pub fn basis_of(&self, position: usize) -> Vec<usize> {
        let task = &self.tasks[position];
        let in_queue = matches!(self.design.settings.mode, Mode::Queue { .. });
        let stage_fell_back = task
            .design
            .stage
            .is_some_and(|stage| self.stages[stage].fell_back);
        if in_queue || self.one_at_a_time || stage_fell_back || task.on_woven {
            return self.woven.clone();
        }
        let waited_for = self.waited_for(position);
        let of_earlier_phase = |other: usize| {
            let phase = self.tasks[other].design.phase;
            task.design.follows_phase && phase.is_some() && phase < task.design.phase
        };
        let of_earlier_stage = |other: usize| {
            let stage = self.tasks[other].design.stage;
            stage.is_some() && stage < task.design.stage
        };
        let belongs = |other: &usize| {
            waited_for[*other] || of_earlier_phase(*other) || of_earlier_stage(*other)
        };
        self.woven.iter().copied().filter(belongs).collect()
    }

    /// The work of earlier batches that some tasks build on, in the order it is woven; what is on the server stays.
    pub fn earlier_of(&self, tasks: &[usize]) -> Vec<usize> {
        let pushed = self.pushed.iter().flat_map(|pushed| &pushed.tasks);
        let all = tasks.iter().chain(pushed);
        let all = all.flat_map(|task| &self.tasks[*task].design.earlier);
        all.copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Everything a task waits for, through tasks that were left out as well.
    fn waited_for(&self, position: usize) -> Vec<bool> {
        let mut reached = vec![false; self.tasks.len()];
        let mut stack = vec![position];
        while let Some(at) = stack.pop() {
            let task = &self.tasks[at].design;
            for before in task.needs.iter().chain(&task.after) {
                if !std::mem::replace(&mut reached[*before], true) {
                    stack.push(*before);
                }
            }
        }
        reached
    }
}
