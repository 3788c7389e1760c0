//! Batches: started, listed, controlled and looked into.

mod consenting;
mod control;
mod details;
mod preview;
mod starting;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_engine::stored_batch::StoredBatch;
use pleach_log::database::{BatchFilter, BatchScope, Database};
use pleach_log::view::BatchView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Id, PathParams, QueryParams, check_id};

pub(super) use starting::key_of;

/// So many batches are listed if nothing is said.
const USUAL: usize = 50;
/// So many may be asked for.
const MOST: usize = 500;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, starting::start))
        .routes(routes!(preview::preview))
        .routes(routes!(one))
        .routes(routes!(starting::run_task))
        .merge(consenting::routes())
        .merge(control::routes())
        .merge(details::routes())
}

/// Which batches are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BatchesQuery {
    /// `active` (unfinished batches), or `all`
    #[param(inline)]
    status: Option<Which>,
    /// The id of a project
    #[param(value_type = Option<Id>, inline)]
    project: Option<String>,
    /// The number of a batch in the project, finished or not
    #[param(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    number: Option<u32>,
    /// The maximum number of batches, 1 to 500; 50 by default
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// Only batches created before the one with this id
    #[param(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    before: Option<u32>,
}

/// Which batches to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Which {
    Active,
    All,
}

/// Batches, newest first.
#[derive(Debug, Serialize, ToSchema)]
struct Batches {
    batches: Vec<BatchView>,
}

/// Lists unfinished batches, of this server and of terminals; `?status=all` lists all
#[utoipa::path(get, path = "/api/batches", operation_id = "listBatches", tag = "batches", params(BatchesQuery), responses(
    (status = 200, body = Batches),
    (status = 422, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<BatchesQuery>,
) -> Result<Json<Batches>, Refusal> {
    let limit = wanted
        .limit
        .map_or(Some(USUAL), |limit| usize::try_from(limit).ok());
    let limit = limit
        .filter(|limit| (1..=MOST).contains(limit))
        .ok_or_else(|| {
            let message = format!("must be 1 to {MOST}");
            Refusal::field(
                StatusCode::UNPROCESSABLE_ENTITY,
                "limit",
                message,
                "use before= to get older ones",
            )
        })?;
    if let Some(project) = &wanted.project {
        check_id(project)?;
    }
    if wanted.number.is_some() && wanted.project.is_none() {
        return Err(Refusal::field(
            StatusCode::UNPROCESSABLE_ENTITY,
            "number",
            "batches are numbered within their project",
            "add the project: ?project=…&number=…",
        ));
    }
    let batches = app.blocking(move |app| listed(app, &wanted, limit)).await?;
    Ok(Json(Batches { batches }))
}

fn listed(app: &App, wanted: &BatchesQuery, limit: usize) -> Result<Vec<BatchView>, Refusal> {
    let database = Database::open(&app.state)?;
    let rows = database.batches(BatchFilter {
        project: wanted.project.as_deref(),
        among: match wanted.status {
            None if wanted.number.is_some() => BatchScope::All,
            Some(Which::All) => BatchScope::All,
            Some(Which::Active) | None => BatchScope::Open,
        },
    })?;
    let rows = rows
        .iter()
        .filter(|row| wanted.number.is_none_or(|number| row.number.0 == number))
        .filter(|row| wanted.before.is_none_or(|before| row.id < before));
    let mut batches = Vec::new();
    for row in rows.take(limit) {
        batches.extend(BatchView::load(&app.state, &database, row.id)?);
    }
    Ok(batches)
}

/// Shows a batch
#[utoipa::path(get, path = "/api/batches/{id}", operation_id = "showBatch", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch")), responses(
    (status = 200, body = BatchView),
    (status = 404, body = ErrorBody)))]
async fn one(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<BatchView>, Refusal> {
    app.blocking(move |app| shown(app, id)).await.map(Json)
}

fn shown(app: &App, id: u32) -> Result<BatchView, Refusal> {
    Ok(app.operator().batch(id)?)
}

fn stored(app: &App, id: u32) -> Result<StoredBatch, Refusal> {
    Ok(StoredBatch::load(&Database::open(&app.state)?, id)?)
}
