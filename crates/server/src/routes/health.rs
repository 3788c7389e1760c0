//! Signs of life, counts for Prometheus, and one line of log for each request.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use pleach_log::database::{BatchFilter, BatchRow, BatchScope, Database};
use pleach_log::queue_report::{QueueReport, UnitWord};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{LoggedCode, Refusal};
use crate::app::App;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(metrics))
}

/// The state of the server.
#[derive(Debug, Serialize, ToSchema)]
struct Health {
    #[schema(example = "ok")]
    status: &'static str,
    version: &'static str,
}

/// Reports that the server is running; needs no token
#[utoipa::path(get, path = "/health", operation_id = "showHealth", tag = "server", security(()),
    responses((status = 200, body = Health)))]
async fn health() -> Json<Health> {
    Json(Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Metrics in the text format of Prometheus
#[utoipa::path(get, path = "/metrics", operation_id = "showMetrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain")))]
async fn metrics(State(app): State<App>) -> Result<Response, Refusal> {
    let text = app.blocking(counted).await?;
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

#[derive(Default)]
struct Page(String);

impl Page {
    /// One kind of count, with a value for each set of labels.
    fn add(&mut self, name: &str, kind: &str, help: &str, values: &[(String, u64)]) {
        let text = &mut self.0;
        let _ = writeln!(
            text,
            "# HELP pleach_{name} {help}\n# TYPE pleach_{name} {kind}"
        );
        for (labels, value) in values {
            let _ = writeln!(text, "pleach_{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.add(name, "gauge", help, &[(String::new(), value)]);
    }

    /// How often something took some time, and how long in all.
    fn summary(&mut self, name: &str, help: &str, (count, seconds): (u64, f64)) {
        self.add(name, "summary", help, &[("_count".to_owned(), count)]);
        let _ = writeln!(self.0, "pleach_{name}_sum {seconds}");
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.add(name, "counter", help, &[(String::new(), value)]);
    }
}

fn counted(app: &App) -> Result<String, Refusal> {
    let database = Database::open(&app.state)?;
    let counts = &app.counts;
    let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let mut page = Page::default();
    let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
    page.add("info", "gauge", "The running version.", &[(version, 1)]);
    let seconds = app.began.elapsed().as_secs();
    page.counter(
        "uptime_seconds",
        "Seconds since the server started.",
        seconds,
    );
    let answers = counts.answers();
    let answers: Vec<_> = answers
        .map(|(class, count)| (format!("{{status=\"{class}xx\"}}"), count))
        .collect();
    let help = "Responses by status class.";
    page.add("http_answers_total", "counter", help, &answers);
    let connections = now(&counts.connections);
    page.gauge("http_connections", "Open connections.", connections);
    let listeners = now(&counts.listeners);
    page.gauge("event_listeners", "Clients of the event stream.", listeners);
    let frames = now(&counts.frames);
    page.counter("event_frames_total", "Events sent to clients.", frames);
    let help = "Events in the log, of all processes.";
    page.counter("log_events_total", help, database.last_seq()?);
    let help = "Unfinished batches, of all processes.";
    let open = database.batches(BatchFilter {
        project: None,
        among: BatchScope::Open,
    })?;
    page.add("batches_open", "gauge", help, &by_status(&open));
    let help = "Attempts and runs of the tests in clusters, as those said it last.";
    page.add("units", "gauge", help, &units(app, &open));
    let counts = database.queue_counts()?;
    page.counter("lost_total", "Attempts lost with their nodes.", counts.lost);
    let help = "How long attempts waited for a node.";
    let seconds = Duration::from_millis(counts.waited).as_secs_f64();
    page.summary("queue_seconds", help, (counts.placed, seconds));
    Ok(page.0)
}

/// How many units there are in each state of each cluster.
fn units(app: &App, open: &[BatchRow]) -> Vec<(String, u64)> {
    let mut counts = BTreeMap::<(String, UnitWord), u64>::new();
    for batch in open {
        for unit in QueueReport::read(&app.state.batch(batch.id)).units {
            *counts.entry((unit.cluster, unit.state)).or_default() += 1;
        }
    }
    let labelled = |((cluster, state), count): ((String, UnitWord), u64)| {
        let state = state.as_str();
        (
            format!("{{cluster=\"{cluster}\",state=\"{state}\"}}"),
            count,
        )
    };
    counts.into_iter().map(labelled).collect()
}

/// How many batches there are in each status.
fn by_status(open: &[BatchRow]) -> Vec<(String, u64)> {
    let mut by_status = BTreeMap::<&str, u64>::new();
    for batch in open {
        *by_status.entry(&batch.status).or_default() += 1;
    }
    let counts = by_status.into_iter();
    counts
        .map(|(status, count)| (format!("{{status=\"{status}\"}}"), count))
        .collect()
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
        .get::<LoggedCode>()
        .map(|told| told.0.as_str());
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    if status.is_server_error() {
        tracing::error!(%method, path, status = status.as_u16(), ms, code, "answered");
    } else {
        tracing::info!(%method, path, status = status.as_u16(), ms, code, "answered");
    }
    response
}
