//! Which events follow from what a batch hears.
//!
//! Decides and changes nothing; `Batch::apply` does.

use super::closing::FellOut;
use super::{Batch, BatchStatus, FailedStage, Fallback, LandingAsked, Mode, OnConflict};
use crate::event::{BatchEvent, Doubt, Event, Rollback, TaskEvent};
use crate::id::TaskId;
use crate::task_state::{Commit, Ending, TaskState};

/// The longest pause before a repetition, in milliseconds.
const LONGEST_PAUSE: u64 = 15 * 60 * 1_000;

/// So many limits one after the other mean that several at once are too many.
const LIMITS_BEFORE_FALLBACK: u32 = 3;

/// So often a task is put off by limits before it fails.
const MOST_LIMITS: u32 = 100;

/// How an agent's attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnding {
    /// It left a commit.
    Built {
        /// The tip of the task branch.
        commit: Commit,
        /// The files it changed.
        files: Vec<String>,
    },
    /// It changed nothing.
    Unchanged,
    /// It failed, and may succeed another time.
    Failed(String),
    /// It failed in a way that no repetition mends.
    Hopeless(String),
    /// The agent may not work for now, for so many milliseconds if it said so.
    Limited(String, Option<u64>),
    /// It took too long.
    TimedOut,
    /// It was stopped on request.
    Stopped,
    /// There was no place for it to work.
    NoWorktree(String),
    /// The process that ran it died.
    Interrupted,
}

/// What weaving a branch gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WeaveEnding {
    /// The new tip of the batch branch.
    Woven(Commit),
    /// It does not merge cleanly.
    Conflict {
        /// The files that conflict.
        files: Vec<String>,
        /// The woven tasks that touched them.
        with: Vec<TaskId>,
    },
    /// It could not even be tried.
    Failed(String),
}

/// A throw of the dice, from 0 to 999; the core has none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance(pub u16);

/// What the loop of a batch can hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// An attempt is over.
    AttemptEnded {
        /// Whose.
        task: TaskId,
        /// How.
        ending: AttemptEnding,
        /// The last state of its worktree, where that is not its work.
        kept: Option<Commit>,
        /// So that tasks that failed together do not come back together.
        chance: Chance,
    },
    /// A branch was woven, or not.
    WeaveEnded(TaskId, WeaveEnding),
    /// A task cannot start where it would have to.
    CannotStart(TaskId, String),
    /// A pause is over.
    Rested(TaskId),
    /// A rule says that nothing more shall start.
    GiveUp(String),
    /// A person lets the next task start.
    Approve,
    /// A person wants a task to stop.
    CancelTask(TaskId),
    /// A person wants the batch to stop.
    Cancel(Rollback),
    /// A person wants tasks tried again.
    Retry(Vec<TaskId>),
    /// A person made a commit of a branch that did not merge.
    Resolve {
        /// Whose.
        task: TaskId,
        /// The commit.
        commit: Commit,
        /// The commit it was made on.
        basis: Commit,
        /// The files it changes.
        files: Vec<String>,
    },
    /// The tests ran, or a branch fell out of the search for the guilty: `Judged` or `FellOut`.
    Judged(BatchEvent),
    /// The search is over, and this is the result with everything that it keeps.
    Proved {
        /// The commit it is woven onto.
        base: Commit,
        /// The commit it ends in.
        tip: Commit,
        /// Its tree.
        tree: String,
        /// Whether it no longer continues what is on the server.
        apart: bool,
    },
    /// The search is over without a proof.
    NotProved(Doubt, String),
    /// A person wants the result of a batch that is over landed.
    Land(LandingAsked),
    /// The base moved, and this is the result on the new one.
    BaseMoved {
        /// The new base.
        base: Commit,
        /// The commit it ends in.
        tip: Commit,
        /// What does not merge there.
        fell_out: Vec<FellOut>,
        /// Whether it no longer continues what is on the server.
        apart: bool,
    },
    /// A step of landing was made: `Pushed`, `Landed` or `NotLanded`.
    Landed(BatchEvent),
}

impl Batch {
    /// The events that follow from something heard; none, if it comes too late to matter.
    pub fn decide(&self, message: Message) -> Vec<Event> {
        match message {
            Message::AttemptEnded {
                task,
                ending,
                kept,
                chance,
            } => self.attempt_ended(&task, ending, kept, chance),
            Message::WeaveEnded(task, ending) => self.weave_ended(&task, ending),
            Message::CannotStart(task, because) => {
                let blocked = TaskEvent::Blocked { because };
                let position = self.position(&task);
                match position.and_then(|position| self.lost_need(position)) {
                    Some(_) => vec![of_task(&task, blocked)],
                    None => self.if_idle(&task, blocked),
                }
            }
            Message::Rested(task) => match self.state_of(&task) {
                Some(TaskState::Resting { .. } | TaskState::Limited { .. }) => {
                    vec![of_task(&task, TaskEvent::Rested)]
                }
                _ => Vec::new(),
            },
            Message::GiveUp(because) => self.stop_all(BatchEvent::GaveUp { because }, |status| {
                *status == BatchStatus::Running
            }),
            Message::Approve => {
                let waiting = self.tasks.iter();
                let mut waiting = waiting.filter(|task| task.state == TaskState::Waiting);
                let next = waiting.next();
                next.map(|task| of_task(&task.design.id, TaskEvent::Approved))
                    .into_iter()
                    .collect()
            }
            Message::CancelTask(task) => match self.state_of(&task) {
                Some(TaskState::Running { .. }) => vec![of_task(&task, TaskEvent::StopRequested)],
                _ => self.if_idle(&task, TaskEvent::Cancelled),
            },
            Message::Cancel(_) if self.status == BatchStatus::Landing => self.stop_landing(),
            Message::Cancel(rollback) => {
                let event = BatchEvent::CancelRequested { rollback };
                let may = |status: &BatchStatus| status.after(&event).is_some();
                self.stop_all(event.clone(), may)
            }
            Message::Retry(tasks) => self.retry(&tasks),
            message => self.decide_at_the_end(message),
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
            Message::Judged(event) => self.judged(event),
            Message::Proved {
                base,
                tip,
                tree,
                apart,
            } => self.proved(BatchEvent::Rewoven { base, tip, apart }, tree),
            Message::NotProved(doubt, because) => self.not_proved(doubt, because),
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

    fn state_of(&self, task: &TaskId) -> Option<&TaskState> {
        self.position(task).map(|at| &self.tasks[at].state)
    }

    fn if_idle(&self, task: &TaskId, event: TaskEvent) -> Vec<Event> {
        let idle = self.state_of(task).is_some_and(TaskState::is_idle);
        idle.then(|| of_task(task, event)).into_iter().collect()
    }

    fn attempt_ended(
        &self,
        task: &TaskId,
        ending: AttemptEnding,
        kept: Option<Commit>,
        chance: Chance,
    ) -> Vec<Event> {
        let Some(position) = self.position(task) else {
            return Vec::new();
        };
        let state = &self.tasks[position].state;
        if state.attempt().is_none() {
            return Vec::new();
        }
        let mut events = Vec::new();
        if let Some(commit) = kept {
            events.push(of_task(task, TaskEvent::Kept { commit }));
        }
        let stopping = matches!(state, TaskState::Stopping { .. });
        let event = match ending {
            AttemptEnding::Built { commit, files } => TaskEvent::Built { commit, files },
            AttemptEnding::Unchanged => TaskEvent::Unchanged,
            // Nobody waits for another attempt of what was asked to stop.
            _ if stopping => TaskEvent::Cancelled,
            AttemptEnding::TimedOut => TaskEvent::TimedOut,
            AttemptEnding::Hopeless(error) => TaskEvent::Failed { error },
            AttemptEnding::Failed(error) => self.failed(position, error, chance),
            AttemptEnding::Stopped | AttemptEnding::Interrupted => TaskEvent::Interrupted,
            AttemptEnding::Limited(error, pause) => {
                return self.limited(position, events, error, pause, chance);
            }
            AttemptEnding::NoWorktree(error) => {
                return self.no_worktree(position, events, &error, chance);
            }
        };
        events.push(of_task(task, event));
        events
    }

    fn failed(&self, position: usize, error: String, chance: Chance) -> TaskEvent {
        let task = &self.tasks[position];
        let settings = &self.design.settings;
        if task.failures >= settings.retries {
            return TaskEvent::Failed { error };
        }
        TaskEvent::AttemptFailed {
            error,
            pause: pause(settings.retry_pause, task.failures, chance),
        }
    }

    fn limited(
        &self,
        position: usize,
        mut events: Vec<Event>,
        error: String,
        stated: Option<u64>,
        chance: Chance,
    ) -> Vec<Event> {
        let task = &self.tasks[position];
        let id = &task.design.id;
        if task.limits >= MOST_LIMITS {
            events.push(of_task(id, TaskEvent::Failed { error }));
            return events;
        }
        let settings = &self.design.settings;
        let often = self.limits_in_a_row + 1 >= LIMITS_BEFORE_FALLBACK && self.is_parallel();
        let reason = format!("the agent is limited again and again: {error}");
        if often && settings.fallback == Fallback::Fail {
            events.push(of_task(id, TaskEvent::Failed { error }));
            events.extend(self.give_up_except(position, reason));
            return events;
        }
        let longer = pause(settings.retry_pause, task.limits, chance);
        let pause = stated.unwrap_or(longer);
        events.push(of_task(id, TaskEvent::Limited { error, pause }));
        if often {
            events.push(fell_back(reason, None));
        }
        events
    }

    fn no_worktree(
        &self,
        position: usize,
        mut events: Vec<Event>,
        error: &str,
        chance: Chance,
    ) -> Vec<Event> {
        let id = &self.tasks[position].design.id;
        let fallback = self.design.settings.fallback;
        let because = format!("its worktree could not be made: {error}");
        if !self.is_parallel() {
            events.push(of_task(id, self.failed(position, because, chance)));
        } else if fallback == Fallback::OneAtATime {
            events.push(of_task(id, TaskEvent::Requeued { because }));
            let reason = format!("a worktree could not be made: {error}");
            events.push(fell_back(reason, None));
        } else {
            events.push(of_task(
                id,
                TaskEvent::Failed {
                    error: because.clone(),
                },
            ));
            events.extend(self.give_up_except(position, because));
        }
        events
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
        let because = format!("it conflicts in {}", files.join(", "));
        let first_time = self.tasks[position].reruns == 0;
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
                    let reason = format!("task {task} collided in stage {name}");
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

    fn is_parallel(&self) -> bool {
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
    fn give_up_except(&self, position: usize, because: String) -> Vec<Event> {
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
        if positions.is_empty() || self.status.is_stopping() || self.status.is_closing() {
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

    /// What is blocked and waits for one of these tasks, by itself or by its stage.
    pub(super) fn blocked_behind(&self, positions: &[usize]) -> Vec<usize> {
        let first_stage = positions
            .iter()
            .filter_map(|at| self.tasks[*at].design.stage)
            .min();
        let waits_for_them = |position: usize| {
            let before = self.waited_for(position);
            let stage = self.tasks[position].design.stage;
            let later = first_stage.is_some() && stage > first_stage;
            later || positions.iter().any(|retried| before[*retried])
        };
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| matches!(task.state, TaskState::Ended(Ending::Blocked { .. })))
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

fn fell_back(reason: String, stage: Option<usize>) -> Event {
    Event::Batch(BatchEvent::FellBack { reason, stage })
}

/// Twice as long after each time, give or take a quarter.
fn pause(first: u64, times_before: u32, Chance(chance): Chance) -> u64 {
    let doubled = first.saturating_mul(1_u64.checked_shl(times_before).unwrap_or(u64::MAX));
    let bounded = doubled.min(LONGEST_PAUSE / 5 * 4);
    bounded * 3 / 4 + bounded * u64::from(chance.min(999)) / 2_000
}
