//! Everything around a batch: agents, a disk, people, and a process that dies at any point.
//!
//! Knows nothing of the rules; the ledger checks them.

mod agents;
mod closing;
mod people;

use std::collections::{BTreeMap, BTreeSet};

use closing::Probe;
use pleach_domain::batch::{
    AttemptEnding, Batch, BatchStatus, Design, Message, Progress, WeaveEnding,
};
use pleach_domain::event::{BatchEvent, Event, Rollback, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::{Commit, Ending, TaskState};

use crate::dice::Dice;
use crate::ledger::{BASIS_CONFLICTS, Ledger};
use crate::truth::Truth;

/// The process died.
struct Crash;

type OrCrash<T = ()> = Result<T, Crash>;

/// Who weaves while the loop goes on.
#[derive(Clone, Copy, PartialEq)]
enum Weaver {
    Loop,
    Thread,
}

/// Something that is under way and comes to an end some time.
#[derive(Clone, Copy)]
enum UnderWay {
    Agent(usize),
    Pause(usize),
    Weave(usize),
    Probe(u32),
    Landing,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that holds or not, whatever the others do"
)]
pub(crate) struct World<'d> {
    dice: Dice,
    truth: Truth,
    design: &'d Design,
    /// What the process has in memory.
    batch: Batch,
    agents: BTreeMap<usize, Option<AttemptEnding>>,
    weaving: Option<usize>,
    weaver: Weaver,
    /// Runs of the tests, by their number.
    probes: BTreeMap<u32, Probe>,
    runs: u32,
    probers: usize,
    tests_are_quick: bool,
    landing: bool,
    /// What is on disk: one transaction after the other, and results nobody has read yet.
    log: Vec<Event>,
    results: BTreeMap<usize, AttemptEnding>,
    /// The trees that the tests passed on once.
    greens: BTreeSet<String>,
    /// What everything is woven onto, and how many there were.
    base: String,
    bases: usize,
    resolutions: usize,
    ledger: Ledger<'d>,
    /// How seldom agents and weaving fail, in percent.
    calm: usize,
    crashes_left: usize,
    limits_left: usize,
    /// How many attempts are lost with their machines yet.
    losses_left: usize,
    /// Whether some tasks change what steers agents.
    steers: bool,
    wishes_left: usize,
    reopenings_left: usize,
    aloud: bool,
}

impl<'d> World<'d> {
    pub(crate) fn new(mut dice: Dice, design: &'d Design) -> Self {
        let truth = Truth::new(dice.number());
        Self {
            truth,
            design,
            batch: Batch::new(design.clone()),
            agents: BTreeMap::new(),
            weaving: None,
            weaver: dice.pick(&[Weaver::Loop, Weaver::Thread]),
            probes: BTreeMap::new(),
            runs: 0,
            probers: 1 + dice.below(4),
            tests_are_quick: dice.one_in(2),
            landing: false,
            log: Vec::new(),
            results: BTreeMap::new(),
            greens: BTreeSet::new(),
            base: "base 0".into(),
            bases: 0,
            resolutions: 0,
            ledger: Ledger::new(design, truth),
            calm: dice.pick(&[0, 60, 95]),
            crashes_left: dice.below(4),
            limits_left: dice.below(8),
            losses_left: dice.pick(&[0, 2, 30]),
            steers: dice.one_in(3),
            wishes_left: dice.pick(&[0, 0, 1, 3, 8]),
            reopenings_left: dice.pick(&[0, 1, 1, 3]),
            aloud: false,
            dice,
        }
    }

    /// Prints the history while it is lived.
    pub(crate) fn aloud(mut self) -> Self {
        println!("{:#?}", self.design);
        self.aloud = true;
        self
    }

    /// Lives until nobody wants anything any more, and tells what happened.
    pub(crate) fn live(mut self) -> Vec<Event> {
        let mut alive = self.store(vec![
            Event::Batch(BatchEvent::Created),
            Event::Batch(BatchEvent::Started),
        ]);
        // Every step ends something or uses up a wish, a limit or a crash.
        let steps = 120 * (self.design.tasks.len() + 2) * (self.reopenings_left + 1);
        for _ in 0..steps {
            if alive.is_err() {
                alive = self.recover();
                continue;
            }
            if self.batch.status.is_over() {
                self.check_rest();
                if !self.reopen(&mut alive) {
                    return self.log;
                }
                continue;
            }
            alive = self.act().and_then(|()| self.something_happens());
        }
        panic!("it does not settle in {steps} steps: {:#?}", self.log);
    }

    fn check_rest(&self) {
        self.ledger.check_end(&self.batch.status);
        assert_eq!(schedule(&self.batch), [], "nothing is left to do");
        assert!(self.agents.is_empty(), "no agent outlives its batch");
        assert!(
            self.batch.built.is_empty(),
            "all that was built was woven or left out"
        );
        assert!(self.weaving.is_none(), "nothing is being woven");
        assert!(self.probes.is_empty(), "no test outlives its batch");
        assert!(!self.landing, "nothing is being landed");
        for at in 0..self.batch.tasks.len() {
            let done = self.batch.is_done(at);
            assert_eq!(done, self.ledger.is_done(at), "whether {at} is done");
        }
        self.check_replay();
    }

    fn check_replay(&self) {
        assert!(
            self.replayed() == self.batch,
            "replay equals the live state"
        );
    }

    fn replayed(&self) -> Batch {
        let mut batch = Batch::new(self.design.clone());
        for event in &self.log {
            batch.apply(event).unwrap();
        }
        batch
    }

    /// One transaction; the process may die right after it.
    fn store(&mut self, events: Vec<Event>) -> OrCrash {
        if events.is_empty() {
            return Ok(());
        }
        let before = self.batch.progress();
        for event in events {
            if self.aloud {
                println!("{event:?}");
            }
            if let Event::Task {
                task,
                event: TaskEvent::Started { .. },
            } = &event
            {
                let at = self.batch.position(task).unwrap();
                let mut all = self.batch.basis_of(at);
                self.ledger.check_basis(at, &all);
                all.push(at);
                self.ledger.check_ground(&all, &self.batch.earlier_of(&all));
            }
            self.ledger.take(&event);
            if let Err(error) = self.batch.apply(&event) {
                panic!("{error} after {:#?}", self.log);
            }
            self.log.push(event);
        }
        self.tell_progress(before);
        if self.crashes_left > 0 && self.dice.one_in(40) {
            return Err(Crash);
        }
        Ok(())
    }

    /// Told with what changed it, and changes nothing itself.
    fn tell_progress(&mut self, before: Progress) {
        let progress = self.batch.progress();
        if progress == before {
            return;
        }
        assert!(progress.over + progress.running <= progress.total);
        let unmoved = self.batch.clone();
        let event = Event::Batch(progress.event());
        self.batch.apply(&event).unwrap();
        assert_eq!(self.batch, unmoved);
        self.log.push(event);
    }

    fn hear(&mut self, message: Message) -> OrCrash {
        let events = self.batch.decide(message);
        self.store(events)
    }

    /// A new process goes on from what is on disk.
    fn recover(&mut self) -> OrCrash {
        self.crashes_left = self.crashes_left.saturating_sub(1);
        self.weaving = None;
        self.probes.clear();
        self.landing = false;
        self.runs = self.batch.last_log();
        if self.aloud {
            println!("the process dies");
        }
        for (task, result) in std::mem::take(&mut self.agents) {
            if let Some(result) = result {
                self.results.insert(task, result);
            }
        }
        self.check_replay();
        self.batch = self.replayed();
        if self.batch.status.is_over() {
            return Ok(());
        }
        self.lose_tasks_to_others()?;
        self.store(vec![Event::Batch(BatchEvent::Resumed)])?;
        for at in 0..self.batch.tasks.len() {
            if self.batch.tasks[at].state.attempt().is_some() {
                let result = self.results.remove(&at);
                let ending = result.unwrap_or(AttemptEnding::Interrupted);
                self.attempt_ended(at, &ending)?;
            }
        }
        Ok(())
    }

    /// While nobody runs the batch, others may take what it has not done.
    fn lose_tasks_to_others(&mut self) -> OrCrash {
        if !self.dice.one_in(8) {
            return Ok(());
        }
        for at in 0..self.batch.tasks.len() {
            if self.batch.tasks[at].state.may_be_taken_over() && self.dice.one_in(4) {
                self.results.remove(&at);
                let because = "taken over by batch 2".to_owned();
                self.happened(at, TaskEvent::TakenOver { because })?;
            }
        }
        Ok(())
    }

    /// Does what is to be done until all of it is under way.
    fn act(&mut self) -> OrCrash {
        loop {
            let before = self.log.len();
            for action in schedule(&self.batch) {
                let started = match action {
                    Action::Start(task) => Some(task),
                    _ => None,
                };
                self.take(action)?;
                if started.is_some_and(|task| !self.agents.contains_key(&task)) {
                    break;
                }
            }
            if self.log.len() == before {
                self.stop_forgotten_probes();
                return Ok(());
            }
        }
    }

    fn take(&mut self, action: Action) -> OrCrash {
        match action {
            Action::Block { task, because } => {
                let id = self.id(task);
                self.hear(Message::CannotStart(id, because))
            }
            Action::Cancel(task) => {
                let id = self.id(task);
                self.hear(Message::CancelTask(id))
            }
            Action::GiveUp(because) => self.hear(Message::GiveUp(because)),
            Action::Ask(task) => self.happened(task, TaskEvent::Waiting { consent: None }),
            Action::Start(task) => {
                if let Some(consent) = self.lacks_consent(task) {
                    let id = self.id(task);
                    return self.hear(Message::NeedsConsent(id, consent));
                }
                if self.batch.basis_of(task).len() > 1 && self.dice.one_in(60) {
                    let id = self.id(task);
                    return self.hear(Message::CannotStart(id, BASIS_CONFLICTS.into()));
                }
                self.results.remove(&task);
                let basis = Commit(format!("{:?}", self.batch.basis_of(task)));
                let attempt = self.batch.tasks[task].attempts + 1;
                self.happened(task, TaskEvent::Started { attempt, basis })?;
                let twice = self.agents.insert(task, None);
                assert!(twice.is_none(), "one agent at a task");
                Ok(())
            }
            Action::Stop(task) => {
                assert!(self.agents.contains_key(&task), "only agents are stopped");
                Ok(())
            }
            Action::Weave(task) if self.weaver == Weaver::Loop => self.weave(task),
            Action::Weave(task) => {
                self.weaving = self.weaving.or(Some(task));
                Ok(())
            }
            Action::Note(event) => self.store(vec![Event::Batch(event)]),
            Action::Prove => self.prove(),
            Action::StopProving => {
                self.probes.clear();
                Ok(())
            }
            Action::Land => {
                self.publish()?;
                self.landing = true;
                Ok(())
            }
            Action::Finish(event) => self.finish(event),
        }
    }

    fn finish(&mut self, event: BatchEvent) -> OrCrash {
        // What a person stopped may have got there all the same.
        if std::mem::take(&mut self.landing) && self.dice.one_in(2) {
            return self.lands();
        }
        self.publish()?;
        for at in 0..self.batch.tasks.len() {
            let ending = self.batch.tasks[at].state.ending();
            if let Some(Ending::Conflicted { commit, .. } | Ending::Invalid { commit, .. }) = ending
            {
                let branch = format!("pleach/task-{at}");
                let commit = commit.clone();
                self.happened(at, TaskEvent::Published { branch, commit })?;
            }
        }
        self.store(vec![Event::Batch(event)])
    }

    /// The branch of the batch is there exactly if something is woven and nobody wants it gone.
    fn publish(&mut self) -> OrCrash {
        let rollback = BatchStatus::Cancelling {
            rollback: Rollback::Remove,
        };
        let tip = self.batch.tip.clone();
        let wanted = !self.batch.woven.is_empty() && self.batch.status != rollback;
        if !wanted && self.batch.published.is_some() {
            self.store(vec![Event::Batch(BatchEvent::Unpublished)])?;
        }
        if let Some(tip) = tip.filter(|_| wanted && self.batch.published.is_none()) {
            let branch = "pleach/batch".to_owned();
            self.store(vec![Event::Batch(BatchEvent::Published { branch, tip })])?;
        }
        Ok(())
    }

    fn id(&self, at: usize) -> TaskId {
        self.design.tasks[at].id.clone()
    }

    fn happened(&mut self, at: usize, event: TaskEvent) -> OrCrash {
        let task = self.id(at);
        self.store(vec![Event::Task { task, event }])
    }

    /// The same strands give the same result, however often they are woven.
    fn weave(&mut self, at: usize) -> OrCrash {
        let mut dice = self.truth.dice(&["weave", self.version(at)]);
        let calm = dice.below(100) < self.calm;
        let ending = match dice.below(30) {
            0 if !calm => WeaveEnding::Failed("no room".into()),
            1..6 if !calm => WeaveEnding::Conflict {
                files: vec!["f".into()],
                with: Vec::new(),
            },
            _ => WeaveEnding::Woven(Commit(format!("tip {}", self.batch.woven.len()))),
        };
        let id = self.id(at);
        self.hear(Message::WeaveEnded(id, ending))
    }

    fn something_happens(&mut self) -> OrCrash {
        if self.batch.status.is_over() {
            return Ok(());
        }
        if self.crashes_left > 0 && self.dice.one_in(30) {
            return Err(Crash);
        }
        if self.dice.one_in(20) {
            self.check_replay();
        }
        if self.dice.one_in(8) {
            self.look_ahead()?;
        }
        if self.wishes_left > 0 && self.dice.one_in(8) {
            self.wishes_left -= 1;
            return self.somebody_wants();
        }
        let under_way = self.under_way();
        if !under_way.is_empty() {
            let one = self.dice.pick(&under_way);
            let probe = self.probes.keys().next();
            let probe = probe.filter(|_| self.tests_are_quick && !self.dice.one_in(20));
            let one = probe.map_or(one, |number| UnderWay::Probe(*number));
            return self.comes_to_an_end(one);
        }
        if self.batch.held.is_some() {
            return self.hear(Message::Pause(None));
        }
        let waiting = self.batch.tasks.iter();
        let waiting = waiting.filter(|task| matches!(task.state, TaskState::Waiting { .. }));
        assert!(
            waiting.count() > 0,
            "nothing can happen any more: {:#?}",
            self.log
        );
        self.hear(Message::Approve)
    }

    fn under_way(&self) -> Vec<UnderWay> {
        let pausing = |at: &usize| {
            let state = &self.batch.tasks[*at].state;
            matches!(
                state,
                TaskState::RetryPause { .. } | TaskState::Limited { .. }
            )
        };
        let pauses = (0..self.batch.tasks.len()).filter(pausing);
        let agents = self.agents.keys().copied().map(UnderWay::Agent);
        agents
            .chain(pauses.map(UnderWay::Pause))
            .chain(self.weaving.map(UnderWay::Weave))
            .chain(self.probes.keys().copied().map(UnderWay::Probe))
            .chain(self.landing.then_some(UnderWay::Landing))
            .collect()
    }

    fn comes_to_an_end(&mut self, one: UnderWay) -> OrCrash {
        match one {
            UnderWay::Agent(at) => self.agent_moves(at),
            UnderWay::Pause(at) => {
                let id = self.id(at);
                self.hear(Message::PauseEnded(id))
            }
            UnderWay::Weave(at) => {
                self.weaving = None;
                self.weave(at)
            }
            UnderWay::Probe(number) => self.probe_ends(number),
            UnderWay::Landing => self.landing_ends(),
        }
    }
}
