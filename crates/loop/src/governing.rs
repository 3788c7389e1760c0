//! What keeps the loop from starting something: disk, memory, an agent that may not work, a budget.
//!
//! Looks before each start, and again now and then while something is in the way; the core decides what follows.

use std::time::Duration;

use pleach_domain::batch::{BatchTask, BudgetExceeded, Message, Spent};
use pleach_domain::governor::{self, MachineLoad as Measured};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::TaskState;
use pleach_git::git::CommitId;
use pleach_log::agent_report::AgentReport;
use pleach_system::machine::free_disk;
use pleach_system::text::causes::with_causes;
use pleach_system::text::moment::clock_time;

use super::run_loop::Loop;
use super::{LoopNotice, Progress, RunError};
use crate::attempt::Disposal;
use crate::attempt::StartPoint;

/// How long to wait before looking again at what is in the way.
const HOLD_PAUSE: Duration = Duration::from_secs(1);

/// How soon the machine is looked at first.
pub(super) const FIRST_ADVICE: Duration = Duration::from_secs(1);

/// How long the number of slots stays, at least.
const ADVICE_PAUSE: Duration = Duration::from_secs(10);

impl Loop<'_> {
    fn obstacle(&self) -> Result<Option<String>, RunError> {
        let least = self.record.min_free_disk;
        let places = [self.context.ground(), self.context.folder.clone()];
        let is_full = |place: &std::path::PathBuf| {
            // A disk that does not say how full it is gets its chance.
            free_disk(place).is_ok_and(|free| free < least)
        };
        if let Some(place) = places.iter().find(|place| is_full(place)) {
            let (least, place) = (megabytes(least), place.display());
            return Ok(Some(format!(
                "less than {least} free disk for {place} (min_free_disk)"
            )));
        }
        if let Some(because) = self.machine.lacks_memory() {
            return Ok(Some(because));
        }
        let agent = self.context.agent.name();
        let limit_wait = self.record.attempts.limit_wait;
        let pause = self.database.agent_pause(agent, limit_wait)?;
        Ok(pause.map(|pause| {
            let until = clock_time(pause.until);
            let (because, lift) = (&pause.because, pause.lifted_by());
            format!("{agent} is paused until {until}: {because}; resume now: `{lift}`")
        }))
    }

    /// Whether something may start now; if not, that is said, and looked at again soon.
    pub(super) fn may_start(&mut self) -> Result<bool, RunError> {
        let obstacle = self.obstacle()?;
        let is_free = obstacle.is_none();
        if !is_free {
            self.timers.look_at_obstacle(HOLD_PAUSE);
            self.decide(Message::Pause(obstacle));
        }
        Ok(is_free)
    }

    /// Looks again at what was in the way, and at how many the machine bears.
    pub(super) fn govern(&mut self) -> Result<(), RunError> {
        if self.timers.is_time_for_obstacle() && self.batch.held.is_some() {
            let obstacle = self.obstacle()?;
            if obstacle.is_some() {
                self.timers.look_at_obstacle(HOLD_PAUSE);
            }
            self.decide(Message::Pause(obstacle));
        }
        if self.timers.is_time_for_limit() {
            self.look_at_limit()?;
        }
        if self.timers.is_time_for_advice() {
            self.follow_machine();
        }
        Ok(())
    }

    /// Tasks whose agent was limited go on at once when a person has lifted its pause. One that could not be stored
    /// is not lifted by not being there.
    fn look_at_limit(&mut self) -> Result<(), RunError> {
        let is_limited = |task: &&BatchTask| matches!(task.state, TaskState::Limited { .. });
        let limited = self.batch.tasks.iter().filter(is_limited);
        let limited: Vec<TaskId> = limited.map(|task| task.design.id.clone()).collect();
        if limited.is_empty() {
            return Ok(());
        }
        let agent = self.context.agent.name();
        let limit_wait = self.record.attempts.limit_wait;
        let is_paused = self.database.agent_pause(agent, limit_wait)?.is_some();
        self.has_stored_pause |= is_paused;
        if is_paused || !self.has_stored_pause {
            self.timers.look_at_limit(HOLD_PAUSE);
            return Ok(());
        }
        for task in limited {
            self.decide(Message::PauseEnded(task));
        }
        Ok(())
    }

    /// A task waits until its agent may work again, or somebody says that it may.
    pub(super) fn wait_for_agent(&mut self, task: &TaskId, pause: u64) {
        self.timers.pause(task, pause);
        self.timers.look_at_limit(HOLD_PAUSE);
    }

    /// A batch that was held before its process died may go on, or is held anew.
    pub(super) fn forget_hold(&mut self) {
        self.decide(Message::Pause(None));
    }

    fn follow_machine(&mut self) {
        if !self.record.auto_slots {
            return;
        }
        self.timers.look_at_machine(ADVICE_PAUSE);
        let Some(busy) = self.machine.load() else {
            return;
        };
        let measured = Measured {
            cores: busy.cores,
            load: busy.load,
            memory: busy.memory,
            running: self.at_work.len(),
        };
        let tasks = self.batch.tasks.len();
        if let Some((slots, because)) = governor::advise(self.batch.slots.most, tasks, measured) {
            self.decide(Message::SetSlots { slots, because });
        }
    }

    /// Notes that an agent may not work for a while, for all batches that use it.
    pub(super) fn note_pause(&mut self, until: u64, because: &str) {
        let agent = self.context.agent.name().to_owned();
        let limit_wait = self.record.attempts.limit_wait;
        let noted =
            self.patiently(|database| database.pause_agent(&agent, until, because, limit_wait));
        self.has_stored_pause = noted.is_ok();
        if let Err(error) = noted {
            // This batch waits all the same; another one finds out by itself.
            let why = with_causes(&error);
            (self.told)(LoopNotice::Note(format!(
                "could not store that {agent} is paused, so other batches will try it: {why}"
            )));
        }
    }

    /// Where a task goes on whose agent was limited in mid-work, or is asked again, and how.
    pub(super) fn goes_on_from(&self, task: usize) -> Option<(CommitId, StartPoint)> {
        let is_as_left = self.is_as_left(task);
        let task = &self.batch.tasks[task];
        let basis = task.basis.as_ref().filter(|_| task.goes_on && is_as_left)?;
        let from = if task.asked_again {
            StartPoint::AskedAgain
        } else {
            StartPoint::Limited
        };
        Some((basis.0.parse().ok()?, from))
    }

    /// What an agent says while it works: shown, and stopped if that takes too much.
    pub(super) fn take_in_said(&mut self, task: &TaskId, attempt: u32, said: AgentReport) {
        let Some(position) = self.batch.position(task) else {
            return;
        };
        if self.batch.tasks[position].state.attempt() != Some(attempt) {
            return;
        }
        let Some(at_work) = self.at_work.get_mut(&position) else {
            return;
        };
        at_work.spent = said.spent;
        if let Some(session) = &said.session {
            self.decide(Message::SessionBegan(task.clone(), session.clone()));
        }
        let running: Spent = self.at_work.values().map(|at_work| at_work.spent).sum();
        match self.batch.over_budget(position, said.spent, running) {
            None => {}
            // The core knows by what the attempt took that this was not a person's wish.
            Some(BudgetExceeded::Task(_)) => self.at_work[&position].cancel.cancel(),
            Some(BudgetExceeded::Batch(because)) => {
                self.decide(Message::GiveUp(because));
            }
        }
        let progress = Progress {
            task: task.clone(),
            attempt,
            action: said.action,
            spent: said.spent,
        };
        (self.told)(LoopNotice::Progress(&progress));
    }

    /// A task whose agent was limited goes on where it stopped; tells whether that place must be let go of first.
    pub(super) fn is_held_back(&mut self, task: usize) -> bool {
        if self.batch.tasks[task].goes_on && self.disposals.contains_key(&task) {
            self.dispose_of_tree(task, Disposal::Stay);
        }
        self.clearing.contains(&task)
    }
}

fn megabytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 30) {
        format!("{} GiB", bytes >> 30)
    } else {
        format!("{} MiB", bytes >> 20)
    }
}
