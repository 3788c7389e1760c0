//! Which events follow from what a batch hears.
//!
//! Decides and changes nothing; `Batch::apply` does.

use super::attempts::{AttemptEnding, Jitter};
use super::closing::DroppedStrand;
use super::{Batch, BatchStatus, BatchTask, FailedStage, Fallback, LandingRequest, Mode, Spent};
use crate::choice::OnConflict;
use crate::event::{BatchEvent, Event, Rollback, TaskEvent, UnprovedReason};
use crate::id::TaskId;
use crate::task_state::{Commit, Consent, Ending, TaskState};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeaveEnding {
    /// The new tip of the batch branch.
    Woven(Commit),
    Conflict {
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// It could not even be tried.
    Failed(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    AttemptEnded {
        task: TaskId,
        /// Which one, counted from 1; another one than that under way changes nothing.
        attempt: u32,
        ending: AttemptEnding,
        /// The last state of its worktree, where that is not its work.
        kept: Option<Commit>,
        spent: Option<Spent>,
        /// So that tasks that failed together do not come back together.
        chance: Jitter,
    },
    /// An attempt got a machine to run on, which it waited for.
    Placed {
        task: TaskId,
        attempt: u32,
        node: String,
    },
    SessionBegan(TaskId, String),
    WeaveEnded(TaskId, WeaveEnding),
    CannotStart(TaskId, String),
    /// What a task starts from was changed in what steers agents, and nobody consented to that.
    NeedsConsent(TaskId, Consent),
    PauseEnded(TaskId),
    /// Nothing new may start for now, for this reason; or nothing is in the way any more.
    Pause(Option<String>),
    /// The machine bears so many at once.
    SetSlots {
        slots: usize,
        because: String,
    },
    /// A rule says that nothing more shall start.
    GiveUp(String),
    Approve,
    CancelTask(TaskId),
    /// A person wants nothing new to start, and what runs to be finished.
    Stop,
    Cancel(Rollback),
    Retry(Vec<TaskId>),
    /// A person made a commit of a branch that did not merge.
    Resolve {
        task: TaskId,
        commit: Commit,
        basis: Commit,
        files: Vec<String>,
    },
    /// The tests ran, or a branch fell out of the search for the guilty: `TestsRan` or `DroppedStrand`.
    TestsRan(BatchEvent),
    /// The tests ran on the base while agents are at work: `TestsRan` with no tasks.
    BaseTestsRan(BatchEvent),
    /// The search is over, and this is the result with everything that it keeps.
    Proved {
        /// The commit it is woven onto.
        base: Commit,
        tip: Commit,
        tree: String,
        /// Whether it no longer continues what is on the server.
        apart: bool,
    },
    NotProved(UnprovedReason, String),
    /// A person wants the result of a batch that is over landed.
    Land(LandingRequest),
    /// The base moved, and this is the result on the new one.
    BaseMoved {
        base: Commit,
        tip: Commit,
        fell_out: Vec<DroppedStrand>,
        /// Whether it no longer continues what is on the server.
        apart: bool,
    },
    /// A step of landing was made: `Pushing`, `Pushed`, `Landed` or `NotLanded`.
    Landed(BatchEvent),
}

impl Batch {
    /// The events that follow from something heard; none, if it comes too late to matter.
    pub fn decide(&self, message: Message) -> Vec<Event> {
        match message {
            Message::AttemptEnded {
                task,
                attempt,
                ending,
                kept,
                spent,
                chance,
            } => self.attempt_ended((&task, attempt), ending, (kept, spent), chance),
            Message::Placed {
                task,
                attempt,
                node,
            } => self.placed(&task, attempt, node),
            Message::SessionBegan(task, session) => self.session_began(&task, session),
            Message::WeaveEnded(task, ending) => self.weave_ended(&task, ending),
            Message::CannotStart(task, because) => self.cannot_start(&task, because),
            Message::NeedsConsent(task, consent) => {
                let waiting = TaskEvent::Waiting {
                    consent: Some(consent),
                };
                match self.state_of(&task) {
                    Some(TaskState::Queued) => vec![of_task(&task, waiting)],
                    _ => Vec::new(),
                }
            }
            Message::Pause(because) => self.hold(because),
            Message::SetSlots { slots, because } => self.advised(slots, because),
            Message::PauseEnded(task) => match self.state_of(&task) {
                Some(TaskState::RetryPause { .. } | TaskState::Limited { .. }) => {
                    vec![of_task(&task, TaskEvent::PauseEnded)]
                }
                _ => Vec::new(),
            },
            Message::GiveUp(because) => self.stop_all(BatchEvent::GaveUp { because }, |status| {
                *status == BatchStatus::Running
            }),
            Message::Approve => self.approve(),
            Message::CancelTask(task) => match self.state_of(&task) {
                Some(TaskState::Running { .. }) => vec![of_task(&task, TaskEvent::StopRequested)],
                _ => self.if_idle(&task, TaskEvent::Cancelled),
            },
            Message::Stop if self.status == BatchStatus::Running && !self.finishes => {
                vec![Event::Batch(BatchEvent::StopRequested)]
            }
            Message::Cancel(_) if self.status == BatchStatus::Landing => self.stop_landing(),
            // Its branch goes once more, unless others may have it by now.
            Message::Cancel(Rollback::Remove) if self.status.is_over() && !self.can_roll_back() => {
                Vec::new()
            }
            Message::Cancel(rollback) => {
                let event = BatchEvent::CancelRequested { rollback };
                let may = |status: &BatchStatus| status.after(&event).is_some();
                self.stop_all(event.clone(), may)
            }
            Message::Retry(tasks) => self.retry(&tasks),
            message => self.decide_at_the_end(message),
        }
    }

    fn cannot_start(&self, task: &TaskId, because: String) -> Vec<Event> {
        let blocked = TaskEvent::Blocked { because };
        let position = self.position(task);
        match position.and_then(|position| self.lost_need(position)) {
            Some(_) => vec![of_task(task, blocked)],
            None => self.if_idle(task, blocked),
        }
    }

    /// What follows from proofs, landing and what people do with results.
    fn decide_at_the_end(&self, message: Message) -> Vec<Event> {
        match message {
            Message::Resolve {
                task,
                commit,
                basis,
                files,
            } => {
                let resolved = TaskEvent::Resolved {
                    commit,
                    basis,
                    files,
                };
                self.resolve(&task, &resolved)
            }
            Message::TestsRan(event) => self.judged(event),
            Message::Proved {
                base,
                tip,
                tree,
                apart,
            } => self.proved(BatchEvent::Rewoven { base, tip, apart }, tree),
            Message::NotProved(doubt, because) => self.not_proved(doubt, because),
            Message::BaseTestsRan(event) => self.base_judged(event),
            Message::Land(asked) => self.land(asked),
            Message::BaseMoved {
                base,
                tip,
                fell_out,
                apart,
            } => self.rewoven(BatchEvent::Rewoven { base, tip, apart }, &fell_out),
            Message::Landed(event) => self.in_landing(event),
            _ => Vec::new(),
        }
    }

    /// Lets the next task that waits start, and with it all that wait for the same consent.
    fn approve(&self) -> Vec<Event> {
        let waits_for = |task: &BatchTask| match &task.state {
            TaskState::Waiting { consent } => Some(consent.clone()),
            _ => None,
        };
        let Some((next, consent)) = self
            .tasks
            .iter()
            .find_map(|task| Some((&task.design.id, waits_for(task)?)))
        else {
            return Vec::new();
        };
        let is_meant = |task: &&BatchTask| {
            let same = consent.is_some() && waits_for(task).as_ref() == Some(&consent);
            same || task.design.id == *next
        };
        let meant = self.tasks.iter().filter(is_meant);
        meant
            .map(|task| of_task(&task.design.id, TaskEvent::Approved))
            .collect()
    }

    fn state_of(&self, task: &TaskId) -> Option<&TaskState> {
        self.position(task).map(|at| &self.tasks[at].state)
    }

    fn if_idle(&self, task: &TaskId, event: TaskEvent) -> Vec<Event> {
        let idle = self.state_of(task).is_some_and(TaskState::is_idle);
        idle.then(|| of_task(task, event)).into_iter().collect()
    }

    fn weave_ended(&self, task: &TaskId, ending: WeaveEnding) -> Vec<Event> {
        let position = self.position(task).filter(|at| self.built.contains(at));
        let Some(position) = position else {
            return Vec::new();
        };
        let (files, with) = match ending {
            WeaveEnding::Woven(tip) => return vec![of_task(task, TaskEvent::Woven { tip })],
            WeaveEnding::Failed(error) => return vec![of_task(task, TaskEvent::Failed { error })],
            WeaveEnding::Conflict { files, with } => (files, with),
        };
        let because = format!("conflicts in {}", files.join(", "));
        let may_cost = self.over_task_budget(position, Spent::default()).is_none();
        let first_time = self.tasks[position].reruns == 0 && may_cost;
        let requeued = of_task(task, TaskEvent::Requeued { because });
        if self.status == BatchStatus::Running && first_time {
            if self.design.settings.on_conflict == OnConflict::Rerun {
                return vec![requeued];
            }
            if let Some(stage) = self.stage_that_may_fall_back(position) {
                let mut events = vec![requeued];
                let stage_is_parallel = self.design.stages[stage].can_parallel;
                if self.is_parallel() && stage_is_parallel && !self.stages[stage].fell_back {
                    let name = &self.design.stages[stage].name;
                    let reason = format!("task {task} conflicted in stage {name}");
                    events.push(fell_back(reason, Some(stage)));
                }
                return events;
            }
        }
        vec![of_task(task, TaskEvent::Conflicted { files, with })]
    }

    /// A stage of an execution plan gives what collided in it a second chance.
    fn stage_that_may_fall_back(&self, position: usize) -> Option<usize> {
        let settings = &self.design.settings;
        let allowed = settings.fallback == Fallback::OneAtATime
            && settings.on_conflict == OnConflict::Skip
            && self.design.failed_stage == FailedStage::StopsThePlan;
        self.tasks[position].design.stage.filter(|_| allowed)
    }

    pub(super) fn is_parallel(&self) -> bool {
        let several = matches!(self.design.settings.mode, Mode::Parallel { slots } if slots > 1);
        several && !self.one_at_a_time && self.status == BatchStatus::Running
    }

    fn stop_all(&self, event: BatchEvent, may: impl Fn(&BatchStatus) -> bool) -> Vec<Event> {
        if !may(&self.status) {
            return Vec::new();
        }
        let mut events = vec![Event::Batch(event)];
        events.extend(self.stops_except(None));
        events
    }

    /// The task at a position has an event of its own, before these.
    pub(super) fn give_up_except(&self, position: usize, because: String) -> Vec<Event> {
        let mut events = vec![Event::Batch(BatchEvent::GaveUp { because })];
        events.extend(self.stops_except(Some(position)));
        events
    }

    fn stops_except(&self, exception: Option<usize>) -> Vec<Event> {
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(position, _)| Some(*position) != exception)
            .filter_map(|(_, task)| {
                let event = match &task.state {
                    state if state.is_idle() => TaskEvent::Cancelled,
                    TaskState::Running { .. } => TaskEvent::StopRequested,
                    _ => return None,
                };
                Some(of_task(&task.design.id, event))
            })
            .collect()
    }

    /// Whether a task that did not make it can be tried again now.
    pub(crate) fn takes_retries(&self) -> bool {
        let is_ending = self.finishes && self.status == BatchStatus::Running;
        !is_ending && !self.status.is_stopping() && !self.status.is_closing()
    }

    /// Retries tasks that did not make it, and what was blocked because of them.
    fn retry(&self, wanted: &[TaskId]) -> Vec<Event> {
        let unsuccessful = |position: &usize| {
            let ending = self.tasks[*position].state.ending();
            ending.is_some_and(|ending| !ending.is_success())
        };
        let positions: Vec<usize> = wanted
            .iter()
            .filter_map(|task| self.position(task))
            .filter(unsuccessful)
            .collect();
        if positions.is_empty() || !self.takes_retries() {
            return Vec::new();
        }
        let behind = self.blocked_behind(&positions);
        let mut events = Vec::new();
        if self.status.is_over() {
            events.push(Event::Batch(BatchEvent::Reopened));
        }
        for (position, task) in self.tasks.iter().enumerate() {
            if positions.contains(&position) || behind.contains(&position) {
                events.push(of_task(&task.design.id, TaskEvent::Retried));
            }
        }
        events
    }

    /// What is blocked and waits for one of these tasks, by itself, by its phase or by its stage.
    pub(super) fn blocked_behind(&self, positions: &[usize]) -> Vec<usize> {
        let first_stage = positions
            .iter()
            .filter_map(|at| self.tasks[*at].design.stage)
            .min();
        let first_phase = positions
            .iter()
            .filter_map(|at| self.tasks[*at].design.phase)
            .min();
        let waits_for_them = |position: usize| {
            let before = self.waited_for(position);
            let own = &self.tasks[position].design;
            let later_stage = first_stage.is_some() && own.stage > first_stage;
            let later_phase = first_phase.is_some() && own.phase > first_phase;
            later_stage
                || (later_phase && own.follows_phase)
                || positions.iter().any(|retried| before[*retried])
        };
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| matches!(task.state, TaskState::Ended(Ending::Blocked { .. })))
            .filter(|(_, task)| !task.is_elsewhere)
            .map(|(position, _)| position)
            .filter(|position| waits_for_them(*position))
            .collect()
    }
}

pub(super) fn of_task(task: &TaskId, event: TaskEvent) -> Event {
    Event::Task {
        task: task.clone(),
        event,
    }
}

pub(super) fn fell_back(reason: String, stage: Option<usize>) -> Event {
    Event::Batch(BatchEvent::FellBack { reason, stage })
}
