//! A task of a batch on every surface.

use std::path::PathBuf;

use pleach_domain::batch::BatchTask;
use pleach_domain::choice::Where;
use pleach_domain::event::{DOES_NOT_MERGE, TOOK_TOO_LONG};
use pleach_domain::history::TaskHistory;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::standing::{BoardColumn, Standing, TaskAction};
use pleach_domain::task_state::{Ending, TaskOutcome, TaskState, TaskWord};
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_system::text::moment::rfc3339;
use serde::Serialize;
use utoipa::ToSchema;

use super::Record;
use super::progress::seconds;
use super::replay::Replayed;
use super::wire::{usd, worktree_id};
use crate::queue_report::{ReportedUnit, UnitWord, waits_for};
use crate::task_ids::TaskIds;

/// A task of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskView {
    /// The task's own id, which is the same in every batch.
    pub task_id: String,
    /// Its id in its plan, prefixed with the name of the plan if another task of the batch has the same id.
    #[schema(value_type = String)]
    pub key: TaskId,
    pub title: String,
    /// The column of the board in which it is shown.
    pub column: BoardColumn,
    /// The word for its status on the board.
    pub word: TaskWord,
    /// What a person can do with it now.
    pub can: Vec<TaskAction>,
    pub status: TaskStatusWord,
    /// Its detailed status.
    pub state: TaskWord,
    /// Its outcome.
    pub outcome: Option<TaskOutcome>,
    pub worktree_id: Option<String>,
    /// The path of its worktree, if it exists.
    #[schema(value_type = Option<String>)]
    pub worktree_path: Option<PathBuf>,
    /// The name of its branch, known from the start; created in the user's repository only if the task is left out.
    pub branch: Option<String>,
    /// Whether that branch exists in the user's repository.
    pub has_branch: bool,
    pub session_id: Option<String>,
    pub error: Option<String>,
    /// The number of attempts, without those that a usage limit or an overload ended.
    pub attempts: u32,
    /// The number of the last attempt, including those; 0 for none.
    pub last_attempt: u32,
    /// In dollars, if the agent reports it.
    pub cost: Option<f64>,
    /// Input and output tokens, if the agent reports them.
    pub tokens: Option<u64>,
    /// The files that need a person's consent before it starts.
    pub consent: Vec<String>,
    pub files: Vec<String>,
    /// The node of the cluster that runs its attempt, or ran the last one.
    pub node: Option<String>,
    /// Its attempt as the cluster knows it, while that waits or runs.
    pub unit: Option<UnitView>,
    /// The sandbox of its agent: `landlock`, `strict`, `none`, or `wrapper: ` and a program.
    pub sandbox: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// The total working time of its agents.
    pub seconds: f64,
}

/// An attempt that was given to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UnitView {
    pub cluster: Where,
    /// What the cluster calls it, once it has it and was asked.
    pub job: Option<String>,
    /// Whether a node has begun with it.
    pub state: UnitWord,
    /// Why it waits; in the words of the cluster, if that has it.
    pub because: Option<String>,
}

impl UnitView {
    fn of(history: &Replayed, position: usize, cluster: Where) -> Option<Self> {
        let is_sent = cluster != Where::Local;
        let is_under_way = history.batch.tasks[position].state.attempt().is_some();
        (is_sent && is_under_way).then(|| Self {
            cluster,
            job: None,
            state: if history.waits_for_node(position) {
                UnitWord::Waiting
            } else {
                UnitWord::Running
            },
            because: None,
        })
    }

    /// What it waits for, on one line; nothing if it does not wait.
    pub fn line(&self) -> Option<String> {
        let waits = self.state == UnitWord::Waiting;
        let (job, because) = (self.job.as_deref(), self.because.as_deref());
        waits.then(|| waits_for(self.cluster.word(), job, because))
    }

    /// The same with what the cluster itself said of it.
    pub(super) fn told_by(self, reported: &ReportedUnit) -> Self {
        let waits = self.state == UnitWord::Waiting;
        Self {
            job: reported.job.clone(),
            because: reported.because.clone().filter(|_| waits),
            ..self
        }
    }
}

/// What the tasks of a batch are called, in their order.
#[derive(Debug)]
pub(super) struct TaskNames {
    /// By programs.
    pub(super) ids: TaskIds,
    /// In refs and paths.
    pub(super) segments: Vec<String>,
}

/// Draws a task of a replayed batch, without its worktree: that is looked for on the disk.
pub(super) fn draw_task(
    batch: BatchNumber,
    history: &Replayed,
    position: usize,
    (record, names): (&Record, &TaskNames),
    now: u64,
) -> TaskView {
    let (task, times) = (
        &history.batch.tasks[position],
        &history.times.tasks[position],
    );
    let segment = &names.segments[position];
    let title = record.tasks.get(position).map(|task| task.title.clone());
    let title = title.unwrap_or_default();
    let id = &task.design.id;
    let (status, state) = history.standing_of(position);
    let outcome = task.state.ending().map(TaskOutcome::from);
    let Standing { column, word } = Standing::in_batch(status, outcome);
    let has_begun = task.attempts > 0;
    let published = task.published.as_ref().map(|(branch, _)| branch.clone());
    let usual = || record.branches.task(batch, segment, &title);
    TaskView {
        task_id: names.ids.id(id),
        key: id.clone(),
        column,
        word,
        can: history.batch.can(position),
        status,
        state,
        outcome,
        worktree_id: has_begun.then(|| worktree_id(batch, segment)),
        worktree_path: None,
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
        node: task.node.clone(),
        unit: UnitView::of(history, position, record.runs_on()),
        sandbox: record.sandbox.label(),
        started_at: times.started_at.map(rfc3339),
        completed_at: times.ended_at.map(rfc3339),
        seconds: seconds(times.worked_until(now)),
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
