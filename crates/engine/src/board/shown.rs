//! A task of a board as programs see it.
//!
//! Draws what is stored; changes nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use pleach_domain::task::{Priority, TaskStatus};
use pleach_formats::Identity;
use serde::Serialize;
use utoipa::ToSchema;

use crate::database::board::{BoardTables, TaskRow};
use crate::database::{BoardEvent, DatabaseError, LoadedBatch};
use crate::plan_to_run::PlanOrigin;
use crate::view::{BatchView, Owner, Surroundings, TaskStatusWord, rfc3339};

/// A task of a project.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardTask {
    /// Its own for ever; 16 lower-case letters and digits.
    pub id: String,
    /// Its id in its plan.
    pub key: String,
    /// The project.
    pub project_id: String,
    /// The plan file, seen from the project; none for a task that lives on the board.
    pub plan: Option<String>,
    /// Where it stands in that file.
    pub line: Option<u32>,
    /// One line of plain text.
    pub title: String,
    /// What its agent is told besides.
    pub description: String,
    /// How far it is.
    #[schema(value_type = StatusWord)]
    pub status: &'static str,
    /// The phase it stands in.
    pub phase: Option<u32>,
    /// How much it matters.
    #[schema(value_type = PriorityWord)]
    pub priority: Priority,
    /// Words to choose it by.
    pub labels: Vec<String>,
    /// The ids of the tasks that must be done first.
    pub depends_on: Vec<String>,
    /// The files it says it touches.
    pub files: Vec<String>,
    /// Its place on the board, lower first.
    pub position: f64,
    /// The last batch that it was in.
    pub batch: Option<LastBatch>,
    /// When it came onto the board.
    pub created_at: String,
    /// When it was changed last.
    pub updated_at: String,
}

/// What became of a task in the last batch that it was in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct LastBatch {
    /// The batch.
    pub id: u32,
    /// Where the task stands in it: queued, waiting, limited, running, completed, failed, skipped, cancelled.
    #[schema(value_type = String)]
    pub status: TaskStatusWord,
    /// How it ended: merged, `no_changes`, conflicted, invalid, failed, `timed_out`, blocked, cancelled.
    pub outcome: Option<&'static str>,
}

/// How far a task is.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum StatusWord {
    Pending,
    InProgress,
    Completed,
    Failed,
    Skipped,
    Cancelled,
}

/// How much a task matters.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum PriorityWord {
    Low,
    Medium,
    High,
    Critical,
}

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
        if !plans.contains_key(row.plan.as_str()) {
            let of_plan = OfPlan::load(tables, project, &row.plan)?;
            plans.insert(&row.plan, of_plan);
        }
        let of_plan = &plans[row.plan.as_str()];
        let batch = match of_plan.last.get(&row.key) {
            Some(number) => batches.standing(tables, *number, row)?,
            None => None,
        };
        tasks.push(draw(row, &top, &of_plan.ids, batch));
    }
    Ok(tasks)
}

/// What is known of all tasks of a plan.
struct OfPlan {
    ids: HashMap<String, String>,
    last: HashMap<String, u32>,
}

impl OfPlan {
    fn load(tables: BoardTables<'_>, project: &str, plan: &str) -> Result<Self, DatabaseError> {
        let rows = tables.tasks_of(project, plan)?.into_iter();
        Ok(Self {
            ids: rows.map(|row| (row.key, row.id)).collect(),
            last: tables.last_batches(project, plan)?,
        })
    }
}

/// Batches that were replayed already.
#[derive(Default)]
struct Batches(HashMap<u32, Option<(u64, BatchView)>>);

impl Batches {
    fn standing(
        &mut self,
        tables: BoardTables<'_>,
        number: u32,
        row: &TaskRow,
    ) -> Result<Option<LastBatch>, DatabaseError> {
        let known = match self.0.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let loaded = tables.batch(number)?;
                vacant.insert(view(&loaded).map(|view| (loaded.created_at, view)))
            }
        };
        let Some((created_at, view)) = known else {
            return Ok(None);
        };
        // A key that was given back may have been another task's.
        if row.plan == PlanOrigin::BOARD && *created_at < row.created_at {
            return Ok(None);
        }
        let mut tasks = view.tasks.iter();
        let task = tasks.find(|task| task.task_id.as_str() == row.key);
        // Where an id is a position, another task may have stood there.
        let task =
            task.filter(|task| row.identity == Identity::WrittenId || task.title == row.title);
        Ok(task.map(|task| LastBatch {
            id: number,
            status: task.status,
            outcome: task.outcome,
        }))
    }
}

/// A record that this version does not understand says nothing.
fn view(loaded: &LoadedBatch) -> Option<BatchView> {
    let surroundings = Surroundings {
        worktrees: Path::new(""),
        owner: Owner::Alive,
        now: loaded.created_at,
    };
    BatchView::of(loaded, &surroundings).ok()
}

fn draw(
    row: &TaskRow,
    top: &Path,
    ids: &HashMap<String, String>,
    batch: Option<LastBatch>,
) -> BoardTask {
    let needs = row.depends_on.iter();
    BoardTask {
        id: row.id.clone(),
        key: row.key.clone(),
        project_id: row.project.clone(),
        plan: plan_name(&row.plan, top),
        line: row.line,
        title: row.title.clone(),
        description: row.details.clone(),
        status: TaskStatus::as_str(row.status),
        phase: row.phase,
        priority: row.priority,
        labels: row.labels.clone(),
        depends_on: needs.filter_map(|key| ids.get(key).cloned()).collect(),
        files: row.files.clone(),
        position: row.position,
        batch,
        created_at: rfc3339(row.created_at),
        updated_at: rfc3339(row.updated_at),
    }
}

/// A plan file as it is seen from its project.
pub(super) fn plan_name(plan: &str, top: &Path) -> Option<String> {
    if plan == PlanOrigin::BOARD {
        return None;
    }
    let below = Path::new(plan).strip_prefix(top);
    Some(below.map_or_else(|_| plan.to_owned(), |below| below.display().to_string()))
}

/// Logs tasks that are others than before.
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

/// Logs tasks that are new.
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
