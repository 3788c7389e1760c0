//! A task of a board as programs see it.
//!
//! Draws what is stored; changes nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use pleach_domain::event::Event;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::standing::{BoardColumn, Standing};
use pleach_domain::task::{Priority, TaskStatus};
use pleach_domain::task_state::{TaskOutcome, TaskWord};
use pleach_formats::Identity;
use serde::Serialize;
use utoipa::ToSchema;

use crate::plan_to_run::PlanOrigin;
use pleach_domain::task_status_word::TaskStatusWord;
use pleach_log::database::board::{BoardTables, InBatch, TaskRow};
use pleach_log::database::{BoardEvent, DatabaseError, LoadedBatch};
use pleach_log::queue_report::QueueReport;
use pleach_log::view::{BatchView, Owner, Surroundings};
use pleach_system::text::moment::rfc3339;

/// A task of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardTask {
    /// Its permanent id; 16 lower-case letters and digits.
    pub id: String,
    /// Its id in its plan.
    pub key: String,
    /// The project.
    pub project_id: String,
    /// The plan file, relative to the project; none for a task of the board.
    pub plan: Option<String>,
    /// Its line in that file.
    pub line: Option<u32>,
    /// One line of plain text.
    pub title: String,
    /// The agent's prompt, besides the title.
    pub description: String,
    /// Its status.
    pub status: TaskStatus,
    /// The column of the board that it belongs to.
    pub column: BoardColumn,
    /// The one word that says best where it stands.
    pub word: TaskWord,
    /// Its phase.
    pub phase: Option<u32>,
    /// Its priority.
    pub priority: Priority,
    /// Labels to filter and select by.
    pub labels: Vec<String>,
    /// The size that it wants of a cluster's node; none for the default.
    pub size: Option<String>,
    /// The ids of the tasks that must be done first.
    pub depends_on: Vec<String>,
    /// The files it says it touches.
    pub files: Vec<String>,
    /// Its position on the board, lowest first.
    pub position: f64,
    /// The last batch it was in; none if somebody has set its status since then.
    pub batch: Option<LastBatch>,
    /// When it was created.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
}

/// The state of a task in its last batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastBatch {
    /// The batch.
    pub id: u32,
    /// The number of the batch in its project.
    #[schema(value_type = u32)]
    pub number: BatchNumber,
    /// The status of the task in it.
    pub status: TaskStatusWord,
    /// The outcome.
    pub outcome: Option<TaskOutcome>,
}

/// So many tasks are looked up one by one.
const FEW: usize = 8;

/// Draws tasks of one project, in the order given.
pub(crate) fn drawn(
    tables: BoardTables<'_>,
    project: &str,
    rows: &[TaskRow],
) -> Result<Vec<BoardTask>, DatabaseError> {
    let Some(found) = tables.project(project)? else {
        return Ok(Vec::new());
    };
    let top = super::projects::top_of(&found);
    let mut plans: HashMap<&str, OfPlan> = HashMap::new();
    let mut batches = Batches::default();
    let mut tasks = Vec::with_capacity(rows.len());
    for row in rows {
        let few;
        let of_plan = if rows.len() <= FEW {
            few = OfPlan::around(tables, row)?;
            &few
        } else {
            if !plans.contains_key(row.plan.as_str()) {
                let of_plan = OfPlan::load(tables, project, &row.plan)?;
                plans.insert(&row.plan, of_plan);
            }
            &plans[row.plan.as_str()]
        };
        let batch = match of_plan.last.get(&row.key) {
            Some(last) => batches.standing(tables, last, row)?,
            None => None,
        };
        tasks.push(draw(row, &top, &of_plan.ids, batch));
    }
    Ok(tasks)
}

/// What is known of the tasks of a plan.
struct OfPlan {
    ids: HashMap<String, String>,
    last: HashMap<String, InBatch>,
}

impl OfPlan {
    fn load(tables: BoardTables<'_>, project: &str, plan: &str) -> Result<Self, DatabaseError> {
        Ok(Self {
            ids: tables.ids(project, plan)?,
            last: tables.last_batches(project, plan)?,
        })
    }

    /// Only what one of its tasks has to do with.
    fn around(tables: BoardTables<'_>, row: &TaskRow) -> Result<Self, DatabaseError> {
        let (project, plan) = (&row.project, &row.plan);
        let mut ids = HashMap::new();
        for key in &row.depends_on {
            let id = tables.id_of(project, plan, key)?;
            ids.extend(id.map(|id| (key.clone(), id)));
        }
        let last = tables.last_batch(project, plan, &row.key)?;
        let last = last.map(|last| (row.key.clone(), last));
        Ok(Self {
            ids,
            last: last.into_iter().collect(),
        })
    }
}

#[derive(Default)]
struct Batches(HashMap<u32, Option<Replayed>>);

/// Where the tasks of a batch stand, by their ids there, and their titles then.
struct Replayed {
    created_at: u64,
    tasks: HashMap<TaskId, (String, LastStanding)>,
}

#[derive(Clone, Copy)]
struct LastStanding {
    status: TaskStatusWord,
    outcome: Option<TaskOutcome>,
    /// The last entry of the log that moved the task.
    told_seq: u64,
}

impl Replayed {
    /// A record that this version does not understand says nothing.
    fn of(loaded: &LoadedBatch) -> Option<Self> {
        let surroundings = Surroundings {
            worktrees: Path::new(""),
            owner: Owner::Alive,
            queue: &QueueReport::default(),
            now: loaded.created_at,
        };
        let view = BatchView::of(loaded, &surroundings).ok()?;
        let tasks = view.tasks.into_iter().map(|task| {
            let standing = LastStanding {
                status: task.status,
                outcome: task.outcome,
                told_seq: 0,
            };
            (task.key, (task.title, standing))
        });
        let mut tasks: HashMap<TaskId, (String, LastStanding)> = tasks.collect();
        for stored in &loaded.events {
            if let Event::Task { task, event } = &stored.event
                && TaskStatusWord::after(event).is_some()
                && let Some((_, standing)) = tasks.get_mut(task)
            {
                standing.told_seq = stored.seq;
            }
        }
        Some(Self {
            created_at: loaded.created_at,
            tasks,
        })
    }

    /// Where a task stands that has that id there, if it was this one that the batch had.
    fn standing_of(&self, row: &TaskRow, task: &TaskId) -> Option<&LastStanding> {
        let (title, standing) = self.tasks.get(task)?;
        // Where an id is a position, another task may have stood there.
        let is_same = row.identity == Identity::WrittenId || *title == row.title;
        (is_same && !is_younger(row, self.created_at)).then_some(standing)
    }
}

/// Whether a batch is older than the task; a key that was given back may have been another task's.
fn is_younger(row: &TaskRow, batch_created_at: u64) -> bool {
    row.plan == PlanOrigin::BOARD && batch_created_at < row.created_at
}

/// Whether a batch had this task, and not another one of the same key.
pub(super) fn is_of_batch(row: &TaskRow, loaded: &LoadedBatch, task: &TaskId) -> bool {
    Replayed::of(loaded).is_some_and(|batch| batch.standing_of(row, task).is_some())
}

impl LastStanding {
    /// Whether a person has said otherwise since, here or in the plan file.
    fn is_overruled(&self, row: &TaskRow) -> bool {
        let Some(outcome) = self.outcome else {
            return false;
        };
        let agrees = match row.status {
            TaskStatus::Pending | TaskStatus::InProgress => false,
            TaskStatus::Completed => self.status == TaskStatusWord::Completed,
            TaskStatus::Failed => self.status == TaskStatusWord::Failed,
            TaskStatus::Skipped => self.status == TaskStatusWord::Skipped,
            TaskStatus::Cancelled => outcome == TaskOutcome::Cancelled,
        };
        // No batch takes a task that is done, so that it is done was said later.
        !agrees && (self.told_seq <= row.marked_seq || row.status == TaskStatus::Completed)
    }
}

impl Batches {
    fn standing(
        &mut self,
        tables: BoardTables<'_>,
        last: &InBatch,
        row: &TaskRow,
    ) -> Result<Option<LastBatch>, DatabaseError> {
        let standing = match last.status {
            Some(status) if row.identity == Identity::WrittenId => {
                let standing = LastStanding {
                    status,
                    outcome: last.outcome,
                    told_seq: last.told_seq,
                };
                Some(standing).filter(|_| !is_younger(row, last.created_at))
            }
            _ => self.replayed(tables, last, row)?,
        };
        let standing = standing.filter(|standing| !standing.is_overruled(row));
        Ok(standing.map(|standing| LastBatch {
            id: last.batch,
            number: last.number,
            status: standing.status,
            outcome: standing.outcome,
        }))
    }

    fn replayed(
        &mut self,
        tables: BoardTables<'_>,
        last: &InBatch,
        row: &TaskRow,
    ) -> Result<Option<LastStanding>, DatabaseError> {
        let known = match self.0.entry(last.batch) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => vacant.insert(Replayed::of(&tables.batch(last.batch)?)),
        };
        let standing = known.as_ref();
        let standing = standing.and_then(|batch| batch.standing_of(row, &last.task));
        Ok(standing.copied())
    }
}

fn draw(
    row: &TaskRow,
    top: &Path,
    ids: &HashMap<String, String>,
    batch: Option<LastBatch>,
) -> BoardTask {
    let needs = row.depends_on.iter();
    let last = batch.as_ref().map(|last| (last.status, last.outcome));
    let Standing { column, word } = Standing::on_board(row.status, last);
    BoardTask {
        id: row.id.clone(),
        key: row.key.clone(),
        project_id: row.project.clone(),
        plan: plan_name(&row.plan, top),
        line: row.line,
        title: row.title.clone(),
        description: row.details.clone(),
        status: row.status,
        column,
        word,
        phase: row.phase,
        priority: row.priority,
        labels: row.labels.clone(),
        size: row.size.clone(),
        depends_on: needs.filter_map(|key| ids.get(key).cloned()).collect(),
        files: row.files.clone(),
        position: row.position,
        batch,
        created_at: rfc3339(row.created_at),
        updated_at: rfc3339(row.updated_at),
    }
}

pub(super) fn plan_name(plan: &str, top: &Path) -> Option<String> {
    if plan == PlanOrigin::BOARD {
        return None;
    }
    let below = Path::new(plan).strip_prefix(top);
    Some(below.map_or_else(|_| plan.to_owned(), |below| below.display().to_string()))
}

pub(crate) fn tell_updated(
    tables: BoardTables<'_>,
    project: &str,
    rows: &[TaskRow],
) -> Result<(), DatabaseError> {
    for task in drawn(tables, project, rows)? {
        let event = BoardEvent::TaskUpdated {
            task: task.id.clone(),
            shown: json(&task),
        };
        tables.note(project, &event)?;
    }
    Ok(())
}

pub(crate) fn tell_created(
    tables: BoardTables<'_>,
    project: &str,
    rows: &[TaskRow],
) -> Result<(), DatabaseError> {
    for task in drawn(tables, project, rows)? {
        let event = BoardEvent::TaskCreated {
            task: task.id.clone(),
            shown: json(&task),
        };
        tables.note(project, &event)?;
    }
    Ok(())
}

fn json(task: &BoardTask) -> serde_json::Value {
    serde_json::to_value(task).expect("a task is plain data")
}
