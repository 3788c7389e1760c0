//! What a batch would be before anybody starts it.

use axum::Json;
use axum::extract::State;
use pleach_engine::start::{self, BatchOptions, BatchPreview};

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::Body;

/// Previews a batch of tasks; nothing is started or written
///
/// What would keep it from starting is in `refusal`; only unknown tasks and malformed requests
/// are errors.
#[utoipa::path(post, path = "/api/batches/preview", operation_id = "previewBatch", tag = "batches",
    request_body = BatchOptions,
    responses((status = 200, body = BatchPreview), (status = 404, body = ErrorBody)))]
pub(super) async fn preview(
    State(app): State<App>,
    Body(options): Body<BatchOptions>,
) -> Result<Json<BatchPreview>, Refusal> {
    let looked = app.blocking(move |app| Ok(start::preview(&app.state, &app.program, &options)?));
    looked.await.map(Json)
}
