//! Signs of life, counts for Prometheus, and one line of log for each request.

use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::Json;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pleach_engine::database::{Among, BatchFilter, Database};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal, Told};
use crate::app::App;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(metrics))
}

/// That the server is there.
#[derive(Debug, Serialize, ToSchema)]
struct Health {
    #[schema(example = "ok")]
    status: &'static str,
    version: &'static str,
}

/// Whether the server is there; wants no token
#[utoipa::path(get, path = "/health", tag = "server", security(()),
    responses((status = 200, body = Health)))]
async fn health() -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Counts in the text format of Prometheus
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"), (status = 401, body = ErrorBody)))]
async fn metrics(State(app): State<App>) -> Result<Response, Refusal> {
    let text = app.blocking(counted).await?;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

fn counted(app: &App) -> Result<String, Refusal> {
    use std::fmt::Write as _;
    let database = Database::open(&app.state)?;
    let open = database.batches(BatchFilter {
        project: None,
        among: Among::Open,
    })?;
    let counts = &app.counts;
    let now = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
        let _ = writeln!(
            text,
            "# HELP pleach_{name} {help}\n# TYPE pleach_{name} {kind}"
        );
        for (labels, value) in values {
            let _ = writeln!(text, "pleach_{name}{labels} {value}");
        }
    };
    let alone = |value| vec![(String::new(), value)];
    let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    add("info", "gauge", "The version that runs.", &[(version, 1)]);
    add(
        "uptime_seconds",
        "counter",
        "Since the server began.",
        &alone(app.began.elapsed().as_secs()),
    );
    let answers: Vec<_> = counts
        .answers()
        .map(|(class, count)| (format!("{{status=\"{class}xx\"}}"), count))
        .collect();
    add(
        "http_answers_total",
        "counter",
        "Answers by class of status.",
        &answers,
    );
    add(
        "http_connections",
        "gauge",
        "Connections that are open.",
        &alone(now(&counts.connections)),
    );
    add(
        "event_listeners",
        "gauge",
        "Clients that listen to events.",
        &alone(now(&counts.listeners)),
    );
    add(
        "event_frames_total",
        "counter",
        "Events handed to clients.",
        &alone(now(&counts.frames)),
    );
    add(
        "log_events_total",
        "counter",
        "Events in the log, of all processes.",
        &alone(database.last_seq()?),
    );
    let mut by_status = std::collections::BTreeMap::<&str, u64>::new();
    for batch in &open {
        *by_status.entry(&batch.status).or_default() += 1;
    }
    let by_status: Vec<_> = by_status
        .into_iter()
        .map(|(status, count)| (format!("{{status=\"{status}\"}}"), count))
        .collect();
    add(
        "batches_open",
        "gauge",
        "Batches that are not over, of all processes.",
        &by_status,
    );
    Ok(text)
}

/// One line of log for each request: what was asked for, never with which words.
pub(super) async fn note_answer(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "-".to_owned(), |path| path.as_str().to_owned());
    let response = next.run(request).await;
    let status = response.status();
    app.counts.answered(status);
    let code = response
        .extensions()
        .get::<Told>()
        .map(|told| told.0.as_str());
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if status.is_server_error() {
        tracing::error!(%method, path, status = status.as_u16(), ms, code, "answered");
    } else {
        tracing::info!(%method, path, status = status.as_u16(), ms, code, "answered");
    }
    response
}
