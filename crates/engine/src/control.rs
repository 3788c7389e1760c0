//! What a person does to a batch from another process: approve, cancel, retry, resolve.
//!
//! Asks the owner; where there is none, hands back the batch for the caller to run, with the wish as its first message.

mod ending;

use std::path::Path;

use pleach_domain::batch::{LandingRequest, Message};
use pleach_domain::event::Rollback;
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::{Commit, Consent, TaskState};

pub use ending::{cancelled, stopped};

use pleach_git::git::CommitId;
use pleach_log::database::Database;
use pleach_log::ownership::{Answer, AskError, Request, ask, is_owned};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::shell_words::quoted;

use crate::consent::{PendingConsent, SteeringChange, SteeringFiles, fingerprint, pending_changes};
use crate::project_secrets::secrets_of;
use crate::resolve::ResolvedConflict;
use crate::run::{Prepared, RunError, take_up};
use crate::stored_batch::{LookupError, StoredBatch};

/// Owners come and go between a look and a question; nobody is that unlucky.
const TRIES: usize = 20;

#[derive(Debug)]
pub enum ControlOutcome {
    Done {
        message: String,
    },
    /// Nobody was at the batch: running this does it.
    Run(Box<Prepared>),
}

#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error("{message}")]
    Refused {
        code: &'static str,
        message: String,
        hint: String,
    },
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Run(Box<RunError>),
}

impl From<RunError> for ControlError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<pleach_log::database::DatabaseError> for ControlError {
    fn from(error: pleach_log::database::DatabaseError) -> Self {
        Self::Lookup(error.into())
    }
}

fn refused(code: &'static str, message: String, hint: String) -> ControlError {
    ControlError::Refused {
        code,
        message,
        hint,
    }
}

enum OwnerReply {
    Done,
    Nothing,
}

#[derive(Debug)]
pub struct Control<'a> {
    pub state: &'a StateFolder,
    pub batch: u32,
    /// Our own program, for a batch that is taken up.
    pub program: &'a Path,
}

impl Control<'_> {
    /// What people call the batch; it has been found before anything is said of it.
    pub fn number(&self) -> BatchNumber {
        let database = Database::open(self.state);
        let number = database.and_then(|database| database.number_of(self.batch));
        number.ok().flatten().unwrap_or_default()
    }

    /// What the next task that waits needs consent to; nothing, if none waits or it needs none.
    pub fn pending_consent(&self) -> Result<Option<PendingConsent>, ControlError> {
        let stored = self.load()?;
        let Some((task, Some(consent))) = next_waiting(&stored) else {
            return Ok(None);
        };
        let look = || -> Result<Vec<SteeringChange>, RunError> {
            let store = stored.store(self.state)?;
            let base = stored.record.base.parse::<CommitId>().ok();
            let (Some(store), Some(base)) = (store, base) else {
                return Err(RunError::NoBatch(self.batch));
            };
            let begun_with = SteeringFiles::at(&store, &base)?;
            let hider = secrets_of(&store, &base, &stored.record.attempts.passed_on()).hider();
            Ok(pending_changes(&store, &consent, &begun_with, &hider)?)
        };
        Ok(Some(PendingConsent {
            changes: look()?,
            fingerprint: fingerprint(&consent),
            task_id: stored.task_ids().id(&task),
            task,
        }))
    }

    /// Lets the task that waits start, and says so; with a fingerprint, if it waits for consent to exactly that.
    pub fn approve(&self, fingerprint: Option<&str>) -> Result<String, ControlError> {
        let request = match fingerprint {
            None => Request::Approve,
            Some(fingerprint) => Request::ApproveConsent {
                fingerprint: fingerprint.to_owned(),
            },
        };
        let stored = self.load()?;
        let next = next_waiting(&stored);
        if !stored.batch.status.is_over()
            && let OwnerReply::Done = self.ask(&request)?
        {
            return Ok(match next {
                Some((task, None)) => format!("task {task} of batch {} is approved", self.number()),
                Some((task, Some(consent))) => format!(
                    "task {task} of batch {} may start; you consented to the changes of earlier tasks to {}",
                    self.number(),
                    consent.paths()
                ),
                None => format!("the next task of batch {} is approved", self.number()),
            });
        }
        // Whoever was there may have ended it by now.
        let stored = self.load()?;
        if stored.batch.status.is_over() {
            return Err(self.over(&stored, "nothing_waiting"));
        }
        Err(refused(
            "interrupted",
            format!("batch {} is interrupted", self.number()),
            format!("`pleach resume {}` resumes it", self.number()),
        ))
    }

    /// Stops one task; done when that is over.
    pub fn cancel_task(&self, task: &TaskId) -> Result<ControlOutcome, ControlError> {
        let stored = self.load()?;
        let position = stored.position(task)?;
        if let Some(ending) = stored.batch.tasks[position].state.ending() {
            let message = format!("task {task} is already finished: {}", ending.outcome());
            let hint = format!("`pleach status {}` shows the others", self.number());
            return Err(refused("task_over", message, hint));
        }
        let request = Request::Cancel {
            task: Some(task.clone()),
            rollback: Rollback::Keep,
        };
        self.ask(&request)?;
        // Told by what is stored: the owner may have ended with the task.
        let stored = self.load()?;
        match stored.batch.tasks[position].state.ending() {
            Some(ending) => Ok(ControlOutcome::Done {
                message: match ending.outcome() {
                    "cancelled" => format!("task {task} is cancelled; its work is kept"),
                    outcome => {
                        format!("task {task} finished before it could be cancelled: {outcome}")
                    }
                },
            }),
            None => Err(refused(
                "interrupted",
                format!("batch {} is interrupted; no task is running", self.number()),
                format!(
                    "`pleach cancel {0}` cancels it, `pleach resume {0}` resumes it",
                    self.number()
                ),
            )),
        }
    }

    /// Tries tasks again, all that did not make it if none is named; opens a batch that is over.
    pub fn retry(&self, named: &[TaskId]) -> Result<ControlOutcome, ControlError> {
        for _ in 0..TRIES {
            let stored = self.load()?;
            let tasks = self.to_retry(&stored, named)?;
            // Also of a batch that is over: somebody may be about to open it again.
            let request = Request::Retry {
                tasks: tasks.clone(),
            };
            if let OwnerReply::Done = self.ask(&request)? {
                let verb = if named.len() == 1 { "is" } else { "are" };
                let message = format!("{} {verb} queued again", names(named));
                return Ok(ControlOutcome::Done { message });
            }
            if let Some(prepared) = self.take_up(Message::Retry(tasks))? {
                return Ok(ControlOutcome::Run(prepared));
            }
        }
        Err(self.slippery())
    }

    /// Takes up a batch that is over, to land what is woven.
    pub fn land(&self, asked: LandingRequest) -> Result<Box<Prepared>, ControlError> {
        let stored = self.load()?;
        if stored.is_in_place() {
            let (batch, folder) = (self.number(), stored.folder().display());
            let message = format!(
                "batch {batch} ran in {folder}, which was not a git repository: there is no branch to land"
            );
            let hint = format!("its changes are in the folder; `pleach diff {batch}` shows them");
            return Err(refused("ran_in_place", message, hint));
        }
        if !stored.batch.status.is_over() {
            let message = format!("batch {} is still running", self.number());
            if !is_owned(&self.state.batch(self.batch)).map_err(RunError::from)? {
                // Somebody killed the same command.
                if stored.batch.landing_asked.as_ref() == Some(&asked)
                    && let Some(prepared) = self.take_up(None)?
                {
                    return Ok(prepared);
                }
                let message = format!("batch {} is interrupted", self.number());
                let hint = format!("`pleach resume {}` resumes it", self.number());
                return Err(refused("interrupted", message, hint));
            }
            let hint = "it lands automatically when it completes, as the key `land` says";
            return Err(refused("batch_running", message, hint.to_owned()));
        }
        if stored.batch.decide(Message::Land(asked.clone())).is_empty() {
            let message = format!("batch {} has nothing to land", self.number());
            let hint = format!("`pleach status {}` shows its tasks", self.number());
            return Err(refused("nothing_to_land", message, hint));
        }
        self.take_up(Message::Land(asked))?.ok_or_else(|| {
            let message = format!("batch {} is in use by another process", self.number());
            let hint = format!("`pleach status {} --watch` follows it", self.number());
            refused("batch_running", message, hint)
        })
    }

    /// Has what a person made of a conflict woven; done when it is, and opens a batch that is over.
    pub fn resolve(
        &self,
        task: &TaskId,
        resolved: &ResolvedConflict,
    ) -> Result<ControlOutcome, ControlError> {
        let commit = |commit: &CommitId| Commit(commit.to_string());
        let request = Request::Resolve {
            task: task.clone(),
            commit: commit(&resolved.commit),
            basis: commit(&resolved.basis),
        };
        for _ in 0..TRIES {
            if let OwnerReply::Done = self.ask(&request)? {
                // Told by what is stored: the weaving may have found another conflict.
                let stored = self.load()?;
                let state = &stored.batch.tasks[stored.position(task)?].state;
                let outcome = state.as_str().replace('_', " ");
                return Ok(ControlOutcome::Done {
                    message: format!("task {task} is {outcome}"),
                });
            }
            let first = Message::Resolve {
                task: task.clone(),
                commit: commit(&resolved.commit),
                basis: commit(&resolved.basis),
                files: resolved.files.clone(),
            };
            if let Some(prepared) = self.take_up(first)? {
                return Ok(ControlOutcome::Run(prepared));
            }
        }
        Err(self.slippery())
    }

    /// The tasks to try again; fails if that makes no sense for one of them.
    fn to_retry(
        &self,
        stored: &StoredBatch,
        named: &[TaskId],
    ) -> Result<Vec<TaskId>, ControlError> {
        if named.is_empty() {
            let tasks = stored.batch.tasks.iter();
            let missed = tasks.filter(|task| {
                let ending = task.state.ending();
                ending.is_some_and(|ending| !ending.is_success()) && !task.is_elsewhere
            });
            let missed: Vec<TaskId> = missed.map(|task| task.design.id.clone()).collect();
            if !missed.is_empty() {
                return Ok(missed);
            }
            let message = format!("batch {} has no task to retry", self.number());
            let hint = format!("`pleach status {}` shows its state", self.number());
            return Err(refused("nothing_to_retry", message, hint));
        }
        for task in named {
            let position = stored.position(task)?;
            let state = &stored.batch.tasks[position].state;
            let (message, hint) = match state.ending() {
                Some(ending) if !ending.is_success() => continue,
                Some(ending) => (
                    format!("task {task} is {}", ending.outcome().replace('_', " ")),
                    "only tasks that failed or were left out can be retried".to_owned(),
                ),
                None => (
                    format!("task {task} is still {}", state.as_str()),
                    format!(
                        "`pleach cancel {} {}` cancels it",
                        self.number(),
                        quoted(task.as_str())
                    ),
                ),
            };
            return Err(refused("nothing_to_retry", message, hint));
        }
        Ok(named.to_vec())
    }

    fn load(&self) -> Result<StoredBatch, LookupError> {
        let database = Database::open(self.state)?;
        StoredBatch::load(&database, self.batch)
    }

    /// Asks the owner; nothing, if there is none or it ended before it answered.
    fn ask(&self, request: &Request) -> Result<OwnerReply, ControlError> {
        match ask(&self.state.batch(self.batch), request) {
            Ok(Answer::Done { .. }) => Ok(OwnerReply::Done),
            Ok(Answer::Refused {
                code,
                message,
                hint,
            }) => Err(self.refusal(&code, message, hint)),
            Err(AskError::NobodyThere(_) | AskError::Broken { .. }) => Ok(OwnerReply::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    fn refusal(&self, code: &str, message: String, hint: Option<String>) -> ControlError {
        let known = [
            "nothing_waiting",
            "consent_changed",
            "nothing_to_retry",
            "batch_stopping",
            "task_not_found",
            "task_over",
            "task_busy",
            "not_conflicted",
            "bad_resolution",
            "bad_key",
        ];
        let code = known.into_iter().find(|known| *known == code);
        let watch = || format!("`pleach status {}` shows its state", self.number());
        refused(
            code.unwrap_or("refused"),
            message,
            hint.unwrap_or_else(watch),
        )
    }

    fn take_up(
        &self,
        first: impl Into<Option<Message>>,
    ) -> Result<Option<Box<Prepared>>, ControlError> {
        let taken = take_up(self.state, self.batch, self.program, first.into())?;
        Ok(taken.map(Box::new))
    }

    fn over(&self, stored: &StoredBatch, code: &'static str) -> ControlError {
        let status = stored.batch.status.as_str();
        refused(
            code,
            format!("batch {} is already finished: {status}", self.number()),
            format!("`pleach status {}` shows the result", self.number()),
        )
    }

    fn slippery(&self) -> ControlError {
        refused(
            "busy",
            format!("batch {} kept changing owner", self.number()),
            "try again".to_owned(),
        )
    }
}

fn next_waiting(stored: &StoredBatch) -> Option<(TaskId, Option<Consent>)> {
    let mut tasks = stored.batch.tasks.iter();
    tasks.find_map(|task| match &task.state {
        TaskState::Waiting { consent } => Some((task.design.id.clone(), consent.clone())),
        _ => None,
    })
}

fn names(tasks: &[TaskId]) -> String {
    match tasks {
        [] => "all unsuccessful tasks".to_owned(),
        [one] => format!("task {one}"),
        _ => {
            let ids: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
            format!("tasks {}", ids.join(", "))
        }
    }
}
