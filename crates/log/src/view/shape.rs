//! The shape of a batch on every surface, and how a replayed batch takes it.

use std::path::PathBuf;

use pleach_domain::batch::{Approval, Batch, BatchStatusWord, BatchTask, Mode, OnFailure};
use pleach_domain::choice::{OnConflict, RunMode};
use pleach_domain::event::PredictedConflict;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::{Ending, TaskState};
use pleach_system::text::moment::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

use super::progress::{BatchState, ProgressView, seconds};
use super::replay::Replayed;
use super::stage::{StageView, draw_stage};
use super::task::{TaskView, draw_task};
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
    /// What people call it: counted from 1 within its project.
    #[schema(value_type = u32)]
    pub number: BatchNumber,
    pub project_id: String,
    pub mode: RunMode,
    pub status: BatchStatusWord,
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
    let (number, of_batch) = (loaded.number, (record, names));
    let draw = |at| draw_task(number, history, at, of_batch, surroundings);
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
        settings: settings_of(history),
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
        tasks: (0..batch.tasks.len()).map(draw).collect(),
    }
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
