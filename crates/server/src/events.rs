//! `GET /api/events`: everything that happens, as it happens, without loss across reconnects.

pub(crate) mod described;
mod frame;
mod hub;
mod ring;
mod stream;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use hub::Hub;
use pleach_engine::host::HostError;

use crate::answer::Refusal;
use crate::app::{App, Stopping};
use crate::input::{QueryParams, check_id};
use frame::Filter;
use hub::MOST_CLIENTS;
use stream::{Pieces, Start};

/// What a browser sends when it comes back.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(events))
}

/// Which events are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct EventsQuery {
    /// Resume after the event with this number; `Last-Event-ID` overrides it.
    #[param(value_type = Option<u64>)]
    from: Option<String>,
    /// Only events of this project, and those of no project.
    project: Option<String>,
    /// Only events of this batch.
    batch: Option<u32>,
}

/// Streams everything that happens, as server-sent events
///
/// Events of the log have their number as `id`. Each is sent once and in order, across reconnects and restarts. Without
/// a number the stream begins with new events; a number beyond the end of the log is answered with `reset`.
/// `execution:log`, `execution:progress` and `batch:interrupted` have no number and report only the latest state. The
/// data of each event is a schema of this document: that of `batch:task:started` is `BatchTaskStartedEvent`.
#[utoipa::path(get, path = "/api/events", operation_id = "followEvents", tag = "events",
    params(EventsQuery, ("Last-Event-ID" = Option<u64>, Header, description = "Resume after the event with this number")),
    responses(
        (status = 200, body = String, content_type = "text/event-stream"),
    ))]
async fn events(
    State(app): State<App>,
    Extension(hub): Extension<Hub>,
    QueryParams(wanted): QueryParams<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if *app.stopping.borrow() == Stopping::Over {
        return Err(HostError::Leaving.into());
    }
    if let Some(project) = &wanted.project {
        check_id(project)?;
    }
    let start = match headers.get(LAST_EVENT_ID) {
        Some(value) => number("Last-Event-ID", value.to_str().unwrap_or_default())?,
        None => match &wanted.from {
            Some(from) => number("from", from)?,
            None => Start::Now,
        },
    };
    let filter = Filter {
        project: wanted.project,
        batch: wanted.batch,
    };
    let seat = hub.sit_down().ok_or_else(too_many)?;
    let pieces = Pieces::begin(&app, seat, filter, start).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        // Proxies that gather bytes would keep events back.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok((headers, Body::from_stream(pieces)).into_response())
}

fn number(field: &str, text: &str) -> Result<Start, Refusal> {
    // What a browser that has heard nothing sends.
    if text.is_empty() {
        return Ok(Start::Now);
    }
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_plain);
    // Numbers that the log could never reach are no numbers of it.
    let number = number.filter(|number| *number <= i64::MAX.cast_unsigned());
    number.map(Start::After).ok_or_else(|| {
        Refusal::field(
            StatusCode::BAD_REQUEST,
            field,
            "not an event number",
            "omit it to get only new events",
        )
    })
}

fn too_many() -> Refusal {
    Refusal::new(
        StatusCode::SERVICE_UNAVAILABLE,
        "too_many_clients",
        format!("{MOST_CLIENTS} clients are already connected"),
        "close one of them, then try again",
    )
}
