//! What a request brings: bodies, queries and names in the path, each with an error that says which field is wrong.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use serde::de::DeserializeOwned;
use std::time::Duration;
use utoipa::ToSchema;

use crate::answer::Refusal;

/// The largest body; a plan of ten thousand tasks is a third of it.
pub(crate) const LARGEST_BODY: usize = 4 << 20;

/// How long a body may take, from its first byte to its last.
const PATIENCE: Duration = Duration::from_secs(30);

/// The JSON body of a request; an empty one is `{}`.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let is_json = is_json(request.headers());
        let method = &request.method().clone();
        let bytes = all_of(request, state, PATIENCE).await?;
        if bytes.is_empty() {
            return match *method {
                Method::POST => read(b"{}").map(Self),
                // What replaces or changes something says with what.
                _ => Err(bad_body(String::new(), "the body is missing".to_owned())),
            };
        }
        if !is_json {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "the body is not JSON",
                "send Content-Type: application/json",
            ));
        }
        // A list would be taken for the fields in their order.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(bad_body(
                String::new(),
                "the body must be a JSON object".to_owned(),
            ));
        }
        read(&bytes).map(Self)
    }
}

/// The whole body; whoever does not send it keeps a place that others want.
async fn all_of<S: Send + Sync>(
    request: Request,
    state: &S,
    patience: Duration,
) -> Result<Bytes, Refusal> {
    let read = tokio::time::timeout(patience, Bytes::from_request(request, state)).await;
    let read = read.map_err(|_| {
        Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "too_slow",
            "the body did not arrive in time",
            format!("send the whole body within {} seconds", PATIENCE.as_secs()),
        )
    })?;
    read.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(),
        _ => Refusal::new(
            StatusCode::BAD_REQUEST,
            "bad_body",
            "could not read the body",
            "send a complete JSON body",
        ),
    })
}

pub(crate) fn too_large() -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too_large",
        "the body is too large",
        format!("send at most {} MiB", LARGEST_BODY >> 20),
    )
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| bad_body(error.path().to_string(), error.inner().to_string()))?;
    let ended = reader.end();
    ended.map_err(|error| bad_body(String::new(), error.to_string()))?;
    Ok(value)
}

fn bad_body(path: String, message: String) -> Refusal {
    let path = if path == "." { String::new() } else { path };
    let hint = "`/api/docs` describes the body";
    Refusal::field(StatusCode::BAD_REQUEST, path, message, hint).code("bad_body")
}

#[derive(Debug)]
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Query(asked) = Query::from_request_parts(parts, state)
            .await
            .map_err(|rejection| {
                let message = rejection.body_text();
                let message = message
                    .rsplit_once("query string: ")
                    .map_or(message.as_str(), |(_, why)| why);
                Refusal::new(
                    StatusCode::BAD_REQUEST,
                    "bad_query",
                    message,
                    "`/api/docs` describes the parameters",
                )
            })?;
        Ok(Self(asked))
    }
}

#[derive(Debug)]
pub(crate) struct PathParams<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(named) = Path::from_request_parts(parts, state).await.map_err(|_| {
            Refusal::new(
                StatusCode::BAD_REQUEST,
                "bad_id",
                "malformed id in the path",
                "use the `id` that batches, projects and tasks are listed with",
            )
        })?;
        Ok(Self(named))
    }
}

pub(crate) fn check_id(id: &str) -> Result<(), Refusal> {
    Ok(pleach_engine::start::check_id(id)?)
}

/// An id of a project or a task.
#[derive(Debug, ToSchema)]
#[schema(
    value_type = String,
    min_length = 1,
    max_length = 200,
    pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$"
)]
pub(crate) struct Id(#[expect(dead_code, reason = "only its description is used")] String);

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;

    use super::*;

    #[test]
    fn a_body_that_does_not_come_is_not_waited_for() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().build().unwrap();
        let never = tokio_stream::pending::<Result<Bytes, std::io::Error>>();
        let request = Request::new(axum::body::Body::from_stream(never));
        let read = all_of(request, &(), Duration::from_millis(20));
        let refusal = runtime.block_on(read).unwrap_err();
        assert_eq!(refusal.told(), "too_slow");
        let answer = refusal.into_response();
        assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT);
    }
}
