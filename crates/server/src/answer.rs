//! What is answered when something is wrong: a status, a stable word, a message and a hint.
//!
//! Every error of the engine comes through here, told in the engine's own words.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_engine::agent::NoAgent;
use pleach_engine::config::ConfigError;
use pleach_engine::control::ControlError;
use pleach_engine::fault::{Blame, Fault, Faults};
use pleach_engine::plan_file::PlanFileError;
use pleach_engine::prompt::UnknownPlace;
use pleach_engine::run::RunError;
use pleach_engine::start::StartError;
use pleach_engine::stored_batch::LookupError;
use pleach_git::git::{GitError, StoreError};
use pleach_git::worktree::WorktreeError;
use pleach_log::database::DatabaseError;
use pleach_log::view::ViewError;
use pleach_system::sandbox::NoSandbox;
use pleach_system::secrets::Secrets;
use pleach_system::state_folder::StateFolderError;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// What is answered instead of what was asked for.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    body: Box<ErrorBody>,
}

/// The body of every error response.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    error: ErrorText,
}

/// The error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorText {
    /// A stable code.
    #[schema(example = "task_busy")]
    code: String,
    /// The message, for people.
    message: String,
    /// What to do about it.
    hint: Option<String>,
    /// The invalid fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    fields: Vec<FieldError>,
    /// Details for programs; they depend on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    details: Option<Value>,
}

/// An invalid field of a request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// Its path in the request.
    #[schema(example = "tasks[2].title")]
    pub(crate) path: String,
    /// What is wrong with it.
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(
        status: StatusCode,
        code: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let error = ErrorText {
            code: code.to_owned(),
            message: message.into(),
            hint: Some(hint.into()),
            fields: Vec::new(),
            details: None,
        };
        Self {
            status,
            body: Box::new(ErrorBody { error }),
        }
    }

    /// A field that is out of its range, or names what is not there.
    pub(crate) fn field(
        status: StatusCode,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (path, message) = (path.into(), message.into());
        let told = if path.is_empty() {
            message.clone()
        } else {
            format!("{path}: {message}")
        };
        let mut refusal = Self::new(status, "bad_field", told, hint);
        refusal.body.error.fields.push(FieldError { path, message });
        refusal
    }

    /// The same with the fields that are wrong.
    pub(crate) fn fields(mut self, fields: Vec<FieldError>) -> Self {
        self.body.error.fields = fields;
        self
    }

    /// The same with another code.
    pub(crate) fn code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.body.error.code);
        self
    }

    /// The same with what a program needs to go on.
    pub(crate) fn details(mut self, details: Value) -> Self {
        self.body.error.details = Some(details);
        self
    }

    pub(crate) fn not_found(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message, hint)
    }

    pub(crate) fn stopping() -> Self {
        let hint = "try again once it has restarted";
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "stopping",
            "the server is stopping",
            hint,
        )
    }

    /// The stable word of it.
    pub(crate) fn told(&self) -> &str {
        &self.body.error.code
    }

    /// Something broke that cannot; the log tells what.
    pub(crate) fn bug() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "bug",
            "internal error",
            "see the server's log; please report this bug",
        )
    }
}

impl Refusal {
    /// What it says, without anything that nobody may see.
    pub(crate) fn into_text(self) -> ErrorText {
        let mut error = self.body.error;
        let hider = Secrets::of_environment(&[]).hider();
        error.message = hider.hidden(error.message);
        error.hint = error.hint.map(|hint| hider.hidden(hint));
        for field in &mut error.fields {
            field.path = hider.hidden(std::mem::take(&mut field.path));
            field.message = hider.hidden(std::mem::take(&mut field.message));
        }
        error
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status;
        let error = self.into_text();
        let code = error.code.clone();
        let mut response = (status, Json(ErrorBody { error })).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(LoggedCode(code));
        response
    }
}

/// The code of an error, for the log.
#[derive(Debug, Clone)]
pub(crate) struct LoggedCode(pub(crate) String);

/// Codes that do not mean what their kind usually means.
fn status_of(fault: &Fault) -> StatusCode {
    match fault.code {
        "batch_not_found" | "task_not_found" | "project_not_found" => StatusCode::NOT_FOUND,
        "mixed_projects" | "mixed_plans" | "empty_batch" | "bad_selection" => {
            StatusCode::BAD_REQUEST
        }
        "needs_trust" => StatusCode::FORBIDDEN,
        "unfit_folder" => StatusCode::UNPROCESSABLE_ENTITY,
        "task_busy" | "nothing_waiting" | "consent_changed" | "batch_over" | "batch_running"
        | "batch_stopping" | "interrupted" | "task_over" | "nothing_to_retry"
        | "nothing_to_land" | "not_conflicted" | "bad_resolution" | "ran_in_place" | "busy"
        | "refused" | "no_consent" | "project_busy" | "task_of_plan_file" | "folder_busy"
        | "needs_repository" => StatusCode::CONFLICT,
        _ => match fault.blame {
            Blame::User => StatusCode::UNPROCESSABLE_ENTITY,
            Blame::Environment => StatusCode::SERVICE_UNAVAILABLE,
        },
    }
}

impl From<Faults> for Refusal {
    fn from(faults: Faults) -> Self {
        let all = faults.into_vec();
        let first = &all[0];
        let mut error = ErrorText {
            code: first.code.to_owned(),
            message: first.message.clone(),
            hint: first.hint.clone(),
            fields: Vec::new(),
            details: None,
        };
        if all.len() > 1 {
            let tell = |fault: &Fault| FieldError {
                path: fault.place.clone().unwrap_or_default(),
                message: fault.message.clone(),
            };
            error.fields = all.iter().map(tell).collect();
        }
        Self {
            status: status_of(first),
            body: Box::new(ErrorBody { error }),
        }
    }
}

/// Errors of the engine, told as it tells them everywhere.
macro_rules! told_as_faults {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Refusal {
            fn from(error: $error) -> Self {
                Faults::from(error).into()
            }
        }
    )*};
}

told_as_faults!(
    ConfigError,
    ControlError,
    DatabaseError,
    GitError,
    LookupError,
    NoAgent,
    NoSandbox,
    PlanFileError,
    RunError,
    StartError,
    StateFolderError,
    StoreError,
    UnknownPlace,
    ViewError,
    WorktreeError,
);
