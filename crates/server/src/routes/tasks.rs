//! Tasks of boards: made, listed, changed, deleted, and imported from plans.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use pleach_domain::task::{Priority, TaskStatus};
use pleach_engine::board::{Board, BoardTask, NewTask, TaskChange};
use pleach_log::view::AttemptView;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Body, Id, PathParams, QueryParams, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(import))
        .routes(routes!(one, change, delete))
        .routes(routes!(attempts))
}

/// Whose tasks are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TasksQuery {
    /// The id of a project
    #[param(value_type = Id, inline)]
    project: String,
}

/// Tasks, in the order of the board.
#[derive(Debug, Serialize, ToSchema)]
struct Tasks {
    tasks: Vec<BoardTask>,
}

/// A new task.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewBoardTask {
    #[schema(value_type = Id)]
    project_id: String,
    /// 1 to 500 characters on one line
    #[schema(min_length = 1, max_length = 500)]
    title: String,
    /// The agent's prompt, besides the title; at most 100 kB
    #[serde(default)]
    description: Option<String>,
    priority: Option<Priority>,
    /// At most 50, of at most 50 characters
    labels: Option<Vec<String>>,
    /// The size that it wants of a cluster's node; without one it gets the default
    size: Option<String>,
    /// The ids of the tasks that must be done first; at most 200
    depends_on: Option<Vec<String>>,
}

/// Changes to a task; absent fields stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskChanges {
    #[schema(min_length = 1, max_length = 500)]
    title: Option<String>,
    description: Option<String>,
    priority: Option<Priority>,
    labels: Option<Vec<String>>,
    /// An empty string for the default
    size: Option<String>,
    depends_on: Option<Vec<String>>,
    status: Option<TaskStatus>,
    /// The position on the board, lowest first
    position: Option<f64>,
}

/// A plan to import: its text, or the path of a file of the project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanToImport {
    #[schema(value_type = Id)]
    project_id: String,
    /// The text of a plan, whose tasks are added to the board
    markdown: Option<String>,
    /// A plan file, relative to the project's folder, which the board is kept in sync with
    path: Option<String>,
}

/// The imported tasks.
#[derive(Debug, Serialize, ToSchema)]
struct Imported {
    /// The tasks, in the order of the plan
    tasks: Vec<BoardTask>,
    warnings: Vec<PlanWarning>,
}

/// A warning about a plan.
#[derive(Debug, Serialize, ToSchema)]
struct PlanWarning {
    code: &'static str,
    message: String,
    line: Option<u32>,
    hint: Option<String>,
}

/// Lists the tasks of a project
#[utoipa::path(get, path = "/api/tasks", operation_id = "listTasks", tag = "tasks", params(TasksQuery),
    responses((status = 200, body = Tasks),
        (status = 404, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<TasksQuery>,
) -> Result<impl IntoResponse, Refusal> {
    check_id(&wanted.project)?;
    // Thousands of tasks take a moment to write, too.
    let work = move |app: &App| {
        let tasks = Board::open(&app.state)?.tasks(&wanted.project)?;
        serde_json::to_vec(&Tasks { tasks }).map_err(|_| Refusal::bug())
    };
    let body = app.blocking(work).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body))
}

/// Adds a task to the board of a project
#[utoipa::path(post, path = "/api/tasks", operation_id = "createTask", tag = "tasks", request_body = NewBoardTask,
    responses((status = 201, body = BoardTask),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn create(
    State(app): State<App>,
    Body(creating): Body<NewBoardTask>,
) -> Result<(StatusCode, Json<BoardTask>), Refusal> {
    check_id(&creating.project_id)?;
    let new = NewTask {
        project: creating.project_id,
        title: creating.title,
        description: creating.description.unwrap_or_default(),
        priority: creating.priority,
        labels: creating.labels.unwrap_or_default(),
        size: creating.size,
        depends_on: creating.depends_on.unwrap_or_default(),
    };
    let work = move |app: &App| Ok(Board::open(&app.state)?.create_task(&new)?);
    Ok((StatusCode::CREATED, Json(app.blocking(work).await?)))
}

/// Shows a task
#[utoipa::path(get, path = "/api/tasks/{id}", operation_id = "showTask", tag = "tasks",
    params(("id" = inline(Id), Path)),
    responses((status = 200, body = BoardTask),
        (status = 404, body = ErrorBody)))]
async fn one(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<BoardTask>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.task(&id)?);
    Ok(Json(app.blocking(work).await?))
}

/// The attempts at a task.
#[derive(Debug, Serialize, ToSchema)]
struct Attempts {
    attempts: Vec<AttemptView>,
}

/// Lists the attempts at a task in all its batches, newest first
#[utoipa::path(get, path = "/api/tasks/{id}/attempts", operation_id = "listAttempts", tag = "tasks",
    params(("id" = inline(Id), Path)),
    responses((status = 200, body = Attempts),
        (status = 404, body = ErrorBody)))]
async fn attempts(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Attempts>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.attempts(&id)?);
    let attempts = app.blocking(work).await?;
    Ok(Json(Attempts { attempts }))
}

/// Changes a task
///
/// For a task of a plan file, only `status`, `priority`, `labels` and `position` can be changed here; the status is
/// written to the file.
#[utoipa::path(patch, path = "/api/tasks/{id}", operation_id = "changeTask", tag = "tasks",
    params(("id" = inline(Id), Path)), request_body = TaskChanges,
    responses((status = 200, body = BoardTask),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn change(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    Body(changing): Body<TaskChanges>,
) -> Result<Json<BoardTask>, Refusal> {
    check_id(&id)?;
    let change = TaskChange {
        title: changing.title,
        description: changing.description,
        priority: changing.priority,
        labels: changing.labels,
        size: changing.size,
        depends_on: changing.depends_on,
        status: changing.status,
        position: changing.position,
    };
    let work = move |app: &App| Ok(Board::open(&app.state)?.change_task(&id, &change)?);
    Ok(Json(app.blocking(work).await?))
}

/// Deletes a task, and removes it from the dependencies of other tasks
#[utoipa::path(delete, path = "/api/tasks/{id}", operation_id = "deleteTask", tag = "tasks",
    params(("id" = inline(Id), Path)),
    responses((status = 204),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn delete(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.delete_task(&id)?);
    app.blocking(work).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Imports a plan, and makes it the execution plan of the project
///
/// The tasks of a text are added to the board, all or none. A file is kept in sync with the board; importing it again
/// changes nothing.
#[utoipa::path(post, path = "/api/tasks/import", operation_id = "importTasks", tag = "tasks",
    request_body = PlanToImport,
    responses((status = 200, body = Imported),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn import(
    State(app): State<App>,
    Body(importing): Body<PlanToImport>,
) -> Result<Json<Imported>, Refusal> {
    check_id(&importing.project_id)?;
    Ok(Json(
        app.blocking(move |app| imported(app, &importing)).await?,
    ))
}

fn imported(app: &App, importing: &PlanToImport) -> Result<Imported, Refusal> {
    let mut board = Board::open(&app.state)?;
    let project = &importing.project_id;
    let brought = match (&importing.markdown, &importing.path) {
        (Some(markdown), None) => board.import_text(project, markdown)?,
        (None, Some(path)) => board.import_file(project, path)?,
        (None, None) | (Some(_), Some(_)) => {
            return Err(Refusal::field(
                StatusCode::BAD_REQUEST,
                "markdown",
                "pass either markdown or path",
                "send the text of a plan, or the path of a file of the project",
            )
            .code("bad_body"));
        }
    };
    let warnings = brought.warnings.into_iter().map(|warning| PlanWarning {
        code: warning.code.as_str(),
        message: warning.message,
        line: warning.line,
        hint: warning.hint,
    });
    Ok(Imported {
        tasks: brought.tasks,
        warnings: warnings.collect(),
    })
}
