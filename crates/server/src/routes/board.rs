//! The files of the board, as they were when the program was built.
//!
//! They tell nothing of any project, so everybody who may speak to the server may have them.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse as _, Response};
use memory_serve::{Asset, CacheControl, MemoryServe};
use tower::ServiceExt as _;

/// What the build left; the macro that comes with the crate would copy the whole list to the stack.
static FILES: &[(&str, &[Asset])] = include!(concat!(env!("OUT_DIR"), "/memory_serve_assets.rs"));

/// Whose names change with their content.
const NAMED_BY_CONTENT: &str = "/assets/";

/// Answers what no other route does: with a file, with the page that is behind every address of the board, or not at all.
#[derive(Debug, Clone)]
pub(super) struct Board(Router);

impl Board {
    pub(super) fn new() -> Self {
        let files = MemoryServe::new(FILES[0].1)
            // Who does not know brotli gets the plain file, instead of everybody a slow start.
            .enable_gzip(false)
            .html_cache_control(CacheControl::NoCache)
            .cache_control(CacheControl::Long);
        Self(files.into_router())
    }

    pub(super) async fn answer(self, mut request: Request) -> Response {
        let path = request.uri().path();
        let is_program = path == "/api" || path.starts_with("/api/");
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_program || !is_read {
            return super::nothing_here().into_response();
        }
        let is_kept = path.starts_with(NAMED_BY_CONTENT);
        if !is_file(path) {
            *request.uri_mut() = Uri::from_static("/");
        }
        let Ok(mut response) = self.0.oneshot(request).await;
        if response.status().is_client_error() {
            return super::nothing_here().into_response();
        }
        if !is_kept {
            let asked_anew = HeaderValue::from_static("no-cache");
            response
                .headers_mut()
                .insert(header::CACHE_CONTROL, asked_anew);
        }
        response
    }
}

/// Files have an ending; the addresses of the board's pages have none.
fn is_file(path: &str) -> bool {
    path.rsplit('/')
        .next()
        .is_some_and(|name| name.contains('.'))
}
