//! What the database knows of the tasks of a plan file.
//!
//! Every command that shows or starts tasks goes this way, so that all of them say the same of a task.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pleach_domain::id::TaskId;
use pleach_domain::plan::Plan;
use pleach_engine::plan_file::PlanFile;
use pleach_formats::StatusFile;
use pleach_log::database::Database;
use pleach_log::outlook::{OutlookInput, Recall, recall};
use pleach_log::scope::Scope;
use pleach_system::state_folder::StateFolder;

use crate::failure::{Exit, Failure, Failures};
use crate::plan_source::{PlanSource, current_folder};

/// The database of a plan whose project is known.
pub(crate) struct PlanStates {
    state: StateFolder,
    pub(crate) database: Database,
    pub(crate) project: String,
    /// The plan's name in the database.
    pub(crate) plan: String,
}

impl PlanStates {
    /// What is known so far; nothing where there is no database yet, or no project.
    pub(crate) fn find(source: &PlanSource) -> Result<Option<Self>, Failures> {
        let state = StateFolder::imagined()?;
        if !state.database().exists() {
            return Ok(None);
        }
        Self::open(state, source)
    }

    /// The same, with a database made where there is none.
    pub(crate) fn make(source: &PlanSource) -> Result<Option<Self>, Failures> {
        Self::open(StateFolder::of_user()?, source)
    }

    fn open(state: StateFolder, source: &PlanSource) -> Result<Option<Self>, Failures> {
        let scope = Scope::of_folder(&state, &current_folder()?)?;
        let plan = source.path.canonicalize().ok();
        let (Some(project), Some(plan)) = (scope.project(), plan) else {
            return Ok(None);
        };
        Ok(Some(Self {
            database: Database::open(&state)?,
            project: project.to_owned(),
            plan: plan.to_string_lossy().into_owned(),
            state,
        }))
    }

    pub(crate) fn recall(&self, plan: &mut Plan, what: Recall) -> Result<(), Failures> {
        let setting = OutlookInput {
            state: &self.state,
            database: &self.database,
            project: Some(&self.project),
            plan: Some(&self.plan),
            at_once: 1,
        };
        Ok(recall(plan, &setting, what)?)
    }
}

/// Gives the tasks of a plan file the states that are known, if any are.
pub(crate) fn recall_states(source: &mut PlanSource, what: Recall) -> Result<(), Failures> {
    if let Some(states) = PlanStates::find(source)? {
        states.recall(&mut source.document.plan, what)?;
    }
    Ok(())
}

/// Gives the tasks of a plan file the states that a status file has; tells which tasks that knows.
pub(crate) fn recorded_states(
    source: &mut PlanSource,
    path: &Path,
) -> Result<HashSet<TaskId>, Failures> {
    let recorded = load_status(path)?.plan(&Plan::default());
    let index = recorded.index();
    for task in &mut source.document.plan.tasks {
        if let Some(position) = index.find(task.id.as_str()) {
            task.status = recorded.tasks[position].status;
        }
    }
    Ok(recorded.tasks.iter().map(|task| task.id.clone()).collect())
}

/// The plan with the states of a status file, which is enough by itself; a plan that was named must be there.
pub(crate) fn recorded_plan(named: Option<&Path>, status: &Path) -> Result<Plan, Failures> {
    let recorded = load_status(status)?;
    let written = match PlanSource::load(named) {
        Ok(source) => source.document.plan,
        Err(failures) if named.is_some() => return Err(failures),
        Err(_) => Plan::default(),
    };
    Ok(recorded.plan(&written))
}

fn load_status(path: &Path) -> Result<StatusFile, Failures> {
    let file = PlanFile::load(path)?;
    Ok(StatusFile::read(file.text()).map_err(|error| bad_status(&error, path))?)
}

/// Fails if a status file could not keep what becomes of the chosen tasks.
pub(crate) fn check_recorded(
    source: &PlanSource,
    chosen: &[usize],
    recorded: &HashSet<TaskId>,
    path: &Path,
) -> Result<(), Failures> {
    let ids = chosen.iter().map(|at| &source.document.plan.tasks[*at].id);
    let missing = ids.filter(|id| !recorded.contains(*id)).map(|id| {
        let message = format!("task {id} is not in {}", path.display());
        Failure::new(Exit::Usage, "task_not_found", message)
            .hint("add it to the file, or run without --status")
    });
    Failures::check(missing.collect())
}

/// A file's whole path, by which another process finds it too.
pub(crate) fn whole_path(file: Option<&Path>) -> Result<Option<PathBuf>, Failures> {
    let whole = file.map(|file| {
        file.canonicalize().map_err(|error| {
            let message = format!("could not find {}: {error}", file.display());
            Failure::new(Exit::Usage, "bad_file", message)
                .hint("pass the path of an existing status.json")
        })
    });
    Ok(whole.transpose()?)
}

pub(crate) fn bad_status(
    error: &pleach_formats::StatusFileError,
    path: &std::path::Path,
) -> Failure {
    use pleach_formats::StatusFileError;
    let failure = match error {
        StatusFileError::Malformed { line, .. } => {
            Failure::new(Exit::Usage, "bad_file", error.to_string())
                .place(format!("{}:{line}", path.display()))
        }
        StatusFileError::NoSuchTask(_) => {
            Failure::new(Exit::Usage, "task_not_found", error.to_string())
        }
    };
    failure.hint(r#"expected {"tasks":[{"id":"1.1","status":"pending"}]}"#)
}
