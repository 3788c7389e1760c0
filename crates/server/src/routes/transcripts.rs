//! What the agent of a task printed, in pages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use pleach_domain::id::TaskId;
use pleach_driver::Entry;
use pleach_engine::stored_batch::StoredBatch;
use pleach_log::database::Database;
use pleach_log::ownership::is_owned;
use pleach_log::transcript::attempt_folder;
use pleach_log::transcript::{LONGEST_PAGE, Page, PageStart, Speaker, Transcript, USUAL_PAGE};
use pleach_log::view::ViewError;
use pleach_system::text::causes::with_causes;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{PathParams, QueryParams};

/// How many transcripts are remembered; more are not read at once by one person.
const MOST_KNOWN: usize = 64;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(log))
}

/// Which part is wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TranscriptQuery {
    /// The first line, counted from 0; `tail` or a negative number for the last page.
    #[param(value_type = Option<String>, pattern = "^(tail|-?[0-9]{1,18})$")]
    from: Option<String>,
    /// The maximum number of lines, 1 to 5000.
    #[param(minimum = 1, maximum = 5000)]
    limit: Option<u32>,
    /// The attempt; the last one by default.
    #[param(minimum = 1)]
    attempt: Option<u32>,
}

/// A page of a transcript.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TranscriptPage {
    entries: Vec<TranscriptLine>,
    /// The number of the first line of the page.
    from: u64,
    /// The total number of lines.
    total: u64,
    /// The attempt; 0 if none has started.
    attempt: u32,
    /// Whether the attempt has finished, so that no more lines follow.
    is_over: bool,
}

/// A line of a transcript.
#[derive(Debug, Serialize, ToSchema)]
struct TranscriptLine {
    /// Its number, counted from 0.
    line: u64,
    /// Its type.
    #[serde(rename = "type")]
    #[schema(example = "raw")]
    kind: &'static str,
    /// Its text, for people.
    text: String,
    /// The full entry, if the agent has a protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Entry>,
}

impl From<Page> for TranscriptPage {
    fn from(page: Page) -> Self {
        let line = |entry: pleach_log::transcript::TranscriptEntry| TranscriptLine {
            line: entry.line,
            kind: entry.kind,
            text: entry.text,
            detail: entry.detail,
        };
        Self {
            entries: page.entries.into_iter().map(line).collect(),
            from: page.from,
            total: page.total,
            attempt: page.attempt,
            is_over: page.is_over,
        }
    }
}

/// Shows the transcript of a task
///
/// While the attempt runs, an unfinished line is left out. A page may have fewer lines than requested; continue after
/// its last one.
#[utoipa::path(get, path = "/api/batches/{id}/tasks/{taskId}/log", operation_id = "showTranscript", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch"),
        ("taskId" = String, Path, description = "The task, by its key in the batch or its id"), TranscriptQuery),
    responses(
        (status = 200, body = TranscriptPage),
        (status = 404, body = ErrorBody),
    ))]
async fn log(
    State(app): State<App>,
    Extension(transcripts): Extension<Arc<Transcripts>>,
    PathParams((batch, task)): PathParams<(u32, String)>,
    QueryParams(wanted): QueryParams<TranscriptQuery>,
) -> Result<Json<TranscriptPage>, Refusal> {
    let place = place(wanted.from.as_deref())?;
    let most = most(wanted.limit)?;
    let page = app.blocking(move |app| {
        let attempt = wanted.attempt;
        read(app, &transcripts, batch, &task, attempt, place, most)
    });
    Ok(Json(page.await?.into()))
}

fn place(from: Option<&str>) -> Result<PageStart, Refusal> {
    let Some(from) = from else {
        return Ok(PageStart::Line(0));
    };
    let digits = from.strip_prefix('-').unwrap_or(from);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if from == "tail" || (is_number && from.starts_with('-')) {
        return Ok(PageStart::End);
    }
    let line = from.parse().ok().filter(|_| is_number);
    line.map(PageStart::Line).ok_or_else(|| {
        let hint = "lines are counted from 0; `tail` gets the last ones";
        Refusal::field(StatusCode::BAD_REQUEST, "from", "not a line number", hint)
    })
}

fn most(limit: Option<u32>) -> Result<usize, Refusal> {
    let limit = limit.map_or(USUAL_PAGE, |limit| limit as usize);
    if (1..=LONGEST_PAGE).contains(&limit) {
        return Ok(limit);
    }
    let hint = format!("use 1 to {LONGEST_PAGE} lines");
    Err(Refusal::field(
        StatusCode::BAD_REQUEST,
        "limit",
        "not a page size",
        hint,
    ))
}

fn read(
    app: &App,
    transcripts: &Transcripts,
    batch: u32,
    named: &str,
    attempt: Option<u32>,
    place: PageStart,
    most: usize,
) -> Result<Page, Refusal> {
    // Looked at first: an owner that ends in between has written its last event by then.
    let is_owned = is_owned(&app.state.batch(batch)).map_err(ViewError::from)?;
    let stored = StoredBatch::load(&Database::open(&app.state)?, batch)?;
    let task = stored.key_of(named)?;
    let position = stored.position(&task)?;
    let known = &stored.batch.tasks[position];
    let number = attempt.unwrap_or(known.attempts);
    if number > known.attempts || attempt == Some(0) {
        let message = format!("task {task} has no attempt {number}");
        let hint = "omit it to get the last one";
        return Err(Refusal::not_found("no_attempt", message, hint));
    }
    let is_at_work = number == 0 || (is_owned && known.state.attempt() == Some(number));
    let speaker = if is_at_work {
        Speaker::AtWork
    } else {
        Speaker::Done
    };
    let folder = attempt_folder(&app.state.batch(batch), &stored.segment(position), number);
    let transcript = transcripts.get_or_insert((batch, task.clone(), number), || {
        Transcript::of(&folder, number)
    });
    let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
    transcript.page(place, most, speaker).map_err(|error| {
        let message = format!(
            "could not read {}: {}",
            folder.display(),
            with_causes(&error)
        );
        let hint = "check the disk of the state folder";
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "no_transcript",
            message,
            hint,
        )
    })
}

/// Whose transcript: batch, task and attempt.
type TranscriptKey = (u32, TaskId, u32);

/// The transcripts that were read last, so that nobody reads a long one again for each page.
#[derive(Debug, Default)]
pub(super) struct Transcripts {
    known: Mutex<VecDeque<(TranscriptKey, Arc<Mutex<Transcript>>)>>,
}

impl Transcripts {
    fn get_or_insert(
        &self,
        whose: TranscriptKey,
        make: impl FnOnce() -> Transcript,
    ) -> Arc<Mutex<Transcript>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|(known, _)| *known == whose);
        let found = place.and_then(|place| known.remove(place));
        let (_, transcript) =
            found.unwrap_or_else(|| (whose.clone(), Arc::new(Mutex::new(make()))));
        known.push_back((whose, Arc::clone(&transcript)));
        if known.len() > MOST_KNOWN {
            known.pop_front();
        }
        transcript
    }
}
