//! Writes a first `pleach.toml` for a repository: every key with its default, and what was found set.
//!
//! Never writes over a file that is there.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::config::{Config, ConfigError, FILE_NAME, KEYS, Key};
use crate::detect::{Commands, Found, commands, installed_agents};
use crate::plan_in_use::{self, project_folder};

/// What a first configuration would be.
#[derive(Debug)]
pub struct Draft {
    /// Where it belongs.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it sets: the key, the value as it stands there, and what tells so.
    pub set: Vec<(&'static str, String, String)>,
    /// Agents that are installed.
    pub agents: Vec<&'static str>,
    /// Whether the folder is in a git repository.
    pub is_repository: bool,
}

/// Why it was not written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// There is one already.
    #[error("{} is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// Lines that it does not have and could.
        missing: Vec<String>,
    },
    /// The one that is there cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system refused.
    #[error("could not write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InitError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Exists { missing, .. } if missing.is_empty() => {
                "nothing was found that it lacks; `pleach config` shows what holds".to_owned()
            }
            Self::Exists { missing, .. } => format!("it could have: {}", missing.join(" · ")),
            Self::Config(error) => error.hint(),
            Self::Io { .. } => "check that the folder can be written to".to_owned(),
        }
    }
}

impl Draft {
    /// Looks at the project that a folder is in.
    pub fn of(folder: &Path) -> Self {
        let top = project_folder(folder);
        let found = commands(&top);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let agents = installed_agents(&path);
        let agents: Vec<&str> = agents.into_iter().map(|(name, _)| name).collect();
        let set = set(&found, &top);
        Self {
            path: top.join(FILE_NAME),
            text: text(&set, &found, &agents),
            set,
            agents,
            is_repository: top.join(".git").exists(),
        }
    }

    /// Writes it, if there is none.
    pub fn write(&self) -> Result<(), InitError> {
        let failed = |source| InitError::Io {
            path: self.path.clone(),
            source,
        };
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::Builder::new()
            .prefix(".pleach-")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(folder)
            .map_err(failed)?;
        file.write_all(self.text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(InitError::Exists {
                    path: self.path.clone(),
                    missing: self.missing(folder)?,
                })
            }
            Err(error) => Err(failed(error.error)),
        }
    }

    /// What it sets and the file that is there does not.
    fn missing(&self, folder: &Path) -> Result<Vec<String>, InitError> {
        let there = Config::load(folder)?;
        let lacks = |name: &str| Key::of(name).is_some_and(|key| !key.is_said_by(&there));
        let lines = self.set.iter().filter(|(name, ..)| lacks(name));
        Ok(lines
            .map(|(name, value, _)| format!("{name} = {value}"))
            .collect())
    }
}

fn set(found: &Commands, top: &Path) -> Vec<(&'static str, String, String)> {
    let mut set = Vec::new();
    let mut add = |name: &str, value: &str, because: &str| {
        if let Some(key) = Key::of(name) {
            set.push((key.name, key.text_of(value), because.to_owned()));
        }
    };
    // Without a configuration; the one that is there may be broken, and is not what is asked for.
    if let Ok(plan) = plan_in_use::find_unconfigured(top) {
        add("plan", &plan.to_string_lossy(), "it has tasks");
    }
    for (name, found) in [("validate", &found.tests), ("setup", &found.setups)] {
        if let Some(Found { command, because }) = found.first() {
            add(name, command, because);
        }
    }
    set
}

fn text(
    set: &[(&'static str, String, String)],
    found: &Commands,
    agents: &[&'static str],
) -> String {
    let mut text = String::from(
        "# How Pleach works on this repository. Every key is here; what stands behind a # is its default, or\n\
         # an example where it has none. `pleach config` shows what holds, and who says so.\n",
    );
    let mut add = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line).expect("writing to a string works");
    };
    let (plain, dotted): (Vec<_>, Vec<_>) = KEYS.iter().partition(|key| !key.name.contains('.'));
    for key in plain {
        add(format_args!("\n# {}\n", explained(key)));
        let others = match key.name {
            "validate" => found.tests.get(1..),
            "setup" => found.setups.get(1..),
            _ => None,
        };
        for other in others.unwrap_or_default() {
            add(format_args!(
                "# Found too, in {}: {}\n",
                other.because, other.command
            ));
        }
        match set.iter().find(|(name, ..)| *name == key.name) {
            Some((name, value, because)) => {
                add(format_args!("{name} = {value}  # found: {because}\n"));
            }
            None => add(format_args!("# {} = {}\n", key.name, usual(key))),
        }
    }
    add(format_args!("\n{}", of_agents(agents)));
    for key in dotted {
        let (table, name) = key.name.split_once('.').unwrap_or_default();
        add(format_args!("\n# {}\n", explained(key)));
        add(format_args!("# [{table}]\n# {name} = {}\n", usual(key)));
    }
    text
}

/// What a key is for, what it takes, and what holds without it.
fn explained(key: &Key) -> String {
    let about = key.about.trim_end_matches('.');
    let wanted = key.wanted();
    let otherwise = match key.otherwise {
        "" => String::new(),
        otherwise => format!(" Otherwise: {otherwise}."),
    };
    format!("{about}; {wanted}.{otherwise}")
}

fn usual(key: &Key) -> String {
    key.default_text()
        .unwrap_or_else(|| key.example().to_owned())
}

fn of_agents(agents: &[&str]) -> String {
    let found = match agents {
        [] => "# None of the agents that Pleach knows by name is installed here.\n".to_owned(),
        agents => format!("# Installed here: {}.\n", agents.join(", ")),
    };
    format!(
        "# An agent is a command that works in the current folder. Its prompt comes by standard input, and as a file\n\
         # whose path takes the place of {{{{prompt_file}}}}. The name is yours; `agent` says which one is run.\n\
         {found}\
         # [agents.mine]\n\
         # command = [\"my-agent\", \"--task-file\", \"{{{{prompt_file}}}}\"]\n\
         # args = []\n\
         # env = [\"MY_AGENT_KEY\"]\n\
         # model = \"large\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Layers;
    use crate::settings::Settings;

    /// The same with all keys in force.
    fn uncommented(text: &str) -> String {
        let lines = text.lines().map(|line| {
            let inside = line.strip_prefix("# ").unwrap_or(line);
            let is_key = inside.split_once(" = ").is_some_and(|(name, _)| {
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            });
            let is_table = inside.starts_with('[') && inside.ends_with(']');
            if is_key || is_table { inside } else { line }
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_is_written_is_read_by_ourselves_and_has_every_key() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        fs::write(folder.path().join("Makefile"), "test:\n").unwrap();
        fs::write(folder.path().join("TODO.md"), "- [ ] a\n").unwrap();
        let draft = Draft::of(folder.path());
        draft.write().unwrap();
        let settings = Settings::load(folder.path(), Config::default()).unwrap();
        assert_eq!(settings.validate.as_deref(), Some("cargo test"));
        assert_eq!(settings.plan, Some(folder.path().join("TODO.md")));
        assert_eq!(settings.setup, None);
        let written = fs::read_to_string(&draft.path).unwrap();
        assert!(
            written.contains("# Found too, in Makefile: make test\n"),
            "{written}"
        );
        let whole = uncommented(&written);
        fs::write(&draft.path, &whole).unwrap();
        let config = Config::load(folder.path()).unwrap();
        for key in KEYS {
            assert!(key.is_said_by(&config), "{} is not in\n{whole}", key.name);
        }
        assert!(config.agents["mine"].command.is_some(), "{whole}");
        // Defaults that are written out change nothing.
        let layers = Layers::load(folder.path()).unwrap();
        let defaults = Settings::of([], folder.path()).unwrap();
        let settings = Settings::of_layers(&layers, folder.path()).unwrap();
        assert_eq!(settings.keep_work, defaults.keep_work);
        assert_eq!(settings.task_branch, defaults.task_branch);
        assert_eq!(settings.min_free_disk, defaults.min_free_disk);
    }

    #[test]
    fn a_file_that_is_there_stays_and_what_it_lacks_is_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("go.mod"), "").unwrap();
        fs::write(folder.path().join(FILE_NAME), "retries = 1\n").unwrap();
        let error = Draft::of(folder.path()).write().unwrap_err();
        assert_eq!(error.hint(), "it could have: validate = \"go test ./...\"");
        let there = fs::read_to_string(folder.path().join(FILE_NAME)).unwrap();
        assert_eq!(there, "retries = 1\n");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing half written is left");
    }
}
