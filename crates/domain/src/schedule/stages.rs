//! Which stage or wave may run, and how those that ended went.

use super::{Action, lacks_proof};
use crate::batch::{Batch, FailedStage};
use crate::event::{BatchEvent, MergeStatus};
use crate::task_state::{Ending, TaskState};

/// The first stage that is over and keeps the later ones from starting.
pub(super) fn first_failed_stage(batch: &Batch) -> Option<usize> {
    let stops = batch.design.failed_stage == FailedStage::StopsThePlan;
    (0..batch.stages.len())
        .find(|stage| stops && stage_is_over(batch, *stage) && !went_well(batch, *stage))
}

fn tasks_of(batch: &Batch, stage: usize) -> impl Iterator<Item = &TaskState> {
    let tasks = batch.tasks.iter();
    let tasks = tasks.filter(move |task| task.design.stage == Some(stage));
    tasks.map(|task| &task.state)
}

pub(super) fn stage_is_over(batch: &Batch, stage: usize) -> bool {
    tasks_of(batch, stage).all(|state| state.ending().is_some())
}

/// A task that a person took out is nobody's failure.
fn went_well(batch: &Batch, stage: usize) -> bool {
    let mut endings = tasks_of(batch, stage).filter_map(TaskState::ending);
    let all_well = endings.all(|ending| ending.is_success() || *ending == Ending::Cancelled);
    all_well && !batch.unproved_stages.contains(&stage)
}

fn merge_status(batch: &Batch, stage: usize) -> MergeStatus {
    let endings = || tasks_of(batch, stage).filter_map(TaskState::ending);
    let is_invalid = |ending: &Ending| matches!(ending, Ending::Invalid { .. });
    if batch.unproved_stages.contains(&stage) || endings().any(is_invalid) {
        MergeStatus::TestFailed
    } else if endings().any(|ending| matches!(ending, Ending::Conflicted { .. })) {
        MergeStatus::Conflicts
    } else if endings().any(|ending| matches!(ending, Ending::Merged { .. })) {
        MergeStatus::Success
    } else {
        MergeStatus::Skipped
    }
}

/// The stage whose tasks may run now: the first that is not over.
pub(super) fn current_stage(batch: &Batch) -> Option<usize> {
    (0..batch.stages.len()).find(|stage| !stage_is_over(batch, *stage))
}

pub(super) fn ended_stages(batch: &Batch) -> Vec<Action> {
    let stages = batch.stages.iter().enumerate();
    stages
        .filter(|(stage, told)| told.started && !told.ended && stage_is_over(batch, *stage))
        .map(|(stage, _)| {
            Action::Note(BatchEvent::StageEnded {
                stage,
                merge_status: merge_status(batch, stage),
                // A batch that stops may end a stage before the tests have said what they think of it.
                success: went_well(batch, stage)
                    && !(lacks_proof(batch) && has_woven(batch, stage)),
            })
        })
        .collect()
}

pub(super) fn has_woven(batch: &Batch, stage: usize) -> bool {
    let mut tasks = tasks_of(batch, stage);
    tasks.any(|state| matches!(state, TaskState::Ended(Ending::Merged { .. })))
}

pub(super) fn next_stage(batch: &Batch) -> Option<usize> {
    current_stage(batch).filter(|stage| {
        let idle = tasks_of(batch, *stage).any(TaskState::is_idle);
        // A later one may have failed already, by what its tasks need from elsewhere.
        let may_start = first_failed_stage(batch).is_none_or(|failed| failed > *stage);
        idle && may_start && !batch.stages[*stage].started
    })
}
