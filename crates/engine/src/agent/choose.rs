//! Finds the agent that is meant.

use std::path::Path;
use std::sync::Arc;

use pleach_domain::choice::Where;
use pleach_domain::problem::nearest;
use pleach_driver::KNOWN_AGENTS;
use pleach_system::text::placeholder::{TemplatePart, template_parts};
use pleach_system::text::shell_words::{line, quoted};
use serde::{Deserialize, Serialize};

use super::command::{CommandAgent, MODEL};
use super::presence::installed_agents;
use super::preset_agent::{PresetAgent, is_preset};
use super::{Agent, DemoAgent};
use crate::config::{AgentConfig, Settings};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAgent {
    #[error("no agent is configured")]
    Unnamed,
    #[error("unknown agent {name:?}")]
    Unknown {
        name: String,
        nearest: Option<String>,
        /// Those that are configured or installed.
        known: Vec<String>,
    },
    #[error("agent {name:?} is not installed: {program:?} not found")]
    NotInstalled {
        name: String,
        program: String,
        install: Option<String>,
    },
    #[error("agent {name:?} cannot be started: {program:?} is not executable")]
    NotExecutable {
        name: String,
        /// The path of the program.
        program: String,
    },
    #[error("agent {name:?} has an unknown preset {preset:?}")]
    NoPreset { name: String, preset: String },
    #[error("no default agent is set, and several are installed: {}", installed.join(", "))]
    Several { installed: Vec<String> },
    #[error("the command of agent {name:?} is empty")]
    Empty { name: String },
    #[error("the command of agent {name:?} needs a model, and none is set")]
    NoModel { name: String },
}

impl NoAgent {
    pub fn hint(&self) -> String {
        match self {
            Self::Unnamed => "install an agent that `pleach agents` lists and log in, or add to pleach.toml: [agents.mine] with \
                 command = [\"my-agent\"], and agent = \"mine\""
                .to_owned(),
            Self::Several { installed } => {
                let first = installed.first().map(String::as_str).unwrap_or_default();
                format!("choose one: --agent {first}, or `pleach config set agent {first}`")
            }
            Self::NoPreset { preset, .. } => {
                let names = KNOWN_AGENTS.iter().map(|preset| preset.name);
                if let Some(near) = nearest(preset, names.clone()) {
                    return format!("did you mean {near:?}?");
                }
                let names: Vec<&str> = names.collect();
                format!("presets are {}, and acp:COMMAND", names.join(", "))
            }
            Self::NotInstalled {
                install: Some(install),
                ..
            } => format!("install it: {install}"),
            Self::Unknown { name, nearest, known } => unknown_hint(name, nearest.as_deref(), known),
            Self::NotExecutable { program, .. } => format!("run `chmod +x {}`", quoted(program)),
            Self::NotInstalled { program, .. } => {
                format!("install {program}, or put its folder on the PATH")
            }
            Self::Empty { .. } => "set a program, as in command = [\"my-agent\"]".to_owned(),
            Self::NoModel { name } => {
                format!("add model = \"…\" under [agents.{name}], or remove {{{{{MODEL}}}}} from its command")
            }
        }
    }
}

fn unknown_hint(name: &str, nearest: Option<&str>, known: &[String]) -> String {
    let what = match nearest {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("add to pleach.toml: [agents.{name}] with command = [\"my-agent\"]"),
    };
    match (known, nearest) {
        ([], _) => what,
        (_, Some(_)) => format!("{what} Known agents: {}", known.join(", ")),
        (_, None) => format!("{what}; known agents: {}", known.join(", ")),
    }
}

/// An agent in words that can be stored, so that another process can go on with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenAgent {
    Command(CommandAgent),
    Preset(PresetAgent),
    Demo,
}

impl ChosenAgent {
    /// The agent itself; `program` is Pleach's own.
    pub fn agent(&self, program: &Path) -> Arc<dyn Agent> {
        match self {
            Self::Command(agent) => Arc::new(agent.clone()),
            Self::Preset(agent) => Arc::new(agent.clone()),
            Self::Demo => Arc::new(DemoAgent::new(program)),
        }
    }

    /// Checks that its program is there, if it is to run here: what nodes have shows on them.
    pub fn check_installed(&self, place: Where, program: &Path) -> Result<(), NoAgent> {
        match place {
            Where::Local => self.agent(program).check_installed(),
            Where::Slurm => Ok(()),
        }
    }

    pub(crate) fn in_words(&self) -> (&str, String) {
        match self {
            Self::Command(agent) => (&agent.name, line(&agent.words)),
            Self::Preset(agent) => (&agent.name, line(&agent.words())),
            Self::Demo => (DemoAgent::NAME, "built in".to_owned()),
        }
    }

    /// The names of variables that somebody has to consent to: a program that only calls itself by a known name gets
    /// the keys of that agent as well.
    pub(crate) fn let_through(&self) -> Vec<String> {
        match self {
            Self::Preset(agent) if agent.command.is_none() => agent.env.clone(),
            other => other.passed_on(),
        }
    }

    /// The names of variables that are passed on to it besides the usual ones.
    pub(crate) fn passed_on(&self) -> Vec<String> {
        match self {
            Self::Command(agent) => agent.env.clone(),
            Self::Preset(agent) => agent.passed_on(),
            Self::Demo => Vec::new(),
        }
    }
}

/// The agent that the settings name, or the only one they know, or else the only one that is installed.
pub fn choose(settings: &Settings) -> Result<ChosenAgent, NoAgent> {
    match named(settings) {
        Some(name) => of_name(settings, name),
        None => only_installed(settings),
    }
}

fn named(settings: &Settings) -> Option<&str> {
    let only = || match settings.agents.len() {
        1 => settings.agents.keys().next().map(String::as_str),
        _ => None,
    };
    settings.agent.as_deref().or_else(only)
}

fn of_name(settings: &Settings, name: &str) -> Result<ChosenAgent, NoAgent> {
    let usual = AgentConfig::default();
    let is_configured = settings.agents.contains_key(name);
    let said = settings.agents.get(name).unwrap_or(&usual);
    let model = settings.model.as_ref().or(said.model.as_ref());
    let owned = || name.to_owned();
    if let Some(preset) = &said.preset {
        let agent = PresetAgent::of(name, preset, said, model);
        return agent
            .map(ChosenAgent::Preset)
            .ok_or_else(|| NoAgent::NoPreset {
                name: owned(),
                preset: preset.clone(),
            });
    }
    match &said.command {
        Some(command) => of_command(name, command, said, model).map(ChosenAgent::Command),
        None if name == DemoAgent::NAME => Ok(ChosenAgent::Demo),
        None if is_preset(name) => PresetAgent::of(name, name, said, model)
            .map(ChosenAgent::Preset)
            .ok_or_else(|| NoAgent::Empty { name: owned() }),
        None if is_configured => Err(NoAgent::Empty { name: owned() }),
        None => {
            let known = settings.agents.keys().map(String::as_str);
            let presets = KNOWN_AGENTS.iter().map(|preset| preset.name);
            let known = known.chain(presets).chain([DemoAgent::NAME]);
            Err(NoAgent::Unknown {
                name: owned(),
                nearest: nearest(name, known).map(str::to_owned),
                known: configured_or_installed(settings),
            })
        }
    }
}

fn configured_or_installed(settings: &Settings) -> Vec<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = installed_agents(&path).into_iter().map(|(name, _)| name);
    let installed = installed.filter(|name| !settings.agents.contains_key(*name));
    let configured = settings.agents.keys().cloned();
    configured.chain(installed.map(str::to_owned)).collect()
}

fn only_installed(settings: &Settings) -> Result<ChosenAgent, NoAgent> {
    if !settings.agents.is_empty() {
        return Err(NoAgent::Unnamed);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = installed_agents(&path);
    match installed.as_slice() {
        [] => Err(NoAgent::Unnamed),
        [(name, _)] => of_name(settings, name),
        several => Err(NoAgent::Several {
            installed: several.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }),
    }
}

fn of_command(
    name: &str,
    command: &[String],
    said: &AgentConfig,
    model: Option<&String>,
) -> Result<CommandAgent, NoAgent> {
    let name = name.to_owned();
    if command.is_empty() {
        return Err(NoAgent::Empty { name });
    }
    let args = said.args.iter().flatten();
    let words: Vec<String> = command.iter().chain(args).cloned().collect();
    let asks_for_model = |word: &String| {
        let mut pieces = template_parts(word).into_iter();
        pieces.any(|piece| matches!(piece, TemplatePart::Placeholder { name: MODEL, .. }))
    };
    let model = model.filter(|model| !model.is_empty()).cloned();
    if model.is_none() && words.iter().any(asks_for_model) {
        return Err(NoAgent::NoModel { name });
    }
    Ok(CommandAgent {
        name,
        words,
        env: said.env.clone().unwrap_or_default(),
        model,
    })
}

#[cfg(test)]
mod tests {
    use pleach_domain::batch::Spent;

    use super::super::Brief;
    use super::*;
    use crate::config::Config;
    use pleach_git::git::Identity;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn config(names: &[&str]) -> Config {
        let agent = AgentConfig {
            command: Some(words(&["run", "{{model}}"])),
            args: Some(words(&["--fast"])),
            model: Some("small".to_owned()),
            ..AgentConfig::default()
        };
        let agents = names.iter().map(|name| ((*name).to_owned(), agent.clone()));
        Config {
            agents: agents.collect(),
            ..Config::default()
        }
    }

    fn wanted(name: &str) -> Config {
        Config {
            agent: Some(name.to_owned()),
            ..Config::default()
        }
    }

    fn chosen(layers: &[&Config]) -> Result<Arc<dyn Agent>, NoAgent> {
        let layers = layers.iter().map(|layer| (*layer).clone());
        let settings = Settings::of(layers, Path::new("/project")).unwrap();
        Ok(choose(&settings)?.agent(Path::new("/bin/pleach")))
    }

    fn argv(layers: &[&Config]) -> Vec<std::ffi::OsString> {
        let brief = Brief {
            program: Path::new("/bin/pleach"),
            prompt: "",
            prompt_file: Path::new("p"),
            identity: &Identity::from_settings(None, None),
            said: &[],
            session: None,
            question: None,
            spent: Spent::default(),
            is_held: false,
        };
        chosen(layers).unwrap().launch(&brief).argv
    }

    #[test]
    fn the_wanted_agent_is_found_or_a_hint_is_given() {
        assert_eq!(chosen(&[&config(&["mine"])]).unwrap().name(), "mine");
        let two = config(&["a", "b"]);
        assert_eq!(chosen(&[&two, &wanted("b")]).unwrap().name(), "b");
        assert_eq!(chosen(&[&config(&[])]).unwrap_err(), NoAgent::Unnamed);
        assert_eq!(chosen(&[&two]).unwrap_err(), NoAgent::Unnamed);
        let error = chosen(&[&config(&["mine"]), &wanted("mime")]).unwrap_err();
        assert_eq!(error.hint(), "did you mean \"mine\"? Known agents: mine");
    }

    #[test]
    fn arguments_follow_the_command_and_a_flag_says_which_model() {
        let mine = config(&["mine"]);
        assert_eq!(argv(&[&mine]), ["run", "small", "--fast"]);
        let flag = Config {
            model: Some("big".to_owned()),
            ..Config::default()
        };
        assert_eq!(argv(&[&mine, &flag]), ["run", "big", "--fast"]);
    }

    #[test]
    fn the_demo_is_there_unless_another_command_has_its_name() {
        assert_eq!(argv(&[&wanted("demo")]), ["/bin/pleach", "demo-agent"]);
        let both = [&config(&["demo"]), &wanted("demo")];
        assert_eq!(argv(&both), ["run", "small", "--fast"]);
    }

    #[test]
    fn a_command_that_lacks_something_is_refused() {
        let mut config = config(&["mine"]);
        let agent = config.agents.get_mut("mine").unwrap();
        agent.model = None;
        let error = chosen(&[&config]).unwrap_err();
        assert!(matches!(error, NoAgent::NoModel { .. }), "{error}");
        for command in [Some(vec![]), None] {
            config.agents.get_mut("mine").unwrap().command = command;
            let error = chosen(&[&config]).unwrap_err();
            assert!(matches!(error, NoAgent::Empty { .. }), "{error}");
        }
    }
}
