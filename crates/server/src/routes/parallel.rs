//! The execution plan of a project: started, followed and stopped. Names here are in `snake_case`.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use pleach_domain::choice::RunMode;
use pleach_engine::board::{Board, BoardError};
use pleach_engine::execution::Execution;
use pleach_engine::start::BatchOptions;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::batches::key_of;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::aside;
use crate::input::{Body, Id, PathParams, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(start))
        .routes(routes!(status))
        .routes(routes!(stop))
}

/// The result of the request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Told)]
struct ParallelAnswer {
    #[schema(example = "started")]
    status: &'static str,
    message: String,
}

/// Consent and confirmation.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Consenting {
    /// The fingerprint of a `no_consent` error, once a person has consented
    consent: Option<String>,
    /// Whether a person confirmed the push to the address of a `push_unconfirmed` error
    #[serde(alias = "confirmPush")]
    confirm_push: bool,
}

impl From<Consenting> for BatchOptions {
    fn from(wish: Consenting) -> Self {
        Self {
            consent: wish.consent,
            confirm_push: wish.confirm_push,
            ..Self::default()
        }
    }
}

/// Runs the execution plan of a project: several tasks at once if a stage allows it, otherwise one at a time
#[utoipa::path(post, path = "/api/projects/{id}/parallel/start", operation_id = "startParallel", tag = "parallel",
    request_body = Consenting,
    params(("id" = inline(Id), Path, description = "The id of the project"),
        ("Idempotency-Key" = Option<String>, Header, description = "As for POST /api/batches")),
    responses((status = 200, body = ParallelAnswer),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
async fn start(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    headers: HeaderMap,
    Body(wish): Body<Consenting>,
) -> Result<Json<ParallelAnswer>, Refusal> {
    check_id(&id)?;
    let options = BatchOptions::from(wish);
    let key = key_of(&headers, &format!("parallel {id}"), &options)?;
    let start = move |app: &App| {
        let operator = app.operator();
        Ok(operator.start_execution(&id, options, key.as_ref())?)
    };
    let message = match aside(&app, start).await? {
        RunMode::Parallel => "parallel execution started",
        _ => "sequential execution started",
    };
    Ok(Json(ParallelAnswer {
        status: "started",
        message: message.to_owned(),
    }))
}

/// The progress of the execution plan of a project.
#[derive(Debug, Serialize, ToSchema)]
struct ExecutionStatus {
    /// `sequential`, `parallel` (not running; it would run several tasks at once) or `parallel_running`.
    execution_mode: &'static str,
    /// When the batch that `parallel/start` created started; kept after it finished, until another plan is set.
    parallel_started_at: Option<String>,
    /// The number of stages.
    batches_total: usize,
    /// The current stage, counted from 1, as `stage` in events.
    current_batch: Option<usize>,
    /// The number of stages that succeeded.
    completed_batches: usize,
}

/// Shows the progress of the execution plan of a project
#[utoipa::path(get, path = "/api/projects/{id}/parallel/status", operation_id = "showParallelStatus", tag = "parallel",
    params(("id" = inline(Id), Path, description = "The id of the project")),
    responses((status = 200, body = ExecutionStatus), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
    (status = 422, body = ErrorBody)))]
async fn status(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ExecutionStatus>, Refusal> {
    check_id(&id)?;
    app.blocking(move |app| how_far(app, &id)).await.map(Json)
}

fn how_far(app: &App, id: &str) -> Result<ExecutionStatus, Refusal> {
    let board = Board::open(&app.state)?;
    let planned = match board.execution_plan(id) {
        Ok(planned) => planned,
        Err(BoardError::NoPlan) => {
            return Ok(ExecutionStatus {
                execution_mode: "sequential",
                parallel_started_at: None,
                batches_total: 0,
                current_batch: None,
                completed_batches: 0,
            });
        }
        Err(error) => return Err(error.into()),
    };
    let far = Execution::load(&app.state, id, &planned)?;
    let is_parallel = far.mode == RunMode::Parallel;
    Ok(ExecutionStatus {
        execution_mode: match far.running {
            Some(_) if is_parallel => "parallel_running",
            None if is_parallel => "parallel",
            _ => "sequential",
        },
        parallel_started_at: far.started_at.filter(|_| is_parallel),
        batches_total: far.stages,
        current_batch: far.current,
        completed_batches: far.completed,
    })
}

/// Stops the execution plan of a project: running tasks finish, no others start; returns at once
#[utoipa::path(post, path = "/api/projects/{id}/parallel/stop", operation_id = "stopParallel", tag = "parallel",
    params(("id" = inline(Id), Path, description = "The id of the project")),
    responses((status = 200, body = ParallelAnswer),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn stop(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ParallelAnswer>, Refusal> {
    check_id(&id)?;
    let stop = move |app: &App| Ok(app.operator().stop_execution(&id)?);
    let message = app.blocking(stop).await?;
    Ok(Json(ParallelAnswer {
        status: "stopping",
        message,
    }))
}
