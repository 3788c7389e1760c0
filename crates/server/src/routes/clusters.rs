//! Where batches can run, and why not elsewhere.

use axum::Json;
use axum::extract::State;
use pleach_domain::choice::Where;
use pleach_engine::config::{Config, Settings};
use pleach_engine::run::{NoCluster, places};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::project_query::ProjectQuery;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::QueryParams;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Where a batch can run.
#[derive(Debug, Serialize, ToSchema)]
struct Clusters {
    clusters: Vec<ClusterFound>,
}

/// This machine, or a cluster.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ClusterFound {
    /// The value for `where`
    name: Where,
    /// Its display name
    title: &'static str,
    /// Whether batches can be given to it, as far as this machine shows; the cluster itself is not asked
    available: bool,
    /// Why not
    reason: Option<String>,
    /// What to do about it
    hint: Option<String>,
    /// Whether batches run there that do not say otherwise
    is_default: bool,
}

/// Lists where batches can run
#[utoipa::path(get, path = "/api/clusters", operation_id = "listClusters", tag = "settings", params(ProjectQuery),
    responses((status = 200, body = Clusters),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<ProjectQuery>,
) -> Result<Json<Clusters>, Refusal> {
    let work = move |app: &App| {
        let settings = Settings::load(&wanted.folder(app)?, Config::default())?;
        Ok(found(&settings))
    };
    let clusters = app.blocking(work).await?;
    Ok(Json(Clusters { clusters }))
}

fn found(settings: &Settings) -> Vec<ClusterFound> {
    let drawn = |(name, found): (Where, Result<(), NoCluster>)| {
        let why = found.err();
        ClusterFound {
            name,
            title: match name {
                Where::Local => "This machine",
                Where::Slurm => "Slurm",
            },
            available: why.is_none(),
            reason: why.as_ref().map(NoCluster::to_string),
            hint: why.as_ref().map(NoCluster::hint),
            is_default: settings.place == name,
        }
    };
    places(settings).into_iter().map(drawn).collect()
}
