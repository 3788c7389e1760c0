//! What to do next with a batch: longest remaining path first.
//!
//! A pure function of the state; it keeps none of its own.

mod stages;
mod starts;

use self::stages::{ended_stages, first_failed_stage, has_woven, next_stage, stage_is_over};
use self::starts::{phase_that_fell_short, starts};
use crate::batch::{Batch, BatchStatus, BatchTask, OnFailure, Proof, Spent, Validation};
use crate::choice::{Landing, OnConflict};
use crate::event::BatchEvent;
use crate::phase::Shortfall;
use crate::task_state::{Ending, TaskState, broken_need, verb};

/// Something to do, in the imperative; tasks are positions in the batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Give up a task that can never start.
    Block {
        task: usize,
        because: String,
    },
    /// Cancel a task that does not run.
    Cancel(usize),
    /// Stop everything, for this reason.
    GiveUp(String),
    Weave(usize),
    Stop(usize),
    Ask(usize),
    Start(usize),
    /// Note that a stage began or ended, that all tasks are over, or what is done with the result.
    Note(BatchEvent),
    /// Run the tests on what the search for the guilty wants to know of.
    Prove,
    /// Run no more tests, and stop those that run.
    StopProving,
    Land,
    /// Bring the result to the user, and close the batch with this.
    Finish(BatchEvent),
}

pub fn schedule(batch: &Batch) -> Vec<Action> {
    match &batch.status {
        BatchStatus::Pending
        | BatchStatus::Completed
        | BatchStatus::Failed { .. }
        | BatchStatus::Cancelled => Vec::new(),
        BatchStatus::Merging | BatchStatus::Validating | BatchStatus::Landing => {
            vec![closing(batch)]
        }
        BatchStatus::Running => running(batch),
        BatchStatus::Cancelling { .. } | BatchStatus::GivingUp { .. } => stopping(batch),
    }
}

fn running(batch: &Batch) -> Vec<Action> {
    if let Some(because) = reason_to_give_up(batch) {
        return vec![Action::GiveUp(because)];
    }
    // Before anything is blocked: what does not start because a person stopped the batch is cancelled.
    if batch.finishes {
        let idle = positions(batch, TaskState::is_idle).map(Action::Cancel);
        let idle: Vec<Action> = idle.collect();
        if !idle.is_empty() {
            return idle;
        }
    }
    // What may start is known when what never will is out of the way.
    let blocked = blocked(batch);
    if !blocked.is_empty() {
        return blocked;
    }
    let mut actions: Vec<Action> = stops(batch).collect();
    // It takes a moment, and decides what may start, and from where.
    if let Some(weave) = next_weave(batch).or_else(|| proof_between(batch)) {
        actions.push(weave);
        return actions;
    }
    let mut notes = ended_stages(batch);
    let next = next_stage(batch).map(|stage| BatchEvent::StageStarted { stage });
    notes.extend(next.map(Action::Note));
    if notes.is_empty() {
        actions.extend(starts(batch));
    }
    actions.extend(notes);
    if actions.is_empty() && all_over(batch) {
        actions.push(Action::Note(BatchEvent::Merging));
    }
    actions
}

/// What is done when all tasks are over: prove, land, finish.
fn closing(batch: &Batch) -> Action {
    if let Some(step) = next_proof(batch, None) {
        return step;
    }
    let ending = ending(batch);
    match &batch.status {
        _ if !lands(batch, &ending) => Action::Finish(ending),
        BatchStatus::Landing => Action::Land,
        _ => {
            let asked = batch.landing_asked.as_ref();
            let into = asked.and_then(|asked| asked.into.clone());
            Action::Note(BatchEvent::Landing { into })
        }
    }
}

/// A stage or wave ends with a proof of what is woven by then, and none begins without.
fn proof_between(batch: &Batch) -> Option<Action> {
    if matches!(batch.proof, Proof::Searching(_)) {
        return Some(Action::Prove);
    }
    let next = next_stage(batch);
    let is_due = |stage: &usize| {
        let told = batch.stages[*stage];
        // It may have ended without a proof when the batch was stopped.
        let is_built_on = next.is_some_and(|next| *stage < next);
        let wove_in_vain = has_woven(batch, *stage) && (!told.ended || is_built_on);
        stage_is_over(batch, *stage) && ((told.started && !told.ended) || wove_in_vain)
    };
    let stage = (0..batch.stages.len()).rfind(is_due)?;
    next_proof(batch, Some(stage))
}

fn next_proof(batch: &Batch, stage: Option<usize>) -> Option<Action> {
    if batch.design.settings.validation == Validation::Unset || batch.woven.is_empty() {
        return None;
    }
    match batch.proof {
        Proof::Unknown if batch.lands_unproved() => None,
        Proof::Unknown => Some(Action::Note(BatchEvent::Validating { stage })),
        Proof::Searching(_) => Some(Action::Prove),
        Proof::Proved { .. } | Proof::Unproved { .. } => None,
    }
}

/// What completed lands by itself, and what a person wants landed if it is proved or need not be.
fn lands(batch: &Batch, ending: &BatchEvent) -> bool {
    if batch.woven.is_empty() || batch.landed.is_some() {
        return false;
    }
    if batch.landing_asked.is_some() {
        return batch.may_land();
    }
    matches!(ending, BatchEvent::Completed { .. })
        && batch.design.settings.landing != Landing::Nowhere
}

fn stopping(batch: &Batch) -> Vec<Action> {
    let lost: Vec<Action> = without_needs(batch).collect();
    if !lost.is_empty() {
        return lost;
    }
    let mut actions: Vec<Action> = stops(batch).collect();
    actions.extend(ended_stages(batch));
    actions.extend(next_weave(batch));
    if actions.is_empty() && all_over(batch) {
        actions.push(Action::Finish(ending(batch)));
    }
    if lacks_proof(batch) {
        actions.insert(0, Action::StopProving);
    }
    actions
}

/// Whether the tests are wanted and have not said what they think of what is woven.
fn lacks_proof(batch: &Batch) -> bool {
    let wanted = batch.design.settings.validation != Validation::Unset;
    wanted && matches!(batch.proof, Proof::Unknown | Proof::Searching(_))
}

fn stops(batch: &Batch) -> impl Iterator<Item = Action> {
    positions(batch, |state| matches!(state, TaskState::Stopping { .. })).map(Action::Stop)
}

/// Comes last of all actions, and before any start: what it leads to may forbid what was planned before.
fn next_weave(batch: &Batch) -> Option<Action> {
    batch.built.first().map(|task| Action::Weave(*task))
}

fn all_over(batch: &Batch) -> bool {
    batch.tasks.iter().all(|task| task.state.ending().is_some())
}

/// What ended before a person opened the batch again is no news.
fn reason_to_give_up(batch: &Batch) -> Option<String> {
    // What is over is paid for; only what is still to come can be saved.
    let is_open = |task: &BatchTask| task.state.is_idle() || is_at_work(&task.state);
    if batch.tasks.iter().any(is_open)
        && let Some(because) = batch.over_batch_budget(Spent::default())
    {
        return Some(because);
    }
    broken_rule(batch, batch.tasks.iter().filter(|task| !task.excused))
}

fn broken_rule<'b>(
    batch: &Batch,
    mut tasks: impl Iterator<Item = &'b BatchTask>,
) -> Option<String> {
    let settings = &batch.design.settings;
    tasks.find_map(|task| {
        let ending = task.state.ending()?;
        let conflict = matches!(ending, Ending::Conflicted { .. });
        let (id, outcome) = (&task.design.id, ending.outcome());
        if conflict && settings.on_conflict == OnConflict::Fail {
            Some(format!("task {id} conflicted, and on_conflict is \"fail\""))
        } else if ending.is_failure() && settings.on_failure == OnFailure::Stop {
            Some(format!(
                "task {id} {}, and stop_on_failure is set",
                verb(outcome)
            ))
        } else {
            None
        }
    })
}

fn blocked(batch: &Batch) -> Vec<Action> {
    let failed_stage = first_failed_stage(batch);
    let short = phase_that_fell_short(batch);
    positions(batch, TaskState::is_idle)
        .filter_map(|task| {
            let design = &batch.tasks[task].design;
            let failed = design.needs.iter().find_map(|need| {
                let need = &batch.tasks[*need];
                let ending = need.state.ending().filter(|ending| !ending.is_success())?;
                let id = &need.design.id;
                Some(broken_need(id, ending.outcome()))
            });
            let stage_failed = || {
                let stage = failed_stage.filter(|failed| design.stage > Some(*failed))?;
                let name = &batch.design.stages[stage].name;
                Some(format!("stage {name} failed"))
            };
            let phase_fell_short = || {
                let is_behind = |short: &Shortfall| design.phase > Some(short.phase);
                let short = short.filter(|short| design.follows_phase && is_behind(short));
                short.map(|short| short.to_string())
            };
            let because = failed.or_else(stage_failed).or_else(phase_fell_short);
            let because = because.or_else(|| design.no_basis.clone())?;
            Some(Action::Block { task, because })
        })
        .chain(without_needs(batch))
        .collect()
}

/// What was at work when a task that it needs was left out.
fn without_needs(batch: &Batch) -> impl Iterator<Item = Action> {
    (0..batch.tasks.len()).filter_map(|task| {
        let need = &batch.tasks[batch.lost_need(task)?];
        let (id, state) = (&need.design.id, need.state.as_str());
        let because = broken_need(id, state);
        Some(Action::Block { task, because })
    })
}

fn is_at_work(state: &TaskState) -> bool {
    state.attempt().is_some()
}

fn ending(batch: &Batch) -> BatchEvent {
    let mut endings = batch.tasks.iter().filter_map(|task| task.state.ending());
    let nothing_needed = endings.all(|ending| matches!(ending, Ending::NoChanges { .. }));
    match &batch.status {
        BatchStatus::Cancelling { .. } => return BatchEvent::Cancelled,
        BatchStatus::GivingUp { because } => {
            return BatchEvent::Failed {
                error: because.clone(),
            };
        }
        _ => {}
    }
    if was_cancelled_task_by_task(batch) {
        return BatchEvent::Cancelled;
    }
    if let Some(error) = broken_rule(batch, batch.tasks.iter()) {
        return BatchEvent::Failed { error };
    }
    if let Some(stage) = first_failed_stage(batch) {
        let name = &batch.design.stages[stage].name;
        let error = format!("stage {name} failed");
        return BatchEvent::Failed { error };
    }
    if let Proof::Unproved { because, .. } = &batch.proof {
        let error = because.clone();
        return BatchEvent::Failed { error };
    }
    if lacks_proof(batch) && !batch.woven.is_empty() {
        let error = "the woven result was not tested".to_owned();
        return BatchEvent::Failed { error };
    }
    if nothing_needed || !batch.woven.is_empty() {
        BatchEvent::Completed {
            pr_url: batch.pr_url.clone(),
        }
    } else {
        let error = "nothing was merged".to_owned();
        BatchEvent::Failed { error }
    }
}

/// Whether people stopped every task that could have done something.
fn was_cancelled_task_by_task(batch: &Batch) -> bool {
    let endings = || batch.tasks.iter().filter_map(|task| task.state.ending());
    let stopped = |ending: &Ending| matches!(ending, Ending::Cancelled | Ending::Blocked { .. });
    endings().all(stopped) && endings().any(|ending| *ending == Ending::Cancelled)
}

fn positions(batch: &Batch, wanted: impl Fn(&TaskState) -> bool) -> impl Iterator<Item = usize> {
    let tasks = batch.tasks.iter().enumerate();
    tasks
        .filter(move |(_, task)| wanted(&task.state))
        .map(|(position, _)| position)
}
