//! Projects: listed, added by folder or by address, renamed and hidden.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_engine::board::{Board, Project, ProjectStatus};
use pleach_git::git::Logins;
use pleach_system::text::causes::with_causes;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::hosting::{Turn, spawn};
use crate::input::{Body, Id, PathParams, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(one, rename, hide))
}

/// Projects, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
struct Projects {
    projects: Vec<Project>,
}

/// A project to add: a folder, or an address to clone from.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
struct NewProject {
    /// The absolute path of a folder on this machine
    path: Option<String>,
    /// The address of a repository: https, http, ssh, git, file, or `user@host:path`
    url: Option<String>,
}

/// Changes to a project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ProjectChange {
    /// 1 to 100 characters on one line
    #[schema(min_length = 1, max_length = 100)]
    name: String,
}

/// Lists the projects
#[utoipa::path(get, path = "/api/projects", operation_id = "listProjects", tag = "projects",
    responses((status = 200, body = Projects)))]
async fn list(State(app): State<App>) -> Result<Json<Projects>, Refusal> {
    let work = |app: &App| Ok(Board::open(&app.state)?.projects()?);
    let projects = app.blocking(work).await?;
    Ok(Json(Projects { projects }))
}

/// Adds a project, or shows a hidden one again
///
/// A folder is ready at once (201). A URL is cloned in the background (202): the project is `cloning`, then `ready` or
/// `failed`.
#[utoipa::path(post, path = "/api/projects", operation_id = "addProject", tag = "projects", request_body = NewProject,
    responses(
        (status = 201, body = Project), (status = 202, body = Project),
        (status = 422, body = ErrorBody),
    ))]
async fn add(
    State(app): State<App>,
    Body(new): Body<NewProject>,
) -> Result<(StatusCode, Json<Project>), Refusal> {
    let project = app.blocking(|app| added(app, new)).await?;
    let status = match project.status {
        ProjectStatus::Cloning => StatusCode::ACCEPTED,
        ProjectStatus::Ready | ProjectStatus::Failed => StatusCode::CREATED,
    };
    Ok((status, Json(project)))
}

fn added(app: &App, new: NewProject) -> Result<Project, Refusal> {
    let mut board = Board::open(&app.state)?;
    match (new.path, new.url) {
        (Some(path), None) => Ok(board.add_folder(Path::new(&path))?),
        (None, Some(url)) => {
            app.host.check_is_open()?;
            let turn = Turn::take()?;
            let (project, cloning) = board.add_url(&url)?;
            if let Some(cloning) = cloning {
                let logins = Logins::of_user(&app.program);
                spawn("clone", move || {
                    let _turn = turn;
                    let project = cloning.id().to_owned();
                    if let Err(error) = cloning.run(&logins) {
                        let why = with_causes(&error);
                        tracing::warn!(project, why, "could not clone a project");
                    }
                });
            }
            Ok(project)
        }
        (None, None) | (Some(_), Some(_)) => Err(Refusal::field(
            StatusCode::BAD_REQUEST,
            "path",
            "pass either path or url",
            "send {\"path\": \"/an/absolute/path\"} or {\"url\": \"https://host/owner/name.git\"}",
        )
        .code("bad_body")),
    }
}

/// Shows a project
#[utoipa::path(get, path = "/api/projects/{id}", operation_id = "showProject", tag = "projects",
    params(("id" = inline(Id), Path)),
    responses((status = 200, body = Project),
        (status = 404, body = ErrorBody)))]
async fn one(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<Json<Project>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.project(&id)?);
    Ok(Json(app.blocking(work).await?))
}

/// Renames a project
#[utoipa::path(patch, path = "/api/projects/{id}", operation_id = "renameProject", tag = "projects",
    params(("id" = inline(Id), Path)),
    request_body = ProjectChange,
    responses((status = 200, body = Project),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn rename(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
    Body(change): Body<ProjectChange>,
) -> Result<Json<Project>, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.rename_project(&id, &change.name)?);
    Ok(Json(app.blocking(work).await?))
}

/// Hides a project; nothing is deleted, and adding it again shows it again
#[utoipa::path(delete, path = "/api/projects/{id}", operation_id = "hideProject", tag = "projects",
    params(("id" = inline(Id), Path)),
    responses((status = 204),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
async fn hide(
    State(app): State<App>,
    PathParams(id): PathParams<String>,
) -> Result<StatusCode, Refusal> {
    check_id(&id)?;
    let work = move |app: &App| Ok(Board::open(&app.state)?.hide_project(&id)?);
    app.blocking(work).await?;
    Ok(StatusCode::NO_CONTENT)
}
