//! The agents that are configured or installed.

use std::path::PathBuf;

use axum::Json;
use axum::extract::State;
use pleach_engine::agent::{PRESETS, choose};
use pleach_engine::board::Board;
use pleach_engine::config::{AgentConfig, Config};
use pleach_engine::detect::installed_agents;
use pleach_engine::secrets::Secrets;
use pleach_engine::settings::Settings;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::{Asked, Id, check_id};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Where the agents are to work.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Wanted {
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
    /// The program and its arguments, without secrets
    command: Vec<String>,
    /// Whether the program is there
    found: bool,
    /// Whether it is configured, so that batches can run it
    configured: bool,
    /// Whether it is the one that runs if nothing else is said
    is_default: bool,
}

/// Lists the agents that are configured, and those that are known and installed or not
#[utoipa::path(get, path = "/api/agents", tag = "settings", params(Wanted),
    responses((status = 200, body = Agents),
        (status = 404, body = ErrorBody), (status = 422, body = ErrorBody)))]
async fn list(
    State(app): State<App>,
    Asked(wanted): Asked<Wanted>,
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
    let default = choose(settings)
        .ok()
        .map(|chosen| chosen.agent(&app.program));
    let default = default.as_ref().map(|agent| agent.name());
    let mut agents: Vec<AgentFound> = settings
        .agents
        .iter()
        .map(|(name, said)| {
            let alone = Settings {
                agent: Some(name.clone()),
                ..settings.clone()
            };
            let agent = choose(&alone).map(|chosen| chosen.agent(&app.program));
            AgentFound {
                name: name.clone(),
                command: without_secrets(said),
                found: agent.is_ok_and(|agent| agent.check_installed().is_ok()),
                configured: true,
                is_default: default == Some(name.as_str()),
            }
        })
        .collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = installed_agents(&path);
    for name in PRESETS.iter().map(|preset| preset.name) {
        if agents.iter().any(|agent| agent.name == name) {
            continue;
        }
        let program = installed.iter().find(|(known, _)| *known == name);
        agents.push(AgentFound {
            name: name.to_owned(),
            command: program
                .map(|(_, program)| program.display().to_string())
                .into_iter()
                .collect(),
            found: program.is_some(),
            configured: false,
            is_default: false,
        });
    }
    agents
}

/// The words of a command as anybody may see them.
fn without_secrets(agent: &AgentConfig) -> Vec<String> {
    let passed_on = agent.env.as_deref().unwrap_or_default();
    let hider = Secrets::of_environment(passed_on).hider();
    let words = agent.command.iter().flatten();
    words.map(|word| hider.hide(word).into_owned()).collect()
}
