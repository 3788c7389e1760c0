//! Reads `pleach.toml`.
//!
//! Knows the keys that exist and the ones that this version acts on; nothing of flags.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

/// The file in the repository.
pub const FILE_NAME: &str = "pleach.toml";

/// Keys that this version acts on.
const ACTED_ON: [&str; 6] = [
    "base",
    "plan",
    "agent",
    "max_parallel",
    "task_timeout",
    "agents",
];

/// Keys that are promised and not acted on yet.
const PROMISED: [&str; 29] = [
    "parallel_limit",
    "mode",
    "queue_auto_approve",
    "stop_on_failure",
    "on_conflict",
    "merge",
    "validate",
    "validate_timeout",
    "validate_env",
    "on_invalid",
    "land",
    "retries",
    "stall_timeout",
    "setup",
    "cache",
    "branch_prefix",
    "task_branch",
    "batch_branch",
    "keep_failed",
    "keep_work",
    "sandbox",
    "sandbox_write",
    "worktrees",
    "prompt",
    "forge",
    "budget_usd",
    "budget_tokens",
    "min_free_disk",
    "model",
];

/// What the repository's configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The ref that batches start from.
    pub base: Option<String>,
    /// The plan in use.
    pub plan: Option<PathBuf>,
    /// The name of the agent to run.
    pub agent: Option<String>,
    /// How many tasks run at once.
    pub max_parallel: Option<usize>,
    /// How long a task may take.
    pub task_timeout: Option<Duration>,
    /// The agents that are commands.
    pub agents: BTreeMap<String, AgentConfig>,
    /// Keys that are set and not acted on by this version.
    pub not_yet: Vec<String>,
}

/// An agent that is a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names of environment variables that it gets besides the usual ones.
    #[serde(default)]
    pub env: Vec<String>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is there and cannot be read.
    #[error("could not read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not TOML, or a value has the wrong type.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A key is not known.
    #[error("{}: there is no key {key:?}", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
}

impl ConfigError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { .. } => "check that the file can be read".to_owned(),
            Self::Malformed { .. } => "correct the file; it is TOML".to_owned(),
            Self::UnknownKey {
                nearest: Some(near),
                ..
            } => format!("did you mean {near}?"),
            Self::UnknownKey { nearest: None, .. } => "remove the key".to_owned(),
        }
    }
}

#[derive(Deserialize)]
struct File {
    base: Option<String>,
    plan: Option<PathBuf>,
    agent: Option<String>,
    max_parallel: Option<usize>,
    task_timeout: Option<String>,
    #[serde(default)]
    agents: BTreeMap<String, AgentConfig>,
}

impl Config {
    /// Reads the configuration of a folder; a folder without one has the defaults.
    pub fn load(folder: &Path) -> Result<Self, ConfigError> {
        let path = folder.join(FILE_NAME);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Io { path, source }),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let malformed = |message: String| ConfigError::Malformed {
            path: path.to_owned(),
            message,
        };
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| malformed(error.to_string()))?;
        let mut not_yet = Vec::new();
        for key in table.keys() {
            if PROMISED.contains(&key.as_str()) {
                not_yet.push(key.clone());
            } else if !ACTED_ON.contains(&key.as_str()) {
                let known = ACTED_ON.iter().chain(&PROMISED).copied();
                let nearest = pleach_domain::problem::nearest(key, known);
                return Err(ConfigError::UnknownKey {
                    path: path.to_owned(),
                    key: key.clone(),
                    nearest: nearest.map(str::to_owned),
                });
            }
        }
        let mut table = table;
        if table.get("max_parallel").and_then(toml::Value::as_str) == Some("auto") {
            table.remove("max_parallel");
            not_yet.push("max_parallel = \"auto\"".to_owned());
        }
        let file: File = table
            .try_into()
            .map_err(|error: toml::de::Error| malformed(error.to_string()))?;
        if file
            .max_parallel
            .is_some_and(|slots| !(1..=64).contains(&slots))
        {
            return Err(malformed(
                "max_parallel is a number from 1 to 64".to_owned(),
            ));
        }
        let timeout = file.task_timeout.as_deref().map(|text| {
            duration(text).ok_or_else(|| {
                malformed(format!(
                    "task_timeout: {text:?} is not a time such as \"30m\""
                ))
            })
        });
        Ok(Self {
            base: file.base,
            plan: file.plan,
            agent: file.agent,
            max_parallel: file.max_parallel,
            task_timeout: timeout.transpose()?,
            agents: file.agents,
            not_yet,
        })
    }
}

/// Reads `90s`, `30m`, `1h`, `2d`.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 = text[..text.len() - 1].trim().parse().ok()?;
    let total = number.checked_mul(seconds).filter(|total| *total > 0)?;
    Some(Duration::from_secs(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new(FILE_NAME))
    }

    #[test]
    fn a_command_agent_is_read() {
        let config = parse("agent = \"mine\"\nmax_parallel = 2\ntask_timeout = \"5m\"\n[agents.mine]\ncommand = [\"x\", \"{{prompt_file}}\"]\nenv = [\"KEY\"]\n").unwrap();
        assert_eq!(config.agent.as_deref(), Some("mine"));
        assert_eq!(config.task_timeout, Some(Duration::from_mins(5)));
        assert_eq!(config.agents["mine"].command, ["x", "{{prompt_file}}"]);
        assert!(config.not_yet.is_empty());
    }

    #[test]
    fn promised_keys_are_noted_and_unknown_ones_refused_with_the_nearest() {
        assert_eq!(parse("validate = \"make\"").unwrap().not_yet, ["validate"]);
        assert_eq!(
            parse("max_parallel = \"auto\"").unwrap().not_yet,
            ["max_parallel = \"auto\""]
        );
        let error = parse("max_paralel = 3").unwrap_err();
        assert_eq!(
            error.to_string(),
            "pleach.toml: there is no key \"max_paralel\""
        );
        assert_eq!(error.hint(), "did you mean max_parallel?");
    }

    #[test]
    fn wrong_values_are_refused() {
        for text in [
            "max_parallel = 0",
            "max_parallel = 65",
            "task_timeout = \"soon\"",
            "plan = 7",
            "= =",
            "task_timeout = \"0s\"",
            "task_timeout = \"é\"",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
