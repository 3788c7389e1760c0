//! What the board says is wrong, as an answer.

use axum::http::StatusCode;
use pleach_engine::board::{BoardError, BoardErrorKind};
use pleach_system::text::causes::with_causes;

use crate::answer::{FieldError, Refusal};

impl From<BoardError> for Refusal {
    fn from(error: BoardError) -> Self {
        let status = match error.fault() {
            BoardErrorKind::Invalid => StatusCode::BAD_REQUEST,
            BoardErrorKind::NotFound => StatusCode::NOT_FOUND,
            BoardErrorKind::Conflict => StatusCode::CONFLICT,
            BoardErrorKind::Impossible => StatusCode::UNPROCESSABLE_ENTITY,
            BoardErrorKind::Internal => StatusCode::SERVICE_UNAVAILABLE,
        };
        let hint = error.hint();
        let hint = hint.unwrap_or_else(|| "see the server's log".to_owned());
        let fields = error.fields().iter().map(|field| FieldError {
            path: field.path.clone(),
            message: match field.line {
                Some(line) => format!("line {line}: {}", field.message),
                None => field.message.clone(),
            },
        });
        let fields = fields.collect();
        Self::new(status, error.code(), with_causes(&error), hint).fields(fields)
    }
}
