//! Every path the server answers to, and the document that says so.
//!
//! A route and its description are one macro, so that neither can be there without the other.

mod agents;
mod batches;
mod board;
mod clusters;
mod docs;
mod entry;
mod health;
mod pages;
mod parallel;
mod plan;
mod project_query;
mod projects;
mod refusals;
mod settings;
mod tasks;
mod transcripts;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use axum::{Extension, Router};
use pleach_domain::event::{Rollback, UnprovedReason};
use pleach_log::view::{BatchState, OutcomeCounts};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{RefOr, Required};
use utoipa_axum::router::OpenApiRouter;

pub use docs::document_text;

use self::board::Board;
use self::transcripts::Transcripts;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::events::Hub;
use crate::{door, input};

/// The part of the document that no route says.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Pleach",
        description = "Runs coding agents on a list of tasks, each in its own worktree, and weaves the branches into one."
    ),
    components(schemas(ErrorBody, BatchState, OutcomeCounts, Rollback, UnprovedReason)),
    security(("token" = []))
)]
struct ApiDoc;

fn described() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(ApiDoc::openapi())
        .merge(health::routes())
        .merge(entry::routes())
        .merge(docs::routes())
        .merge(crate::events::routes())
        .merge(transcripts::routes())
        .merge(projects::routes())
        .merge(tasks::routes())
        .merge(plan::routes())
        .merge(settings::routes())
        .merge(agents::routes())
        .merge(clusters::routes())
        .merge(batches::routes())
        .merge(parallel::routes())
}

pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = described().to_openapi();
    let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(scheme));
    crate::events::described::add(&mut document);
    refusals::add(&mut document);
    // A task that runs as the settings say needs no body.
    let run = document.paths.paths.get_mut("/api/tasks/{id}/run");
    if let Some(RefOr::T(body)) = run.and_then(|path| path.post.as_mut()?.request_body.as_mut()) {
        body.required = Some(Required::False);
    }
    document
}

pub(crate) fn router(app: App) -> Router {
    let (routes, _) = described().split_for_parts();
    let board = Board::new();
    routes
        .merge(pages::routes())
        .fallback(move |request| board.clone().answer(request))
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(input::LARGEST_BODY))
        .layer(Extension(Hub::new(&app.state)))
        .layer(Extension(Arc::new(Transcripts::default())))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app.door),
            door::stand_at,
        ))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            health::note_answer,
        ))
        .with_state(app)
}

fn nothing_here() -> Refusal {
    Refusal::not_found(
        "no_such_path",
        "unknown path",
        "`/api/docs` lists all paths",
    )
}

async fn wrong_method() -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "wrong_method",
        "method not allowed on this path",
        "`/api/docs` lists all paths",
    )
}
