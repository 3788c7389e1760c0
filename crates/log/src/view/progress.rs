//! How a batch as a whole stands: its status, how many tasks stand where, and how long the rest may take.

use pleach_domain::batch::{BatchStatus, BatchStatusWord, Mode};
use pleach_domain::estimate::batch_seconds_left;
use pleach_domain::task_state::TaskState;
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::text::moment::{milliseconds, rfc3339};
use serde::Serialize;
use utoipa::ToSchema;

use super::Owner;
use super::replay::Replayed;

/// The number of tasks by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressView {
    pub total: usize,
    /// Tasks that were merged or needed no change.
    pub completed: usize,
    pub failed: usize,
    pub running: usize,
    /// Includes tasks that wait for approval or for a usage limit.
    pub queued: usize,
    pub skipped: usize,
    pub cancelled: usize,
    /// The share of finished tasks, rounded down.
    pub percentage: usize,
}

/// The fields of a batch that change while it runs.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchState {
    pub status: BatchStatusWord,
    pub error: Option<String>,
    pub held: Option<String>,
    pub pr_url: Option<String>,
    pub progress: ProgressView,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub worked_seconds: f64,
    pub seconds_left: Option<f64>,
    pub estimated_end: Option<String>,
}

impl BatchState {
    pub(super) fn of(history: &Replayed, owner: Owner, now: u64) -> Self {
        let (batch, times) = (&history.batch, &history.times);
        let is_over = batch.status.is_over();
        let left = (!is_over && owner == Owner::Alive)
            .then(|| time_left(history, now))
            .flatten();
        let worked = times.tasks.iter().map(|task| task.worked_until(now));
        let all = (0..batch.tasks.len()).map(|position| history.standing_of(position).0);
        Self {
            status: batch.status.word(),
            error: error_of(&batch.status),
            held: batch.held.clone().filter(|_| !is_over),
            pr_url: batch.pr_url.clone(),
            progress: progress_of(all),
            started_at: times.started_at.map(rfc3339),
            completed_at: times.ended_at.map(rfc3339),
            worked_seconds: seconds(worked.sum()),
            seconds_left: left.map(seconds),
            estimated_end: left.map(|left| rfc3339(now + left)),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a duration of 2^53 ms is longer than anything here"
)]
pub(super) fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1000.0
}

fn error_of(status: &BatchStatus) -> Option<String> {
    match status {
        BatchStatus::Failed { error } => Some(error.clone()),
        BatchStatus::GivingUp { because } => Some(because.clone()),
        BatchStatus::Cancelling { .. } => Some("cancelling".into()),
        _ => None,
    }
}

fn progress_of(tasks: impl IntoIterator<Item = TaskStatusWord>) -> ProgressView {
    let mut progress = ProgressView::default();
    for status in tasks {
        progress.total += 1;
        let count = match status {
            TaskStatusWord::Queued | TaskStatusWord::Waiting | TaskStatusWord::Limited => {
                &mut progress.queued
            }
            TaskStatusWord::Running => &mut progress.running,
            TaskStatusWord::Completed => &mut progress.completed,
            TaskStatusWord::Failed => &mut progress.failed,
            TaskStatusWord::Skipped => &mut progress.skipped,
            TaskStatusWord::Cancelled => &mut progress.cancelled,
        };
        *count += 1;
    }
    let over = progress.total - progress.queued - progress.running;
    progress.percentage = (100 * over).checked_div(progress.total).unwrap_or(100);
    progress
}

/// What tasks took on average is what each of those takes that are left.
fn time_left(history: &Replayed, now: u64) -> Option<u64> {
    let tasks = || history.batch.tasks.iter().zip(&history.times.tasks);
    let is_done =
        |state: &TaskState| matches!(state, TaskState::Built { .. }) || state.ending().is_some();
    let took: Vec<u64> = tasks()
        .filter(|(task, times)| is_done(&task.state) && times.worked > 0)
        .map(|(_, times)| times.worked)
        .collect();
    let mean = took.iter().sum::<u64>().checked_div(took.len() as u64)?;
    let left = tasks().map(|(task, times)| {
        let since = times
            .at_work_since
            .map_or(0, |since| now.saturating_sub(since));
        (!is_done(&task.state)).then(|| seconds(mean.saturating_sub(since)))
    });
    let slots = match history.batch.design.settings.mode {
        Mode::Parallel { slots } if !history.batch.one_at_a_time => slots,
        _ => 1,
    };
    let left: Vec<Option<f64>> = left.collect();
    let left = batch_seconds_left(&history.batch.design, &left, slots).unwrap_or(0.0);
    Some(milliseconds(left))
}
