//! The settings that people change on a page: shown with their sources, written to the user's own file.

use std::collections::BTreeMap;
use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use pleach_domain::choice::{OnConflict, Where};
use pleach_engine::config::{
    Config, ConfigScope, FILE_NAME, Layers, MaxParallel, ResolvedSetting, SettingOrigin, set_all,
};
use pleach_engine::fault::FieldError;
use pleach_engine::start::whole_number;
use pleach_log::database::{BoardEvent, Database};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::project_query::ProjectQuery;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Body, QueryParams};

/// Of this machine, over all batches.
const MOST_AT_ONCE: i64 = 64;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(look, change))
}

/// The settings of the settings page, with their sources. A change takes values in the same form.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Settings {
    /// How many tasks of a batch run at once: 1 to 64, on a cluster to `cluster.most`, or `auto`
    #[schema(value_type = MaxBatchSize)]
    max_batch_size: Value,
    /// How many tasks run at once over all batches
    #[schema(value_type = u64)]
    parallel_limit: Value,
    /// Whether a queue starts its next task without approval
    #[schema(value_type = bool)]
    queue_auto_approve: Value,
    /// Whether a failed task cancels the rest of the batch
    #[schema(value_type = bool)]
    stop_on_failure: Value,
    /// What to do with a task that does not merge cleanly
    #[schema(value_type = OnConflict)]
    conflict_behavior: Value,
    /// Where attempts and tests run
    #[serde(rename = "where")]
    #[schema(value_type = Where)]
    place: Value,
    /// The source of each value, by its name
    sources: BTreeMap<&'static str, Source>,
    /// The value of the user's own file, or the default, for each setting that something else overrides
    overridden: BTreeMap<&'static str, Overridden>,
}

/// How many tasks of a batch run at once.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
enum MaxBatchSize {
    AtMost(#[serde(deserialize_with = "number")] i64),
    Word(AutoWord),
}

fn number<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    whole_number(from)?.ok_or_else(|| serde::de::Error::custom("a number is expected"))
}

/// As many as the machine can run.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum AutoWord {
    Auto,
}

/// A value that is overridden.
#[derive(Debug, Serialize, ToSchema)]
struct Overridden {
    #[schema(value_type = Value)]
    value: Value,
    source: Source,
}

/// The source of a value.
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

/// Changes to settings; absent ones stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SettingsChange {
    max_batch_size: Option<MaxBatchSize>,
    #[schema(minimum = 1, maximum = 64)]
    #[serde(default, deserialize_with = "whole_number")]
    parallel_limit: Option<i64>,
    queue_auto_approve: Option<bool>,
    stop_on_failure: Option<bool>,
    conflict_behavior: Option<OnConflict>,
    #[serde(rename = "where")]
    place: Option<Where>,
    /// Ignored; accepted so that a whole response can be sent back
    #[schema(value_type = Option<Object>)]
    sources: Option<Map<String, Value>>,
    /// Ignored, as well
    #[schema(value_type = Option<Object>)]
    overridden: Option<Map<String, Value>>,
}

/// Shows the settings, each with its source
#[utoipa::path(get, path = "/api/settings", operation_id = "showSettings", tag = "settings", params(ProjectQuery),
    responses((status = 200, body = Settings),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn look(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<ProjectQuery>,
) -> Result<Json<Settings>, Refusal> {
    let work = move |app: &App| shown(&wanted.folder(app)?);
    Ok(Json(app.blocking(work).await?))
}

/// Changes settings in the user's own file; comments in it are kept
#[utoipa::path(patch, path = "/api/settings", operation_id = "changeSettings", tag = "settings",
    params(ProjectQuery), request_body = SettingsChange,
    responses((status = 200, body = Settings),
        (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody)))]
async fn change(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<ProjectQuery>,
    Body(changing): Body<SettingsChange>,
) -> Result<Json<Settings>, Refusal> {
    let work = move |app: &App| {
        let folder = wanted.folder(app)?;
        let layers = Layers::load(&folder)?;
        let most = layers.clone().with_flags(changing.layer()).most_parallel();
        let mut changes = checked(&changing, most)?;
        // What was answered and comes back changes nothing, also where the project's file says it.
        let is_answer = changing.sources.is_some() || changing.overridden.is_some();
        changes.retain(|ResolvedSetting { key, value, .. }| {
            let users = layers.shown_by_user(key).value;
            *value != users && !(is_answer && *value == layers.shown_one(key).value)
        });
        if !changes.is_empty() {
            set_all(&changes, ConfigScope::User, &folder)?;
            let everywhere = shown(app.state.path())?;
            let settings = serde_json::to_value(everywhere).expect("settings are plain data");
            let event = BoardEvent::SettingsUpdated { settings };
            Database::open(&app.state)?.note_board_event(None, &event)?;
        }
        shown(&folder)
    };
    Ok(Json(app.blocking(work).await?))
}

fn shown(folder: &Path) -> Result<Settings, Refusal> {
    let layers = Layers::load(folder)?;
    let mut sources = BTreeMap::new();
    let mut overridden = BTreeMap::new();
    let mut setting = |name: &'static str, key: &str| {
        let holds = layers.shown_one(key);
        let source = source(&holds);
        sources.insert(name, source);
        if matches!(source, Source::Repositorys | Source::Variable) {
            let own = layers.shown_by_user(key);
            let source = self::source(&own);
            let value = own.value;
            overridden.insert(name, Overridden { value, source });
        }
        holds.value
    };
    Ok(Settings {
        max_batch_size: setting("maxBatchSize", "max_parallel"),
        parallel_limit: setting("parallelLimit", "parallel_limit"),
        queue_auto_approve: setting("queueAutoApprove", "queue_auto_approve"),
        stop_on_failure: setting("stopOnFailure", "stop_on_failure"),
        conflict_behavior: setting("conflictBehavior", "on_conflict"),
        place: setting("where", "where"),
        sources,
        overridden,
    })
}

fn source(shown: &ResolvedSetting) -> Source {
    match &shown.origin {
        SettingOrigin::File { path, .. } if path.ends_with(FILE_NAME) => Source::Repositorys,
        SettingOrigin::File { .. } => Source::Users,
        SettingOrigin::Variable(_) | SettingOrigin::Flag => Source::Variable,
        SettingOrigin::Default => Source::Default,
    }
}

/// The keys and values to write, once everything is in its range; a batch has at most so many tasks at once.
fn checked(changing: &SettingsChange, most: usize) -> Result<Vec<ResolvedSetting>, Refusal> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let size = match changing.max_batch_size {
        Some(MaxBatchSize::AtMost(size)) => Some(size),
        Some(MaxBatchSize::Word(AutoWord::Auto)) | None => None,
    };
    let numbers = [
        ("maxBatchSize", size, most),
        ("parallelLimit", changing.parallel_limit, MOST_AT_ONCE),
    ];
    let wrong: Vec<FieldError> = { numbers.into_iter() }
        .filter_map(|(field, value, most)| Some((field, value?, most)))
        .filter(|(_, value, most)| !(1..=*most).contains(value))
        .map(|(field, value, most)| FieldError {
            path: field.to_owned(),
            message: format!("{value} is not from 1 to {most}"),
        })
        .collect();
    if let Some(first) = wrong.first() {
        let message = format!("{}: {}", first.path, first.message);
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        let hint = format!(
            "maxBatchSize is from 1 to {most} or \"auto\", parallelLimit from 1 to {MOST_AT_ONCE}"
        );
        return Err(Refusal::new(status, "out_of_range", message, hint).fields(wrong));
    }
    let said = Layers::default().with_flags(changing.layer()).shown();
    let said = said
        .into_iter()
        .filter(|said| said.origin == SettingOrigin::Flag);
    Ok(said.collect())
}

impl SettingsChange {
    fn layer(&self) -> Config {
        let number = |number: i64| usize::try_from(number).ok();
        Config {
            max_parallel: self.max_batch_size.as_ref().and_then(|size| match size {
                MaxBatchSize::AtMost(size) => number(*size).map(MaxParallel::AtMost),
                MaxBatchSize::Word(AutoWord::Auto) => Some(MaxParallel::Auto),
            }),
            parallel_limit: self.parallel_limit.and_then(number),
            queue_auto_approve: self.queue_auto_approve,
            stop_on_failure: self.stop_on_failure,
            on_conflict: self.conflict_behavior,
            place: self.place,
            ..Config::default()
        }
    }
}
