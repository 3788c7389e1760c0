//! Everything around a batch: agents, a disk, people, and a process that dies at any point.
//!
//! Knows nothing of the rules; the ledger checks them.

use std::collections::BTreeMap;

use pleach_domain::batch::{AttemptEnding, Batch, Chance, Design, Message, WeaveEnding};
use pleach_domain::event::{BatchEvent, Event, Rollback, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::{Commit, Ending, TaskState};

use crate::dice::Dice;
use crate::ledger::Ledger;

/// The process died.
struct Crash;

type OrCrash<T = ()> = Result<T, Crash>;

/// Who weaves while the loop goes on.
#[derive(Clone, Copy, PartialEq)]
enum Weaver {
    Loop,
    Thread,
}

pub(crate) struct World<'d> {
    dice: Dice,
    salt: u64,
    design: &'d Design,
    /// What the process has in memory.
    batch: Batch,
    agents: BTreeMap<usize, Option<AttemptEnding>>,
    weaving: Option<usize>,
    weaver: Weaver,
    /// What is on disk: one transaction after the other, and results nobody has read yet.
    log: Vec<Event>,
    results: BTreeMap<usize, AttemptEnding>,
    ledger: Ledger<'d>,
    crashes_left: usize,
    limits_left: usize,
    wishes_left: usize,
    reopenings_left: usize,
    aloud: bool,
}

impl<'d> World<'d> {
    pub(crate) fn new(mut dice: Dice, design: &'d Design) -> Self {
        Self {
            salt: dice.number(),
            design,
            batch: Batch::new(design.clone()),
            agents: BTreeMap::new(),
            weaving: None,
            weaver: dice.pick(&[Weaver::Loop, Weaver::Thread]),
            log: Vec::new(),
            results: BTreeMap::new(),
            ledger: Ledger::new(design),
            crashes_left: dice.below(4),
            limits_left: dice.below(8),
            wishes_left: dice.pick(&[0, 0, 1, 2, 5]),
            reopenings_left: dice.pick(&[0, 0, 1, 2]),
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
        let mut alive = self.store(vec![Event::Batch(BatchEvent::Started)]);
        // Every step ends something or uses up a wish, a limit or a crash.
        let steps = 60 * (self.design.tasks.len() + 2) * (self.reopenings_left + 1);
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
                self.ledger.check_basis(at, &self.batch.basis_of(at));
            }
            self.ledger.take(&event);
            if let Err(error) = self.batch.apply(&event) {
                panic!("{error} after {:#?}", self.log);
            }
            self.log.push(event);
        }
        if self.crashes_left > 0 && self.dice.one_in(40) {
            return Err(Crash);
        }
        Ok(())
    }

    fn hear(&mut self, message: Message) -> OrCrash {
        let events = self.batch.decide(message);
        self.store(events)
    }

    /// A new process goes on from what is on disk.
    fn recover(&mut self) -> OrCrash {
        self.crashes_left = self.crashes_left.saturating_sub(1);
        self.weaving = None;
        if self.aloud {
            println!("the process dies");
        }
        for (task, result) in std::mem::take(&mut self.agents) {
            if let Some(result) = result {
                self.results.insert(task, result);
            }
        }
        let replayed = self.replayed();
        assert!(replayed == self.batch, "replay equals the live state");
        self.batch = replayed;
        if self.batch.status.is_over() {
            return Ok(());
        }
        self.store(vec![Event::Batch(BatchEvent::Resumed)])?;
        for at in 0..self.batch.tasks.len() {
            if self.batch.tasks[at].state.attempt().is_some() {
                let result = self.results.remove(&at);
                let ending = result.unwrap_or(AttemptEnding::Interrupted);
                self.attempt_ended(at, ending)?;
            }
        }
        Ok(())
    }

    /// Does what is to be done until all of it is under way.
    fn act(&mut self) -> OrCrash {
        loop {
            let before = self.log.len();
            for action in schedule(&self.batch) {
                self.take(action)?;
            }
            if self.log.len() == before {
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
            Action::GiveUp(because) => self.hear(Message::GiveUp(because)),
            Action::Ask(task) => self.happened(task, TaskEvent::Waiting),
            Action::Start(task) => {
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
            Action::Finish(event) => self.finish(event),
        }
    }

    fn finish(&mut self, event: BatchEvent) -> OrCrash {
        if let Some(tip) = self
            .batch
            .tip
            .clone()
            .filter(|_| self.batch.published.is_none())
        {
            let branch = "pleach/batch".to_owned();
            self.store(vec![Event::Batch(BatchEvent::Published { branch, tip })])?;
        }
        for at in 0..self.batch.tasks.len() {
            let task = &self.batch.tasks[at];
            if matches!(task.state, TaskState::Ended(Ending::Conflicted { .. })) {
                let branch = format!("pleach/task-{at}");
                let commit = Commit(format!("left out {at}"));
                self.happened(at, TaskEvent::Published { branch, commit })?;
            }
        }
        self.store(vec![Event::Batch(event)])
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
        let task = &self.batch.tasks[at];
        let mut dice = Dice::new(self.salt ^ (u64::from(task.attempts) * 100 + at as u64));
        let ending = match dice.below(30) {
            0 => WeaveEnding::Failed("no room".into()),
            1..6 => WeaveEnding::Conflict {
                files: vec!["f".into()],
                with: Vec::new(),
            },
            _ => WeaveEnding::Woven(Commit(format!("tip {}", self.batch.woven.len()))),
        };
        let id = self.id(at);
        self.hear(Message::WeaveEnded(id, ending))
    }

    fn attempt_ended(&mut self, at: usize, ending: AttemptEnding) -> OrCrash {
        let task = self.id(at);
        let kept = self.dice.one_in(2).then(|| Commit("kept".into()));
        let chance = Chance(u16::try_from(self.dice.below(1_000)).unwrap());
        self.hear(Message::AttemptEnded {
            task,
            ending,
            kept,
            chance,
        })
    }

    fn draw_ending(&mut self, at: usize) -> AttemptEnding {
        let stopping = matches!(self.batch.tasks[at].state, TaskState::Stopping { .. });
        if stopping && !self.dice.one_in(4) {
            return AttemptEnding::Stopped;
        }
        let error = || "exit 1".to_owned();
        match self.dice.below(24) {
            0..3 => AttemptEnding::Unchanged,
            3..6 => AttemptEnding::Failed(error()),
            6 => AttemptEnding::Hopeless(error()),
            7 => AttemptEnding::TimedOut,
            8 => AttemptEnding::NoWorktree(error()),
            9..12 if self.limits_left > 0 => {
                self.limits_left -= 1;
                let stated = self.dice.one_in(2).then_some(60_000);
                AttemptEnding::Limited(error(), stated)
            }
            _ => AttemptEnding::Built {
                commit: Commit(format!("{at}")),
                files: vec![format!("f{at}")],
            },
        }
    }

    fn something_happens(&mut self) -> OrCrash {
        if self.batch.status.is_over() {
            return Ok(());
        }
        if self.crashes_left > 0 && self.dice.one_in(30) {
            return Err(Crash);
        }
        if self.wishes_left > 0 && self.dice.one_in(8) {
            self.wishes_left -= 1;
            return self.somebody_wants();
        }
        let pausing = |at: &usize| {
            let state = &self.batch.tasks[*at].state;
            matches!(state, TaskState::Resting { .. } | TaskState::Limited { .. })
        };
        let mut ending: Vec<usize> = self.agents.keys().copied().collect();
        ending.extend((0..self.batch.tasks.len()).filter(pausing));
        ending.extend(self.weaving);
        if let Some(at) = (!ending.is_empty()).then(|| self.dice.pick(&ending)) {
            return self.comes_to_an_end(at);
        }
        let waiting = self.batch.tasks.iter();
        let waiting = waiting.filter(|task| task.state == TaskState::Waiting);
        assert_eq!(
            waiting.count(),
            1,
            "nothing can happen any more: {:#?}",
            self.log
        );
        self.hear(Message::Approve)
    }

    /// An agent, a weave or a pause ends.
    fn comes_to_an_end(&mut self, at: usize) -> OrCrash {
        if self.weaving == Some(at) {
            self.weaving = None;
            return self.weave(at);
        }
        let Some(agent) = self.agents.remove(&at) else {
            let id = self.id(at);
            return self.hear(Message::Rested(id));
        };
        let ending = agent.unwrap_or_else(|| self.draw_ending(at));
        if self.dice.one_in(5) {
            // It is over, and its result is on disk, but nobody has heard of it.
            self.agents.insert(at, Some(ending));
            return Ok(());
        }
        self.attempt_ended(at, ending)
    }

    /// A person acts, at a good time or a bad one; or a message comes twice.
    fn somebody_wants(&mut self) -> OrCrash {
        let tasks = self.design.tasks.len();
        if tasks == 0 {
            return self.hear(Message::Cancel(Rollback::Keep));
        }
        let at = self.dice.below(tasks);
        let task = self.id(at);
        let rollback = self.dice.pick(&[Rollback::Keep, Rollback::Remove]);
        match self.dice.below(12) {
            0..5 => self.hear(Message::CancelTask(task)),
            5 => self.hear(Message::Cancel(rollback)),
            6 => self.hear(Message::Approve),
            7 => self.hear(Message::CannotStart(task, "nobody consents".into())),
            8 => self.hear(Message::Rested(task)),
            9 if !self.agents.contains_key(&at) => self.attempt_ended(at, AttemptEnding::TimedOut),
            10 if self.batch.built.is_empty() => self.hear(Message::WeaveEnded(
                task,
                WeaveEnding::Woven(Commit("late".into())),
            )),
            _ => self.hear(Message::Retry(vec![task])),
        }
    }

    fn reopen(&mut self, alive: &mut OrCrash) -> bool {
        let some = (0..self.design.tasks.len()).filter(|_| self.dice.one_in(2));
        let some: Vec<TaskId> = some.map(|at| self.design.tasks[at].id.clone()).collect();
        let events = self.batch.decide(Message::Retry(some));
        if self.reopenings_left == 0 || events.is_empty() {
            return false;
        }
        self.reopenings_left -= 1;
        *alive = self.store(events);
        true
    }
}
