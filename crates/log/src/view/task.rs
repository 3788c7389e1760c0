//! A task of a batch on every surface.

use std::path::PathBuf;

use pleach_domain::batch::BatchTask;
use pleach_domain::event::{DOES_NOT_MERGE, TOOK_TOO_LONG};
use pleach_domain::history::TaskHistory;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::standing::{BoardColumn, Standing, TaskAction, TaskWord};
use pleach_domain::task_state::{Ending, TaskOutcome, TaskState};
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::text::moment::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

use super::progress::seconds;
use super::replay::Replayed;
use super::wire::{usd, worktree_id};
use super::{Record, Surroundings};
use crate::task_ids::TaskIds;

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
    /// The column of a board that it belongs to.
    pub column: BoardColumn,
    /// The one word that says best where it stands.
    pub word: TaskWord,
    /// What a person can ask of it now.
    pub can: Vec<TaskAction>,
    pub status: TaskStatusWord,
    /// The finer word of where it stands.
    #[schema(value_type = TaskWord)]
    pub state: &'static str,
    /// The word of how it ended.
    pub outcome: Option<TaskOutcome>,
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

/// What the tasks of a batch are called, in their order.
#[derive(Debug)]
pub(super) struct TaskNames {
    /// By programs.
    pub(super) ids: TaskIds,
    /// In refs and paths.
    pub(super) segments: Vec<String>,
}

pub(super) fn draw_task(
    batch: BatchNumber,
    history: &Replayed,
    position: usize,
    (record, names): (&Record, &TaskNames),
    surroundings: &Surroundings<'_>,
) -> TaskView {
    let (task, times) = (
        &history.batch.tasks[position],
        &history.times.tasks[position],
    );
    let segment = &names.segments[position];
    let title = record.tasks.get(position).map(|task| task.title.clone());
    let title = title.unwrap_or_default();
    let id = &task.design.id;
    let status = TaskStatusWord::from_state(&task.state);
    let outcome = task.state.ending().map(TaskOutcome::from);
    let Standing { column, word } = Standing::in_batch(status, outcome);
    let has_begun = task.attempts > 0;
    let worktree = surroundings.worktrees.join(format!("task-{segment}"));
    let published = task.published.as_ref().map(|(branch, _)| branch.clone());
    let usual = || record.branches.task(batch, segment, &title);
    TaskView {
        task_id: names.ids.id(id),
        key: id.clone(),
        column,
        word,
        can: history.batch.can(position),
        status,
        state: task.state.as_str(),
        outcome,
        worktree_id: has_begun.then(|| worktree_id(batch, segment)),
        worktree_path: match &record.folder {
            Some(folder) if record.is_in_place() => Some(folder.0.clone()),
            _ => Some(worktree).filter(|worktree| worktree.is_dir()),
        }
        .filter(|_| has_begun),
        branch: published.or_else(|| (!record.is_in_place()).then(usual)),
        has_branch: task.published.is_some(),
        session_id: task.session.clone(),
        error: task_error(&task.state, times),
        attempts: task.spent_attempts(),
        last_attempt: task.attempts,
        cost: Some(usd(task.spent.micro_usd)).filter(|cost| *cost > 0.0),
        tokens: Some(task.spent.tokens).filter(|tokens| *tokens > 0),
        consent: awaited_consent(task),
        files: task.files.clone(),
        sandbox: record.sandbox.label(),
        started_at: times.started_at.map(rfc3339),
        completed_at: times.ended_at.map(rfc3339),
        seconds: seconds(times.worked_until(surroundings.now)),
        title,
    }
}

fn awaited_consent(task: &BatchTask) -> Vec<String> {
    match &task.state {
        TaskState::Waiting {
            consent: Some(consent),
        } => consent.files.iter().map(|file| file.path.clone()).collect(),
        _ => Vec::new(),
    }
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
