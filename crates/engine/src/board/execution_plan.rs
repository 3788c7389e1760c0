//! The execution plan of a project: set as JSON whose tasks live on the board, or made from a plan file.
//!
//! Knows the form; running it is for others.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::plan::{Plan, Stage};
use pleach_domain::task::{Dependency, IfUnknown, Priority, Task, TaskStatus};
use pleach_log::database::board::{BoardTables, TaskRow};
use pleach_log::database::now;
use pleach_log::database::projects::PlanRow;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::projects::{known, top_of};
use super::shown::{tell_created, tell_updated};
use super::tasks::{blank, refuse_busy};
use super::to_run::{of_file, task_of};
use super::{Board, BoardError, FieldProblem, last_position, limits};
use crate::config::{Config, Settings};
use crate::plan_to_run::PlanOrigin;

/// Batches of tasks that run one after the other.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct ExecutionPlan {
    /// The batches, which become stages of one batch.
    #[serde(default)]
    pub batches: Vec<PlannedBatch>,
    /// The tasks; batches may name other tasks of the board.
    #[serde(default)]
    pub tasks: Vec<PlannedTask>,
}

/// Tasks that are woven and validated before the next batch starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedBatch {
    /// Its name.
    pub batch_id: IdText,
    /// Its tasks, in order.
    pub task_ids: Vec<IdText>,
    /// Whether its tasks may run at the same time.
    #[serde(default = "yes")]
    pub can_parallel: bool,
}

/// A task of an execution plan. Unknown fields are ignored, because other programs write these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlannedTask {
    pub id: IdText,
    pub title: Option<String>,
    /// The agent's prompt, besides the title.
    pub prompt: Option<String>,
    pub depends_on: Option<Vec<IdText>>,
    pub files: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// The size that it wants of a cluster's node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "any_priority"
    )]
    pub priority: Option<Priority>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "known_status"
    )]
    pub status: Option<TaskStatus>,
}

/// An id, written as a string or as a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged, expecting = "an id is a text or a number")]
pub enum IdText {
    /// As a string.
    Text(String),
    /// As a number.
    Number(i64),
}

impl IdText {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl From<&str> for IdText {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

fn yes() -> bool {
    true
}

/// Other programs have words and numbers of their own for it.
fn any_priority<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Priority>, D::Error> {
    let said: Option<serde_json::Value> = Option::deserialize(from)?;
    Ok(said.map(|said| Priority::read(&said.to_string())))
}

/// As in files, a word that is not known says nothing.
fn known_status<'de, D: Deserializer<'de>>(from: D) -> Result<Option<TaskStatus>, D::Error> {
    let said: Option<serde_json::Value> = Option::deserialize(from)?;
    Ok(said.and_then(|said| serde_json::from_value(said).ok()))
}

/// An execution plan as it is kept: its tasks are rows of the board.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct StoredExecutionPlan {
    pub(super) batches: Vec<StoredPlanBatch>,
    /// Keys on the board.
    pub(super) tasks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredPlanBatch {
    pub(super) batch_id: IdText,
    pub(super) task_ids: Vec<String>,
    pub(super) can_parallel: bool,
}

impl StoredPlanBatch {
    pub(super) fn name(&self) -> String {
        self.batch_id.text()
    }
}

impl StoredExecutionPlan {
    /// Only this module writes such texts, so one that cannot be read is an empty plan.
    pub(super) fn read(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("a plan is plain data")
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let in_batches = self.batches.iter().flat_map(|batch| &batch.task_ids);
        self.tasks.iter().chain(in_batches).map(String::as_str)
    }

    fn of(plan: &ExecutionPlan) -> Self {
        let batches = plan.batches.iter().map(|batch| StoredPlanBatch {
            batch_id: batch.batch_id.clone(),
            task_ids: batch.task_ids.iter().map(IdText::text).collect(),
            can_parallel: batch.can_parallel,
        });
        Self {
            batches: batches.collect(),
            tasks: plan.tasks.iter().map(|task| task.id.text()).collect(),
        }
    }

    fn shown(&self, rows: &[TaskRow]) -> ExecutionPlan {
        let rows: HashMap<&str, &TaskRow> =
            rows.iter().map(|row| (row.key.as_str(), row)).collect();
        let tasks = self.tasks.iter().filter_map(|key| rows.get(key.as_str()));
        ExecutionPlan {
            tasks: tasks.map(|row| planned(&task_of(row), |_| true)).collect(),
            batches: self
                .batches
                .iter()
                .map(|batch| PlannedBatch {
                    batch_id: batch.batch_id.clone(),
                    task_ids: batch
                        .task_ids
                        .iter()
                        .filter(|key| rows.contains_key(key.as_str()))
                        .map(|key| key.as_str().into())
                        .collect(),
                    can_parallel: batch.can_parallel,
                })
                .collect(),
        }
    }
}

/// Waves as batches, under the names that the tasks are to have there.
pub(super) fn batches_of(order: &Order, name: &impl Fn(usize) -> String) -> Vec<StoredPlanBatch> {
    let waves = order.waves.iter().zip(1_i64..);
    let batches = waves.map(|(wave, number)| StoredPlanBatch {
        batch_id: IdText::Number(number),
        task_ids: wave.iter().map(|at| name(*at)).collect(),
        can_parallel: wave.len() > 1,
    });
    batches.collect()
}

fn planned(task: &Task, is_shown: impl Fn(&str) -> bool) -> PlannedTask {
    let needs = task.needs.iter().map(|need| need.on.as_str());
    PlannedTask {
        id: task.id.as_str().into(),
        title: Some(task.title.clone()),
        prompt: Some(task.details.clone()),
        depends_on: Some(needs.filter(|id| is_shown(id)).map(IdText::from).collect()),
        files: Some(task.files.clone()),
        labels: None,
        size: task.size.as_ref().map(|size| size.name.clone()),
        priority: None,
        status: None,
    }
}

impl Board {
    /// The execution plan of a project, if it has one; of a plan file, what is open in it.
    pub fn shown_plan(&self, project: &str) -> Result<Option<ExecutionPlan>, BoardError> {
        let found = self.database.look_at_boards(|tables| {
            known(tables, project)?;
            let rows = tables.tasks_of(project, PlanOrigin::BOARD)?;
            Ok::<_, BoardError>((tables.plan(project)?, rows))
        })?;
        match found {
            (None, _) => Ok(None),
            (Some(PlanRow::OfBoard(json)), rows) => {
                Ok(Some(StoredExecutionPlan::read(&json).shown(&rows)))
            }
            (Some(PlanRow::OfFile(path)), _) => Ok(Some(shown_file(Path::new(&path))?)),
        }
    }

    /// Sets the execution plan of a project; its tasks become tasks of the board.
    pub fn put_plan(
        &mut self,
        project: &str,
        plan: &ExecutionPlan,
    ) -> Result<ExecutionPlan, BoardError> {
        limits::check(|problems| check_limits(plan, problems))?;
        self.database.change_boards(|tables| {
            let top = top_of(&known(tables, project)?);
            limits::check(|problems| check_sizes(plan, &top, problems))?;
            let rows = tables.tasks_of(project, PlanOrigin::BOARD)?;
            check_graph(plan, &rows)?;
            let (created, updated) = put_tasks(tables, project, plan, rows)?;
            let stored = StoredExecutionPlan::of(plan);
            tables.put_plan(project, &PlanRow::OfBoard(stored.text()))?;
            tell_created(tables, project, &created)?;
            tell_updated(tables, project, &updated)?;
            Ok(stored.shown(&tables.tasks_of(project, PlanOrigin::BOARD)?))
        })
    }
}

fn shown_file(path: &Path) -> Result<ExecutionPlan, BoardError> {
    let plan = of_file(path)?.document.plan;
    let graph = Graph::new(&plan, Strictness::AsWritten);
    let open = graph.open_members();
    let order = Order::new(&graph, &open, OrderRules::default());
    let name = |at: usize| plan.tasks[at].id.to_string();
    let tasks = plan.tasks.iter().zip(&open).filter(|(_, open)| **open);
    let is_open = |id: &str| graph.index().find(id).is_some_and(|at| open[at]);
    let stored = batches_of(&order, &name).into_iter();
    Ok(ExecutionPlan {
        batches: stored
            .map(|batch| PlannedBatch {
                batch_id: batch.batch_id,
                task_ids: batch.task_ids.into_iter().map(IdText::Text).collect(),
                can_parallel: batch.can_parallel,
            })
            .collect(),
        tasks: tasks.map(|(task, _)| planned(task, is_open)).collect(),
    })
}

fn check_limits(plan: &ExecutionPlan, problems: &mut Vec<FieldProblem>) {
    limits::many("tasks", plan.tasks.len(), limits::TASKS, problems);
    limits::many("batches", plan.batches.len(), limits::TASKS, problems);
    for (at, batch) in plan.batches.iter().enumerate() {
        let path = |field: &str| format!("batches[{at}].{field}");
        limits::key(&path("batch_id"), &batch.batch_id.text(), problems);
        limits::many(
            &path("task_ids"),
            batch.task_ids.len(),
            limits::TASKS,
            problems,
        );
    }
    for (at, task) in plan.tasks.iter().enumerate() {
        let path = |field: &str| format!("tasks[{at}].{field}");
        limits::key(&path("id"), &task.id.text(), problems);
        if let Some(title) = &task.title {
            limits::title(&path("title"), title, problems);
        }
        if let Some(prompt) = &task.prompt {
            limits::description(&path("prompt"), prompt, problems);
        }
        if let Some(needs) = &task.depends_on {
            limits::many(
                &path("depends_on"),
                needs.len(),
                limits::DEPENDENCIES,
                problems,
            );
        }
        if let Some(files) = &task.files {
            limits::files(&path("files"), files, problems);
        }
        if let Some(labels) = &task.labels {
            limits::labels(&path("labels"), labels, problems);
        }
    }
}

/// Checks the sizes of a project's tasks; without a configuration that can be read they are told when they are to run.
fn check_sizes(plan: &ExecutionPlan, top: &Path, problems: &mut Vec<FieldProblem>) {
    let wanted = plan.tasks.iter().enumerate();
    let wanted = wanted.filter_map(|(at, task)| Some((at, task.size.as_deref()?)));
    let mut wanted = wanted.filter(|(_, name)| !name.is_empty()).peekable();
    if wanted.peek().is_none() {
        return;
    }
    let settings = Settings::load(top, Config::default()).ok();
    // Other programs have words of their own for it.
    if let Some(settings) = settings.filter(|settings| !settings.has_no_sizes()) {
        for (at, name) in wanted {
            limits::size(&format!("tasks[{at}].size"), name, &settings, problems);
        }
    }
}

/// Checks the plan as it would stand on the board; places in it take the part of lines.
fn check_graph(plan: &ExecutionPlan, rows: &[TaskRow]) -> Result<(), BoardError> {
    let mut paths: Vec<String> = Vec::new();
    let mut place = |path: String| {
        paths.push(path);
        u32::try_from(paths.len()).unwrap_or(u32::MAX)
    };
    let named: HashSet<String> = plan.tasks.iter().map(|task| task.id.text()).collect();
    let others = rows.iter().filter(|row| !named.contains(&row.key));
    let rows: HashMap<&str, &TaskRow> = rows.iter().map(|row| (row.key.as_str(), row)).collect();
    let mut tasks: Vec<Task> = others.map(task_of).collect();
    for (at, task) in plan.tasks.iter().enumerate() {
        let id = task.id.text();
        let line = place(format!("tasks[{at}].id"));
        let known = rows.get(id.as_str());
        let mut made = match known {
            Some(row) => task_of(row),
            None => Task::new(id.as_str(), id.as_str(), line),
        };
        made.line = line;
        if let Some(needs) = &task.depends_on {
            let needs = needs.iter().enumerate();
            made.needs = needs
                .map(|(need, on)| Dependency {
                    on: TaskId::new(on.text()),
                    line: place(format!("tasks[{at}].depends_on[{need}]")),
                    if_unknown: IfUnknown::Error,
                })
                .collect();
        }
        tasks.push(made);
    }
    let stages = plan.batches.iter().enumerate();
    let stages = stages.map(|(at, batch)| Stage {
        id: batch.batch_id.text(),
        tasks: batch
            .task_ids
            .iter()
            .map(|id| TaskId::new(id.text()))
            .collect(),
        can_parallel: batch.can_parallel,
        line: place(format!("batches[{at}].task_ids")),
    });
    let whole = Plan {
        stages: stages.collect(),
        tasks,
        ..Plan::default()
    };
    let graph = Graph::new(&whole, Strictness::AsWritten);
    let problems = graph.errors().iter().map(|problem| {
        let line = problem.line.and_then(|line| usize::try_from(line).ok());
        let path = line.and_then(|line| paths.get(line.checked_sub(1)?));
        FieldProblem {
            line: None,
            ..FieldProblem::in_field(path.map_or("tasks", String::as_str), problem)
        }
    });
    let problems: Vec<FieldProblem> = problems.collect();
    limits::check(|found| found.extend(problems))
}

/// Adds the tasks that are new and changes the others; one that a batch is at stays as it is.
fn put_tasks(
    tables: BoardTables<'_>,
    project: &str,
    plan: &ExecutionPlan,
    rows: Vec<TaskRow>,
) -> Result<(Vec<TaskRow>, Vec<TaskRow>), BoardError> {
    let mut rows: HashMap<String, TaskRow> =
        rows.into_iter().map(|row| (row.key.clone(), row)).collect();
    let mut position = last_position(tables, project)?;
    let (mut created, mut updated) = (Vec::new(), Vec::new());
    for task in &plan.tasks {
        let key = task.id.text();
        if let Some(before) = rows.remove(&key) {
            let mut row = said_of(before.clone(), task);
            if row != before {
                refuse_busy(tables, &before)?;
                row.updated_at = now();
                tables.update(&row)?;
                updated.push(row);
            }
            continue;
        }
        position += 1.0;
        let new = TaskRow {
            title: key.clone(),
            position,
            ..blank(project, PlanOrigin::BOARD, &key)?
        };
        let row = said_of(new, task);
        tables.insert(&row)?;
        created.push(row);
    }
    Ok((created, updated))
}

fn said_of(mut row: TaskRow, task: &PlannedTask) -> TaskRow {
    if let Some(title) = &task.title {
        title.trim().clone_into(&mut row.title);
    }
    if let Some(prompt) = &task.prompt {
        row.details.clone_from(prompt);
    }
    if let Some(needs) = &task.depends_on {
        row.depends_on = limits::once(&needs.iter().map(IdText::text).collect::<Vec<_>>());
    }
    if let Some(files) = &task.files {
        row.files.clone_from(files);
    }
    if let Some(labels) = &task.labels {
        row.labels = limits::once(labels);
    }
    if let Some(size) = &task.size {
        row.size = Some(size.clone()).filter(|size| !size.is_empty());
    }
    row.priority = task.priority.unwrap_or(row.priority);
    row.status = task.status.unwrap_or(row.status);
    row
}
