//! What steers agents or Pleach, and so needs a person's consent: files of a commit, and the commands that are run.
//!
//! Knows names and hashes, and what differs between two of them; who consents, and how, is asked elsewhere.

mod cluster;
mod contents;
mod files;
mod follow;
mod imports;
mod names;
mod pending;
mod references;
mod shown;

use std::collections::BTreeMap;
use std::path::PathBuf;

use pleach_system::secrets::Hider;
use serde::{Deserialize, Serialize};

use crate::agent::ChosenAgent;
use crate::config::Settings;
use pleach_domain::choice::{NetworkChoice, SandboxChoice};
use pleach_system::text::hash::hash;
use pleach_system::text::shell_words::line;

pub(crate) use contents::show;
pub use files::SteeringFiles;
pub use names::Role;
pub(crate) use names::is_steering;
pub use pending::PendingConsent;
pub use pending::fingerprint;
pub(crate) use pending::pending_changes;
pub use shown::ConsentChange;

/// Everything of a project that needs consent before a batch begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steering {
    entries: Vec<SteeringEntry>,
    /// What is to be said of files besides: known for a commit that was looked at, and never stored.
    #[serde(skip)]
    remarks: BTreeMap<String, SteeringRemark>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SteeringRemark {
    pub(crate) role: Role,
    pub(crate) because: Option<String>,
    /// Why it cannot be said what agents read by it.
    pub(crate) unseen: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SteeringEntry {
    what: SteeringSubject,
    hash: String,
    /// What it is in words, without secrets.
    text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteeringSubject {
    /// A setting that is a command or says what one may do, by its name.
    Setting(String),
    /// A file of the commit that the batch starts from, by its path.
    File(String),
}

/// How something differs from what was consented to last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringChange {
    pub what: SteeringSubject,
    pub kind: ChangeKind,
    pub role: Role,
    /// Why it is one of them where its name does not say so, or why it is asked about each time.
    pub because: Option<String>,
    /// What it was, in words; of a file only once it is shown.
    pub before: Option<String>,
    /// What it is, in words; of a file only once it is shown.
    pub now: Option<String>,
    /// Whether a file has contents that are not shown, because they are long or no text.
    pub is_cut: bool,
    /// The contents of a file, by what they are known by.
    pub(crate) contents: [Option<String>; 2],
}

impl SteeringChange {
    pub fn of_file(path: String, kind: ChangeKind, role: Role) -> Self {
        Self {
            what: SteeringSubject::File(path),
            kind,
            role,
            because: None,
            before: None,
            now: None,
            is_cut: false,
            contents: [None, None],
        }
    }

    pub fn is_there(&self) -> bool {
        self.kind != ChangeKind::Gone
    }

    /// The folder that it can be told by among many others, if it neither sets nor runs anything.
    pub fn folder(&self) -> Option<&str> {
        match &self.what {
            SteeringSubject::File(path)
                if self.role == Role::Other && self.kind != ChangeKind::Unseen =>
            {
                Some(names::folder(path))
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    New,
    Changed,
    Gone,
    /// It is as it was, but what it leads to is not in the repository and may be another thing each time.
    Unseen,
}

impl Steering {
    /// The files of a commit and the settings that hold, each by its name; their words are stored without secrets.
    pub fn new(
        files: &SteeringFiles,
        settings: impl IntoIterator<Item = (String, String)>,
        hider: &Hider,
    ) -> Self {
        let remarks = files.remarks();
        let files = files.iter().map(|(path, blob)| SteeringEntry {
            what: SteeringSubject::File(path.clone()),
            hash: blob.clone(),
            text: None,
        });
        let settings = settings.into_iter().map(|(name, text)| SteeringEntry {
            what: SteeringSubject::Setting(name),
            hash: hash([text.as_str()]),
            text: Some(hider.hidden(text)),
        });
        let mut entries: Vec<SteeringEntry> = files.chain(settings).collect();
        entries.sort();
        Self { entries, remarks }
    }

    pub fn fingerprint(&self) -> String {
        let entries = self.entries.iter();
        hash(entries.flat_map(|entry| {
            let (kind, name) = match &entry.what {
                SteeringSubject::Setting(name) => ("setting", name.as_str()),
                SteeringSubject::File(path) => ("file", path.as_str()),
            };
            [kind, name, entry.hash.as_str()]
        }))
    }

    /// What is new, different or gone since another time, or unseen; what can do most comes first.
    pub fn changes_since(&self, before: &Self) -> Vec<SteeringChange> {
        let by_name = |all: &Self| -> BTreeMap<SteeringSubject, SteeringEntry> {
            let entries = all.entries.iter();
            entries
                .map(|entry| (entry.what.clone(), entry.clone()))
                .collect()
        };
        let (mut was, mut is) = (by_name(before), by_name(self));
        let mut all: Vec<SteeringSubject> = was.keys().chain(is.keys()).cloned().collect();
        all.sort();
        all.dedup();
        let changes = all
            .into_iter()
            .filter_map(|what| self.change(was.remove(&what), is.remove(&what), what));
        let mut changes: Vec<SteeringChange> = changes.collect();
        changes.sort_by(|one, other| {
            let place = |change: &SteeringChange| {
                (matches!(change.what, SteeringSubject::File(_)), change.role)
            };
            place(one).cmp(&place(other))
        });
        changes
    }

    fn change(
        &self,
        was: Option<SteeringEntry>,
        is: Option<SteeringEntry>,
        what: SteeringSubject,
    ) -> Option<SteeringChange> {
        let (role, remark) = match &what {
            SteeringSubject::Setting(_) => (Role::Settings, None),
            SteeringSubject::File(path) => {
                let remark = is.as_ref().and_then(|_| self.remarks.get(path));
                (
                    remark.map_or_else(|| Role::of_file(path), |remark| remark.role),
                    remark,
                )
            }
        };
        let unseen = remark.and_then(|remark| remark.unseen.clone());
        let kind = match (&was, &is) {
            (Some(was), Some(is)) if was.hash == is.hash => {
                unseen.as_ref()?;
                ChangeKind::Unseen
            }
            (Some(_), Some(_)) => ChangeKind::Changed,
            (None, _) => ChangeKind::New,
            (_, None) => ChangeKind::Gone,
        };
        Some(SteeringChange {
            what,
            kind,
            role,
            because: unseen.or_else(|| remark.and_then(|remark| remark.because.clone())),
            is_cut: false,
            contents: [&was, &is].map(|entry| entry.as_ref().map(|entry| entry.hash.clone())),
            before: was.and_then(|was| was.text),
            now: is.and_then(|is| is.text),
        })
    }
}

/// The settings that a repository can make and that run something, or say what it may do; `typed` are those that
/// stand in the command that a person gave this very moment.
pub(crate) fn steering_settings(
    settings: &Settings,
    agent: &ChosenAgent,
    template: Option<&str>,
    typed: &[&str],
) -> Vec<(String, String)> {
    let (name, words) = agent.in_words();
    let paths = |paths: &[PathBuf]| {
        let paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        in_a_line(&paths)
    };
    let worktrees = settings.worktrees.as_ref();
    let agent_of = |key: &str| format!("agents.{name}.{key}");
    let all = [
        ("setup".to_owned(), settings.setup.clone()),
        ("validate".to_owned(), settings.validate.clone()),
        ("validate_env".to_owned(), in_a_line(&settings.validate_env)),
        (agent_of("command"), Some(words)),
        (agent_of("env"), in_a_line(&agent.let_through())),
        (
            "sandbox".to_owned(),
            settings.sandbox.as_ref().map(in_words),
        ),
        ("sandbox_write".to_owned(), paths(&settings.sandbox_write)),
        ("sandbox_read".to_owned(), paths(&settings.sandbox_read)),
        (
            "network".to_owned(),
            (settings.network == NetworkChoice::None).then(|| settings.network.word().to_owned()),
        ),
        (
            "worktrees".to_owned(),
            worktrees.map(|path| path.display().to_string()),
        ),
        ("prompt".to_owned(), template.map(str::to_owned)),
    ];
    let all = all.into_iter().chain(cluster::settings_in_words(settings));
    let said = all.filter(|(name, _)| !typed.contains(&name.as_str()));
    said.filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

fn in_a_line(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| line(words))
}

pub(crate) fn in_words(choice: &SandboxChoice) -> String {
    match choice {
        SandboxChoice::Wrapper(words) => line(words),
        named => named.word().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agent::CommandAgent;
    use crate::config::Config;

    fn steering(files: &[(&str, char)], settings: &[(&str, &str)]) -> Steering {
        let blob = |c: &char| c.to_string().repeat(40);
        let files = files.iter().map(|(path, c)| ((*path).to_owned(), blob(c)));
        let files = SteeringFiles::of(files.collect());
        let settings = settings
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Steering::new(&files, settings, &Hider::default())
    }

    #[test]
    fn what_is_new_changed_or_gone_is_told_with_its_words() {
        let before = steering(
            &[("AGENTS.md", 'a'), (".env", 'b')],
            &[("setup", "make"), ("validate", "true")],
        );
        let now = steering(
            &[("AGENTS.md", 'c'), (".mcp.json", 'b')],
            &[("setup", "make all"), ("prompt", "p")],
        );
        let told: Vec<String> = now
            .changes_since(&before)
            .into_iter()
            .map(|change| {
                format!(
                    "{:?} {:?} {:?} {:?}",
                    change.what, change.kind, change.before, change.now
                )
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        Setting("prompt") New None Some("p")
        Setting("setup") Changed Some("make") Some("make all")
        Setting("validate") Gone Some("true") None
        File(".env") Gone None None
        File(".mcp.json") New None None
        File("AGENTS.md") Changed None None
        "#);
        assert_eq!(now.changes_since(&now), []);
        assert_ne!(now.fingerprint(), before.fingerprint());
    }

    /// What steers where a command is the agent, with settings and the text of a prompt.
    fn configured(config: Config, command: &str, template: Option<&str>) -> Steering {
        let settings = Settings::of([config], Path::new("/project")).unwrap();
        let agent = ChosenAgent::Command(CommandAgent {
            name: "shell".to_owned(),
            words: vec![command.to_owned()],
            env: Vec::new(),
            model: None,
        });
        let none = SteeringFiles::of(Vec::new());
        let said = steering_settings(&settings, &agent, template, &[]);
        Steering::new(&none, said, &Hider::default())
    }

    #[test]
    fn each_setting_that_runs_something_counts_alone() {
        let before = configured(Config::default(), "sh", None);
        let text = |text: &str| Some(text.to_owned());
        let setup = Config {
            setup: text("make"),
            ..Config::default()
        };
        let validate = Config {
            validate: text("make test"),
            ..Config::default()
        };
        let validate_env = Config {
            validate_env: Some(vec!["LANG".to_owned()]),
            ..Config::default()
        };
        let sandbox_write = Config {
            sandbox_write: Some(vec!["/cache".into()]),
            ..Config::default()
        };
        let worktrees = Config {
            worktrees: Some("/trees".into()),
            ..Config::default()
        };
        for (name, now) in [
            ("setup", configured(setup, "sh", None)),
            ("validate", configured(validate, "sh", None)),
            ("validate_env", configured(validate_env, "sh", None)),
            ("sandbox_write", configured(sandbox_write, "sh", None)),
            ("worktrees", configured(worktrees, "sh", None)),
            ("prompt", configured(Config::default(), "sh", Some("dig"))),
            (
                "agents.shell.command",
                configured(Config::default(), "bash", None),
            ),
        ] {
            let wanted = [SteeringSubject::Setting(name.to_owned())];
            let told = |changes: Vec<SteeringChange>| -> Vec<SteeringSubject> {
                changes.into_iter().map(|change| change.what).collect()
            };
            assert_eq!(told(now.changes_since(&before)), wanted);
            assert_eq!(told(before.changes_since(&now)), wanted);
            assert_ne!(now.fingerprint(), before.fingerprint(), "{name}");
        }
    }

    #[test]
    fn two_states_have_one_fingerprint_only_if_they_are_the_same() {
        let all = [
            steering(&[], &[]),
            steering(&[("a", 'a')], &[]),
            steering(&[("a", 'b')], &[]),
            steering(&[("a", 'a'), ("b", 'a')], &[]),
            steering(&[], &[("a", "a")]),
            steering(&[], &[("a", "b")]),
            steering(&[], &[("a", ""), ("b", "")]),
        ];
        let mut names: Vec<String> = all.iter().map(Steering::fingerprint).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all.len());
        assert!(names.iter().all(|name| name.len() == 40));
    }

    #[test]
    fn a_secret_in_a_setting_counts_and_is_not_stored() {
        let mut secrets = pleach_system::secrets::Secrets::default();
        secrets.add("KEY", "hunter2-hunter2");
        let none = SteeringFiles::of(Vec::new());
        let of = |text: &str| {
            Steering::new(
                &none,
                [("setup".to_owned(), text.to_owned())],
                &secrets.hider(),
            )
        };
        let stored = serde_json::to_string(&of("x hunter2-hunter2")).unwrap();
        assert!(
            stored.contains("x [hidden:KEY]") && !stored.contains("hunter2"),
            "{stored}"
        );
        assert_ne!(of("x hunter2-hunter2"), of("x [hidden:KEY]"));
    }
}
