//! The execution plan of a project: started, followed and stopped. Names here are in `snake_case`.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use pleach_domain::choice::RunMode;
use pleach_engine::board::{Board, BoardError};
use pleach_engine::config::Config;
use pleach_engine::execution::{Execution, best_mode};
use pleach_engine::run::EarlierBatches;
use pleach_engine::start::{Dependencies, OrderChoice, Start, made_before};
use pleach_log::database::{Database, Provenance};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::batches::{BatchOptions, control, fetch_of, key_of, start_batch, stop_batch};
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
    let told = aside(&app, move |app| {
        let board = Board::open(&app.state)?;
        let planned = board.execution_plan(&id)?;
        let running = running(app, &id)?;
        let is_repeated = match &key {
            Some(key) => made_before(&app.state, key)?.is_some(),
            None => false,
        };
        if let Some(batch) = running.filter(|_| !is_repeated) {
            return Err(Refusal::new(
                StatusCode::CONFLICT,
                "already_running",
                format!(
                    "batch {} is already running the execution plan of this project",
                    control(app, batch).number()
                ),
                "stop it, or wait until it finishes",
            ));
        }
        let project = planned.project;
        let mode = if project.is_repository {
            best_mode(&planned.plan.document.plan)
        } else {
            // Nobody asked for work in the folder itself; what runs at once is refused there with the reason.
            RunMode::Parallel
        };
        let start = Start {
            fetch: fetch_of(project.url.as_deref()),
            project_folder: project.path,
            plan: planned.plan,
            tasks: planned.tasks,
            dependencies: Dependencies::Chosen,
            order: OrderChoice::default(),
            flags: Config::default(),
            prompt: None,
            earlier: EarlierBatches::Weave,
            provenance: Provenance {
                key,
                execution_plan: Some(planned.revision),
            },
        };
        let mode = Some(mode);
        start_batch(app, start, &BatchOptions { mode, ..options })?;
        Ok(match mode {
            Some(RunMode::Parallel) => "parallel execution started",
            _ => "sequential execution started",
        })
    });
    let message = told.await?.to_owned();
    Ok(Json(ParallelAnswer {
        status: "started",
        message,
    }))
}

/// The batch that executes the plan of a project, if one does.
fn running(app: &App, project: &str) -> Result<Option<u32>, Refusal> {
    let execution = Database::open(&app.state)?.execution(project)?;
    let open = execution.filter(|execution| execution.is_open);
    Ok(open.map(|execution| execution.batch))
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
    let running = app.blocking(move |app| {
        if let Some(batch) = running(app, &id)? {
            return Ok(batch);
        }
        match Board::open(&app.state)?.execution_plan(&id) {
            Err(error) => Err(error.into()),
            Ok(_) => Err(Refusal::new(
                StatusCode::CONFLICT,
                "not_running",
                "the execution plan of this project is not running",
                "start it first",
            )),
        }
    });
    let batch = running.await?;
    let message = app.blocking(move |app| stop_batch(app, batch)).await?;
    Ok(Json(ParallelAnswer {
        status: "stopping",
        message,
    }))
}
