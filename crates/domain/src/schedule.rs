//! What to do next with a batch: longest remaining path first.
//!
//! A pure function of the state; it keeps none of its own.

use std::cmp::Reverse;

use crate::batch::{Batch, BatchStatus};
use crate::event::BatchEvent;
use crate::phase::OpenPhases;
use crate::task::TaskStatus;
use crate::task_state::{Ending, TaskState};

/// Something to do, in the imperative; tasks are positions in the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Give up a task that can never start.
    Block {
        /// The task.
        task: usize,
        /// Why.
        because: String,
    },
    /// Weave a built branch into the batch branch.
    Weave(usize),
    /// Ask the agent of a task to stop.
    Stop(usize),
    /// Start an agent.
    Start(usize),
    /// Close the batch.
    End(BatchEvent),
}

/// What to do now with at most `slots` agents at once.
pub fn schedule(batch: &Batch, slots: usize) -> Vec<Action> {
    if !matches!(batch.status, BatchStatus::Running | BatchStatus::Cancelling) {
        return Vec::new();
    }
    let mut actions = blocked(batch);
    actions.extend(batch.built.first().map(|task| Action::Weave(*task)));
    if batch.status == BatchStatus::Running {
        actions.extend(starts(batch, slots));
    } else {
        actions.extend(stops(batch));
    }
    if batch.tasks.iter().all(|task| task.state.ending().is_some()) {
        actions.push(Action::End(ending(batch)));
    }
    actions
}

fn blocked(batch: &Batch) -> Vec<Action> {
    let queued = positions(batch, |state| matches!(state, TaskState::Queued));
    queued
        .filter_map(|task| {
            let failed = batch.tasks[task].needs.iter().find_map(|need| {
                let need = &batch.tasks[*need];
                let ending = need.state.ending().filter(|ending| !ending.is_success())?;
                Some(format!(
                    "it needs {}, which is {}",
                    need.id,
                    ending.outcome()
                ))
            });
            failed.map(|because| Action::Block { task, because })
        })
        .collect()
}

fn stops(batch: &Batch) -> Vec<Action> {
    let stopping = positions(batch, |state| matches!(state, TaskState::Stopping { .. }));
    stopping.map(Action::Stop).collect()
}

fn starts(batch: &Batch, slots: usize) -> Vec<Action> {
    let busy = |state: &TaskState| {
        matches!(
            state,
            TaskState::Running { .. } | TaskState::Stopping { .. }
        )
    };
    let running = positions(batch, busy).count();
    let mut ready: Vec<usize> = positions(batch, |state| matches!(state, TaskState::Queued))
        .filter(|task| has_what_it_waits_for(batch, *task))
        .collect();
    let phases = open_phases(batch);
    let in_open_phase = |task: &usize| {
        let task = &batch.tasks[*task];
        !task.follows_phase || task.phase.is_none_or(|phase| phases.is_open(phase))
    };
    // Phases give way when nothing else can move: a task of an early phase may need one of a later.
    let stuck = running == 0 && batch.built.is_empty() && !ready.iter().any(in_open_phase);
    if !stuck {
        ready.retain(in_open_phase);
    } else if let Some(earliest) = ready.iter().map(|task| batch.tasks[*task].phase).min() {
        ready.retain(|task| batch.tasks[*task].phase == earliest);
    }
    ready.sort_by_key(|task| {
        let place = &batch.tasks[*task];
        (Reverse(place.remaining), Reverse(place.priority), *task)
    });
    ready.truncate(slots.saturating_sub(running));
    ready.into_iter().map(Action::Start).collect()
}

fn has_what_it_waits_for(batch: &Batch, task: usize) -> bool {
    let task = &batch.tasks[task];
    let ending = |other: &usize| batch.tasks[*other].state.ending();
    let needs_met = task
        .needs
        .iter()
        .all(|need| ending(need).is_some_and(Ending::is_success));
    needs_met && task.after.iter().all(|before| ending(before).is_some())
}

fn open_phases(batch: &Batch) -> OpenPhases {
    let before = batch.settled_before.iter();
    let before = before.map(|(phase, status)| (Some(*phase), *status));
    let here = batch.tasks.iter().map(|task| {
        let status = match task.state.ending() {
            None => TaskStatus::Pending,
            Some(ending) if ending.is_success() => TaskStatus::Completed,
            Some(Ending::Cancelled) => TaskStatus::Cancelled,
            Some(_) => TaskStatus::Failed,
        };
        (task.phase, status)
    });
    OpenPhases::of_statuses(before.chain(here), batch.threshold)
}

fn ending(batch: &Batch) -> BatchEvent {
    let mut endings = batch.tasks.iter().filter_map(|task| task.state.ending());
    let nothing_needed = endings.all(|ending| *ending == Ending::NoChanges);
    if batch.status == BatchStatus::Cancelling {
        BatchEvent::Cancelled
    } else if nothing_needed || !batch.woven.is_empty() {
        BatchEvent::Completed
    } else {
        BatchEvent::Failed
    }
}

fn positions(batch: &Batch, wanted: impl Fn(&TaskState) -> bool) -> impl Iterator<Item = usize> {
    let tasks = batch.tasks.iter().enumerate();
    tasks
        .filter(move |(_, task)| wanted(&task.state))
        .map(|(position, _)| position)
}
