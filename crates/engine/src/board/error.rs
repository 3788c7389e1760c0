//! Why something cannot be done to a project or a task, and what to do about it.

use std::path::PathBuf;

use pleach_domain::id::BatchNumber;
use pleach_domain::problem::Problem;
use pleach_git::git::{GitError, StoreError};
use pleach_log::database::DatabaseError;
use pleach_system::state_folder::StateFolderError;
use serde::Serialize;

use crate::config::ConfigError;
use crate::plan_file::PlanFileError;

/// One thing that is wrong with what was asked for, and where it stands in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldProblem {
    /// The field, such as `dependsOn[2]` or `tasks[0].id`.
    pub path: String,
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
    /// The line, where the field is a text of many.
    pub line: Option<u32>,
}

impl FieldProblem {
    pub fn new(path: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code,
            message: message.into(),
            hint: None,
            line: None,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn in_field(path: impl Into<String>, problem: &Problem) -> Self {
        Self {
            path: path.into(),
            code: problem.code.as_str(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            line: problem.line,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoardErrorKind {
    Invalid,
    NotFound,
    /// Something else stands in the way for now.
    Conflict,
    /// What was asked for is well formed and cannot be done.
    Impossible,
    Internal,
}

#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    #[error("project {0} not found")]
    NoProject(String),
    #[error("task {0} not found")]
    NoTask(String),
    #[error("batch {batch} of the project is still running")]
    ProjectBusy { batch: BatchNumber },
    /// The project is still being cloned, or could not be.
    #[error("{message}")]
    NotCloned { message: String },
    #[error("task {key} is in batch {batch}, which is still running")]
    TaskBusy { key: String, batch: BatchNumber },
    /// The task is written in a plan file, which alone says what it is.
    #[error("task {key} is defined in {place}")]
    TaskOfPlanFile { key: String, place: String },
    #[error("task {key} cannot be marked {status}: {why}")]
    CannotHold {
        key: String,
        status: &'static str,
        /// What the plan has instead.
        why: String,
    },
    #[error("{}", told(.0))]
    Fields(Vec<FieldProblem>),
    #[error("no tasks given")]
    NoTasks,
    #[error("the tasks belong to more than one project")]
    MixedProjects,
    /// The tasks are in phases or stages of more than one plan.
    #[error("the tasks belong to phases or stages of more than one plan: {}", .0.join(", "))]
    MixedPlans(Vec<String>),
    #[error("the project has no execution plan")]
    NoPlan,
    #[error("task {key} ({title}) is no longer in {}", path.display())]
    Gone {
        /// Its id when the file was read last.
        key: String,
        title: String,
        path: PathBuf,
    },
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    State(#[from] StateFolderError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("could not generate an id")]
    NoId(#[source] std::io::Error),
}

fn told(problems: &[FieldProblem]) -> String {
    match problems {
        [] => "the request is invalid".to_owned(),
        [only] => only.message.clone(),
        [first, rest @ ..] => format!("{}, and {} more", first.message, rest.len()),
    }
}

impl BoardError {
    pub(super) fn field(path: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self::Fields(vec![FieldProblem::new(path, code, message)])
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::NoProject(_) => "project_not_found",
            Self::NoTask(_) => "task_not_found",
            Self::ProjectBusy { .. } => "project_busy",
            Self::NotCloned { .. } => "not_cloned",
            Self::TaskBusy { .. } | Self::Database(DatabaseError::TaskBusy { .. }) => "task_busy",
            Self::TaskOfPlanFile { .. } => "task_of_plan_file",
            Self::CannotHold { .. } => "cannot_hold",
            Self::Fields(problems) => problems.first().map_or("invalid", |first| first.code),
            Self::NoTasks => "empty_batch",
            Self::MixedProjects => "mixed_projects",
            Self::MixedPlans(_) => "mixed_plans",
            Self::NoPlan => "no_plan",
            Self::Gone { .. } => "task_gone",
            Self::PlanFile(_) => "plan_file",
            Self::Store(_) => "repository",
            Self::Git(_) => "git",
            Self::Config(_) => "config",
            Self::State(_) | Self::NoId(_) => "internal",
            Self::Database(_) => "database",
        }
    }

    pub(crate) fn fault(&self) -> BoardErrorKind {
        match self {
            Self::NoTasks | Self::MixedProjects | Self::MixedPlans(_) | Self::NoPlan => {
                BoardErrorKind::Invalid
            }
            Self::NoProject(_) | Self::NoTask(_) => BoardErrorKind::NotFound,
            Self::ProjectBusy { .. }
            | Self::NotCloned { .. }
            | Self::TaskBusy { .. }
            | Self::TaskOfPlanFile { .. }
            | Self::Gone { .. }
            | Self::Database(DatabaseError::TaskBusy { .. }) => BoardErrorKind::Conflict,
            Self::CannotHold { .. }
            | Self::Fields(_)
            | Self::PlanFile(_)
            | Self::Store(_)
            | Self::Config(_) => BoardErrorKind::Impossible,
            Self::Git(_) | Self::State(_) | Self::Database(_) | Self::NoId(_) => {
                BoardErrorKind::Internal
            }
        }
    }

    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoProject(_) => "GET /api/projects lists all projects".to_owned(),
            Self::NoTask(_) => "GET /api/tasks lists all tasks".to_owned(),
            Self::ProjectBusy { .. } | Self::TaskBusy { .. } => {
                "wait until the batch finishes, or cancel it".to_owned()
            }
            Self::NotCloned { .. } => {
                "wait until cloning finishes, or add the project again".to_owned()
            }
            Self::TaskOfPlanFile { place, .. } => format!("edit it in {place}"),
            Self::CannotHold { .. } => "plan files record only open and done tasks".to_owned(),
            Self::Fields(problems) => return problems.iter().find_map(|one| one.hint.clone()),
            Self::NoTasks => "pass at least one task id".to_owned(),
            Self::MixedProjects => "start one batch per project".to_owned(),
            Self::MixedPlans(_) => "start one batch per plan".to_owned(),
            Self::NoPlan => "PUT /api/projects/{id}/plan, or import a plan file".to_owned(),
            Self::Gone { .. } => "check the file, then reload the tasks".to_owned(),
            Self::PlanFile(error) => error.hint(),
            Self::Store(error) => return error.hint(),
            Self::Config(error) => error.hint(),
            Self::State(error) => error.hint().to_owned(),
            Self::Database(error) => return error.hint().map(str::to_owned),
            Self::Git(_) | Self::NoId(_) => return None,
        };
        Some(hint)
    }

    pub fn fields(&self) -> &[FieldProblem] {
        match self {
            Self::Fields(problems) => problems,
            _ => &[],
        }
    }
}
