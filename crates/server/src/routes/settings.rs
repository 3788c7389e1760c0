//! The settings that people change on a page: shown with their sources, written to the user's own file.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_engine::board::Board;
use pleach_engine::config::{FILE_NAME, Layers, Origin, Shown, Whose, set_all};
use pleach_engine::database::{BoardEvent, Database};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, FieldError, Refusal};
use crate::app::App;
use crate::input::{Asked, Body, Id, check_id, whole};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(look, change))
}

/// Where the settings are to hold.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
    /// The id of a project, whose `pleach.toml` counts as well
    #[param(value_type = Option<Id>, inline)]
    project: Option<String>,
}

/// What people change on a page.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Settings {
    /// How many tasks of a batch run at once: 1 to 10, or what `max_parallel` says elsewhere
    max_batch_size: Setting,
    /// How many tasks run at once over all batches
    parallel_limit: Setting,
    /// Whether a queue goes on without being asked
    queue_auto_approve: Setting,
    /// Whether nothing new starts once a task has failed
    stop_on_failure: Setting,
    /// What becomes of a task that does not merge: skip, fail or rerun
    conflict_behavior: Setting,
}

/// A value with where it is from.
#[derive(Debug, Serialize, ToSchema)]
struct Setting {
    #[schema(value_type = Value)]
    value: Value,
    source: Source,
    /// What the user's own file says, or the default, where something else wins
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    overridden: Option<Overridden>,
}

/// A value that does not hold.
#[derive(Debug, Serialize, ToSchema)]
struct Overridden {
    #[schema(value_type = Value)]
    value: Value,
    source: Source,
}

/// Who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
enum Source {
    #[serde(rename = "default")]
    Default,
    #[serde(rename = "config.toml")]
    Users,
    #[serde(rename = "pleach.toml")]
    Repositorys,
    #[serde(rename = "variable")]
    Variable,
}

/// What is to be another one than before; what is absent stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SettingsChange {
    #[schema(minimum = 1, maximum = 10)]
    #[serde(default, deserialize_with = "whole")]
    max_batch_size: Option<i64>,
    #[schema(minimum = 1, maximum = 64)]
    #[serde(default, deserialize_with = "whole")]
    parallel_limit: Option<i64>,
    queue_auto_approve: Option<bool>,
    stop_on_failure: Option<bool>,
    conflict_behavior: Option<ConflictBehavior>,
}

/// What becomes of a task that does not merge.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ConflictBehavior {
    Skip,
    Fail,
    Rerun,
}

/// The settings, each with its source
#[utoipa::path(get, path = "/api/settings", operation_id = "showSettings", tag = "settings", params(Wanted),
    responses((status = 200, body = Settings),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn look(
    State(app): State<App>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Json<Settings>, Refusal> {
    let work = move |app: &App| shown(&folder(app, wanted.project.as_deref())?);
    Ok(Json(app.blocking(work).await?))
}

/// Changes settings in the user's own file; comments there stay
#[utoipa::path(patch, path = "/api/settings", operation_id = "changeSettings", tag = "settings",
    params(Wanted), request_body = SettingsChange,
    responses((status = 200, body = Settings),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn change(
    State(app): State<App>,
    Asked(wanted): Asked<Wanted>,
    Body(changing): Body<SettingsChange>,
) -> Result<Json<Settings>, Refusal> {
    let work = move |app: &App| {
        let folder = folder(app, wanted.project.as_deref())?;
        let changes = checked(&changing)?;
        if !changes.is_empty() {
            set_all(&changes, Whose::Users, &folder)?;
            let everywhere = shown(app.state.path())?;
            let settings = serde_json::to_value(everywhere).expect("settings are plain data");
            let event = BoardEvent::SettingsUpdated { settings };
            Database::open(&app.state)?.note_board_event(None, &event)?;
        }
        shown(&folder)
    };
    Ok(Json(app.blocking(work).await?))
}

/// The folder whose `pleach.toml` counts; the state folder has none.
fn folder(app: &App, project: Option<&str>) -> Result<PathBuf, Refusal> {
    match project {
        Some(project) => {
            check_id(project)?;
            Ok(Board::open(&app.state)?.project(project)?.path)
        }
        None => Ok(app.state.path().to_owned()),
    }
}

fn shown(folder: &std::path::Path) -> Result<Settings, Refusal> {
    let layers = Layers::load(folder)?;
    let setting = |key: &str| {
        let holds = layers.shown_one(key);
        let source = source(&holds);
        let own = matches!(source, Source::Repositorys | Source::Variable)
            .then(|| layers.shown_by_user(key));
        Setting {
            value: holds.value,
            source,
            overridden: own.map(|own| Overridden {
                source: self::source(&own),
                value: own.value,
            }),
        }
    };
    Ok(Settings {
        max_batch_size: setting("max_parallel"),
        parallel_limit: setting("parallel_limit"),
        queue_auto_approve: setting("queue_auto_approve"),
        stop_on_failure: setting("stop_on_failure"),
        conflict_behavior: setting("on_conflict"),
    })
}

fn source(shown: &Shown) -> Source {
    match &shown.origin {
        Origin::File { path, .. } if path.ends_with(FILE_NAME) => Source::Repositorys,
        Origin::File { .. } => Source::Users,
        Origin::Variable(_) | Origin::Flag => Source::Variable,
        Origin::Default => Source::Default,
    }
}

/// The keys and values to write, once everything is in its range.
fn checked(changing: &SettingsChange) -> Result<Vec<(&'static str, String)>, Refusal> {
    let mut wrong = Vec::new();
    let mut changes = Vec::new();
    let mut number = |field: &str, key: &'static str, value: Option<i64>, most: i64| match value {
        Some(value) if (1..=most).contains(&value) => changes.push((key, value.to_string())),
        Some(value) => wrong.push(FieldError {
            path: field.to_owned(),
            message: format!("{value} is not from 1 to {most}"),
        }),
        None => {}
    };
    number("maxBatchSize", "max_parallel", changing.max_batch_size, 10);
    number(
        "parallelLimit",
        "parallel_limit",
        changing.parallel_limit,
        64,
    );
    if let Some(first) = wrong.first() {
        let message = format!("{}: {}", first.path, first.message);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let hint = "maxBatchSize is from 1 to 10, parallelLimit from 1 to 64";
        return Err(Refusal::new(status, "out_of_range", message, hint).fields(wrong));
    }
    let switches = [
        ("queue_auto_approve", changing.queue_auto_approve),
        ("stop_on_failure", changing.stop_on_failure),
    ];
    for (key, switch) in switches {
        changes.extend(switch.map(|switch| (key, switch.to_string())));
    }
    changes.extend(changing.conflict_behavior.map(|behavior| {
        let word = match behavior {
            ConflictBehavior::Skip => "skip",
            ConflictBehavior::Fail => "fail",
            ConflictBehavior::Rerun => "rerun",
        };
        ("on_conflict", word.to_owned())
    }));
    Ok(changes)
}
