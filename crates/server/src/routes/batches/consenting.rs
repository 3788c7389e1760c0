//! What a person consents to, before a batch starts and while it runs, with the contents of files.

use axum::Json;
use axum::extract::State;
use pleach_engine::consent::{ChangeKind, PendingConsent, Role, SteeringChange, SteeringSubject};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::control::control;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::PathParams;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(pending_consent))
}

/// A setting or a file that controls agents or Pleach, and how it differs from what was consented to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConsentChange {
    what: ConsentSubject,
    /// The name of the setting, or the path of the file
    name: String,
    kind: ConsentKind,
    role: ConsentRole,
    /// What leads to a file, or why it is asked about each time
    because: Option<String>,
    /// What the setting or the file was
    before: Option<String>,
    /// What it is now
    now: Option<String>,
    /// Whether the contents are left out, because they are long or no text
    is_cut: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentSubject {
    Setting,
    File,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentKind {
    New,
    Changed,
    Gone,
    Unseen,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConsentRole {
    Settings,
    Servers,
    Hooks,
    Instructions,
    Other,
}

impl ConsentChange {
    pub(super) fn of(change: &SteeringChange) -> Self {
        let (what, name) = match &change.what {
            SteeringSubject::Setting(name) => (ConsentSubject::Setting, name),
            SteeringSubject::File(name) => (ConsentSubject::File, name),
        };
        Self {
            what,
            name: name.clone(),
            kind: match change.kind {
                ChangeKind::New => ConsentKind::New,
                ChangeKind::Changed => ConsentKind::Changed,
                ChangeKind::Gone => ConsentKind::Gone,
                ChangeKind::Unseen => ConsentKind::Unseen,
            },
            role: match change.role {
                Role::Settings => ConsentRole::Settings,
                Role::Servers => ConsentRole::Servers,
                Role::Hooks => ConsentRole::Hooks,
                Role::Instructions => ConsentRole::Instructions,
                Role::Other => ConsentRole::Other,
            },
            because: change.because.clone(),
            before: change.before.clone(),
            now: change.now.clone(),
            is_cut: change.is_cut,
        }
    }
}

/// What the next task that waits needs consent to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Pending {
    task_id: String,
    /// The id of the task in its plan
    key: String,
    /// Sent as `consent` when the task is approved, by a person who consents
    fingerprint: String,
    changes: Vec<ConsentChange>,
}

/// An answer that has nothing in it where no task waits for consent.
#[derive(Debug, Serialize, ToSchema)]
struct PendingAnswer {
    pending: Option<Pending>,
}

/// What the next task that waits needs a person's consent to: the files that tasks before it changed
#[utoipa::path(get, path = "/api/batches/{id}/consent", operation_id = "showPendingConsent", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = PendingAnswer), (status = 404, body = ErrorBody)))]
async fn pending_consent(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<PendingAnswer>, Refusal> {
    let pending = app.blocking(move |app| Ok(control(app, id).pending_consent()?));
    let pending: Option<PendingConsent> = pending.await?;
    let pending = pending.map(|pending| Pending {
        task_id: pending.task_id,
        key: pending.task.as_str().to_owned(),
        fingerprint: pending.fingerprint,
        changes: pending.changes.iter().map(ConsentChange::of).collect(),
    });
    Ok(Json(PendingAnswer { pending }))
}
