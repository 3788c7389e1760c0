//! What the next task that waits needs a person's consent to, with the contents of files.

use axum::Json;
use axum::extract::State;
use pleach_engine::consent::{ConsentChange, PendingConsent};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::PathParams;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(pending_consent))
}

/// The consent that the next waiting task needs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Pending {
    task_id: String,
    /// The id of the task in its plan
    key: String,
    /// Send this as `consent` when approving the task, once a person has consented
    fingerprint: String,
    changes: Vec<ConsentChange>,
}

/// Empty if no task waits for consent.
#[derive(Debug, Serialize, ToSchema)]
struct PendingAnswer {
    pending: Option<Pending>,
}

/// Shows what the next waiting task needs consent for: the files that earlier tasks changed
#[utoipa::path(get, path = "/api/batches/{id}/consent", operation_id = "showPendingConsent", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = PendingAnswer), (status = 404, body = ErrorBody)))]
async fn pending_consent(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<PendingAnswer>, Refusal> {
    let pending = app.blocking(move |app| Ok(app.control(id).pending_consent()?));
    let pending: Option<PendingConsent> = pending.await?;
    let pending = pending.map(|pending| Pending {
        changes: pending.shown(),
        task_id: pending.task_id,
        key: pending.task.as_str().to_owned(),
        fingerprint: pending.fingerprint,
    });
    Ok(Json(PendingAnswer { pending }))
}
