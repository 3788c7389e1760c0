//! What a person does to a batch: approve, land, resume, retry, resolve. Answered after the effect.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pleach_domain::batch::LandingRequest;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Ending;
use pleach_engine::control::{Control, ControlOutcome};
use pleach_engine::resolve::{Resolution, ResolutionStart, ResolveError};
use pleach_engine::run::take_up;
use pleach_log::view::BatchView;
use pleach_system::text::causes::with_causes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::push_consent::Push;
use super::{shown, stored};
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::{Settled, TO_THE_END, begin, within};
use crate::input::{Body, PathParams};

/// How long an effect is waited for if nothing is said, and at most.
const USUAL_WAIT: u64 = 10;
const LONGEST_WAIT: u64 = 60;

/// How often a task is looked at that somebody waits for.
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(approve))
        .routes(routes!(land))
        .routes(routes!(resume))
        .routes(routes!(cancel_task))
        .routes(routes!(retry_task))
        .routes(routes!(resolve_task))
}

/// A batch after what was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Done {
    #[serde(flatten)]
    batch: BatchView,
    /// What was done, for people.
    message: String,
}

/// What was asked for takes its time, and goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct UnderWay {
    #[schema(example = "cancelling")]
    status: &'static str,
    /// Where to look.
    #[schema(example = "/api/batches/7")]
    batch: String,
}

/// A body without anything in it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// How long whoever asks would wait (`Prefer: wait=30`).
fn patience(headers: &HeaderMap) -> Duration {
    let wishes = headers.get_all("prefer").iter();
    let wishes = wishes.filter_map(|wish| wish.to_str().ok());
    let mut wishes = wishes.flat_map(|wish| wish.split([',', ';']));
    let seconds = wishes.find_map(|wish| wish.trim().strip_prefix("wait=")?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT))
}

/// Does something to a batch, waits for it, and shows the batch then.
pub(super) async fn done(
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

pub(crate) fn control(app: &App, batch: u32) -> Control<'_> {
    Control {
        state: &app.state,
        batch,
        program: &app.program,
    }
}

/// What a person approves.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Approval {
    /// The fingerprint of what `GET /api/batches/{id}/consent` showed, by a person who consents to it; refused if it is
    /// no longer that
    consent: Option<String>,
}

/// Lets the task start that waits for a person
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
    let work = move |app: &App| {
        let control = control(app, id);
        Ok(match &approval.consent {
            Some(fingerprint) => control.approve_consent(fingerprint)?,
            None => control.approve()?,
        })
    };
    done(&app, &headers, id, "approving", work).await
}

/// Where the result shall go.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct LandingWish {
    /// A local branch that is fast-forwarded, instead of a push and a pull request
    into: Option<String>,
    /// Land it without a proof, and run no tests
    unproved: bool,
    /// Whether a person confirms that this project pushes to the address of a `push_unconfirmed` error
    confirm_push: bool,
}

/// Lands the result of a batch that is over
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
    app.may_start()?;
    let work = move |app: &App| {
        let asked = LandingRequest {
            into: wish.into,
            despite_findings: false,
            unproved: wish.unproved,
            prove_again: false,
        };
        let mut prepared = control(app, id).land(asked)?;
        Push::of(wish.confirm_push).check(&mut prepared)?;
        let (_, running) = begin(app, *prepared)?;
        running.wait(TO_THE_END).ok_or_else(Refusal::bug)??;
        let batch = shown(app, id)?;
        let number = batch.number;
        match batch.validation.not_landed {
            None => Ok(format!("batch {number} has landed")),
            Some(why) => Err(Refusal::new(
                StatusCode::CONFLICT,
                "not_landed",
                format!("batch {number} did not land: {why}"),
                "the result is on its branch; land it again once that is fixed",
            )),
        }
    };
    done(&app, &headers, id, "landing", work).await
}

/// Goes on with a batch that was interrupted
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
    app.may_start()?;
    let work = move |app: &App| match take_up(&app.state, id, &app.program, None)? {
        Some(prepared) => {
            begin(app, prepared)?;
            Ok(format!("batch {} resumed", control(app, id).number()))
        }
        None => Err(Refusal::new(
            StatusCode::CONFLICT,
            "batch_running",
            format!(
                "batch {} is not interrupted: it is running",
                control(app, id).number()
            ),
            "its events show its progress",
        )),
    };
    done(&app, &headers, id, "resuming", work).await
}

/// Stops one task, and answers when it is over; its work is kept
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
    let work = move |app: &App| {
        let task = stored(app, id)?.key_of(&task)?;
        let effect = control(app, id).cancel_task(&task)?;
        carried_out(app, effect, || format!("task {task} is cancelled"))
    };
    done(&app, &headers, id, "cancelling", work).await
}

/// Tries a task again that did not make it; opens a batch that is over
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
    app.may_start()?;
    let work = move |app: &App| {
        let task = stored(app, id)?.key_of(&task)?;
        let effect = control(app, id).retry(std::slice::from_ref(&task))?;
        carried_out(app, effect, || format!("task {task} is queued again"))
    };
    done(&app, &headers, id, "retrying", work).await
}

/// Runs what nobody was at; what was asked for is done once it has begun.
pub(super) fn carried_out(
    app: &App,
    effect: ControlOutcome,
    said: impl FnOnce() -> String,
) -> Result<String, Refusal> {
    match effect {
        ControlOutcome::Done { message } => Ok(message),
        ControlOutcome::Run(prepared) => {
            begin(app, *prepared)?;
            Ok(said())
        }
    }
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
    /// Lay it out in a folder
    Start,
    /// Weave what is there
    Done,
    /// Leave the task out
    Abort,
}

/// Where a conflict is laid out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LaidOut {
    path: String,
    files: Vec<ConflictingFile>,
    /// Whether it was laid out before, and is as it was left.
    begun_before: bool,
}

/// Where a conflict is laid out, or the batch after what was done about it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the document needs both in one")]
enum Resolved {
    LaidOut(LaidOut),
    Batch(Box<Done>),
}

/// A file that does not merge.
#[derive(Debug, Serialize, ToSchema)]
struct ConflictingFile {
    path: String,
    kind: &'static str,
}

/// What a person does about a conflict: `start` gives the folder, `done` weaves the result, `abort` leaves it out
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
            app.may_start()?;
            let work = move |app: &App| weave_resolved(app, id, &task);
            done(&app, &headers, id, "resolving", work).await
        }
        Action::Abort => {
            let work = move |app: &App| {
                let task = stored(app, id)?.key_of(&task)?;
                let resolution = Resolution::find(&app.state, id, &task).map_err(of_resolve)?;
                resolution.abort().map_err(of_resolve)?;
                Ok(format!("task {task} remains left out"))
            };
            done(&app, &headers, id, "resolving", work).await
        }
    }
}

fn lay_out(app: &App, id: u32, task: &str) -> Result<LaidOut, Refusal> {
    let task = stored(app, id)?.key_of(task)?;
    let resolution = Resolution::find(&app.state, id, &task).map_err(of_resolve)?;
    let started = resolution.start().map_err(of_resolve)?;
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

fn weave_resolved(app: &App, id: u32, task: &str) -> Result<String, Refusal> {
    let task = stored(app, id)?.key_of(task)?;
    let resolution = Resolution::find(&app.state, id, &task).map_err(of_resolve)?;
    let resolved = resolution.finish().map_err(of_resolve)?;
    match control(app, id).resolve(&task, &resolved)? {
        ControlOutcome::Done { message } => Ok(message),
        ControlOutcome::Run(prepared) => {
            let (_, running) = begin(app, *prepared)?;
            loop {
                if let Some(outcome) = outcome(app, id, &task)? {
                    return Ok(format!("task {task} is {outcome}"));
                }
                if let Some(ended) = running.wait(LOOK) {
                    ended?;
                    let outcome = outcome(app, id, &task)?.unwrap_or("interrupted");
                    return Ok(format!("task {task} is {outcome}"));
                }
            }
        }
    }
}

/// How a task ended, once it has.
fn outcome(app: &App, id: u32, task: &TaskId) -> Result<Option<&'static str>, Refusal> {
    let stored = stored(app, id)?;
    let position = stored.position(task)?;
    Ok(stored.batch.tasks[position]
        .state
        .ending()
        .map(Ending::outcome))
}

fn of_resolve(error: ResolveError) -> Refusal {
    match error {
        ResolveError::Lookup(error) => error.into(),
        ResolveError::Store(error) => error.into(),
        ResolveError::Git(error) => error.into(),
        _ => {
            let status = match error {
                ResolveError::NoStore { .. }
                | ResolveError::Unreadable { .. }
                | ResolveError::Capture(_)
                | ResolveError::Weave(_)
                | ResolveError::Worktree(_) => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::CONFLICT,
            };
            let hint = error.hint();
            let hint = hint.unwrap_or_else(|| "the batch lists its conflicts".to_owned());
            Refusal::new(status, error.code(), with_causes(&error), hint)
        }
    }
}
