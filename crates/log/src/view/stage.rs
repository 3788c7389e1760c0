//! A stage of an execution plan, or a wave, as every surface shows it.

use pleach_domain::batch::{BatchStatusWord, BatchTask};
use pleach_domain::event::MergeStatus;
use serde::Serialize;
use utoipa::ToSchema;

use pleach_domain::history::StageHistory;
use pleach_system::text::moment::rfc3339;

use super::progress::seconds;
use super::replay::Replayed;
use super::wire::counted_from_1;

/// A stage or wave.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageView {
    /// Its number, counted from 1.
    pub stage: usize,
    /// The `batch_id` from the execution plan, or the number of the wave.
    pub name: String,
    pub can_parallel: bool,
    pub task_count: usize,
    pub status: BatchStatusWord,
    /// Whether its tasks run one at a time because parallel execution did not work.
    pub fell_back: bool,
    pub merge_status: Option<MergeStatus>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub seconds: Option<f64>,
}

pub(super) fn draw_stage(history: &Replayed, stage: usize) -> StageView {
    let batch = &history.batch;
    let design = &batch.design.stages[stage];
    let StageHistory { started_at, ended } = history.times.stages[stage];
    let is_of_stage = |task: &&BatchTask| task.design.stage == Some(stage);
    StageView {
        stage: counted_from_1(stage),
        name: design.name.clone(),
        can_parallel: design.can_parallel,
        task_count: batch.tasks.iter().filter(is_of_stage).count(),
        status: match (started_at, ended) {
            (_, Some((_, _, true))) => BatchStatusWord::Completed,
            (_, Some((_, _, false))) => BatchStatusWord::Failed,
            (Some(_), None) => BatchStatusWord::Running,
            (None, None) => BatchStatusWord::Pending,
        },
        fell_back: batch.stages[stage].fell_back,
        merge_status: ended.map(|(_, merge_status, _)| merge_status),
        started_at: started_at.map(rfc3339),
        completed_at: ended.map(|(at, _, _)| rfc3339(at)),
        seconds: started_at
            .zip(ended)
            .map(|(from, (to, _, _))| seconds(to.saturating_sub(from))),
    }
}
