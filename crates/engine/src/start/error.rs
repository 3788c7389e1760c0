//! Why a batch is not begun, with a stable word and what to do about it.

use pleach_domain::id::BatchNumber;
use pleach_domain::problem::Problem;
use pleach_log::database::DatabaseError;
use pleach_system::sandbox::NoSandbox;
use pleach_system::text::causes::with_causes;

use crate::agent::NoAgent;
use crate::config::ConfigError;
use crate::fault::{Blame, Fault, Faults};
use crate::prompt::UnknownPlace;
use crate::run::RunError;
use crate::trust::TrustRequest;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The plan or the selection is wrong; never empty.
    #[error("{}", .0.first().map_or("no tasks selected", |problem| problem.message.as_str()))]
    Plan(Vec<Problem>),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The project asks for more than others may do, and nobody trusts it with that.
    #[error("{} needs your trust: {}", .0.folder.display(), .0.in_words().join(", "))]
    Untrusted(TrustRequest),
    #[error(transparent)]
    Agent(#[from] NoAgent),
    #[error(transparent)]
    Sandbox(#[from] NoSandbox),
    #[error(transparent)]
    Prompt(#[from] UnknownPlace),
    #[error(
        "the idempotency key {key:?} was already used for another request, which created batch {batch}"
    )]
    KeyReused { key: String, batch: BatchNumber },
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

impl From<StartError> for Faults {
    fn from(error: StartError) -> Self {
        let message = with_causes(&error);
        match error {
            StartError::Plan(problems) => {
                let faults = problems
                    .iter()
                    .map(|problem| Fault::of_plan(problem, "plan"));
                let nothing = || Fault::new(Blame::User, "task_not_found", message);
                match Faults::check(faults.collect()) {
                    Err(faults) => faults,
                    Ok(()) => nothing().into(),
                }
            }
            StartError::Config(error) => error.into(),
            StartError::Untrusted(openings) => Fault::new(Blame::User, "needs_trust", message)
                .hint(format!(
                    "run `{}` in a terminal; a request cannot do that",
                    openings.command()
                ))
                .into(),
            StartError::Agent(error) => error.into(),
            StartError::Sandbox(error) => error.into(),
            StartError::Prompt(error) => error.into(),
            StartError::KeyReused { .. } => Fault::new(Blame::User, "key_reused", message)
                .hint("use a new key for a new request")
                .into(),
            StartError::Run(error) => (*error).into(),
        }
    }
}
