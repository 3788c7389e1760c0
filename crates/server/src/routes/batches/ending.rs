//! Ends a batch: cancels it, or has it finish what runs.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use pleach_domain::event::Rollback;
use pleach_engine::control::ControlOutcome;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::control::{Done, Nothing, UnderWay, carried_out, control, done};
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::{TO_THE_END, begin};
use crate::input::{Body, PathParams};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(cancel))
        .routes(routes!(stop))
}

/// Whether what was stored by the work may be undone.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
struct Cancelling {
    /// Whether the branch of the batch is removed too; its work stays kept
    rollback: bool,
}

/// Stops a batch, and answers when it is over; all work is kept
///
/// With `rollback`, the branch of one that is over and has not landed is removed.
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
    let work = move |app: &App| cancel_batch(app, id, rollback);
    done(&app, &headers, id, "cancelling", work).await
}

/// Has a batch finish what runs and start nothing new; answers at once
///
/// The tasks that do not run are cancelled; what merged is proved and lands.
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
    let work = move |app: &App| stop_batch(app, id);
    done(&app, &headers, id, "stopping", work).await
}

/// Has a batch finish, wherever it runs.
pub(crate) fn stop_batch(app: &App, batch: u32) -> Result<String, Refusal> {
    let effect = control(app, batch).stop()?;
    let number = control(app, batch).number();
    carried_out(app, effect, || pleach_engine::control::stopped(number))
}

/// Stops a batch, wherever it runs; tells when it is over.
fn cancel_batch(app: &App, batch: u32, rollback: Rollback) -> Result<String, Refusal> {
    match control(app, batch).cancel(rollback)? {
        ControlOutcome::Done { message } => Ok(message),
        ControlOutcome::Run(prepared) => {
            let (_, running) = begin(app, *prepared)?;
            let ended = running.wait(TO_THE_END).ok_or_else(Refusal::bug)??;
            Ok(pleach_engine::control::cancelled(
                control(app, batch).number(),
                ended.status.as_str(),
            ))
        }
    }
}
