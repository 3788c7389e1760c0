//! The agent that is a command: its words and its environment.
//!
//! Knows nothing of worktrees or batches beyond the names it is given.

use std::ffi::OsString;
use std::path::Path;

use crate::config::Config;
use crate::git::Identity;

/// What every agent may see of our environment.
const ALLOWED: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "NVM_DIR",
];

/// The place in a command that becomes the path of the prompt.
const PROMPT_FILE: &str = "{{prompt_file}}";

/// An agent that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name in the configuration.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names of variables that it gets besides the usual ones.
    pub env: Vec<String>,
}

/// Why there is no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAgent {
    /// None is named.
    #[error("no agent is configured")]
    Unnamed,
    /// The one that is named is not there.
    #[error("there is no agent {name:?} in pleach.toml")]
    Unknown {
        /// The name.
        name: String,
        /// The one that looks most like it.
        nearest: Option<String>,
    },
    /// Its program is nowhere on the path.
    #[error("the agent {name:?} is not installed: there is no program {program:?}")]
    NotInstalled {
        /// The name of the agent.
        name: String,
        /// The program.
        program: String,
    },
    /// Its command has no words.
    #[error("the command of agent {name:?} is empty")]
    Empty {
        /// The name.
        name: String,
    },
}

impl NoAgent {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unnamed => {
                "add to pleach.toml: [agents.mine] with command = [\"my-agent\"], and agent = \"mine\"".to_owned()
            }
            Self::Unknown { nearest: Some(near), .. } => format!("did you mean {near:?}?"),
            Self::Unknown { name, nearest: None } => {
                format!("add to pleach.toml: [agents.{name}] with command = [\"my-agent\"]")
            }
            Self::NotInstalled { program, .. } => {
                format!("install {program}, or put its folder on the PATH")
            }
            Self::Empty { .. } => "name a program, as in command = [\"my-agent\"]".to_owned(),
        }
    }
}

impl Agent {
    /// The agent of that name, or the configured one, or the only one there is.
    pub fn choose(config: &Config, wanted: Option<&str>) -> Result<Self, NoAgent> {
        let only = || match config.agents.len() {
            1 => config.agents.keys().next().map(String::as_str),
            _ => None,
        };
        let name = wanted
            .or(config.agent.as_deref())
            .or_else(only)
            .ok_or(NoAgent::Unnamed)?;
        let found = config.agents.get(name).ok_or_else(|| NoAgent::Unknown {
            name: name.to_owned(),
            nearest: pleach_domain::problem::nearest(
                name,
                config.agents.keys().map(String::as_str),
            )
            .map(str::to_owned),
        })?;
        if found.command.is_empty() {
            return Err(NoAgent::Empty {
                name: name.to_owned(),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            command: found.command.clone(),
            env: found.env.clone(),
        })
    }

    /// Checks that its program is there, so that no task fails for want of it.
    pub fn check_installed(&self) -> Result<(), NoAgent> {
        let program = self.command[0].as_str();
        // A path is looked up in each worktree, which may bring the program along.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders = std::env::split_paths(&path);
        if program.contains('/') || folders.any(|folder| folder.join(program).is_file()) {
            return Ok(());
        }
        Err(NoAgent::NotInstalled {
            name: self.name.clone(),
            program: program.to_owned(),
        })
    }

    /// The command with the prompt's path in its place.
    pub fn argv(&self, prompt_file: &Path) -> Vec<OsString> {
        let path = prompt_file.to_string_lossy();
        self.command
            .iter()
            .map(|word| word.replace(PROMPT_FILE, &path).into())
            .collect()
    }

    /// Its whole environment: what is allowed of ours, and what is said of the task.
    pub fn environment(
        &self,
        identity: &Identity,
        said: &[(&str, OsString)],
    ) -> Vec<(OsString, OsString)> {
        let is_allowed = |name: &str| {
            ALLOWED.contains(&name)
                || name.starts_with("LC_")
                || self.env.iter().any(|own| own == name)
        };
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| name.to_str().is_some_and(is_allowed))
            .collect();
        for role in ["AUTHOR", "COMMITTER"] {
            env.push((
                format!("GIT_{role}_NAME").into(),
                identity.name.clone().into(),
            ));
            env.push((
                format!("GIT_{role}_EMAIL").into(),
                identity.email.clone().into(),
            ));
        }
        env.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
        env.extend(
            said.iter()
                .map(|(name, value)| (OsString::from(name), value.clone())),
        );
        env
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AgentConfig;

    fn config(names: &[&str]) -> Config {
        let agents = names.iter().map(|name| {
            let command = vec!["run".to_owned(), format!("--file={PROMPT_FILE}")];
            (
                (*name).to_owned(),
                AgentConfig {
                    command,
                    env: vec![],
                },
            )
        });
        Config {
            agents: agents.collect(),
            ..Config::default()
        }
    }

    #[test]
    fn the_wanted_agent_is_found_or_a_hint_is_given() {
        assert_eq!(
            Agent::choose(&config(&["mine"]), None).unwrap().name,
            "mine"
        );
        assert_eq!(Agent::choose(&config(&[]), None), Err(NoAgent::Unnamed));
        assert_eq!(
            Agent::choose(&config(&["a", "b"]), None),
            Err(NoAgent::Unnamed)
        );
        let error = Agent::choose(&config(&["mine"]), Some("mime")).unwrap_err();
        assert_eq!(error.hint(), "did you mean \"mine\"?");
    }

    #[test]
    fn the_prompt_goes_by_path_and_stays_one_word() {
        let agent = Agent::choose(&config(&["mine"]), None).unwrap();
        assert_eq!(
            agent.argv(Path::new("/a b/p.md")),
            ["run", "--file=/a b/p.md"]
        );
    }
}
