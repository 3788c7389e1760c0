//! The shape of a batch on every surface, and how a replayed batch takes it.

use std::path::PathBuf;

use pleach_domain::batch::{Approval, Batch, BatchStatus, BatchTask, Mode, OnFailure};
use pleach_domain::choice::{OnConflict, RunMode};
use pleach_domain::event::PredictedConflict;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::{Ending, TaskState};
use serde::Serialize;
use utoipa::ToSchema;

use pleach_domain::history::{DOES_NOT_MERGE, TOOK_TOO_LONG, TaskHistory};

use super::replay::Replayed;
use super::stage::{StageView, draw_stage};
use super::validation::ValidationView;
use super::wire::{usd, worktree_id};
use super::{Owner, Record, Surroundings};
use crate::batch_paths::conflict_folder;
use crate::database::LoadedBatch;
use crate::earlier::BuildsOn;
use crate::task_ids::TaskIds;
use pleach_domain::estimate::batch_seconds_left;
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::text::moment::{milliseconds, rfc3339};

/// A batch.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    pub id: u32,
    /// What people call it: counted from 1 within its project.
    #[schema(value_type = u32)]
    pub number: BatchNumber,
    pub project_id: String,
    pub mode: RunMode,
    pub status: &'static str,
    /// Why it failed, or what it is stopping for.
    pub error: Option<String>,
    /// Why nothing new starts for now.
    pub held: Option<String>,
    /// Whether it is not over and nobody is at it.
    pub interrupted: bool,
    /// The branch here that the result can be landed in, where there is no server to push to.
    pub land_into: Option<String>,
    pub tasks: Vec<TaskView>,
    pub settings: SettingsView,
    #[schema(value_type = String)]
    pub main_repo_path: PathBuf,
    pub plan: String,
    pub base: Option<String>,
    /// The name of its branch, from the start; none where it runs in a folder that is no repository.
    pub batch_branch: Option<String>,
    /// Whether that branch is in the user's repository.
    pub has_branch: bool,
    pub pr_url: Option<String>,
    /// The batches that it builds on and that were not in its base.
    pub builds_on: Vec<BuildsOn>,
    pub progress: ProgressView,
    pub validation: ValidationView,
    pub conflicts: Vec<ConflictView>,
    pub predicted_conflicts: Vec<PredictedView>,
    pub stages: Vec<StageView>,
    pub created_at: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// How long somebody ran it, until it ended or now.
    pub seconds: f64,
    /// How long nobody ran it since it started, until it ended or now.
    pub idle_seconds: f64,
    /// How long agents worked, all together.
    pub worked_seconds: f64,
    /// How long the rest may take, as far as the tasks so far tell.
    pub seconds_left: Option<f64>,
    pub estimated_end: Option<String>,
}

/// A task of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// The task's own id, which is the same in every batch.
    pub task_id: String,
    /// Its id in its plan; where another task of the batch has that, with the name of the plan in front.
    #[schema(value_type = String)]
    pub key: TaskId,
    pub title: String,
    pub status: TaskStatusWord,
    /// The finer word of where it stands.
    pub state: &'static str,
    /// The word of how it ended.
    pub outcome: Option<&'static str>,
    pub worktree_id: Option<String>,
    /// Where its worktree is, while there is one.
    #[schema(value_type = Option<String>)]
    pub worktree_path: Option<PathBuf>,
    /// The name of its branch, from the start; in the user's repository it is only where the task was left out.
    pub branch: Option<String>,
    /// Whether that branch is in the user's repository.
    pub has_branch: bool,
    pub session_id: Option<String>,
    pub error: Option<String>,
    /// How many attempts count: those that a limit or an overload ended do not.
    pub attempts: u32,
    /// The number of the last one that began, whether it counts or not; 0 for none.
    pub last_attempt: u32,
    /// In dollars, as far as its agent tells.
    pub cost: Option<f64>,
    /// Both ways, as far as its agent tells.
    pub tokens: Option<u64>,
    /// The files that a person must consent to before it starts.
    pub consent: Vec<String>,
    pub files: Vec<String>,
    /// What holds its agent: `landlock`, `strict`, `none`, or `wrapper: ` and a program.
    pub sandbox: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// How long agents worked on it.
    pub seconds: f64,
}

/// The settings that people look for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    pub max_concurrent: usize,
    /// How many may run at once by now.
    pub concurrent_now: usize,
    pub auto_approve: bool,
    pub stop_on_failure: bool,
    pub conflict_behavior: OnConflict,
}

/// How many tasks stand where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressView {
    pub total: usize,
    /// Those that were merged, or needed no change.
    pub completed: usize,
    pub failed: usize,
    pub running: usize,
    /// Those that wait for approval or for their agent are among them.
    pub queued: usize,
    pub skipped: usize,
    pub cancelled: usize,
    /// Of the tasks that are over, rounded down.
    pub percentage: usize,
}

/// A task that was left out, and with whom it collides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    pub task_id: String,
    /// Its key in the batch.
    #[schema(value_type = String)]
    pub key: TaskId,
    pub files: Vec<String>,
    /// The ids of the tasks that it collides with.
    pub with: Vec<String>,
    /// Where a person has it laid out, until it is done or given up.
    pub resolving: Option<ResolvingView>,
}

/// A conflict that a person resolves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResolvingView {
    #[schema(value_type = String)]
    pub path: PathBuf,
}

/// Two tasks that would conflict if both ended as they stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PredictedView {
    #[schema(value_type = Vec<String>)]
    pub tasks: [String; 2],
    pub files: Vec<String>,
}

impl PredictedView {
    fn of(coming: &PredictedConflict, ids: &TaskIds) -> Self {
        Self {
            tasks: [ids.id(&coming.a), ids.id(&coming.b)],
            files: coming.files.clone(),
        }
    }

    /// The other one of the two, if a task is one of them.
    pub fn other_than(&self, task: &str) -> Option<&str> {
        let [a, b] = &self.tasks;
        match task {
            task if task == a => Some(b),
            task if task == b => Some(a),
            _ => None,
        }
    }
}

/// Nobody works on while nobody runs a batch, so its time stands still.
fn stopped_if<'a>(
    interrupted: bool,
    history: &Replayed,
    surroundings: &Surroundings<'a>,
) -> Surroundings<'a> {
    let last = interrupted.then(|| history.times.time.last());
    Surroundings {
        now: last.unwrap_or(surroundings.now),
        ..*surroundings
    }
}

/// Draws a replayed batch.
pub(super) fn draw(
    loaded: &LoadedBatch,
    history: &Replayed,
    record: &Record,
    surroundings: &Surroundings<'_>,
) -> BatchView {
    let batch = &history.batch;
    let is_over = batch.status.is_over();
    let interrupted = !is_over && surroundings.owner == Owner::Gone;
    let surroundings = &stopped_if(interrupted, history, surroundings);
    let ids = &record.task_ids(loaded);
    let segments = record.segments();
    let tasks = draw_tasks(loaded, history, record, (ids, &segments), surroundings);
    let left = (!is_over && !interrupted)
        .then(|| time_left(history, surroundings.now))
        .flatten();
    let conflict = |(task, segment): (_, &String)| conflict_of(task, segment, ids, surroundings);
    BatchView {
        id: loaded.id,
        number: loaded.number,
        project_id: loaded.project.clone(),
        mode: batch.design.settings.mode.choice(),
        status: batch.status.as_str(),
        error: error_of(&batch.status),
        held: batch.held.clone().filter(|_| !is_over),
        interrupted,
        land_into: None,
        settings: settings_of(history),
        main_repo_path: loaded.repository.to_string_lossy().into_owned().into(),
        plan: loaded.plan.clone(),
        base: record.base.clone(),
        batch_branch: batch_branch_of(batch, loaded.number, record),
        has_branch: batch.published.is_some(),
        pr_url: batch.pr_url.clone(),
        builds_on: Vec::new(),
        progress: progress_of(tasks.iter().map(|task| task.status)),
        validation: ValidationView::of(batch, record.validate.clone()),
        conflicts: batch
            .tasks
            .iter()
            .zip(&segments)
            .filter_map(conflict)
            .collect(),
        predicted_conflicts: batch
            .predicted
            .iter()
            .map(|coming| PredictedView::of(coming, ids))
            .collect(),
        stages: (0..history.times.stages.len())
            .map(|stage| draw_stage(history, stage))
            .collect(),
        created_at: rfc3339(loaded.created_at),
        started_at: history.times.started_at.map(rfc3339),
        completed_at: history.times.ended_at.map(rfc3339),
        seconds: seconds(history.times.time.until(surroundings.now)),
        idle_seconds: seconds(idle(history, surroundings.now)),
        worked_seconds: tasks.iter().map(|task| task.seconds).sum(),
        seconds_left: left.map(seconds),
        estimated_end: left.map(|left| rfc3339(surroundings.now + left)),
        tasks,
    }
}

fn draw_tasks(
    loaded: &LoadedBatch,
    history: &Replayed,
    record: &Record,
    (ids, segments): (&TaskIds, &[String]),
    surroundings: &Surroundings<'_>,
) -> Vec<TaskView> {
    let mut titles = record.tasks.iter().map(|task| task.title.clone());
    let sandbox = record.sandbox.label();
    let tasks = history
        .batch
        .tasks
        .iter()
        .zip(&history.times.tasks)
        .zip(segments);
    let tasks = tasks.map(|((task, times), segment)| {
        let title = titles.next().unwrap_or_default();
        let published = task.published.as_ref().map(|(branch, _)| branch.clone());
        let named = || record.branches.task(loaded.number, segment, &title);
        TaskView {
            task_id: ids.id(&task.design.id),
            branch: published.or_else(|| (!record.is_in_place()).then(named)),
            sandbox: sandbox.clone(),
            title,
            ..draw_task(loaded.number, task, times, segment, surroundings)
        }
    });
    tasks.collect()
}

/// The gaps in which nobody ran a batch that started.
fn idle(history: &Replayed, now: u64) -> u64 {
    let until = history.times.ended_at.unwrap_or(now);
    let passed = history
        .times
        .started_at
        .map(|began| until.saturating_sub(began));
    passed.map_or(0, |passed| {
        passed.saturating_sub(history.times.time.until(until))
    })
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

fn settings_of(history: &Replayed) -> SettingsView {
    let settings = &history.batch.design.settings;
    SettingsView {
        max_concurrent: settings.mode.slots(),
        concurrent_now: history.batch.slots.now,
        auto_approve: settings.mode
            != Mode::Queue {
                approval: Approval::ByPerson,
            },
        stop_on_failure: settings.on_failure == OnFailure::Stop,
        conflict_behavior: settings.on_conflict,
    }
}

fn draw_task(
    batch: BatchNumber,
    task: &BatchTask,
    times: &TaskHistory,
    segment: &str,
    surroundings: &Surroundings<'_>,
) -> TaskView {
    let id = &task.design.id;
    let has_begun = task.attempts > 0;
    let worktree = surroundings.worktrees.join(format!("task-{segment}"));
    TaskView {
        task_id: String::new(),
        key: id.clone(),
        title: String::new(),
        status: TaskStatusWord::from_state(&task.state),
        state: task.state.as_str(),
        outcome: task.state.ending().map(Ending::outcome),
        worktree_id: has_begun.then(|| worktree_id(batch, segment)),
        worktree_path: (has_begun && worktree.is_dir()).then_some(worktree),
        branch: None,
        has_branch: task.published.is_some(),
        session_id: task.session.clone(),
        error: task_error(&task.state, times),
        attempts: task.spent_attempts(),
        last_attempt: task.attempts,
        cost: Some(usd(task.spent.micro_usd)).filter(|cost| *cost > 0.0),
        tokens: Some(task.spent.tokens).filter(|tokens| *tokens > 0),
        consent: match &task.state {
            TaskState::Waiting {
                consent: Some(consent),
            } => consent.files.iter().map(|file| file.path.clone()).collect(),
            _ => Vec::new(),
        },
        files: task.files.clone(),
        sandbox: String::new(),
        started_at: times.started_at.map(rfc3339),
        completed_at: times.ended_at.map(rfc3339),
        seconds: seconds(times.worked_until(surroundings.now)),
    }
}

/// The name that the branch of a batch has, had, or would have.
fn batch_branch_of(batch: &Batch, number: BatchNumber, record: &Record) -> Option<String> {
    let published = batch.published.as_ref().map(|(branch, _)| branch.clone());
    let pushed = || batch.pushed.as_ref().map(|pushed| pushed.branch.clone());
    let named = || (!record.is_in_place()).then(|| record.branches.batch(number));
    published.or_else(pushed).or_else(named)
}

fn task_error(state: &TaskState, times: &TaskHistory) -> Option<String> {
    match state {
        TaskState::Ended(Ending::Failed { error }) => Some(error.clone()),
        TaskState::Ended(Ending::TimedOut) => Some(TOOK_TOO_LONG.into()),
        TaskState::Ended(Ending::Blocked { because } | Ending::Invalid { because, .. }) => {
            Some(because.clone())
        }
        TaskState::Ended(Ending::Conflicted { .. }) => Some(DOES_NOT_MERGE.into()),
        TaskState::Ended(_) => None,
        _ => times.last_error.clone(),
    }
}

fn conflict_of(
    task: &BatchTask,
    segment: &str,
    ids: &TaskIds,
    surroundings: &Surroundings<'_>,
) -> Option<ConflictView> {
    let TaskState::Ended(Ending::Conflicted { files, with, .. }) = &task.state else {
        return None;
    };
    let id = &task.design.id;
    let path = conflict_folder(surroundings.worktrees, segment);
    Some(ConflictView {
        task_id: ids.id(id),
        key: id.clone(),
        files: files.clone(),
        with: with.iter().map(|task| ids.id(task)).collect(),
        resolving: path.is_dir().then_some(ResolvingView { path }),
    })
}

/// Counts tasks by where they stand.
pub(super) fn progress_of(tasks: impl IntoIterator<Item = TaskStatusWord>) -> ProgressView {
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
