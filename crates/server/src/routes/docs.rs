//! The document that says what the server answers to, for programs and for people.

use std::sync::LazyLock;

use axum::http::header;
use axum::response::{Html, IntoResponse};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    super::document()
        .to_json()
        .expect("the document is plain data")
});

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(openapi))
        .routes(routes!(docs))
}

/// This document
#[utoipa::path(get, path = "/api/openapi.json", tag = "server",
    responses((status = 200, body = Object, content_type = "application/json")))]
async fn openapi() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/json")],
        DOCUMENT.as_str(),
    )
}

/// This document, for people
#[utoipa::path(get, path = "/api/docs", tag = "server",
    responses((status = 200, body = String, content_type = "text/html")))]
async fn docs() -> Html<&'static str> {
    Html(include_str!("../../pages/docs.html"))
}
