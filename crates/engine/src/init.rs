//! Writes a first `pleach.toml` for a repository: every key with its default, and what was found set.
//!
//! Never writes over a file that is there.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use pleach_driver::KNOWN_AGENTS;

use crate::agent::{LoginState, Presence};
use crate::config::{
    Config, ConfigError, FILE_NAME, KEYS, Key, Layers, ResolvedSetting, SettingOrigin, Settings,
    users_file,
};
use crate::detect::{Commands, DetectedCommand, commands};
use crate::plan_in_use::{self, project_folder};

const AGENT: &str = "agent";

const AGENTS: &str = "agents.";

#[derive(Debug)]
pub struct ConfigDraft {
    pub path: PathBuf,
    pub text: String,
    /// What it sets: the key, the value as it stands there, and what tells so.
    pub set: Vec<(&'static str, String, String)>,
    pub agents: Vec<String>,
    pub is_repository: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error("{} already exists", path.display())]
    Exists {
        path: PathBuf,
        /// Lines that it does not have and could.
        missing: Vec<String>,
    },
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("could not write {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl InitError {
    pub fn hint(&self) -> String {
        match self {
            Self::Exists { missing, .. } if missing.is_empty() => {
                "nothing to add was detected; `pleach config` shows the settings".to_owned()
            }
            Self::Exists { missing, .. } => format!("it could also set: {}", missing.join(" · ")),
            Self::Config(error) => error.hint(),
            Self::Io { .. } => "check that the folder is writable".to_owned(),
        }
    }
}

impl ConfigDraft {
    pub fn for_project(folder: &Path) -> Self {
        let top = project_folder(folder);
        // What the user has configured, as far as it can be read.
        let known = Layers::load(&top)
            .and_then(|layers| Settings::of_layers(&layers, &top))
            .or_else(|_| Settings::of([], folder))
            .map(|settings| Presence::all(&settings));
        let there = known.unwrap_or_default().into_iter();
        let there: Vec<Presence> = there.filter(Presence::is_installed).collect();
        Self::with(folder, &there)
    }

    fn with(folder: &Path, there: &[Presence]) -> Self {
        let top = project_folder(folder);
        let found = commands(&top);
        let mut set = set(&found, &top);
        let agents: Vec<String> = there.iter().map(|agent| agent.name.clone()).collect();
        if !is_said_by_user(&top) {
            set.extend(agent(there));
        }
        Self {
            path: top.join(FILE_NAME),
            text: text(&set, &found, &agents),
            set,
            agents,
            is_repository: top.join(".git").exists(),
        }
    }

    pub fn agent(&self) -> Option<&str> {
        let (_, value, _) = self.set.iter().find(|(key, ..)| *key == AGENT)?;
        Some(value.trim_matches('"'))
    }

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

    fn missing(&self, folder: &Path) -> Result<Vec<String>, InitError> {
        let there = Config::load(folder)?;
        let lacks = |name: &str| Key::named(name).is_some_and(|key| !key.is_said_by(&there));
        let lines = self.set.iter().filter(|(name, ..)| lacks(name));
        Ok(lines
            .map(|(name, value, _)| format!("{name} = {value}"))
            .collect())
    }
}

/// Whether the user's own file says which agent to run, or may do so.
fn is_said_by_user(top: &Path) -> bool {
    let own = users_file();
    let is_own = |shown: &ResolvedSetting| match &shown.origin {
        SettingOrigin::File { path, .. } => own.as_ref() == Some(path),
        _ => false,
    };
    // One that cannot be read is told by whoever needs it.
    let all = Layers::load(top).map(|layers| layers.shown());
    let mut all = all.unwrap_or_default().into_iter();
    all.any(|shown| (shown.key == AGENT || shown.key.starts_with(AGENTS)) && is_own(&shown))
}

/// The agent to run: the only one, or the first that is logged in, or the first.
fn agent(there: &[Presence]) -> Option<(&'static str, String, String)> {
    let key = Key::named(AGENT)?;
    let ready = there.iter().find(|agent| agent.is_ready());
    let agent = ready.or(there.first())?;
    let which = match there {
        [_] => "the only one installed",
        _ => "the first one installed",
    };
    let because = match &agent.login {
        LoginState::By(what) if there.len() > 1 => format!("logged in by {what}"),
        LoginState::No(_) => format!("{which}; no login found"),
        LoginState::By(_) | LoginState::Unknown => which.to_owned(),
    };
    Some((key.name, key.text_of(&agent.name), because))
}

fn set(found: &Commands, top: &Path) -> Vec<(&'static str, String, String)> {
    let mut set = Vec::new();
    let mut add = |name: &str, value: &str, because: &str| {
        if let Some(key) = Key::named(name) {
            set.push((key.name, key.text_of(value), because.to_owned()));
        }
    };
    // Without a configuration; the one that is there may be broken, and is not what is asked for.
    if let Ok(plan) = plan_in_use::find_unconfigured(top) {
        add("plan", &plan.to_string_lossy(), "has tasks");
    }
    for (name, found) in [("validate", &found.tests), ("setup", &found.setups)] {
        if let Some(DetectedCommand { command, because }) = found.first() {
            add(name, command, because);
        }
    }
    set
}

fn text(set: &[(&'static str, String, String)], found: &Commands, agents: &[String]) -> String {
    let mut text = String::from(
        "# Pleach's settings for this repository. Keys that are commented out show their default, or an example if they\n\
         # have none. `pleach config` shows every setting and where it comes from.\n",
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
                "# Also detected, from {}: {}\n",
                other.because, other.command
            ));
        }
        match set.iter().find(|(name, ..)| *name == key.name) {
            Some((name, value, because)) => {
                add(format_args!("{name} = {value}  # detected: {because}\n"));
            }
            None => add(format_args!("# {} = {}\n", key.name, usual(key))),
        }
    }
    add(format_args!("\n{}\n{SIZES}", of_agents(agents)));
    let mut last = "";
    for key in dotted {
        let (table, name) = key.name.split_once('.').unwrap_or_default();
        if std::mem::replace(&mut last, table) != table {
            add(format_args!("\n# [{table}]\n"));
        }
        add(format_args!(
            "\n# {}\n# {name} = {}\n",
            explained(key),
            usual(key)
        ));
    }
    text
}

const SIZES: &str = "\
# What attempts and tests get of a cluster's nodes. A task chooses a size by its name, with `(size: large)` or\n\
# `**Size**: large` in the plan; one that chooses none gets \"default\".\n\
# [sizes.large]\n\
# cpus = 16\n\
# memory = \"64GiB\"\n\
# gpus = 1\n\
# time = \"4h\"\n\
# slurm = [\"--partition=gpu\"]\n";

/// What a key is for, what it takes, and what holds without it.
fn explained(key: &Key) -> String {
    let about = key.about.trim_end_matches('.');
    let wanted = key.wanted();
    let otherwise = match key.otherwise {
        "" => String::new(),
        otherwise => format!(" Default: {otherwise}."),
    };
    format!("{about}; {wanted}.{otherwise}")
}

fn usual(key: &Key) -> String {
    key.default_text()
        .unwrap_or_else(|| key.example().to_owned())
}

fn of_agents(agents: &[String]) -> String {
    let names: Vec<&str> = KNOWN_AGENTS.iter().map(|preset| preset.name).collect();
    let names = names.join(", ");
    let found = match agents {
        [] => "None of them is installed; `pleach agents` shows how to install one".to_owned(),
        agents => format!("Installed: {}", agents.join(", ")),
    };
    let usual = agents.first().map_or(KNOWN_AGENTS[0].name, String::as_str);
    format!(
        "# Known agents need no table: {names}.\n\
         # {found}. A table changes the settings of one.\n\
         # [agents.{usual}]\n\
         # model = \"large\"\n\
         # args = []\n\
         # env = [\"HTTPS_PROXY\"]\n\
         #\n\
         # A second profile of the same agent; choose it with `agent` or --agent.\n\
         # [agents.small]\n\
         # preset = \"{usual}\"\n\
         # model = \"small\"\n\
         #\n\
         # Any agent that speaks the Agent Client Protocol.\n\
         # [agents.other]\n\
         # preset = \"acp:other-agent --acp\"\n\
         #\n\
         # Any command that works in the current folder. It gets the prompt on standard input, and as a file whose\n\
         # path replaces {{{{prompt_file}}}}.\n\
         # [agents.mine]\n\
         # command = [\"my-agent\", \"--task-file\", \"{{{{prompt_file}}}}\"]\n\
         # env = [\"MY_AGENT_KEY\"]\n\
         # model = \"large\"\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

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
        let draft = ConfigDraft::with(folder.path(), &[]);
        draft.write().unwrap();
        let settings = Settings::load(folder.path(), Config::default()).unwrap();
        assert_eq!(settings.validate.as_deref(), Some("cargo test"));
        assert_eq!(settings.plan, Some(folder.path().join("TODO.md")));
        assert_eq!(settings.setup, None);
        let written = fs::read_to_string(&draft.path).unwrap();
        assert!(
            written.contains("# Also detected, from Makefile: make test\n"),
            "{written}"
        );
        let whole = uncommented(&written);
        fs::write(&draft.path, &whole).unwrap();
        let config = Config::load(folder.path()).unwrap();
        for key in KEYS {
            assert!(key.is_said_by(&config), "{} is not in\n{whole}", key.name);
        }
        assert!(config.agents["mine"].command.is_some(), "{whole}");
        assert_eq!(config.sizes["large"].said().len(), 5, "{whole}");
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
        let error = ConfigDraft::with(folder.path(), &[]).write().unwrap_err();
        assert_eq!(
            error.hint(),
            "it could also set: validate = \"go test ./...\""
        );
        let there = fs::read_to_string(folder.path().join(FILE_NAME)).unwrap();
        assert_eq!(there, "retries = 1\n");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "nothing half written is left");
    }
    #[test]
    fn the_agent_that_is_ready_is_set_and_why_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let usual = Settings::of([], folder.path()).unwrap();
        let agent = |name: &str, login: LoginState| Presence {
            login,
            path: Some(PathBuf::from("/bin/true")),
            ..Presence::named(&usual, name)
        };
        let out = || LoginState::No("log in");
        let by = || LoginState::By("A_KEY".to_owned());
        let told = |there: &[Presence]| {
            let draft = ConfigDraft::with(folder.path(), there);
            let set = draft.set.last().map(|(_, _, because)| because.clone());
            (draft.agent().map(str::to_owned), set)
        };
        let (claude, codex) = (
            |login| agent("claude", login),
            |login| agent("codex", login),
        );
        let is = |name: &str, why: &str| (Some(name.to_owned()), Some(why.to_owned()));
        assert_eq!(told(&[]), (None, None));
        assert_eq!(told(&[codex(by())]), is("codex", "the only one installed"));
        assert_eq!(
            told(&[claude(out()), codex(by())]),
            is("codex", "logged in by A_KEY")
        );
        assert_eq!(
            told(&[claude(out()), codex(out())]),
            is("claude", "the first one installed; no login found")
        );
        let draft = ConfigDraft::with(folder.path(), &[codex(by())]);
        assert!(
            draft
                .text
                .contains("\nagent = \"codex\"  # detected: the only one installed\n")
        );
        assert!(
            draft.text.contains("# [agents.codex]\n# model = "),
            "{}",
            draft.text
        );
    }
}
