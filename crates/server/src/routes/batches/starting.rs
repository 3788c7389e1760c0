//! Starts batches: the headers of the request, and where the batch is then.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_engine::operator::StartedBatch;
use pleach_engine::start::BatchOptions;
use pleach_log::database::RequestKey;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::aside;
use crate::input::{Body, Id, PathParams, check_id};

/// Creates a batch of tasks and starts it
#[utoipa::path(post, path = "/api/batches", operation_id = "startBatch", tag = "batches", request_body = BatchOptions,
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[!-~][ -~]*$",
        description = "1 to 200 printable ASCII characters; the same key and body create only one batch within 7 days")),
    responses((status = 201, body = StartedBatch),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn start(
    State(app): State<App>,
    headers: HeaderMap,
    Body(options): Body<BatchOptions>,
) -> Result<Response, Refusal> {
    let key = key_of(&headers, "batch", &options)?;
    started(&app, options, key).await
}

/// Runs a single task
#[utoipa::path(post, path = "/api/tasks/{id}/run", operation_id = "runTask", tag = "batches",
    request_body = BatchOptions,
    params(("id" = inline(Id), Path, description = "The id of the task"),
        ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 200, pattern = "^[!-~][ -~]*$",
            description = "As for POST /api/batches")),
    responses((status = 201, body = StartedBatch),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
pub(super) async fn run_task(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    Body(mut options): Body<BatchOptions>,
) -> Result<Response, Refusal> {
    check_id(&id)?;
    if !options.task_ids.is_empty() {
        let (message, hint) = (
            "the path already names the task",
            "omit it, or use POST /api/batches",
        );
        return Err(Refusal::field(
            StatusCode::UNPROCESSABLE_ENTITY,
            "taskIds",
            message,
            hint,
        ));
    }
    options.task_ids = vec![id];
    let key = key_of(&headers, "run", &options)?;
    started(&app, options, key).await
}

/// The key of a request that may be repeated, if it has one.
pub(crate) fn key_of(
    headers: &HeaderMap,
    what: &str,
    options: &BatchOptions,
) -> Result<Option<RequestKey>, Refusal> {
    let Some(key) = headers.get("idempotency-key") else {
        return Ok(None);
    };
    let key = key
        .to_str()
        .ok()
        .and_then(|key| options.request_key(what, key));
    key.map(Some).ok_or_else(|| {
        let message = "an idempotency key must have 1 to 200 printable ASCII characters";
        Refusal::new(
            StatusCode::BAD_REQUEST,
            "bad_key",
            message,
            "use a UUID, for example",
        )
    })
}

async fn started(
    app: &App,
    options: BatchOptions,
    key: Option<RequestKey>,
) -> Result<Response, Refusal> {
    let start = move |app: &App| Ok(app.operator().start(&options, key.as_ref())?);
    let started = aside(app, start).await?;
    let place = format!("/api/batches/{}", started.id());
    let place = [(header::LOCATION, place)];
    Ok((StatusCode::CREATED, place, Json(started)).into_response())
}
