//! Tasks that people make, change and delete on a board.
//!
//! Tasks of plan files may be ordered and labelled here; what they are is said in their file, which `marking` writes to.

use pleach_domain::graph::{Graph, Strictness};
use pleach_domain::problem::ProblemCode;
use pleach_domain::task::{Priority, TaskStatus};
use pleach_formats::Identity;
use pleach_log::database::board::{BoardTables, TaskRow};
use pleach_log::database::{BoardEvent, DatabaseError, now};
use pleach_log::view::AttemptView;

use super::projects::{known, top_of};
use super::shown::{drawn, is_of_batch, plan_name, tell_created, tell_updated};
use super::{Board, BoardError, BoardTask, FieldProblem, limits};
use crate::config::{Config, Settings};
use crate::plan_to_run::PlanOrigin;

/// Places beyond it are too coarse to put something between two of them.
const FARTHEST: f64 = 1e12;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewTask {
    pub project: String,
    pub title: String,
    pub description: String,
    /// How much it matters; medium, if nothing is said.
    pub priority: Option<Priority>,
    pub labels: Vec<String>,
    /// The size that it wants of a cluster's node.
    pub size: Option<String>,
    pub depends_on: Vec<String>,
}

/// What is to be another one than before; what is absent stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskChange {
    pub title: Option<String>,
    pub description: Option<String>,
    pub priority: Option<Priority>,
    pub labels: Option<Vec<String>>,
    /// Nothing, if it is to want none.
    pub size: Option<String>,
    pub depends_on: Option<Vec<String>>,
    pub status: Option<TaskStatus>,
    pub position: Option<f64>,
}

impl NewTask {
    fn check(&self, problems: &mut Vec<FieldProblem>) {
        limits::title("title", &self.title, problems);
        limits::description("description", &self.description, problems);
        limits::labels("labels", &self.labels, problems);
        limits::many(
            "dependsOn",
            self.depends_on.len(),
            limits::DEPENDENCIES,
            problems,
        );
    }
}

impl TaskChange {
    fn check(&self, problems: &mut Vec<FieldProblem>) {
        if let Some(title) = &self.title {
            limits::title("title", title, problems);
        }
        if let Some(description) = &self.description {
            limits::description("description", description, problems);
        }
        if let Some(labels) = &self.labels {
            limits::labels("labels", labels, problems);
        }
        if let Some(needs) = &self.depends_on {
            limits::many("dependsOn", needs.len(), limits::DEPENDENCIES, problems);
        }
        if let Some(position) = self.position
            && !(-FARTHEST..=FARTHEST).contains(&position)
        {
            let message = format!("position must be between -{FARTHEST} and {FARTHEST}");
            let problem = FieldProblem::new("position", "out_of_range", message);
            problems.push(problem.hint("use a number between the positions of its neighbours"));
        }
    }

    /// Whether it says what the task is, which a plan file and a running batch hold fast.
    fn says_what_it_is(&self) -> bool {
        self.title.is_some()
            || self.description.is_some()
            || self.size.is_some()
            || self.depends_on.is_some()
    }
}

impl Board {
    /// The tasks of a project, in the order of its board.
    pub fn tasks(&self, project: &str) -> Result<Vec<BoardTask>, BoardError> {
        self.database.look_at_boards(|tables| {
            known(tables, project)?;
            Ok(drawn(tables, project, &tables.tasks(project)?)?)
        })
    }

    pub fn task(&self, id: &str) -> Result<BoardTask, BoardError> {
        self.database
            .look_at_boards(|tables| shown_task(tables, id))
    }

    /// Every attempt on a task, over all batches that it was in, newest first.
    pub fn attempts(&self, id: &str) -> Result<Vec<AttemptView>, BoardError> {
        self.database.look_at_boards(|tables| {
            let row = task_row(tables, id)?;
            let mut attempts = Vec::new();
            for (batch, task) in tables.batches_of(&row.project, &row.plan, &row.key)? {
                let batch = tables.batch(batch)?;
                if is_of_batch(&row, &batch, &task) {
                    attempts.extend(AttemptView::all(&batch, &task));
                }
            }
            Ok(attempts)
        })
    }

    pub fn create_task(&mut self, new: &NewTask) -> Result<BoardTask, BoardError> {
        limits::check(|problems| new.check(problems))?;
        self.database.change_boards(|tables| {
            let size = size_of(tables, &new.project, new.size.as_deref())?;
            let key = tables.new_key(&new.project)?;
            let mut row = TaskRow {
                title: new.title.trim().to_owned(),
                details: new.description.clone(),
                priority: new.priority.unwrap_or(Priority::Medium),
                labels: limits::once(&new.labels),
                size,
                position: super::last_position(tables, &new.project)? + 1.0,
                ..blank(&new.project, PlanOrigin::BOARD, &key)?
            };
            row.depends_on = needs_of(tables, &row, &new.depends_on)?;
            tables.insert(&row)?;
            tell_created(tables, &new.project, std::slice::from_ref(&row))?;
            shown_task(tables, &row.id)
        })
    }

    /// Changes a task; its status in a plan file is written there.
    pub fn change_task(&mut self, id: &str, change: &TaskChange) -> Result<BoardTask, BoardError> {
        limits::check(|problems| change.check(problems))?;
        let row = self.free_to_change(id, change)?;
        let is_on_board = row.plan == PlanOrigin::BOARD;
        if let (Some(status), false) = (change.status, is_on_board) {
            self.mark_in_file(&row, status)?;
        }
        self.database.change_boards(|tables| {
            let mut row = task_row(tables, id)?;
            let before = row.clone();
            if is_on_board {
                refuse_if_busy(tables, &row, change)?;
                take_over(tables, &mut row, change)?;
            }
            if change.status.is_some() && was_in_a_batch(tables, &row)? {
                row.marked_seq = tables.last_seq()?;
            }
            if let Some(priority) = change.priority {
                row.priority = priority;
            }
            if let Some(labels) = &change.labels {
                row.labels = limits::once(labels);
            }
            if let Some(position) = change.position {
                row.position = position;
            }
            if row != before {
                row.updated_at = now();
                tables.update(&row)?;
                tell_updated(tables, &row.project, std::slice::from_ref(&row))?;
            }
            shown_task(tables, id)
        })
    }

    /// Deletes a task; tasks that needed it no longer do.
    pub fn delete_task(&mut self, id: &str) -> Result<(), BoardError> {
        self.database.change_boards(|tables| {
            let row = task_row(tables, id)?;
            refuse_of_file(tables, &row)?;
            refuse_busy(tables, &row)?;
            tables.delete(id)?;
            let mut freed = Vec::new();
            for mut other in tables.tasks_of(&row.project, &row.plan)? {
                if other.depends_on.contains(&row.key) {
                    other.depends_on.retain(|key| *key != row.key);
                    other.updated_at = now();
                    tables.update(&other)?;
                    freed.push(other);
                }
            }
            let event = BoardEvent::TaskDeleted {
                task: id.to_owned(),
            };
            tables.note(&row.project, &event)?;
            Ok(tell_updated(tables, &row.project, &freed)?)
        })
    }

    fn free_to_change(&self, id: &str, change: &TaskChange) -> Result<TaskRow, BoardError> {
        self.database.look_at_boards(|tables| {
            let row = task_row(tables, id)?;
            if change.says_what_it_is() {
                refuse_of_file(tables, &row)?;
            }
            refuse_if_busy(tables, &row, change)?;
            Ok(row)
        })
    }
}

/// A pending task without a title.
pub(super) fn blank(project: &str, plan: &str, key: &str) -> Result<TaskRow, BoardError> {
    let at = now();
    Ok(TaskRow {
        id: super::fresh_id()?,
        project: project.to_owned(),
        plan: plan.to_owned(),
        key: key.to_owned(),
        title: String::new(),
        details: String::new(),
        status: TaskStatus::Pending,
        phase: None,
        depends_on: Vec::new(),
        files: Vec::new(),
        priority: Priority::Medium,
        labels: Vec::new(),
        size: None,
        position: 0.0,
        line: None,
        identity: Identity::WrittenId,
        said: None,
        created_at: at,
        updated_at: at,
        marked_seq: 0,
    })
}

/// The row of a task whose project is not hidden.
pub(super) fn task_row(tables: BoardTables<'_>, id: &str) -> Result<TaskRow, BoardError> {
    let missing = || BoardError::NoTask(id.to_owned());
    let row = tables.task(id)?.ok_or_else(missing)?;
    known(tables, &row.project).map_err(|error| match error {
        BoardError::NoProject(_) => missing(),
        other => other,
    })?;
    Ok(row)
}

fn shown_task(tables: BoardTables<'_>, id: &str) -> Result<BoardTask, BoardError> {
    let row = task_row(tables, id)?;
    let mut tasks = drawn(tables, &row.project, std::slice::from_ref(&row))?;
    tasks.pop().ok_or_else(|| BoardError::NoTask(id.to_owned()))
}

fn take_over(
    tables: BoardTables<'_>,
    row: &mut TaskRow,
    change: &TaskChange,
) -> Result<(), BoardError> {
    if let Some(title) = &change.title {
        title.trim().clone_into(&mut row.title);
    }
    if let Some(description) = &change.description {
        row.details.clone_from(description);
    }
    if let Some(status) = change.status {
        row.status = status;
    }
    if let Some(size) = &change.size {
        row.size = size_of(tables, &row.project, Some(size))?;
    }
    if let Some(needs) = &change.depends_on {
        row.depends_on = needs_of(tables, row, needs)?;
    }
    Ok(())
}

/// The size that is wanted, if it is one of the project's; none for an empty name.
fn size_of(
    tables: BoardTables<'_>,
    project: &str,
    wanted: Option<&str>,
) -> Result<Option<String>, BoardError> {
    let project = known(tables, project)?;
    let Some(name) = wanted.filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    // A configuration that cannot be read is told when the task is to run, and so is the size.
    if let Ok(settings) = Settings::load(&top_of(&project), Config::default()) {
        limits::check(|problems| limits::size("size", name, &settings, problems))?;
    }
    Ok(Some(name.to_owned()))
}

fn was_in_a_batch(tables: BoardTables<'_>, row: &TaskRow) -> Result<bool, DatabaseError> {
    let last = tables.last_batch(&row.project, &row.plan, &row.key)?;
    Ok(last.is_some())
}

fn place(tables: BoardTables<'_>, row: &TaskRow) -> Result<Option<String>, BoardError> {
    let project = known(tables, &row.project)?;
    let Some(file) = plan_name(&row.plan, &top_of(&project)) else {
        return Ok(None);
    };
    Ok(Some(match row.line {
        Some(line) => format!("{file}:{line}"),
        None => file,
    }))
}

fn refuse_of_file(tables: BoardTables<'_>, row: &TaskRow) -> Result<(), BoardError> {
    match place(tables, row)? {
        Some(place) => Err(BoardError::TaskOfPlanFile {
            key: row.key.clone(),
            place,
        }),
        None => Ok(()),
    }
}

pub(super) fn refuse_busy(tables: BoardTables<'_>, row: &TaskRow) -> Result<(), BoardError> {
    let holders = tables.holders(&row.project, &row.plan)?;
    match holders.get(row.key.as_str()) {
        Some(holder) => Err(BoardError::TaskBusy {
            key: row.key.clone(),
            batch: holder.number,
        }),
        None => Ok(()),
    }
}

/// A running batch says itself how far its tasks are, and holds what they are.
fn refuse_if_busy(
    tables: BoardTables<'_>,
    row: &TaskRow,
    change: &TaskChange,
) -> Result<(), BoardError> {
    if change.says_what_it_is() || change.status.is_some() {
        refuse_busy(tables, row)?;
    }
    Ok(())
}

fn needs_of(
    tables: BoardTables<'_>,
    row: &TaskRow,
    ids: &[String],
) -> Result<Vec<String>, BoardError> {
    let mut problems = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for (place, id) in ids.iter().enumerate() {
        let path = format!("dependsOn[{place}]");
        match tables.task(id)? {
            None => problems.push(
                FieldProblem::new(path, "unknown_dependency", format!("task {id} not found"))
                    .hint("GET /api/tasks lists all tasks"),
            ),
            Some(need) if need.project != row.project => problems.push(
                FieldProblem::new(
                    path,
                    "foreign_dependency",
                    format!("task {id} belongs to another project"),
                )
                .hint("a task can depend only on tasks of its own project"),
            ),
            Some(need) if need.plan != row.plan => problems.push(
                FieldProblem::new(
                    path,
                    "foreign_dependency",
                    format!("task {id} belongs to a plan file"),
                )
                .hint("a task can depend only on tasks of its own plan"),
            ),
            Some(need) if need.id == row.id => problems.push(
                FieldProblem::new(path, "self_dependency", "a task cannot depend on itself")
                    .hint("remove the dependency"),
            ),
            Some(need) if keys.contains(&need.key) => {}
            Some(need) => {
                keys.push(need.key);
                places.push(place);
            }
        }
    }
    if !problems.is_empty() {
        return Err(BoardError::Fields(problems));
    }
    refuse_cycle(tables, row, &keys, &places)?;
    Ok(keys)
}

fn refuse_cycle(
    tables: BoardTables<'_>,
    row: &TaskRow,
    keys: &[String],
    places: &[usize],
) -> Result<(), BoardError> {
    let mut rows = tables.tasks_of(&row.project, &row.plan)?;
    rows.retain(|other| other.id != row.id);
    rows.push(TaskRow {
        depends_on: keys.to_vec(),
        ..row.clone()
    });
    let plan = super::plan_of_rows(&rows);
    let graph = Graph::new(&plan, Strictness::AsWritten);
    let problems: Vec<FieldProblem> = graph
        .errors()
        .iter()
        .filter(|problem| problem.code == ProblemCode::Cycle)
        .filter(|problem| problem.tasks.iter().any(|task| task.as_str() == row.key))
        .map(|problem| {
            let is_in = |key: &String| problem.tasks.iter().any(|task| task.as_str() == key);
            let place = keys.iter().position(is_in).map(|at| places[at]);
            let path = place.map_or("dependsOn".to_owned(), |at| format!("dependsOn[{at}]"));
            FieldProblem {
                line: None,
                ..FieldProblem::in_field(path, problem)
            }
        })
        .collect();
    limits::check(|found| found.extend(problems))
}
