//! The execution plan of a project: looked at and set.

use axum::Json;
use axum::extract::State;
use pleach_engine::board::{Board, ExecutionPlan};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Body, Id, PathParams, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(look, put))
}

/// Shows the execution plan of a project
///
/// If it comes from a plan file, it consists of the open tasks of that file, and its waves are the batches.
#[utoipa::path(get, path = "/api/projects/{id}/plan", operation_id = "showPlan", tag = "projects",
    params(("id" = inline(Id), Path)),
    responses((status = 200, body = ExecutionPlan),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn look(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<ExecutionPlan>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.shown_plan(&id)?);
    let found = app.blocking(work).await?;
    found.map(Json).ok_or_else(|| {
        let hint = "PUT one, or import a plan file";
        Refusal::not_found("no_plan", "the project has no execution plan", hint)
    })
}

/// Sets the execution plan of a project
///
/// Its tasks are added to the board, or updated if their ids exist; batches may name other tasks of the board.
#[utoipa::path(put, path = "/api/projects/{id}/plan", operation_id = "putPlan", tag = "projects",
    params(("id" = inline(Id), Path)),
    request_body = ExecutionPlan,
    responses((status = 200, body = ExecutionPlan),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn put(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    Body(plan): Body<ExecutionPlan>,
) -> Result<Json<ExecutionPlan>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.put_plan(&id, &plan)?);
    Ok(Json(app.blocking(work).await?))
}
