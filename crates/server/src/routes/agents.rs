//! The agents that are configured or known by name, with their versions and logins.

use axum::Json;
use axum::extract::State;
use pleach_engine::agent::{LoginState, NoAgent, Presence};
use pleach_engine::config::{Config, Settings};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::project_query::ProjectQuery;
use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::QueryParams;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Agents; configured ones come first.
#[derive(Debug, Serialize, ToSchema)]
struct Agents {
    agents: Vec<AgentFound>,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AgentFound {
    name: String,
    /// Its display name
    title: String,
    /// The preset it is based on: a name, or `acp:` and a command; null for the user's own command
    preset: Option<String>,
    /// The program and its arguments, without secrets; empty if it is built in
    command: Vec<String>,
    /// Whether the program is installed
    found: bool,
    /// The version of a preset's program, if it is known
    version: Option<String>,
    /// Whether it is logged in, as far as this machine shows; the network is not used
    login: Login,
    /// What to do if no login was found
    hint: Option<String>,
    /// The command that installs it, if it is known
    install: Option<String>,
    /// Whether the configuration mentions it; presets need no configuration
    configured: bool,
    /// Whether it is the default agent
    is_default: bool,
    /// What is wrong with its configuration
    error: Option<String>,
}

/// Whether an agent is logged in, as far as can be detected.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Login {
    Ok,
    Missing,
    Unknown,
}

/// Lists configured agents and known ones, installed or not
#[utoipa::path(get, path = "/api/agents", operation_id = "listAgents", tag = "settings", params(ProjectQuery),
    responses((status = 200, body = Agents),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<ProjectQuery>,
) -> Result<Json<Agents>, Refusal> {
    let work = move |app: &App| {
        let settings = Settings::load(&wanted.folder(app)?, Config::default())?;
        Ok(found(app, &settings))
    };
    let agents = app.blocking(work).await?;
    Ok(Json(Agents { agents }))
}

fn found(app: &App, settings: &Settings) -> Vec<AgentFound> {
    let mut all = Presence::all(settings);
    app.versions.fill(&mut all);
    all.into_iter().map(AgentFound::from).collect()
}

impl From<Presence> for AgentFound {
    fn from(agent: Presence) -> Self {
        Self {
            command: agent.words_without_secrets(),
            found: agent.is_installed(),
            login: match agent.login {
                LoginState::By(_) => Login::Ok,
                LoginState::No(_) => Login::Missing,
                LoginState::Unknown => Login::Unknown,
            },
            hint: agent.login.hint().map(str::to_owned),
            install: agent.install.map(str::to_owned),
            error: agent.wrong.as_ref().map(NoAgent::to_string),
            name: agent.name,
            title: agent.title,
            preset: agent.preset,
            version: agent.version,
            configured: agent.configured,
            is_default: agent.is_default,
        }
    }
}
