//! What a batch is made of: tasks of a board as a plan, the plan files that they are mirrored from, or both.
//!
//! Starts nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::id::{PhaseNumber, TaskId};
use pleach_domain::plan::{Phase, Plan, Stage};
use pleach_domain::task::{Dependency, IfUnknown, SizeChoice, Task, TaskHold};
use pleach_formats::{Document, Identity, Mark, TaskPlace};
use pleach_log::database::board::TaskRow;
use pleach_log::database::projects::PlanRow;

use super::projects::ProjectStatus;
use super::shown::plan_name;
use super::tasks::task_row;
use super::{Board, BoardError, FieldProblem, Project, execution_plan};
use crate::mentioned_files::declare_mentioned;
use crate::plan_file::PlanFile;
use crate::plan_to_run::{PlanOrigin, PlanToRun, by_id_in_batch};

#[derive(Debug)]
pub struct TasksToRun {
    pub project: Project,
    pub plan: PlanToRun,
    pub tasks: Vec<TaskId>,
    /// The revision of the execution plan if they are of that; another one each time it is set.
    pub revision: Option<String>,
}

impl Board {
    pub fn tasks_to_run(&self, tasks: &[String]) -> Result<TasksToRun, BoardError> {
        let (rows, on_board) = self.database.look_at_boards(|tables| {
            let rows = tasks.iter().map(|id| task_row(tables, id));
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            let first = rows.first().ok_or(BoardError::NoTasks)?;
            if rows.iter().any(|row| row.project != first.project) {
                return Err(BoardError::MixedProjects);
            }
            let on_board = tables.tasks_of(&first.project, PlanOrigin::BOARD)?;
            Ok((rows, on_board))
        })?;
        let first = rows.first().ok_or(BoardError::NoTasks)?;
        let project = self.ready(&first.project)?;
        // Files by their paths, then the board: a whole path sorts before its name.
        let mut plans: BTreeMap<&str, Vec<&TaskRow>> = BTreeMap::new();
        for row in &rows {
            plans.entry(&row.plan).or_default().push(row);
        }
        let parts = plans.into_iter().map(|(plan, rows)| {
            if plan == PlanOrigin::BOARD {
                let ids = rows.iter().map(|row| TaskId::new(row.key.as_str()));
                return Ok((of_board(super::plan_of_rows(&on_board)), ids.collect()));
            }
            let plan = of_file(Path::new(plan))?;
            let ids = rows.iter().map(|row| find(&plan, row));
            let ids = ids.collect::<Result<Vec<_>, _>>()?;
            Ok((plan, ids))
        });
        let parts = parts.collect::<Result<Vec<_>, BoardError>>()?;
        let (plan, tasks) = PlanToRun::join(parts).map_err(|origins| {
            let name = |origin: PlanOrigin| {
                let file = plan_name(&origin.key(), &project.path);
                file.unwrap_or_else(|| origin.key())
            };
            BoardError::MixedPlans(origins.into_iter().map(name).collect())
        })?;
        Ok(TasksToRun {
            project,
            plan,
            tasks,
            revision: None,
        })
    }

    /// The ids on the board of the tasks of a plan, by their ids in it.
    pub fn ids_of(
        &self,
        project: &str,
        plan: &PlanToRun,
    ) -> Result<HashMap<TaskId, String>, BoardError> {
        let look_up = |of: &str| self.database.task_ids(project, of);
        Ok(by_id_in_batch(&plan.origin, plan.homes(), look_up)?)
    }

    /// The execution plan of a project, and every task of it that is open.
    pub fn execution_plan(&self, project: &str) -> Result<TasksToRun, BoardError> {
        let found = self.ready(project)?;
        let ((plan, revision), rows) = self.database.look_at_boards(|tables| {
            let plan = tables.plan_with_revision(project)?;
            let plan = plan.ok_or(BoardError::NoPlan)?;
            Ok::<_, BoardError>((plan, tables.tasks_of(project, PlanOrigin::BOARD)?))
        })?;
        let plan = match plan {
            PlanRow::OfFile(path) => in_stages(of_file(Path::new(&path))?),
            PlanRow::OfBoard(json) => of_board(staged(&rows, &json)),
        };
        let open = |task: &&Task| !task.status.is_settled() && task.hold == TaskHold::None;
        let ids = plan.document.plan.tasks.iter().filter(open);
        let tasks = ids.map(|task| task.id.clone()).collect();
        Ok(TasksToRun {
            project: found,
            plan,
            tasks,
            revision: Some(revision),
        })
    }

    /// A project that can be worked on.
    fn ready(&self, id: &str) -> Result<Project, BoardError> {
        let project = self.project(id)?;
        match project.status {
            ProjectStatus::Ready => Ok(project),
            ProjectStatus::Cloning => Err(BoardError::NotCloned {
                message: format!("{} is still being cloned", project.name),
            }),
            ProjectStatus::Failed => Err(BoardError::NotCloned {
                message: format!(
                    "could not clone {}: {}",
                    project.name,
                    project.error.unwrap_or_default()
                ),
            }),
        }
    }
}

pub(super) fn task_of(row: &TaskRow) -> Task {
    let needs = row.depends_on.iter().map(|key| Dependency {
        on: TaskId::new(key.as_str()),
        line: 0,
        if_unknown: IfUnknown::TakenAsDone,
    });
    Task {
        details: row.details.clone(),
        status: row.status,
        phase: row.phase.map(PhaseNumber),
        needs: needs.collect(),
        files: row.files.clone(),
        priority: row.priority,
        size: row.size.clone().map(|name| SizeChoice {
            name,
            line: row.line.unwrap_or(0),
        }),
        labels: row.labels.clone(),
        ..Task::new(row.key.as_str(), row.title.as_str(), row.line.unwrap_or(0))
    }
}

/// The tasks of an execution plan with what they need, and its batches as stages.
fn staged(rows: &[TaskRow], json: &str) -> Plan {
    let stored = execution_plan::StoredExecutionPlan::read(json);
    let all = super::plan_of_rows(rows);
    let graph = Graph::new(&all, Strictness::AsWritten);
    let named: HashSet<&str> = stored.keys().collect();
    let chosen: Vec<usize> = (0..all.tasks.len())
        .filter(|position| named.contains(all.tasks[*position].id.as_str()))
        .collect();
    // What is done already is needed too, so that it is known to be done.
    let mut kept: HashSet<usize> = graph.with_needs(&chosen).into_iter().collect();
    for position in kept.clone() {
        kept.extend(graph.needs(position));
    }
    let is_there = |id: &str| rows.iter().any(|row| row.key == id);
    let stages = stored.batches.iter().map(|batch| Stage {
        id: batch.name(),
        tasks: batch
            .task_ids
            .iter()
            .filter(|id| is_there(id))
            .map(|id| TaskId::new(id.as_str()))
            .collect(),
        can_parallel: batch.can_parallel,
        line: 0,
    });
    let stages = stages.collect();
    let tasks = all.tasks.iter().enumerate();
    let tasks = tasks.filter(|(position, _)| kept.contains(position));
    Plan {
        tasks: tasks.map(|(_, task)| task.clone()).collect(),
        stages,
        ..Plan::default()
    }
}

fn of_board(mut plan: Plan) -> PlanToRun {
    let mut numbers: Vec<PhaseNumber> = plan.tasks.iter().filter_map(|task| task.phase).collect();
    numbers.sort_unstable();
    numbers.dedup();
    plan.phases = numbers
        .into_iter()
        .map(|number| Phase {
            number,
            title: String::new(),
            line: 0,
            checks: Vec::new(),
        })
        .collect();
    let place = TaskPlace {
        mark: Mark::None,
        nested: Vec::new(),
        identity: Identity::WrittenId,
    };
    let document = Document {
        places: vec![place; plan.tasks.len()],
        plan,
    };
    PlanToRun::new(PlanOrigin::Board, String::new(), document)
}

pub(super) fn of_file(path: &Path) -> Result<PlanToRun, BoardError> {
    refuse_link(path)?;
    let file = PlanFile::load(path)?;
    let mut document = pleach_formats::read(file.text());
    declare_mentioned(&mut document.plan, path.parent().unwrap_or(path));
    let origin = PlanOrigin::File(PathBuf::from(path));
    Ok(PlanToRun::new(origin, file.text().to_owned(), document))
}

/// Where a file has no stages of its own, its waves are the stages, as its execution plan is shown.
fn in_stages(mut plan: PlanToRun) -> PlanToRun {
    let written = &plan.document.plan;
    if !written.stages.is_empty() {
        return plan;
    }
    let graph = Graph::new(written, Strictness::AsWritten);
    let order = Order::new(&graph, &graph.open_members(), OrderRules::default());
    let waves = order.waves.iter().enumerate();
    let stages = waves.map(|(at, wave)| Stage {
        id: (at + 1).to_string(),
        tasks: wave
            .iter()
            .map(|at| written.tasks[*at].id.clone())
            .collect(),
        can_parallel: wave.len() > 1,
        line: 0,
    });
    plan.document.plan.stages = stages.collect();
    plan
}

/// A link in the place of a mirrored file may lead out of the project.
pub(super) fn refuse_link(path: &Path) -> Result<(), BoardError> {
    match path.canonicalize() {
        Ok(end) if end != path => {
            let message = format!("{} is a symbolic link now", path.display());
            let problem = FieldProblem::new("plan", "bad_path", message);
            let problem = problem.hint("replace the link with the file itself");
            Err(BoardError::Fields(vec![problem]))
        }
        _ => Ok(()),
    }
}

/// The id that a mirrored task has in its file by now.
fn find(plan: &PlanToRun, row: &TaskRow) -> Result<TaskId, BoardError> {
    let tasks = plan.document.plan.tasks.iter().zip(&plan.document.places);
    let mut same = tasks.filter(|(task, place)| match place.identity {
        Identity::WrittenId => task.id.as_str() == row.key,
        Identity::Text => task.title == row.title,
    });
    let found = same.next().map(|(task, _)| task.id.clone());
    found.ok_or_else(|| BoardError::Gone {
        key: row.key.clone(),
        title: row.title.clone(),
        path: PathBuf::from(&row.plan),
    })
}
