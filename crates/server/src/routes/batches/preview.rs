//! What a batch would be before anybody starts it: its waves, what collides, what is missing, and why it would not start.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_domain::id::TaskId;
use pleach_engine::board::Board;
use pleach_engine::start;
use pleach_log::view::PredictedView;
use serde::Serialize;
use utoipa::ToSchema;

use super::starting::{BatchOptions, Warning, bare_start};
use crate::answer::{ErrorBody, ErrorText, Refusal};
use crate::app::App;
use crate::input::Body;

/// What a batch would be; tasks are named by their ids on the board.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BatchPreview {
    /// Tasks whose predecessors are all in earlier ones.
    stages: Vec<PreviewStage>,
    /// Tasks that declare the same files; the second of two waits for the first.
    predicted_conflicts: Vec<PredictedView>,
    /// Dependencies that are neither done nor in the batch.
    missing: Vec<MissingNeeds>,
    /// Tasks that were named and are done.
    left_out: Vec<String>,
    /// What is odd and stops nothing.
    warnings: Vec<Warning>,
    /// The address that the result would be pushed to; nothing where it would not be.
    push_to: Option<String>,
    /// Whether it starts only with `confirmPush`: this project has never pushed there.
    push_unconfirmed: bool,
    /// Why it would not start; consent is asked for when it does.
    refusal: Option<ErrorText>,
}

/// Tasks that may run at the same time.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PreviewStage {
    /// Counted from 1.
    number: usize,
    tasks: Vec<String>,
}

/// A task whose dependencies are missing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MissingNeeds {
    task_id: String,
    needs: Vec<String>,
}

/// What a batch of tasks would be; nothing is started or written
///
/// What would keep it from starting is told as `refusal`; only tasks that are unknown, and requests that are malformed,
/// are errors.
#[utoipa::path(post, path = "/api/batches/preview", operation_id = "previewBatch", tag = "batches",
    request_body = BatchOptions,
    responses((status = 200, body = BatchPreview), (status = 404, body = ErrorBody)))]
pub(super) async fn preview(
    State(app): State<App>,
    Body(options): Body<BatchOptions>,
) -> Result<Json<BatchPreview>, Refusal> {
    options.check_ids()?;
    let looked = app.blocking(move |app| looked_up(app, &options));
    looked.await.map(Json)
}

fn looked_up(app: &App, options: &BatchOptions) -> Result<BatchPreview, Refusal> {
    let board = Board::open(&app.state)?;
    let (project, plan, tasks) = match board.plan_of(&options.task_ids) {
        Ok(found) => found,
        Err(error) => return refused(error.into()),
    };
    let id = project.id.clone();
    let ids = board.ids_of(&id, &plan)?;
    let unfit = options.check_number().and_then(|()| options.check()).err();
    let start = options.laid_upon(bare_start(project, plan, tasks, None));
    let found = start::preview(&app.state, &app.program, &id, start);
    let refusal = unfit.or_else(|| found.refusal.map(Refusal::from));
    let name = |task: &TaskId| id_of(&ids, task);
    let names = |tasks: &[TaskId]| tasks.iter().map(name).collect();
    let stages = (1..).zip(&found.waves).map(|(number, wave)| PreviewStage {
        number,
        tasks: names(wave),
    });
    let collisions = found.collisions.into_iter().map(|pair| PredictedView {
        tasks: pair.tasks.map(|task| name(&TaskId::new(task))),
        files: pair.files,
    });
    let missing = found.missing.iter().map(|(task, needs)| MissingNeeds {
        task_id: name(task),
        needs: names(needs),
    });
    Ok(BatchPreview {
        stages: stages.collect(),
        predicted_conflicts: collisions.collect(),
        missing: missing.collect(),
        left_out: names(&found.left_out),
        warnings: found.warnings.iter().map(Warning::from).collect(),
        push_to: found.push_to,
        push_unconfirmed: found.push_unconfirmed,
        refusal: refusal.map(Refusal::into_text),
    })
}

/// A task that came into its file just now is on no board yet.
fn id_of(ids: &HashMap<TaskId, String>, task: &TaskId) -> String {
    let id = ids.get(task);
    id.cloned().unwrap_or_else(|| task.to_string())
}

/// What keeps these tasks from being a batch at all, where they are there.
fn refused(refusal: Refusal) -> Result<BatchPreview, Refusal> {
    if !matches!(
        refusal.status,
        StatusCode::CONFLICT | StatusCode::UNPROCESSABLE_ENTITY
    ) {
        return Err(refusal);
    }
    Ok(BatchPreview {
        refusal: Some(refusal.into_text()),
        ..BatchPreview::default()
    })
}
