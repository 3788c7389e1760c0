//! Why a batch is not begun, with a stable word and what to do about it.

use pleach_domain::problem::{Code, Problem};

use crate::agent::NoAgent;
use crate::causes::with_causes;
use crate::config::ConfigError;
use crate::database::DatabaseError;
use crate::git::{GitError, StoreError};
use crate::prompt::UnknownPlace;
use crate::run::{InPlaceError, RunError};
use crate::sandbox::NoSandbox;

/// Why a batch is not begun.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The plan or the selection is wrong; never empty.
    #[error("{}", .0.first().map_or("nothing is chosen", |problem| problem.message.as_str()))]
    Plan(Vec<Problem>),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There is no agent.
    #[error(transparent)]
    Agent(#[from] NoAgent),
    /// Nothing can hold agents as they should be held.
    #[error(transparent)]
    Sandbox(#[from] NoSandbox),
    /// The prompt asks for something that no task has.
    #[error(transparent)]
    Prompt(#[from] UnknownPlace),
    /// The same key came with another request.
    #[error("the idempotency key {key:?} was used for another request, which made batch {batch}")]
    KeyReused {
        /// The key.
        key: String,
        /// The batch that it made.
        batch: u32,
    },
    /// The batch cannot run.
    #[error(transparent)]
    Run(Box<RunError>),
}

impl From<RunError> for StartError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<DatabaseError> for StartError {
    fn from(error: DatabaseError) -> Self {
        RunError::from(error).into()
    }
}

impl StartError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Plan(problems) => problems
                .first()
                .map_or(Code::TaskNotFound, |problem| problem.code)
                .as_str(),
            Self::Config(_) => "bad_config",
            Self::Agent(NoAgent::Unknown { .. }) => "unknown_agent",
            Self::Agent(_) => "no_agent",
            Self::Sandbox(_) => "no_sandbox",
            Self::Prompt(_) => "bad_prompt",
            Self::KeyReused { .. } => "key_reused",
            Self::Run(error) => error.code(),
        }
    }

    /// What is wrong, with its causes.
    pub fn message(&self) -> String {
        with_causes(self)
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Plan(problems) => problems.first().and_then(|problem| problem.hint.clone()),
            Self::Config(error) => Some(error.hint()),
            Self::Agent(error) => Some(error.hint()),
            Self::Sandbox(error) => Some(error.hint().to_string()),
            Self::Prompt(error) => Some(error.hint()),
            Self::KeyReused { .. } => Some("take a new key for a new request".to_owned()),
            Self::Run(error) => error.hint(),
        }
    }
}

impl RunError {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Store(StoreError::BaseNotFound { .. }) => "base_not_found",
            Self::Store(StoreError::Login { .. }) => "login",
            Self::Store(_) => "repository",
            Self::Git(_) => "git",
            Self::Weave(_) => "weave",
            Self::Worktree(_) => "worktree",
            Self::State(_) => "state_folder",
            Self::Database(DatabaseError::TaskBusy { .. }) => "task_busy",
            Self::Database(_) => "database",
            Self::Sandbox(_) => "no_sandbox",
            Self::InPlace(error) => error.code(),
            Self::NoBatch(_) => "batch_not_found",
            Self::Over(_) => "batch_over",
            Self::Ownership(_) | Self::Process(_) | Self::Unreadable { .. } | Self::Io { .. } => {
                "run"
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Git(GitError::NotInstalled) => {
                Some("install git and put it on the PATH".to_owned())
            }
            Self::State(error) => Some(error.hint().to_string()),
            Self::Database(error) => error.hint().map(str::to_owned),
            Self::Sandbox(error) => Some(error.hint().to_string()),
            Self::InPlace(error) => Some(in_place_hint(error)),
            Self::NoBatch(_) => {
                Some("`pleach status --all` lists the batches there are".to_owned())
            }
            Self::Over(_) => Some("`pleach retry BATCH TASK` opens it again".to_owned()),
            _ => None,
        }
    }
}

fn in_place_hint(error: &InPlaceError) -> String {
    error.hint().to_owned()
}
