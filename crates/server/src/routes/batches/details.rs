//! What is inside a batch: patches, the order of its tasks, what its tests said, its worktrees.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_engine::patch::{PatchError, ShownPatch, Whitespace, shown_patch};
use pleach_engine::validate::VALIDATE_LOG;
use pleach_git::worktree::TreeState;
use pleach_log::batch_paths::{last_probe_log, probe_folder};
use pleach_log::view::{OrderView, ValidationView};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{shown, stored};
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{PathParams, QueryParams};

const LARGEST_PATCH: usize = 5_000_000;
/// So much of a log comes at once if nothing is said, and at most.
const USUAL_PAGE: u64 = 64 << 10;
const LARGEST_PAGE: u64 = 1 << 20;
/// The bytes of the longest letter.
const LONGEST_LETTER: u64 = 4;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(diff))
        .routes(routes!(task_diff))
        .routes(routes!(plan))
        .routes(routes!(validation))
        .routes(routes!(worktrees))
}

/// Options of a patch.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PatchQuery {
    /// `ignore` ignores changes in whitespace
    #[serde(default)]
    #[param(inline)]
    whitespace: Whitespace,
}

/// Shows the changes of a batch, as one patch of at most 5 MB
#[utoipa::path(get, path = "/api/batches/{id}/diff", operation_id = "showBatchDiff", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch"), PatchQuery),
    responses((status = 200, body = ShownPatch),
    (status = 404, body = ErrorBody)))]
async fn diff(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    QueryParams(wanted): QueryParams<PatchQuery>,
) -> Result<Json<ShownPatch>, Refusal> {
    let patch = app.blocking(move |app| {
        let batch = stored(app, id)?;
        shown_patch(&app.state, &batch, None, wanted.whitespace, LARGEST_PATCH).map_err(of_patch)
    });
    patch.await.map(Json)
}

/// Shows the changes of a task, as one patch of at most 5 MB
#[utoipa::path(get, path = "/api/batches/{id}/tasks/{taskId}/diff", operation_id = "showTaskDiff", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch"),
        ("taskId" = String, Path, description = "The task, by its key in the batch or its id"), PatchQuery),
    responses((status = 200, body = ShownPatch),
    (status = 404, body = ErrorBody)))]
async fn task_diff(
    State(app): State<App>,
    PathParams((id, task)): PathParams<(u32, String)>,
    QueryParams(wanted): QueryParams<PatchQuery>,
) -> Result<Json<ShownPatch>, Refusal> {
    let patch = app.blocking(move |app| {
        let batch = stored(app, id)?;
        let task = batch.key_of(&task)?;
        let white = wanted.whitespace;
        shown_patch(&app.state, &batch, Some(&task), white, LARGEST_PATCH).map_err(of_patch)
    });
    patch.await.map(Json)
}

fn of_patch(error: PatchError) -> Refusal {
    match error {
        PatchError::Gone { .. } => {
            let hint = "kept work is deleted after `keep_work`";
            Refusal::not_found("work_gone", error.to_string(), hint)
        }
        error => error.into(),
    }
}

/// Shows the order of the tasks of a batch
#[utoipa::path(get, path = "/api/batches/{id}/plan", operation_id = "showBatchPlan", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = OrderView),
    (status = 404, body = ErrorBody)))]
async fn plan(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<OrderView>, Refusal> {
    let order = app.blocking(move |app| {
        let batch = stored(app, id)?;
        Ok(OrderView::of(&batch.batch.design, &batch.task_ids()))
    });
    order.await.map(Json)
}

/// The requested part of the output of a test run.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct LogPartQuery {
    /// The number of the run; the last one by default
    run: Option<u32>,
    /// The first byte; by default as much of the end as fits
    #[param(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    from: Option<u32>,
    /// The number of bytes, at most 1 MiB
    #[param(minimum = 1, maximum = 1_048_576)]
    limit: Option<u64>,
}

/// The test results of a batch and their output.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Validated {
    #[serde(flatten)]
    validation: ValidationView,
    /// The output of a run, if there was one.
    log: Option<LogPart>,
}

/// A part of the output of a test run, cut at whole characters.
#[derive(Debug, Serialize, ToSchema)]
struct LogPart {
    run: u32,
    /// The first byte.
    from: u64,
    /// The byte after the last one.
    to: u64,
    /// The total number of bytes.
    total: u64,
    text: String,
}

/// Shows the test results of a batch and a page of their output
#[utoipa::path(get, path = "/api/batches/{id}/validation", operation_id = "showValidation", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch"), LogPartQuery),
    responses((status = 200, body = Validated),
    (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn validation(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
    QueryParams(part): QueryParams<LogPartQuery>,
) -> Result<Json<Validated>, Refusal> {
    if part
        .limit
        .is_some_and(|limit| !(1..=LARGEST_PAGE).contains(&limit))
    {
        let message = format!("must be 1 to {LARGEST_PAGE}");
        let unfit = StatusCode::UNPROCESSABLE_ENTITY;
        return Err(Refusal::field(unfit, "limit", message, "read it in pages"));
    }
    app.blocking(move |app| validated(app, id, &part))
        .await
        .map(Json)
}

fn validated(app: &App, id: u32, part: &LogPartQuery) -> Result<Validated, Refusal> {
    let batch = shown(app, id)?;
    let (number, validation) = (batch.number, batch.validation);
    let folder = app.state.batch(id);
    let numbers = validation.runs.iter().filter_map(|run| run.number);
    // One that is under way has printed something and has no verdict yet: it may become the next.
    let next = numbers.max().unwrap_or(0) + 1;
    let newest = last_probe_log(&folder);
    let of_log = |log: u32| validation.runs.iter().find(|run| run.log == Some(log));
    let newest_run = newest.map(|log| of_log(log).and_then(|run| run.number).unwrap_or(next));
    let Some(run) = part.run.or(newest_run) else {
        return Ok(Validated {
            validation,
            log: None,
        });
    };
    let known = validation
        .runs
        .iter()
        .find(|known| known.number == Some(run));
    let log = match known {
        Some(known) => known.log,
        None => newest.filter(|_| newest_run == Some(run)),
    };
    let log =
        log.and_then(|log| read_part(&probe_folder(&folder, log).join(VALIDATE_LOG), run, part));
    if log.is_none() && part.run.is_some() {
        let message = format!("batch {number} has no test run {run}");
        return Err(Refusal::not_found(
            "run_not_found",
            message,
            "`runs` lists the test runs",
        ));
    }
    Ok(Validated { validation, log })
}

fn read_part(path: &std::path::Path, run: u32, part: &LogPartQuery) -> Option<LogPart> {
    let mut file = File::open(path).ok()?;
    let total = file.metadata().ok()?.len();
    // Less might hold no letter at all, and whoever reads on would stay where they are.
    let limit = part.limit.unwrap_or(USUAL_PAGE).max(LONGEST_LETTER);
    let from = part
        .from
        .map_or(total.saturating_sub(limit), u64::from)
        .min(total);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    let read = from + u64::try_from(bytes.len()).unwrap_or(0);
    let start = if from == 0 {
        0
    } else {
        rest_of_a_letter(&bytes)
    };
    let cut = if read == total {
        0
    } else {
        begun_letter(&bytes[start..])
    };
    Some(LogPart {
        run,
        from: from + u64::try_from(start).unwrap_or(0),
        to: read - u64::try_from(cut).unwrap_or(0),
        total,
        text: String::from_utf8_lossy(&bytes[start..bytes.len() - cut]).into_owned(),
    })
}

/// How many bytes at the beginning belong to a letter before it.
fn rest_of_a_letter(bytes: &[u8]) -> usize {
    let is_inside = |byte: &&u8| (0x80..0xc0).contains(*byte);
    bytes.iter().take(3).take_while(is_inside).count()
}

/// How many bytes at the end are a letter of which the rest comes later.
fn begun_letter(bytes: &[u8]) -> usize {
    let is_begun = |length: &usize| {
        let end = &bytes[bytes.len() - length..];
        std::str::from_utf8(end)
            .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
    };
    (1..=bytes.len().min(3)).find(is_begun).unwrap_or(0)
}

/// The worktrees of a batch.
#[derive(Debug, Serialize, ToSchema)]
struct Worktrees {
    worktrees: Vec<WorktreeView>,
}

/// A worktree, or what is left of one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WorktreeView {
    path: String,
    /// The id of its task, if it has one.
    task_id: Option<String>,
    /// The id of that task in its plan.
    key: Option<String>,
    branch: Option<String>,
    head: Option<String>,
    /// `in_use`, `left`, `resolving`, `half_made`, `going`, `folder_gone` or `unregistered`.
    state: &'static str,
    /// Whether its files exist.
    exists: bool,
    seconds: Option<u64>,
}

/// Lists the worktrees of a batch, including leftover ones
#[utoipa::path(get, path = "/api/batches/{id}/worktrees", operation_id = "listWorktrees", tag = "batches",
    params(("id" = u32, Path, description = "The id of the batch")),
    responses((status = 200, body = Worktrees),
    (status = 404, body = ErrorBody)))]
async fn worktrees(
    State(app): State<App>,
    PathParams(id): PathParams<u32>,
) -> Result<Json<Worktrees>, Refusal> {
    app.blocking(move |app| listed(app, id)).await.map(Json)
}

fn listed(app: &App, id: u32) -> Result<Worktrees, Refusal> {
    let batch = stored(app, id)?;
    let found = batch.worktrees(&app.state)?;
    let ids = batch.task_ids();
    let worktrees = found.iter().map(|tree| WorktreeView {
        path: tree.path.to_string_lossy().into_owned(),
        task_id: batch.task_of_worktree(tree).map(|task| ids.id(task)),
        key: batch.task_of_worktree(tree).map(ToString::to_string),
        branch: tree.branch.clone(),
        head: tree.head.as_ref().map(ToString::to_string),
        state: match tree.state {
            TreeState::InUse => "in_use",
            TreeState::Left => "left",
            TreeState::Resolving => "resolving",
            TreeState::HalfMade => "half_made",
            TreeState::Going => "going",
            TreeState::FolderGone => "folder_gone",
            TreeState::Unregistered => "unregistered",
        },
        exists: tree.path.is_dir(),
        seconds: tree.age.map(|age| age.as_secs()),
    });
    Ok(Worktrees {
        worktrees: worktrees.collect(),
    })
}
