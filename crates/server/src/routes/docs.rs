//! The document that says what the server answers to, for programs and for people.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use sha2::{Digest as _, Sha256};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

static DOCUMENT: LazyLock<Document> = LazyLock::new(|| {
    let text = super::document().to_pretty_json();
    Document::new(text.expect("the document is plain data") + "\n")
});

pub fn document_text() -> &'static str {
    &DOCUMENT.text
}

/// The document as it is sent, and what tells it apart from any other.
struct Document {
    text: String,
    tag: HeaderValue,
}

impl Document {
    fn new(text: String) -> Self {
        let mut tag = String::from("\"");
        for byte in Sha256::digest(&text) {
            let _ = write!(tag, "{byte:02x}");
        }
        tag.push('"');
        let tag = HeaderValue::try_from(tag).expect("digits are a header");
        Self { text, tag }
    }

    /// Whether somebody says that they have it.
    fn is_known_to(&self, headers: &HeaderMap) -> bool {
        let known = headers.get_all(header::IF_NONE_MATCH).iter();
        let mut known = known.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        known.any(|tag| {
            let tag = tag.trim_ascii();
            tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.tag.as_bytes()
        })
    }
}

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(openapi))
        .routes(routes!(docs))
}

/// This document
///
/// Its `ETag` is the SHA-256 of its bytes, so that a client can check whether it was generated for this server.
#[utoipa::path(get, path = "/api/openapi.json", operation_id = "showDocument", tag = "server",
    responses((status = 200, body = Object, content_type = "application/json", headers(("ETag" = String))),
        (status = 304, description = "`If-None-Match` matches")))]
async fn openapi(headers: HeaderMap) -> Response {
    let tag = (header::ETAG, DOCUMENT.tag.clone());
    if DOCUMENT.is_known_to(&headers) {
        return (StatusCode::NOT_MODIFIED, [tag]).into_response();
    }
    let kind = HeaderValue::from_static("application/json");
    let headers = [(header::CONTENT_TYPE, kind), tag];
    (headers, DOCUMENT.text.as_str()).into_response()
}

/// This document as a web page; needs no token
#[utoipa::path(get, path = "/api/docs", operation_id = "showDocs", tag = "server", security(()),
    responses((status = 200, body = String, content_type = "text/html")))]
async fn docs() -> Html<&'static str> {
    Html(include_str!("../../pages/docs.html"))
}
