//! Takes plans in: a text whose tasks become tasks of the board, or a file whose tasks are mirrored.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_formats::{Document, Identity};
use pleach_log::database::BoardEvent;
use pleach_log::database::board::{BoardTables, TaskRow};
use pleach_log::database::projects::{MirroredRow, PlanRow};

use super::execution_plan::{StoredExecutionPlan, batches_of};
use super::in_step::bring_in_step;
use super::projects::{known, top_of};
use super::shown::{drawn, tell_created};
use super::sync::look;
use super::tasks::blank;
use super::{Board, BoardError, BoardTask, FieldProblem, last_position, limits};
use crate::mentioned_files::declare_mentioned;
use crate::plan_file::PlanFile;
use crate::plan_to_run::PlanOrigin;

#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tasks of the plan, in its order.
    pub tasks: Vec<BoardTask>,
    pub warnings: Vec<pleach_domain::problem::Problem>,
}

impl Board {
    /// Puts the tasks of a text onto a board, all or none, and makes it the execution plan.
    pub fn import_text(&mut self, project: &str, text: &str) -> Result<Imported, BoardError> {
        let document = pleach_formats::read(text);
        let warnings = checked(&document, "markdown")?;
        limits::check(|problems| {
            let tasks = document.plan.tasks.len();
            limits::many("markdown", tasks, limits::TASKS, problems);
            if tasks == 0 {
                let problem = FieldProblem::new("markdown", "no_tasks", "no tasks found");
                problems.push(problem.hint("write tasks as `- [ ] text`"));
            }
        })?;
        self.database.change_boards(|tables| {
            known(tables, project)?;
            let rows = put_on_board(tables, project, &document)?;
            let stored = StoredExecutionPlan::of_waves(&document, |at| rows[at].key.clone());
            tables.put_plan(project, &PlanRow::OfBoard(stored.text()))?;
            tell_created(tables, project, &rows)?;
            Ok(Imported {
                tasks: drawn(tables, project, &rows)?,
                warnings,
            })
        })
    }

    /// Mirrors the tasks of a file inside a project, and makes it the execution plan.
    pub fn import_file(&mut self, project: &str, path: &str) -> Result<Imported, BoardError> {
        self.database.change_boards(|tables| {
            let top = top_of(&known(tables, project)?);
            let file = inside(&top, path)?;
            let seen = look(&file);
            let text = PlanFile::load(&file)
                .map_err(|error| {
                    let problem = FieldProblem::new("path", "plan_file", error.to_string());
                    BoardError::Fields(vec![problem.hint(error.hint())])
                })?
                .text()
                .to_owned();
            let mut document = pleach_formats::read(&text);
            declare_mentioned(&mut document.plan, &top);
            let tasks = document.plan.tasks.len();
            limits::check(|problems| limits::many("path", tasks, limits::TASKS, problems))?;
            let warnings = checked(&document, "path")?;
            let plan = file.to_string_lossy().into_owned();
            bring_in_step(tables, project, &plan, &document)?;
            let mirrored = MirroredRow {
                path: plan.clone(),
                seen: seen.unwrap_or_default(),
                error: None,
            };
            tables.put_mirrored(project, &mirrored)?;
            tables.note(project, &BoardEvent::ProjectUpdated {})?;
            tables.put_plan(project, &PlanRow::OfFile(plan.clone()))?;
            let mut rows = tables.tasks_of(project, &plan)?;
            rows.sort_by_key(|row| row.line);
            Ok(Imported {
                tasks: drawn(tables, project, &rows)?,
                warnings,
            })
        })
    }
}

/// What is odd about a plan that has no errors.
fn checked(
    document: &Document,
    field: &str,
) -> Result<Vec<pleach_domain::problem::Problem>, BoardError> {
    let graph = Graph::new(&document.plan, Strictness::AsWritten);
    let problems = graph.errors().iter();
    let problems: Vec<FieldProblem> = problems
        .map(|problem| FieldProblem::in_field(field, problem))
        .collect();
    limits::check(|found| found.extend(problems))?;
    Ok(graph.warnings().to_vec())
}

/// A file inside a project: no way up and no link leads out of it.
fn inside(top: &Path, path: &str) -> Result<PathBuf, BoardError> {
    let refused = |message: String| {
        let problem = FieldProblem::new("path", "bad_path", message);
        BoardError::Fields(vec![
            problem.hint("pass a path relative to the project, such as TODO.md"),
        ])
    };
    let asked = Path::new(path);
    let goes_down = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.is_empty() || path.contains('\0') || !asked.components().all(goes_down) {
        return Err(refused(format!("{path:?} is not a file of the project")));
    }
    let top = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let file = top.join(asked).canonicalize();
    let file = file.map_err(|error| refused(format!("could not find {path}: {error}")))?;
    if !file.starts_with(&top) || file.starts_with(top.join(".git")) {
        return Err(refused(format!("{path} is outside the project")));
    }
    if file.to_str().is_none() {
        return Err(refused(format!("the path of {path} is not valid UTF-8")));
    }
    Ok(file)
}

/// Adds the tasks of a document; ids that are free are kept.
fn put_on_board(
    tables: BoardTables<'_>,
    project: &str,
    document: &Document,
) -> Result<Vec<TaskRow>, BoardError> {
    let mut keys: HashMap<&str, String> = HashMap::new();
    for (task, place) in document.plan.tasks.iter().zip(&document.places) {
        let own = task.id.as_str();
        let is_written = place.identity == Identity::WrittenId;
        if is_written && !tables.was_used(project, own)? {
            keys.insert(own, own.to_owned());
        }
    }
    // Numbers are given once it is known which the text takes itself.
    let mut taken: HashSet<String> = keys.values().cloned().collect();
    for task in &document.plan.tasks {
        let own = task.id.as_str();
        if keys.contains_key(own) {
            continue;
        }
        let mut key = tables.new_key(project)?;
        while !taken.insert(key.clone()) {
            key = tables.new_key(project)?;
        }
        keys.insert(own, key);
    }
    let index = document.plan.index();
    let mut position = last_position(tables, project)?;
    let mut rows = Vec::with_capacity(document.plan.tasks.len());
    for task in &document.plan.tasks {
        position += 1.0;
        let needs = task.needs.iter();
        let needs = needs.filter_map(|need| index.find(need.on.as_str()));
        let row = TaskRow {
            title: task.title.clone(),
            details: task.details.clone(),
            status: task.status,
            phase: task.phase.map(|phase| phase.0),
            depends_on: needs
                .map(|at| keys[document.plan.tasks[at].id.as_str()].clone())
                .collect(),
            files: task.files.clone(),
            priority: task.priority,
            labels: task.labels.clone(),
            size: task.size.as_ref().map(|size| size.name.clone()),
            position,
            ..blank(project, PlanOrigin::BOARD, &keys[task.id.as_str()])?
        };
        tables.insert(&row)?;
        rows.push(row);
    }
    Ok(rows)
}

impl StoredExecutionPlan {
    /// The waves of a document as batches, under the names that its tasks have on the board.
    fn of_waves(document: &Document, name: impl Fn(usize) -> String) -> Self {
        let graph = Graph::new(&document.plan, Strictness::AsWritten);
        let everything = vec![true; document.plan.tasks.len()];
        let order = Order::new(&graph, &everything, OrderRules::default());
        Self {
            batches: batches_of(&order, &name),
            tasks: (0..document.plan.tasks.len()).map(name).collect(),
        }
    }
}
