//! What a person does to a batch: approve, land, resume, end, retry, resolve. Answered after the effect.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_domain::event::Rollback;
use pleach_engine::operator::LandingWish;
use pleach_engine::resolve::{Resolution, ResolutionStart};
use pleach_log::view::BatchView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{shown, stored};
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::{Settled, within};
use crate::input::{Body, PathParams};

/// How long an effect is waited for if nothing is said, and at most.
const USUAL_WAIT: u64 = 10;
const LONGEST_WAIT: u64 = 60;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(approve))
        .routes(routes!(land))
        .routes(routes!(resume))
        .routes(routes!(cancel))
        .routes(routes!(stop))
        .routes(routes!(cancel_task))
        .routes(routes!(retry_task))
        .routes(routes!(resolve_task))
}

/// The batch after the request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Done {
    #[serde(flatten)]
    batch: BatchView,
    /// What was done, for people.
    message: String,
}

/// The request is still being carried out.
#[derive(Debug, Serialize, ToSchema)]
struct UnderWay {
    #[schema(example = "cancelling")]
    status: &'static str,
    /// Where to look.
    #[schema(example = "/api/batches/7")]
    batch: String,
}

/// An empty object.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// How long whoever asks would wait (`Prefer: wait=30`).
fn patience(headers: &HeaderMap) -> Duration {
    let wishes = headers.get_all("prefer").iter();
    let wishes = wishes.filter_map(|wish| wish.to_str().ok());
    let mut wishes = wishes.flat_map(|wish| wish.split([',', ';']));
    let seconds = wishes.find_map(|wish| wish.trim().strip_prefix("wait=")?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT))
}

/// Does something to a batch, waits for it, and shows the batch then.
async fn done(
    app: &App,
    headers: &HeaderMap,
    batch: u32,
    status: &'static str,
    work: impl FnOnce(&App) -> Result<String, Refusal> + Send + 'static,
) -> Result<Response, Refusal> {
    let work = move |app: &App| {
        let message = work(app)?;
        let batch = shown(app, batch)?;
        Ok(Done { batch, message })
    };
    Ok(match within(app, patience(headers), work).await? {
        Settled::Done(done) => Json(done).into_response(),
        Settled::GoesOn => {
            let batch = format!("/api/batches/{batch}");
            let place = [(header::LOCATION, batch.clone())];
            let body = Json(UnderWay { status, batch });
            (StatusCode::ACCEPTED, place, body).into_response()
        }
    })
}

/// An approval.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Approval {
    /// The fingerprint from `GET /api/batches/{id}/consent`, once a person has consented; refused if it is
    /// outdated
    consent: Option<String>,
}

/// Starts the next task that waits for approval
#[utoipa::path(post, path = "/api/batches/{id}/approve", operation_id = "approveNext", tag = "batches",
    request_body = Approval,
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn approve(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    headers: HeaderMap,
    Body(approval): Body<Approval>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.control(id).approve(approval.consent.as_deref())?);
    done(&app, &headers, id, "approving", work).await
}

/// Lands the result of a finished batch
#[utoipa::path(post, path = "/api/batches/{id}/land", operation_id = "landBatch", tag = "batches",
    request_body = LandingWish,
    params(("id" = u32, Path, description = "The id of the batch"),
        ("Prefer" = Option<String>, Header, description = "`wait=30`: seconds to wait for the effect, at most 60")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn land(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    headers: HeaderMap,
    Body(wish): Body<LandingWish>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.operator().land(id, wish)?);
    done(&app, &headers, id, "landing", work).await
}

/// Resumes an interrupted batch
#[utoipa::path(post, path = "/api/batches/{id}/resume", operation_id = "resumeBatch", tag = "batches",
    request_body = Nothing,
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn resume(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    headers: HeaderMap,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.operator().resume(id)?);
    done(&app, &headers, id, "resuming", work).await
}

/// Cancels one task and responds when it has stopped; its work is kept
#[utoipa::path(post, path = "/api/batches/{id}/tasks/{taskId}/cancel", operation_id = "cancelTask", tag = "batches",
    request_body = Nothing,
    params(("id" = u32, Path, description = "The id of the batch"),
        ("taskId" = String, Path, description = "The task, by its key in the batch or its id"),
        ("Prefer" = Option<String>, Header, description = "`wait=30`: seconds to wait for the effect, at most 60")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn cancel_task(
    State(app): State<App>,
    PathParams((id, task)): PathParams<(u32, String)>,
    headers: HeaderMap,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.operator().cancel_task(id, &task)?);
    done(&app, &headers, id, "cancelling", work).await
}

/// Retries a task that did not succeed; reopens a finished batch
#[utoipa::path(post, path = "/api/batches/{id}/tasks/{taskId}/retry", operation_id = "retryTask", tag = "batches",
    request_body = Nothing,
    params(("id" = u32, Path, description = "The id of the batch"),
        ("taskId" = String, Path, description = "The task, by its key in the batch or its id")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn retry_task(
    State(app): State<App>,
    PathParams((id, task)): PathParams<(u32, String)>,
    headers: HeaderMap,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.operator().retry_task(id, &task)?);
    done(&app, &headers, id, "retrying", work).await
}

/// Options of a cancellation.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Cancelling {
    /// Whether to remove the batch branch too; its work is kept
    rollback: bool,
}

/// Cancels a batch and responds when it has stopped; all work is kept
///
/// With `rollback`, also removes the branch of a finished batch that has not landed.
#[utoipa::path(post, path = "/api/batches/{id}/cancel", operation_id = "cancelBatch", tag = "batches",
    request_body = Cancelling,
    params(("id" = u32, Path, description = "The id of the batch"),
        ("Prefer" = Option<String>, Header, description = "`wait=30`: seconds to wait for the effect, at most 60")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn cancel(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    headers: HeaderMap,
    Body(wish): Body<Cancelling>,
) -> Result<Response, Refusal> {
    let rollback = if wish.rollback {
        Rollback::Remove
    } else {
        Rollback::Keep
    };
    let work = move |app: &App| Ok(app.operator().cancel(id, rollback)?);
    done(&app, &headers, id, "cancelling", work).await
}

/// Stops a batch: running tasks finish, no others start; responds at once
///
/// Tasks that have not started are cancelled; merged work is proved and landed.
#[utoipa::path(post, path = "/api/batches/{id}/stop", operation_id = "stopBatch", tag = "batches",
    request_body = Nothing,
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = Done), (status = 202, body = UnderWay),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn stop(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    headers: HeaderMap,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Response, Refusal> {
    let work = move |app: &App| Ok(app.operator().stop(id)?);
    done(&app, &headers, id, "stopping", work).await
}

/// What to do with a conflict.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Resolving {
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    /// Create a folder with the conflict in it
    Start,
    /// Weave the result
    Done,
    /// Leave the task out
    Abort,
}

/// The folder of a conflict.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LaidOut {
    path: String,
    files: Vec<ConflictingFile>,
    /// Whether the folder existed already; it is unchanged.
    begun_before: bool,
}

/// The folder of the conflict, or the batch after the action.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the document needs both in one")]
enum Resolved {
    LaidOut(LaidOut),
    Batch(Box<Done>),
}

/// A file that does not merge cleanly.
#[derive(Debug, Serialize, ToSchema)]
struct ConflictingFile {
    path: String,
    kind: &'static str,
}

/// Resolves a conflict: `start` creates a folder, `done` weaves the result, `abort` leaves the task out
#[utoipa::path(post, path = "/api/batches/{id}/tasks/{taskId}/resolve", operation_id = "resolveConflict",
    tag = "batches", request_body = Resolving,
    params(("id" = u32, Path, description = "The id of the batch"),
        ("taskId" = String, Path, description = "The task, by its key in the batch or its id"),
        ("Prefer" = Option<String>, Header, description = "`wait=30`: seconds to wait for the effect, at most 60")),
    responses((status = 200, description = "For `start` where it is laid out, else the batch", body = Resolved),
    (status = 202, body = UnderWay),
    (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn resolve_task(
    State(app): State<App>,
    PathParams((id, task)): PathParams<(u32, String)>,
    headers: HeaderMap,
    Body(wish): Body<Resolving>,
) -> Result<Response, Refusal> {
    match wish.action {
        Action::Start => {
            let laid_out = app.blocking(move |app| lay_out(app, id, &task)).await?;
            Ok(Json(laid_out).into_response())
        }
        Action::Done => {
            let work = move |app: &App| Ok(app.operator().resolve(id, &task)?);
            done(&app, &headers, id, "resolving", work).await
        }
        Action::Abort => {
            let work = move |app: &App| {
                let task = stored(app, id)?.key_of(&task)?;
                Resolution::find(&app.state, id, &task)?.abort()?;
                Ok(format!("task {task} remains left out"))
            };
            done(&app, &headers, id, "resolving", work).await
        }
    }
}

fn lay_out(app: &App, id: u32, task: &str) -> Result<LaidOut, Refusal> {
    let task = stored(app, id)?.key_of(task)?;
    let started = Resolution::find(&app.state, id, &task)?.start()?;
    let files = started.files.iter().map(|(path, kind)| ConflictingFile {
        path: path.to_string_lossy().into_owned(),
        kind: kind.as_str(),
    });
    Ok(LaidOut {
        path: started.path.to_string_lossy().into_owned(),
        files: files.collect(),
        begun_before: started.begun == ResolutionStart::Before,
    })
}
