//! What the board says is wrong, as an answer.

use axum::http::StatusCode;
use pleach_engine::board::{BoardError, Fault};
use pleach_system::text::causes::with_causes;

use crate::answer::{FieldError, Refusal};

impl From<BoardError> for Refusal {
    fn from(error: BoardError) -> Self {
        let status = match error.fault() {
            Fault::Senseless => StatusCode::BAD_REQUEST,
            Fault::Absent => StatusCode::NOT_FOUND,
            Fault::InTheWay => StatusCode::CONFLICT,
            Fault::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
            Fault::Ours => StatusCode::SERVICE_UNAVAILABLE,
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
