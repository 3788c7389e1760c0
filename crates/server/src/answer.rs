//! What is answered when something is wrong: a status, a stable word, a message and a hint.
//!
//! Every error of the engine comes through here, told in the engine's own words.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_engine::fault::{Blame, ErrorText, Fault, Faults, FieldError};
use pleach_system::secrets::Secrets;
use serde::Serialize;
use utoipa::ToSchema;

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

    pub(crate) fn fields(mut self, fields: Vec<FieldError>) -> Self {
        self.body.error.fields = fields;
        self
    }

    pub(crate) fn code(mut self, code: &str) -> Self {
        code.clone_into(&mut self.body.error.code);
        self
    }

    pub(crate) fn not_found(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message, hint)
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

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = self.status;
        let hider = Secrets::of_environment(&[]).hider();
        let error = self.body.error.hidden(&hider);
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

#[derive(Debug, Clone)]
pub(crate) struct LoggedCode(pub(crate) String);

/// Codes that do not mean what their kind usually means.
fn status_of(fault: &Fault) -> StatusCode {
    match fault.code {
        // Of what a field holds.
        "task_not_found" if !fault.fields.is_empty() => StatusCode::UNPROCESSABLE_ENTITY,
        "batch_not_found" | "task_not_found" | "project_not_found" | "no_work" => {
            StatusCode::NOT_FOUND
        }
        "mixed_projects" | "mixed_plans" | "empty_batch" | "bad_selection" | "bad_id"
        | "no_plan" => StatusCode::BAD_REQUEST,
        "needs_trust" => StatusCode::FORBIDDEN,
        "unfit_folder" => StatusCode::UNPROCESSABLE_ENTITY,
        "task_busy" | "nothing_waiting" | "consent_changed" | "batch_over" | "batch_running"
        | "batch_stopping" | "interrupted" | "task_over" | "nothing_to_retry"
        | "nothing_to_land" | "not_landed" | "not_conflicted" | "not_begun" | "other_conflict"
        | "unresolved" | "nothing_resolved" | "bad_resolution" | "ran_in_place" | "busy"
        | "refused" | "no_consent" | "project_busy" | "task_of_plan_file" | "task_gone"
        | "not_cloned" | "folder_busy" | "needs_repository" | "already_running" | "not_running" => {
            StatusCode::CONFLICT
        }
        _ => match fault.blame {
            Blame::User => StatusCode::UNPROCESSABLE_ENTITY,
            Blame::Environment => StatusCode::SERVICE_UNAVAILABLE,
            Blame::Pleach => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

impl<E: Into<Faults>> From<E> for Refusal {
    fn from(error: E) -> Self {
        let faults: Faults = error.into();
        let first = faults.first();
        if first.blame == Blame::Pleach {
            tracing::error!(error = first.message, "internal error");
            return Self::bug();
        }
        Self {
            status: status_of(first),
            body: Box::new(ErrorBody {
                error: faults.into(),
            }),
        }
    }
}
