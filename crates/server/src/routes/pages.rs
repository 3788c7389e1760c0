//! What the pages of the server itself need: that of the document, and the one that is there without a board.
//!
//! They tell nothing of any project, so everybody who may speak to the server may have them.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

use crate::app::App;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/pages/pages.css",
            get(text("text/css", include_str!("../../pages/pages.css"))),
        )
        .route(
            "/pages/enter.js",
            get(text(
                "text/javascript",
                include_str!("../../pages/enter.js"),
            )),
        )
        .route(
            "/pages/pass.js",
            get(text("text/javascript", include_str!("../../pages/pass.js"))),
        )
        .route(
            "/pages/docs.js",
            get(text("text/javascript", include_str!("../../pages/docs.js"))),
        )
}

fn text(kind: &'static str, text: &'static str) -> impl IntoResponse + Clone {
    ([(header::CONTENT_TYPE, kind)], text)
}
