//! Which tasks start now: longest remaining path first, as many as may run at once.

use std::cmp::Reverse;

use super::stages::current_stage;
use super::{Action, is_at_work, positions};
use crate::batch::{Approval, Batch, Mode};
use crate::id::PhaseNumber;
use crate::phase::{OpenPhases, Shortfall, shortfalls};
use crate::task::TaskStatus;
use crate::task_state::{Ending, TaskState};

pub(super) fn starts(batch: &Batch) -> Vec<Action> {
    // Their agent is the same: whoever started now would be limited as well.
    let limited = |state: &TaskState| matches!(state, TaskState::Limited { .. });
    if batch.held.is_some() || positions(batch, limited).next().is_some() {
        return Vec::new();
    }
    let running = positions(batch, is_at_work).count();
    let ready = ready(batch, running);
    let one_at_a_time = |task: &usize| batch.tasks[*task].on_woven;
    let (again, first): (Vec<usize>, Vec<usize>) = ready.into_iter().partition(one_at_a_time);
    match batch.design.settings.mode {
        Mode::Queue { approval } => {
            let mut queue: Vec<usize> = first.into_iter().chain(again).collect();
            queue.sort_unstable();
            next_of_queue(batch, running, &queue, approval)
        }
        Mode::Parallel { .. } => {
            // What collided runs alone, when nothing else can.
            if first.is_empty() && running == 0 {
                return again
                    .first()
                    .map(|task| Action::Start(*task))
                    .into_iter()
                    .collect();
            }
            let alone = positions(batch, is_at_work).any(|task| one_at_a_time(&task));
            let slots = if alone { 0 } else { slots_now(batch) };
            let free = slots.saturating_sub(running);
            first.into_iter().take(free).map(Action::Start).collect()
        }
    }
}

fn slots_now(batch: &Batch) -> usize {
    let stage = current_stage(batch);
    let stage_alone = stage.is_some_and(|stage| {
        !batch.design.stages[stage].can_parallel || batch.stages[stage].fell_back
    });
    if batch.one_at_a_time || stage_alone {
        1
    } else {
        batch.slots()
    }
}

fn next_of_queue(
    batch: &Batch,
    running: usize,
    queue: &[usize],
    approval: Approval,
) -> Vec<Action> {
    let waiting = positions(batch, |state| matches!(state, TaskState::Waiting { .. })).count();
    let busy = running + waiting > 0;
    // A task that failed is tried again before the next one is thought of.
    let resting = positions(batch, |state| matches!(state, TaskState::RetryPause { .. }));
    if busy || resting.count() > 0 {
        return Vec::new();
    }
    let Some(next) = queue.first() else {
        return Vec::new();
    };
    let task = &batch.tasks[*next];
    let is_first = batch.tasks.iter().all(|task| task.attempts == 0);
    let may_start =
        approval == Approval::Automatic || is_first || task.approved || task.attempts > 0;
    vec![if may_start {
        Action::Start(*next)
    } else {
        Action::Ask(*next)
    }]
}

/// The tasks that could start, the most urgent first.
fn ready(batch: &Batch, running: usize) -> Vec<usize> {
    let stage = current_stage(batch);
    let in_open_stage = |task: &usize| {
        let own = batch.tasks[*task].design.stage;
        own.is_none() || (own == stage && stage.is_some_and(|stage| batch.stages[stage].started))
    };
    let mut ready: Vec<usize> = positions(batch, |state| *state == TaskState::Queued)
        .filter(|task| has_what_it_waits_for(batch, *task))
        .filter(in_open_stage)
        .collect();
    let phases = open_phases(batch);
    let in_open_phase = |task: &usize| {
        let task = &batch.tasks[*task].design;
        !task.follows_phase || task.phase.is_none_or(|phase| phases.is_open(phase))
    };
    // Phases give way when nothing else can move: a task of an early phase may need one of a later.
    let pausing = positions(batch, |state| {
        state.is_idle() && *state != TaskState::Queued
    })
    .count();
    let idle = running == 0 && pausing == 0;
    if !idle || ready.iter().any(in_open_phase) {
        ready.retain(in_open_phase);
    } else if let Some(earliest) = ready
        .iter()
        .map(|task| batch.tasks[*task].design.phase)
        .min()
    {
        ready.retain(|task| batch.tasks[*task].design.phase == earliest);
    }
    ready.sort_by_key(|task| {
        let design = &batch.tasks[*task].design;
        (Reverse(design.remaining), Reverse(design.priority), *task)
    });
    ready
}

fn has_what_it_waits_for(batch: &Batch, task: usize) -> bool {
    let task = &batch.tasks[task].design;
    let ending = |other: &usize| batch.tasks[*other].state.ending();
    let needs_met = task
        .needs
        .iter()
        .all(|need| ending(need).is_some_and(Ending::is_success));
    needs_met && task.after.iter().all(|before| ending(before).is_some())
}

fn open_phases(batch: &Batch) -> OpenPhases {
    OpenPhases::for_run(statuses(batch), batch.design.threshold)
}

/// The first phase that is over and below the threshold: those behind it are never entered.
pub(super) fn phase_that_fell_short(batch: &Batch) -> Option<Shortfall> {
    let is_over = |short: &Shortfall| {
        let mut tasks = batch.tasks.iter();
        tasks.all(|task| task.design.phase != Some(short.phase) || task.state.ending().is_some())
    };
    shortfalls(statuses(batch), batch.design.threshold).find(is_over)
}

/// How far the tasks of the plan are, by phase.
fn statuses(batch: &Batch) -> impl Iterator<Item = (Option<PhaseNumber>, TaskStatus)> {
    let others = batch.design.others.iter();
    let others = others.map(|(phase, status)| (Some(*phase), *status));
    let here = batch.tasks.iter().map(|task| {
        let status = match task.state.ending() {
            None => TaskStatus::Pending,
            Some(ending) if ending.is_success() => TaskStatus::Completed,
            Some(Ending::Cancelled) => TaskStatus::Cancelled,
            Some(_) => TaskStatus::Failed,
        };
        (task.design.phase, status)
    });
    others.chain(here)
}
