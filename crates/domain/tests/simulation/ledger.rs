//! A second account of a batch, kept from its events alone, that knows what must never happen.
//!
//! Shares no code with the rules it checks, but for the one of phases.

mod governors;
mod phases;
mod proofs;

use pleach_domain::batch::{
    Approval, BatchStatus, Design, FailedStage, Mode, OnFailure, TaskDesign,
};
use pleach_domain::choice::OnConflict;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::phase::OpenPhases;
use pleach_domain::task::TaskStatus;
use proofs::Closing;

use crate::account::{Account, Now};
use crate::truth::Truth;

#[derive(Debug, Clone, Copy, Default)]
struct StageAccount {
    under_way: bool,
    fell_back: bool,
}

/// Why another number may run at once, if nothing that happened in the batch says so.
pub(crate) const ADVICE: &str = "the machine bears another number";

/// Why a task is blocked whose work of earlier batches does not go with the base.
pub(crate) const NO_BASIS: &str = "it builds on what conflicts";

/// Why a task is blocked whose dependencies do not go together.
pub(crate) const BASIS_CONFLICTS: &str = "what it waits for conflicts";

/// Why a task is blocked that a person does not consent to.
pub(crate) const NO_CONSENT: &str = "nobody consents";

/// Where the batch is bound for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Course {
    Running,
    Cancelled,
    GivenUp,
    Merging,
    Landing,
}

/// What a person lets begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Starts {
    Any,
    Nothing,
}

pub(crate) struct Ledger<'d> {
    design: &'d Design,
    truth: Truth,
    /// For each task, what it waits for, directly or not.
    before: Vec<Vec<bool>>,
    tasks: Vec<Account>,
    stages: Vec<StageAccount>,
    built: Vec<usize>,
    woven: Vec<usize>,
    fell_back: bool,
    /// How many may run at once.
    slots: usize,
    held: bool,
    /// What had been spent when it was opened again.
    tokens_before: u64,
    course: Course,
    starts: Starts,
    closing: Closing,
    /// Whether phases gave way to the task that started just before.
    gives_way: bool,
}

impl<'d> Ledger<'d> {
    pub(crate) fn new(design: &'d Design, truth: Truth) -> Self {
        Self {
            design,
            truth,
            before: all_before(&design.tasks),
            tasks: vec![Account::default(); design.tasks.len()],
            stages: vec![StageAccount::default(); design.stages.len()],
            built: Vec::new(),
            woven: Vec::new(),
            fell_back: false,
            slots: match design.settings.mode {
                Mode::Parallel { slots } => slots,
                Mode::Queue { .. } => 1,
            },
            held: false,
            tokens_before: 0,
            course: Course::Running,
            starts: Starts::Any,
            closing: Closing::new(),
            gives_way: false,
        }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match event {
            Event::Batch(event) => {
                self.gives_way = false;
                self.take_of_batch(event);
                self.take_of_proof(event);
                self.take_of_governors(event);
            }
            Event::Task { task, event } => {
                let at = self.position(task);
                self.take_of_task(at, event);
            }
        }
    }

    fn position(&self, task: &TaskId) -> usize {
        let mut tasks = self.design.tasks.iter();
        tasks.position(|design| design.id == *task).unwrap()
    }

    fn take_of_batch(&mut self, event: &BatchEvent) {
        match event {
            BatchEvent::StageStarted { stage } => {
                assert!(!self.stages[*stage].under_way, "stage {stage} begins twice");
                self.stages[*stage].under_way = true;
            }
            BatchEvent::StageEnded {
                stage,
                success,
                merge_status,
            } => {
                assert!(self.stages[*stage].under_way, "stage {stage} never began");
                assert!(self.stage_is_over(*stage), "stage {stage} is not over");
                let went_well = self.stage_went_well(*stage) && self.is_stage_proved(*stage);
                assert_eq!(*success, went_well, "stage {stage}");
                assert_eq!(*merge_status, self.merge_status(*stage), "stage {stage}");
                self.stages[*stage].under_way = false;
            }
            BatchEvent::FellBack { stage: None, .. } => {
                assert!(!self.fell_back, "it falls back once");
                self.fell_back = true;
            }
            BatchEvent::FellBack {
                stage: Some(stage), ..
            } => {
                assert!(
                    !self.stages[*stage].fell_back,
                    "stage {stage} falls back once"
                );
                self.stages[*stage].fell_back = true;
            }
            BatchEvent::StopRequested => self.starts = Starts::Nothing,
            BatchEvent::CancelRequested { .. } => self.course = Course::Cancelled,
            BatchEvent::GaveUp { .. } => self.course = Course::GivenUp,
            BatchEvent::Merging => {
                let mut news = self.tasks.iter().filter(|task| !task.excused);
                let broken = news.any(|task| self.breaks_a_rule(task));
                assert!(!broken, "it should have given up");
                self.course = Course::Merging;
            }
            BatchEvent::Landing { .. } => self.course = Course::Landing,
            BatchEvent::LandingAsked { .. } | BatchEvent::Validating { stage: None } => {
                self.course = Course::Merging;
            }
            BatchEvent::Reopened => {
                self.starts = Starts::Any;
                self.course = Course::Running;
                self.tokens_before = self.tokens();
                for task in &mut self.tasks {
                    task.excused = true;
                }
            }
            _ => {}
        }
    }

    fn take_of_task(&mut self, at: usize, event: &TaskEvent) {
        let was = self.tasks[at].now;
        if let TaskEvent::Kept { .. } | TaskEvent::Published { .. } = event {
            return;
        }
        if let TaskEvent::Started { attempt, .. } = event {
            assert_eq!(self.starts, Starts::Any, "it is to finish what runs");
            self.check_start(at, *attempt);
        } else {
            self.gives_way = false;
        }
        if was == Now::Built {
            // What lost a need is not woven at all, and waits for nobody.
            let is_woven = !matches!(event, TaskEvent::Blocked { .. });
            let place = self.built.iter().position(|built| *built == at);
            let in_turn = !is_woven || place == Some(0);
            assert!(in_turn, "woven in the order they finished");
            self.built.remove(place.unwrap());
        }
        let asked_again = matches!(event, TaskEvent::Retried | TaskEvent::Resolved { .. });
        if asked_again {
            assert_eq!(self.course, Course::Running, "nobody can help it now");
            self.forget_fallback(at);
            self.asked_again();
        } else if matches!(event, TaskEvent::TakenOver { .. }) {
            let counts = was.is_success() || was == Now::Built;
            assert!(!counts, "{at} is taken over with work that counts");
        } else if was.is_success() {
            self.check_leaving(at, event);
        } else {
            assert!(!was.is_end(), "{at} ended twice: {event:?}");
            self.check_reason_to_block(at, event);
        }
        if matches!(event, TaskEvent::Resolved { .. }) {
            self.take_resolved(at);
        }
        let may_move = was == Now::Built || !self.fell_back;
        let requeued = matches!(event, TaskEvent::Requeued { .. });
        assert!(may_move || !requeued, "{at} has no other place");
        self.tasks[at].take(event);
        let tries = self.tasks[at].failures;
        assert!(
            tries <= self.design.settings.retries,
            "{at} is tried too often"
        );
        match self.tasks[at].now {
            Now::Built => self.built.push(at),
            Now::Merged => {
                assert!(
                    was == Now::Built && !self.woven.contains(&at),
                    "{at} woven twice"
                );
                assert!(
                    self.needs_are_met(at),
                    "{at} is woven without what it needs"
                );
                self.woven.push(at);
                self.take_woven(at);
            }
            _ => {}
        }
    }

    fn take_resolved(&mut self, at: usize) {
        assert!(
            self.needs_are_met(at),
            "{at} is resolved without what it needs"
        );
        if let Some(stage) = self.design.tasks[at].stage {
            // Nothing of it starts, and it ends once more.
            self.stages[stage].under_way = true;
        }
    }

    /// A stage that was over and begins anew may run several at once again.
    fn forget_fallback(&mut self, at: usize) {
        let stage = self.design.tasks[at].stage;
        let stage = stage.map(|stage| &mut self.stages[stage]);
        if let Some(stage) = stage.filter(|stage| !stage.under_way) {
            stage.fell_back = false;
        }
    }

    fn needs_are_met(&self, at: usize) -> bool {
        let mut needs = self.design.tasks[at].needs.iter();
        needs.all(|need| self.tasks[*need].now.is_success())
    }

    fn at_work(&self) -> impl Iterator<Item = &Account> {
        self.tasks.iter().filter(|task| task.now == Now::AtWork)
    }

    fn of_stage(&self, stage: usize) -> impl Iterator<Item = Now> {
        let tasks = self.tasks.iter().zip(&self.design.tasks);
        tasks
            .filter(move |(_, design)| design.stage == Some(stage))
            .map(|(task, _)| task.now)
    }

    fn stage_is_over(&self, stage: usize) -> bool {
        self.of_stage(stage).all(Now::is_end)
    }

    fn stage_went_well(&self, stage: usize) -> bool {
        let mut tasks = self.of_stage(stage);
        let all_well = tasks.all(|now| now.is_success() || now == Now::Cancelled);
        all_well && !self.is_stage_unproved(stage)
    }

    fn check_start(&mut self, at: usize, attempt: u32) {
        let (task, design) = (&self.tasks[at], &self.design.tasks[at]);
        assert!(self.course == Course::Running, "{at} starts too late");
        assert_eq!(
            task.now,
            Now::Queued,
            "{at} starts from its place in the queue"
        );
        assert_eq!(attempt, task.attempts + 1, "attempts of {at} are counted");
        assert!(self.needs_are_met(at), "{at} starts before what it needs");
        let mut after = design.after.iter();
        assert!(
            after.all(|before| self.tasks[*before].now.is_end()),
            "{at} starts too early"
        );
        for stage in 0..design.stage.unwrap_or(0) {
            assert!(
                self.stage_is_over(stage),
                "{at} starts before stage {stage} is over"
            );
            assert!(
                self.design.failed_stage == FailedStage::GoesOn || self.stage_went_well(stage),
                "{at} starts although stage {stage} failed"
            );
        }
        if let Some(stage) = design.stage {
            self.check_proved_before(stage);
        }
        let begun = design
            .stage
            .is_none_or(|stage| self.stages[stage].under_way);
        assert!(begun, "the stage of {at} was never told to begin");
        assert!(
            self.at_work().count() < self.room_for(task),
            "no room for {at}"
        );
        assert!(
            !self.is_behind_a_phase_that_fell_short(at),
            "{at} starts over the failures of an earlier phase"
        );
        self.check_phase(at);
        self.check_turn(at);
        self.check_governors(at);
    }

    fn room_for(&self, task: &Account) -> usize {
        if !matches!(self.design.settings.mode, Mode::Parallel { .. }) {
            return 1;
        }
        let stage = (0..self.stages.len()).find(|stage| !self.stage_is_over(*stage));
        let stage_alone = stage.is_some_and(|stage| {
            self.stages[stage].fell_back || !self.design.stages[stage].can_parallel
        });
        if self.at_work().any(|other| other.on_woven) {
            0
        } else if task.on_woven || self.fell_back || stage_alone {
            1
        } else {
            self.slots
        }
    }

    fn is_still(&self) -> bool {
        let mut tasks = self.tasks.iter();
        tasks.all(|task| task.now == Now::Queued || task.now.is_end())
    }

    /// A phase that is closed gives way only when nothing else can move.
    fn check_phase(&mut self, at: usize) {
        let design = &self.design.tasks[at];
        let Some(phase) = design.phase.filter(|_| design.follows_phase) else {
            return;
        };
        let tasks = self.tasks.iter().zip(&self.design.tasks);
        let here = tasks.map(|(task, design)| {
            let status = match task.now {
                Now::Merged | Now::Unchanged => TaskStatus::Completed,
                Now::Cancelled => TaskStatus::Cancelled,
                now if now.is_end() => TaskStatus::Failed,
                _ => TaskStatus::Pending,
            };
            (design.phase, status)
        });
        let others = self.design.others.iter();
        let others = others.map(|(phase, status)| (Some(*phase), *status));
        let open = OpenPhases::for_run(others.chain(here), self.design.threshold);
        let closed = !open.is_open(phase);
        assert!(
            !closed || self.is_still() || self.gives_way,
            "{at} starts before its phase"
        );
        self.gives_way = closed;
    }

    /// In a queue one ends before the next begins, and a person lets it.
    fn check_turn(&self, at: usize) {
        let task = &self.tasks[at];
        let Mode::Queue { approval } = self.design.settings.mode else {
            assert!(
                !task.on_woven || self.built.is_empty(),
                "{at} starts before all is woven"
            );
            return;
        };
        assert!(self.built.is_empty(), "{at} starts before all is woven");
        let first = self.tasks.iter().all(|task| task.attempts == 0);
        let may = approval == Approval::Automatic || first || task.approved || task.attempts > 0;
        assert!(may, "nobody approved {at}");
    }

    pub(crate) fn check_basis(&self, at: usize, basis: &[usize]) {
        let (task, own) = (&self.tasks[at], &self.design.tasks[at]);
        let in_queue = matches!(self.design.settings.mode, Mode::Queue { .. });
        let stage_fell_back = own.stage.is_some_and(|stage| self.stages[stage].fell_back);
        let all = in_queue || self.fell_back || stage_fell_back || task.on_woven;
        let belongs = |other: &usize| {
            let design = &self.design.tasks[*other];
            let earlier_phase =
                own.follows_phase && design.phase.is_some() && design.phase < own.phase;
            let earlier_stage = design.stage.is_some() && design.stage < own.stage;
            all || self.before[at][*other] || earlier_phase || earlier_stage
        };
        let expected: Vec<usize> = self.woven.iter().copied().filter(belongs).collect();
        assert_eq!(basis, expected, "the basis of {at}");
    }

    /// Whatever some tasks and those on the server build on, once and in order, and nothing else.
    pub(crate) fn check_ground(&self, tasks: &[usize], ground: &[usize]) {
        let wants = |work: &usize| {
            let mut all = tasks.iter().chain(&self.closing.on_server);
            all.any(|task| self.design.tasks[*task].earlier.contains(work))
        };
        let can_start = |task: &usize| self.design.tasks[*task].no_basis.is_none();
        assert!(tasks.iter().all(can_start), "{tasks:?} have a basis");
        let expected: Vec<usize> = (0..9).filter(wants).collect();
        assert_eq!(ground, expected, "what {tasks:?} build on");
    }

    fn breaks_a_rule(&self, task: &Account) -> bool {
        let settings = &self.design.settings;
        (task.now.is_failure() && settings.on_failure == OnFailure::Stop)
            || (task.now == Now::Conflicted && settings.on_conflict == OnConflict::Fail)
    }

    fn is_a_rule_broken(&self) -> bool {
        self.tasks.iter().any(|task| self.breaks_a_rule(task))
    }

    /// Whether people stopped every task, but for those that needed one of these.
    fn is_stopped_by_people(&self) -> bool {
        let of = |now: Now| self.tasks.iter().filter(|task| task.now == now).count();
        let stopped = of(Now::Cancelled);
        stopped > 0 && stopped + of(Now::Blocked) == self.tasks.len()
    }

    pub(crate) fn check_end(&self, status: &BatchStatus) {
        for (at, task) in self.tasks.iter().enumerate() {
            assert!(task.now.is_end(), "every task has an ending");
            assert!(
                !task.now.is_success() || self.needs_are_met(at),
                "{at} is in without what it needs"
            );
        }
        assert!(
            !self.stages.iter().any(|stage| stage.under_way),
            "every stage is told to end"
        );
        let expected = match self.course {
            Course::Cancelled => "cancelled",
            Course::GivenUp => "failed",
            _ if self.is_stopped_by_people() => "cancelled",
            _ if self.went_well() => "completed",
            _ => "failed",
        };
        assert_eq!(
            status.as_str(),
            expected,
            "the batch is what became of its tasks"
        );
        if matches!(self.course, Course::Merging | Course::Landing) {
            self.check_landed();
        }
    }
}

fn all_before(tasks: &[TaskDesign]) -> Vec<Vec<bool>> {
    let mut before = vec![vec![false; tasks.len()]; tasks.len()];
    let mut grows = true;
    while grows {
        grows = false;
        for (at, task) in tasks.iter().enumerate() {
            for direct in task.needs.iter().chain(&task.after) {
                let reached: Vec<usize> = (0..tasks.len())
                    .filter(|other| other == direct || before[*direct][*other])
                    .collect();
                for other in reached {
                    grows |= !std::mem::replace(&mut before[at][other], true);
                }
            }
        }
    }
    before
}
