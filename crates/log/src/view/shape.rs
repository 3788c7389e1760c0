//! The shape of a batch on every surface, and how a replayed batch takes it.

use std::path::PathBuf;

use pleach_domain::batch::{Approval, Batch, BatchStatusWord, BatchTask, Mode, OnFailure};
use pleach_domain::choice::{OnConflict, RunMode, Where};
use pleach_domain::event::PredictedConflict;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::{Ending, TaskState};
use pleach_system::text::moment::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

use super::progress::{BatchState, ProgressView, seconds};
use super::replay::Replayed;
use super::stage::{StageView, draw_stage};
use super::task::{TaskNames, TaskView, draw_task};
use super::validation::ValidationView;
use super::{Owner, Record, Surroundings};
use crate::batch_paths::conflict_folder;
use crate::database::LoadedBatch;
use crate::earlier::BuildsOn;
use crate::task_ids::TaskIds;

/// A batch.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    pub id: u32,
    /// The number of the batch in its project, counted from 1.
    #[schema(value_type = u32)]
    pub number: BatchNumber,
    pub project_id: String,
    pub mode: RunMode,
    pub status: BatchStatusWord,
    /// Why it failed or is stopping.
    pub error: Option<String>,
    /// Why no new tasks start for now.
    pub held: Option<String>,
    /// Whether it is unfinished and no process runs it.
    pub interrupted: bool,
    /// The local branch that the result can be landed on, if there is no remote.
    pub land_into: Option<String>,
    pub tasks: Vec<TaskView>,
    pub settings: SettingsView,
    #[schema(value_type = String)]
    pub main_repo_path: PathBuf,
    pub plan: String,
    pub base: Option<String>,
    /// The name of its branch, known from the start; none in a folder that is not a repository.
    pub batch_branch: Option<String>,
    /// Whether that branch exists in the user's repository.
    pub has_branch: bool,
    pub pr_url: Option<String>,
    /// Earlier batches whose work it includes because its base does not.
    pub builds_on: Vec<BuildsOn>,
    pub progress: ProgressView,
    pub validation: ValidationView,
    pub conflicts: Vec<ConflictView>,
    pub predicted_conflicts: Vec<PredictedView>,
    pub stages: Vec<StageView>,
    pub created_at: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// How long it has been running, without interruptions.
    pub seconds: f64,
    /// How long it was interrupted since it started.
    pub idle_seconds: f64,
    /// The total working time of its agents.
    pub worked_seconds: f64,
    /// The estimated time left, from the durations of finished tasks.
    pub seconds_left: Option<f64>,
    pub estimated_end: Option<String>,
}

/// The main settings of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    /// Where its attempts and tests run.
    #[serde(rename = "where")]
    pub place: Where,
    pub max_concurrent: usize,
    /// The number of tasks that may run at once now.
    pub concurrent_now: usize,
    pub auto_approve: bool,
    pub stop_on_failure: bool,
    pub conflict_behavior: OnConflict,
}

/// A task that was left out, and the tasks it conflicts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    pub task_id: String,
    /// Its key in the batch.
    #[schema(value_type = String)]
    pub key: TaskId,
    pub files: Vec<String>,
    /// The ids of the tasks that it conflicts with.
    pub with: Vec<String>,
    /// The folder in which somebody is resolving it.
    pub resolving: Option<ResolvingView>,
}

/// A conflict that somebody is resolving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResolvingView {
    #[schema(value_type = String)]
    pub path: PathBuf,
}

/// Two tasks whose current work would not merge cleanly.
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
    let names = &record.names(loaded);
    let ids = &names.ids;
    let conflict = |(task, segment): (_, &String)| conflict_of(task, segment, ids, surroundings);
    let number = loaded.number;
    let state = BatchState::of(history, surroundings.owner, surroundings.now);
    BatchView {
        id: loaded.id,
        number,
        project_id: loaded.project.clone(),
        mode: batch.design.settings.mode.choice(),
        status: state.status,
        error: state.error,
        held: state.held,
        interrupted,
        land_into: None,
        settings: settings_of(history, record.runs_on()),
        main_repo_path: loaded.repository.to_string_lossy().into_owned().into(),
        plan: loaded.plan.clone(),
        base: record.base.clone(),
        batch_branch: batch_branch_of(batch, number, record),
        has_branch: batch.published.is_some(),
        pr_url: state.pr_url,
        builds_on: Vec::new(),
        progress: state.progress,
        validation: ValidationView::of(batch, record.validate.clone()),
        conflicts: batch
            .tasks
            .iter()
            .zip(&names.segments)
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
        started_at: state.started_at,
        completed_at: state.completed_at,
        seconds: seconds(history.times.time.until(surroundings.now)),
        idle_seconds: seconds(idle(history, surroundings.now)),
        worked_seconds: state.worked_seconds,
        seconds_left: state.seconds_left,
        estimated_end: state.estimated_end,
        tasks: draw_tasks(number, history, (record, names), surroundings),
    }
}

/// The tasks, with what is on the disk and what a cluster said.
fn draw_tasks(
    number: BatchNumber,
    history: &Replayed,
    (record, names): (&Record, &TaskNames),
    surroundings: &Surroundings<'_>,
) -> Vec<TaskView> {
    let reported = surroundings.queue.attempts();
    let tasks = history.batch.tasks.iter().enumerate();
    let drawn = tasks.map(|(at, task)| {
        let drawn = draw_task(number, history, at, (record, names), surroundings.now);
        let reported = reported.get(&(&task.design.id, task.attempts));
        TaskView {
            worktree_path: worktree_of(task, &names.segments[at], record, surroundings),
            unit: drawn.unit.map(|unit| match reported {
                Some(reported) => unit.told_by(reported),
                None => unit,
            }),
            ..drawn
        }
    });
    drawn.collect()
}

/// Where a task works or worked, while that is there.
fn worktree_of(
    task: &BatchTask,
    segment: &str,
    record: &Record,
    surroundings: &Surroundings<'_>,
) -> Option<PathBuf> {
    let usual = || Some(surroundings.worktrees.join(format!("task-{segment}")));
    let found = match &record.folder {
        Some(folder) if record.is_in_place() => Some(folder.0.clone()),
        _ => usual().filter(|worktree| worktree.is_dir()),
    };
    found.filter(|_| task.attempts > 0)
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

fn settings_of(history: &Replayed, place: Where) -> SettingsView {
    let settings = &history.batch.design.settings;
    SettingsView {
        place,
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

/// The name that the branch of a batch has, had, or would have.
fn batch_branch_of(batch: &Batch, number: BatchNumber, record: &Record) -> Option<String> {
    let published = batch.published.as_ref().map(|(branch, _)| branch.clone());
    let pushed = || batch.pushed.as_ref().map(|pushed| pushed.branch.clone());
    let named = || (!record.is_in_place()).then(|| record.branches.batch(number));
    published.or_else(pushed).or_else(named)
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
