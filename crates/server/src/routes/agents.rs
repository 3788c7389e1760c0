//! The agents that are configured or known by name, with their versions and logins.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use pleach_engine::agent::{LoginState, NoAgent, Presence};
use pleach_engine::board::Board;
use pleach_engine::config::{Config, Settings};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Id, QueryParams, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Where the agents are to work.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct AgentsQuery {
    /// The id of a project, whose `pleach.toml` counts as well
    #[param(value_type = Option<Id>, inline)]
    project: Option<String>,
}

/// Agents, those that are configured first.
#[derive(Debug, Serialize, ToSchema)]
struct Agents {
    agents: Vec<AgentFound>,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct AgentFound {
    name: String,
    /// What people call it
    title: String,
    /// The preset that it is one of: a name, or `acp:` and a command; null for a command of the user's
    preset: Option<String>,
    /// The program and its arguments, without secrets; none if it is built in
    command: Vec<String>,
    /// Whether the program is there
    found: bool,
    /// The version of a preset's program, where it is there and says so
    version: Option<String>,
    /// Whether it is logged in, by what is seen on this machine; nobody is asked
    login: Login,
    /// What to do where no login was found
    hint: Option<String>,
    /// The command that installs it, where that is known
    install: Option<String>,
    /// Whether the configuration says anything of it; presets run without
    configured: bool,
    /// Whether it is the one that runs if nothing else is said
    is_default: bool,
    /// Why it cannot be run whatever is installed, if the configuration is wrong
    error: Option<String>,
}

/// Whether an agent is logged in, as far as one can see.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Login {
    Ok,
    Missing,
    Unknown,
}

/// Lists the agents that are configured, and those that are known by name and installed or not
#[utoipa::path(get, path = "/api/agents", operation_id = "listAgents", tag = "settings", params(AgentsQuery),
    responses((status = 200, body = Agents),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    QueryParams(wanted): QueryParams<AgentsQuery>,
) -> Result<Json<Agents>, Refusal> {
    let work = move |app: &App| {
        let folder: PathBuf = match &wanted.project {
            Some(project) => {
                check_id(project)?;
                Board::open(&app.state)?.project(project)?.path
            }
            None => app.state.path().to_owned(),
        };
        let settings = Settings::load(&folder, Config::default())?;
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
