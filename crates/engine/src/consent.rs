//! What steers agents or Pleach, and so needs a person's consent: files of a commit, and the commands that are run.
//!
//! Knows names and hashes, and what differs between two of them; who consents, and how, is asked elsewhere.

mod names;

use pleach_domain::task_state::SteeringFile;
use serde::{Deserialize, Serialize};

use crate::agent::Chosen;
use crate::config::{NetworkChoice, SandboxChoice};
use crate::git::{BlobId, CommitId, GitError, Store};
use crate::secrets::Hider;
use crate::settings::Settings;

pub use names::is_steering;

/// How many letters of a hash are kept.
const FINGERPRINT: usize = 40;

/// The steering files of a commit with their hashes, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SteeringFiles {
    files: Vec<(String, BlobId)>,
}

impl SteeringFiles {
    /// Looks through the files of a commit.
    pub fn at(store: &Store, commit: &CommitId) -> Result<Self, GitError> {
        let mut files = store.list_files_at(commit)?;
        files.retain(|(path, _)| is_steering(path));
        files.sort();
        Ok(Self { files })
    }

    /// The paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    /// What is new, different or gone in another commit, as it is there.
    pub(crate) fn steering_in(&self, other: &Self) -> Vec<SteeringFile> {
        let changed = self.changed_in(other);
        let there = |path: &String| {
            let mut files = other.files.iter();
            let blob = files.find(|(known, _)| known == path);
            blob.map(|(_, blob)| blob.to_string())
        };
        let changed = changed.into_iter().map(|path| SteeringFile {
            blob: there(&path),
            path,
        });
        changed.collect()
    }

    /// A short name for exactly these files with exactly these contents.
    pub fn fingerprint(&self) -> String {
        let files = self.files.iter();
        hash(files.flat_map(|(path, blob)| [path.as_str(), blob.as_str()]))
    }

    /// The paths that are new, different or gone in another commit.
    pub fn changed_in(&self, other: &Self) -> Vec<String> {
        let missing =
            |from: &Self, entry: &(String, BlobId)| from.files.binary_search(entry).is_err();
        let mut changed: Vec<String> = self
            .files
            .iter()
            .filter(|entry| missing(other, entry))
            .map(|(path, _)| path.clone())
            .collect();
        changed.extend(
            other
                .files
                .iter()
                .filter(|entry| missing(self, entry))
                .map(|(path, _)| path.clone()),
        );
        changed.sort();
        changed.dedup();
        changed
    }
}

/// Everything of a project that needs consent before a batch begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steering {
    entries: Vec<Entry>,
}

/// One thing that steers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    what: What,
    /// What it is, by a hash.
    hash: String,
    /// What it is in words, without secrets.
    text: Option<String>,
}

/// What steers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A setting that is a command or says what one may do, by its name.
    Setting(String),
    /// A file of the commit that the batch starts from, by its path.
    File(String),
}

/// How something differs from what was consented to last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub what: What,
    /// Whether it was there and is there.
    pub kind: ChangeKind,
    /// What it was, where it has words.
    pub before: Option<String>,
    /// What it is, where it has words.
    pub now: Option<String>,
}

/// Whether something was there and is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there.
    New,
    /// It was another one.
    Changed,
    /// It is there no more.
    Gone,
}

impl Steering {
    /// The files of a commit and the settings that hold, each by its name; their words are stored without secrets.
    pub fn new(
        files: &SteeringFiles,
        settings: impl IntoIterator<Item = (String, String)>,
        hider: &Hider,
    ) -> Self {
        let files = files.files.iter().map(|(path, blob)| Entry {
            what: What::File(path.clone()),
            hash: blob.to_string(),
            text: None,
        });
        let settings = settings.into_iter().map(|(name, text)| Entry {
            what: What::Setting(name),
            hash: hash([text.as_str()]),
            text: Some(hider.hidden(text)),
        });
        let mut entries: Vec<Entry> = files.chain(settings).collect();
        entries.sort();
        Self { entries }
    }

    /// A short name for exactly this.
    pub fn fingerprint(&self) -> String {
        let entries = self.entries.iter();
        hash(entries.flat_map(|entry| {
            let (kind, name) = match &entry.what {
                What::Setting(name) => ("setting", name.as_str()),
                What::File(path) => ("file", path.as_str()),
            };
            [kind, name, entry.hash.as_str()]
        }))
    }

    /// What is new, different or gone since another time.
    pub fn changes_since(&self, before: &Self) -> Vec<Change> {
        let of = |all: &Self, what: &What| {
            all.entries
                .iter()
                .find(|entry| entry.what == *what)
                .cloned()
        };
        let mut all: Vec<&What> = self
            .entries
            .iter()
            .chain(&before.entries)
            .map(|entry| &entry.what)
            .collect();
        all.sort();
        all.dedup();
        let changes = all.into_iter().filter_map(|what| {
            let (was, is) = (of(before, what), of(self, what));
            let kind = match (&was, &is) {
                (Some(was), Some(is)) if was.hash == is.hash => return None,
                (Some(_), Some(_)) => ChangeKind::Changed,
                (None, _) => ChangeKind::New,
                (_, None) => ChangeKind::Gone,
            };
            Some(Change {
                what: what.clone(),
                kind,
                before: was.and_then(|was| was.text),
                now: is.and_then(|is| is.text),
            })
        });
        changes.collect()
    }
}

/// The settings that a repository can make and that run something, or say what it may do; `typed` are those that
/// stand in the command that a person gave this very moment.
pub(crate) fn steering_settings(
    settings: &Settings,
    agent: &Chosen,
    template: Option<&str>,
    typed: &[&str],
) -> Vec<(String, String)> {
    let list = |words: &[String]| (!words.is_empty()).then(|| quoted(words));
    let (name, words) = agent.in_words();
    let paths = settings.sandbox_write.iter();
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    let worktrees = settings.worktrees.as_ref();
    let agent_of = |key: &str| format!("agents.{name}.{key}");
    let all = [
        ("setup".to_owned(), settings.setup.clone()),
        ("validate".to_owned(), settings.validate.clone()),
        ("validate_env".to_owned(), list(&settings.validate_env)),
        (agent_of("command"), Some(words)),
        (agent_of("env"), list(&agent.let_through())),
        (
            "sandbox".to_owned(),
            settings.sandbox.as_ref().map(in_words),
        ),
        ("sandbox_write".to_owned(), list(&paths)),
        (
            "network".to_owned(),
            (settings.network == NetworkChoice::None).then(|| "none".to_owned()),
        ),
        (
            "worktrees".to_owned(),
            worktrees.map(|path| path.display().to_string()),
        ),
        ("prompt".to_owned(), template.map(str::to_owned)),
    ];
    let said = all
        .into_iter()
        .filter(|(name, _)| !typed.contains(&name.as_str()));
    said.filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

fn in_words(choice: &SandboxChoice) -> String {
    match choice {
        SandboxChoice::Wrapper(words) => quoted(words),
        SandboxChoice::None => "none".to_owned(),
        SandboxChoice::Landlock => "landlock".to_owned(),
        SandboxChoice::Strict => "strict".to_owned(),
    }
}

/// Words as one text that no other words give.
pub(crate) fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+{}".contains(c);
        !word.is_empty() && word.chars().all(is_plain)
    };
    let words = words.iter().map(|word| {
        if plain(word) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn hash<'p>(parts: impl IntoIterator<Item = &'p str>) -> String {
    let mut hasher = gix_hash::hasher(gix_hash::Kind::Sha256);
    for part in parts {
        hasher.update(&part.len().to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let whole = hasher.try_finalize().map(|id| id.to_string());
    let mut whole = whole.expect("nobody has found two texts of one hash");
    whole.truncate(FINGERPRINT);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steering(files: &[(&str, char)], settings: &[(&str, &str)]) -> Steering {
        let blob = |c: &char| c.to_string().repeat(40).parse().unwrap();
        let files = files.iter().map(|(path, c)| ((*path).to_owned(), blob(c)));
        let files = SteeringFiles {
            files: files.collect(),
        };
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
        assert!(names.iter().all(|name| name.len() == FINGERPRINT));
    }

    #[test]
    fn a_secret_in_a_setting_counts_and_is_not_stored() {
        let mut secrets = crate::secrets::Secrets::default();
        secrets.add("KEY", "hunter2-hunter2");
        let none = SteeringFiles { files: Vec::new() };
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

    #[test]
    fn words_with_spaces_and_quotes_are_told_apart() {
        let words = |words: &[&str]| {
            quoted(
                &words
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(words(&["a", "b c"]), "a 'b c'");
        assert_eq!(words(&["a", "b", "c"]), "a b c");
        assert_eq!(words(&["it's", ""]), "'it'\\''s' ''");
    }
}
