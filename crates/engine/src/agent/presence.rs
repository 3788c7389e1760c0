//! Whether agents are there: their program, its version and their login, by looking at this machine only.
//!
//! Runs nothing that a repository names; who asks for versions is `version`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pleach_driver::{KNOWN_AGENTS, KnownAgent, LoginFile, known_agent};
use pleach_git::git::find_program;
use pleach_system::secrets::Secrets;

use super::{ChosenAgent, CommandAgent, DemoAgent, NoAgent, PresetAgent, choose};
use crate::config::Settings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presence {
    pub name: String,
    pub title: String,
    pub preset: Option<String>,
    pub program: String,
    /// All its words, the program included; none if it is built in.
    pub words: Vec<String>,
    pub path: Option<PathBuf>,
    pub version: Option<String>,
    pub login: LoginState,
    pub install: Option<&'static str>,
    pub configured: bool,
    pub is_default: bool,
    /// Why it cannot be run whatever is installed, if the configuration is wrong.
    pub wrong: Option<NoAgent>,
    /// Variables that are passed on to it besides the usual ones.
    pub(crate) passed_on: Vec<String>,
}

/// Whether an agent is logged in, as far as one can see without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginState {
    /// By this: the name of a variable, or a file.
    By(String),
    No(&'static str),
    Unknown,
}

impl LoginState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::By(_) => "ok",
            Self::No(_) => "missing",
            Self::Unknown => "unknown",
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::No(hint) => Some(hint),
            Self::By(_) | Self::Unknown => None,
        }
    }
}

impl Presence {
    /// All agents that the settings or the table of presets know, those of the settings first.
    pub fn all(settings: &Settings) -> Vec<Self> {
        let default = choose(settings).ok();
        let configured = settings.agents.keys().map(String::as_str);
        let is_new = |name: &&str| !settings.agents.contains_key(*name);
        let presets = KNOWN_AGENTS.iter().map(|preset| preset.name).filter(is_new);
        let mut all: Vec<Self> = configured
            .chain(presets)
            .map(|name| Self::named(settings, name))
            .collect();
        if let Some(chosen) = default {
            let name = chosen.in_words().0;
            if !all.iter().any(|agent| agent.name == name) {
                all.push(Self::of(&chosen));
            }
            for agent in &mut all {
                agent.is_default = agent.name == name;
            }
        }
        all
    }

    pub fn named(settings: &Settings, name: &str) -> Self {
        let alone = Settings {
            agent: Some(name.to_owned()),
            ..settings.clone()
        };
        let mut agent = match choose(&alone) {
            Ok(chosen) => Self::of(&chosen),
            Err(wrong) => Self::broken(name, wrong),
        };
        agent.configured = settings.agents.contains_key(name);
        agent
    }

    pub fn of(chosen: &ChosenAgent) -> Self {
        match chosen {
            ChosenAgent::Preset(agent) => Self::of_preset(agent),
            ChosenAgent::Command(agent) => Self::of_command(agent),
            ChosenAgent::Demo => Self::bare(DemoAgent::NAME, Vec::new()),
        }
    }

    fn of_preset(agent: &PresetAgent) -> Self {
        let known = known_agent(&agent.preset);
        let bare = Self::bare(&agent.name, agent.words());
        Self {
            title: known.map_or(bare.title, |preset| preset.title.to_owned()),
            preset: Some(agent.preset.clone()),
            login: known.map_or(LoginState::Unknown, |preset| {
                login(preset, &LoginEnvironment::here())
            }),
            install: known.map(|preset| preset.install),
            passed_on: agent.passed_on(),
            ..bare
        }
    }

    fn of_command(agent: &CommandAgent) -> Self {
        Self {
            passed_on: agent.env.clone(),
            ..Self::bare(&agent.name, agent.words.clone())
        }
    }

    fn broken(name: &str, wrong: NoAgent) -> Self {
        Self {
            wrong: Some(wrong),
            ..Self::bare(name, Vec::new())
        }
    }

    fn bare(name: &str, words: Vec<String>) -> Self {
        let program = words.first().cloned().unwrap_or_default();
        Self {
            name: name.to_owned(),
            title: name.to_owned(),
            preset: None,
            path: place_of(&program),
            program,
            words,
            version: None,
            login: LoginState::Unknown,
            install: None,
            configured: false,
            is_default: false,
            wrong: None,
            passed_on: Vec::new(),
        }
    }

    pub fn words_without_secrets(&self) -> Vec<String> {
        let hider = Secrets::of_environment(&self.passed_on).hider();
        let words = self.words.iter();
        words.map(|word| hider.hide(word).into_owned()).collect()
    }

    pub fn is_built_in(&self) -> bool {
        self.words.is_empty() && self.wrong.is_none()
    }

    pub fn is_installed(&self) -> bool {
        self.path.is_some() || self.is_built_in()
    }

    /// Whether it could be started and nothing says that it is not logged in.
    pub fn is_ready(&self) -> bool {
        self.is_installed() && self.login.hint().is_none()
    }
}

/// Where a program is; one that is named by a path is there or not.
fn place_of(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_program(&path, program).filter(|_| !program.is_empty())
}

struct LoginEnvironment<V> {
    variable: V,
    home: Option<PathBuf>,
}

impl LoginEnvironment<fn(&str) -> Option<std::ffi::OsString>> {
    fn here() -> Self {
        Self {
            variable: |name| std::env::var_os(name),
            home: std::env::var_os("HOME").map(PathBuf::from),
        }
    }
}

impl<V: Fn(&str) -> Option<std::ffi::OsString>> LoginEnvironment<V> {
    /// What a variable says; an empty one says nothing.
    fn said(&self, name: &str) -> Option<std::ffi::OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    fn login_file(&self, file: &LoginFile) -> Option<String> {
        let moved = file.moved.and_then(|(variable, below)| {
            let folder = PathBuf::from(self.said(variable)?);
            let shown = format!("${variable}/{below}");
            Some((folder.join(below), shown))
        });
        let at_home = || {
            let path = self.home.as_ref()?.join(file.at_home);
            Some((path, format!("~/{}", file.at_home)))
        };
        let (path, shown) = moved.or_else(at_home)?;
        has_something(&path).then_some(shown)
    }
}

fn has_something(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

/// Whether an agent is logged in, by its variables first: they win with the agents, too.
fn login<V>(preset: &KnownAgent, place: &LoginEnvironment<V>) -> LoginState
where
    V: Fn(&str) -> Option<std::ffi::OsString>,
{
    let variables = preset.login.variables.iter();
    let by_variable = variables.copied().find(|name| place.said(name).is_some());
    let by_file = || {
        preset
            .login
            .files
            .iter()
            .find_map(|file| place.login_file(file))
    };
    match by_variable.map(str::to_owned).or_else(by_file) {
        Some(what) => LoginState::By(what),
        None => LoginState::No(preset.login.hint),
    }
}

/// Whether a program that is named is the preset's own and found by its name alone, so that it is safe to ask.
pub(super) fn is_own_program(agent: &Presence) -> bool {
    let known = agent.preset.as_deref().and_then(known_agent);
    let is_bare = Path::new(&agent.program).file_name() == Some(OsStr::new(&agent.program));
    is_bare && known.is_some_and(|preset| agent.program.starts_with(preset.program))
}

pub(super) fn installed_agents(path: &OsStr) -> Vec<(&'static str, PathBuf)> {
    let known = KNOWN_AGENTS.iter();
    known
        .filter_map(|preset| Some((preset.name, find_program(path, preset.program)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::*;
    use crate::config::{AgentConfig, Config};

    fn look(name: &str, home: &Path, variables: &[(&str, &str)]) -> LoginState {
        let place = LoginEnvironment {
            variable: |wanted: &str| {
                let found = variables.iter().find(|(name, _)| *name == wanted);
                found.map(|(_, value)| OsString::from(value))
            },
            home: Some(home.to_owned()),
        };
        login(known_agent(name).unwrap(), &place)
    }

    #[test]
    fn a_login_is_a_variable_or_a_file_that_is_not_empty() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".claude/.credentials.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let claude = |variables: &[(&str, &str)]| look("claude", home.path(), variables);
        assert!(claude(&[]).hint().unwrap().contains("ANTHROPIC_API_KEY"));
        let by = |what: &str| LoginState::By(what.to_owned());
        assert_eq!(
            claude(&[("ANTHROPIC_API_KEY", "k")]),
            by("ANTHROPIC_API_KEY")
        );
        assert_eq!(claude(&[("ANTHROPIC_API_KEY", "")]).word(), "missing");
        fs::write(&file, "").unwrap();
        assert_eq!(claude(&[]).word(), "missing");
        fs::write(&file, "{}").unwrap();
        assert_eq!(claude(&[]), by("~/.claude/.credentials.json"));
    }

    #[test]
    fn a_folder_that_was_moved_is_looked_into_and_the_usual_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".codex")).unwrap();
        fs::write(home.path().join(".codex/auth.json"), "{}").unwrap();
        let other = home.path().join("other");
        let moved = [("CODEX_HOME", other.to_str().unwrap())];
        assert_eq!(look("codex", home.path(), &[]).word(), "ok");
        assert_eq!(look("codex", home.path(), &moved).word(), "missing");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("auth.json"), "{}").unwrap();
        assert_eq!(
            look("codex", home.path(), &moved),
            LoginState::By("$CODEX_HOME/auth.json".to_owned())
        );
    }

    fn settings(agents: &[(&str, AgentConfig)]) -> Settings {
        let agents = agents.iter().cloned();
        let config = Config {
            agents: agents.map(|(name, said)| (name.to_owned(), said)).collect(),
            ..Config::default()
        };
        Settings::of([config], Path::new("/project")).unwrap()
    }

    #[test]
    fn agents_of_the_configuration_come_first_and_presets_once() {
        let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
        let command = AgentConfig {
            command: words(&["/no/such/agent"]),
            ..AgentConfig::default()
        };
        let like = |preset: &str| AgentConfig {
            preset: Some(preset.to_owned()),
            ..AgentConfig::default()
        };
        let all = Presence::all(&settings(&[
            ("claude", AgentConfig::default()),
            ("mine", command),
            ("night", like("codex")),
            ("odd", like("codexx")),
        ]));
        let names: Vec<&str> = all.iter().map(|agent| agent.name.as_str()).collect();
        assert_eq!(&names[..5], ["claude", "mine", "night", "odd", "codex"]);
        assert_eq!(names.len(), KNOWN_AGENTS.len() + 3);
        let [claude, mine, night, odd, codex, ..] = all.as_slice() else {
            panic!("{names:?}");
        };
        assert!(claude.configured && !codex.configured);
        assert_eq!(
            (mine.is_installed(), &mine.login),
            (false, &LoginState::Unknown)
        );
        assert_eq!(night.title, "Codex");
        assert!(matches!(odd.wrong, Some(NoAgent::NoPreset { .. })));
    }

    #[test]
    fn every_preset_has_a_page_that_says_how_to_get_it_and_what_is_run() {
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
        let overview = fs::read_to_string(guide.join("agents.md")).unwrap();
        for preset in KNOWN_AGENTS {
            let name = preset.name;
            let page = format!("agents/{name}.md");
            assert!(
                overview.contains(&format!("]({page})")),
                "{name} is not in the overview"
            );
            let text = fs::read_to_string(guide.join(page)).unwrap();
            let words = Presence::named(&settings(&[]), name).words.join(" ");
            assert!(
                text.contains(&format!("**Install:** `{}`", preset.install)),
                "{name}"
            );
            assert!(text.contains(&format!("\n{words}\n")), "{name}: {words}");
            for variable in preset.login.variables {
                let is_told = text.contains(variable) || overview.contains(variable);
                assert!(is_told, "{name}: {variable}");
            }
        }
    }

    #[test]
    fn only_the_programs_of_presets_are_asked() {
        let asked = |name: &str, command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned());
            let said = AgentConfig {
                command: Some(command.collect()).filter(|words: &Vec<_>| !words.is_empty()),
                preset: Some(name.to_owned()),
                ..AgentConfig::default()
            };
            is_own_program(&Presence::named(&settings(&[("x", said)]), "x"))
        };
        assert!(asked("claude", &[]));
        assert!(asked("goose", &["goose-binary-linux-x64"]));
        assert!(!asked("claude", &["./claude"]));
        assert!(!asked("claude", &["/tmp/claude"]));
        assert!(!asked("claude", &["sh", "-c", "claude"]));
        assert!(!asked("acp:claude", &[]));
    }

    #[test]
    fn agents_are_found_on_the_path() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        for (name, mode) in [("codex", 0o755), ("claude", 0o644), ("other", 0o755)] {
            let path = folder.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let found = installed_agents(folder.path().as_os_str());
        assert_eq!(found, [("codex", folder.path().join("codex"))]);
    }
}
