//! What lets a project's agents and tests do more than others may: a person trusts the project with it at a terminal.
//!
//! Consent can be given by a request, so whoever may make requests could give it to a project of their own. Knows nothing
//! of who asks.

mod push;

use std::path::{Path, PathBuf};

use pleach_domain::choice::{NetworkChoice, SandboxChoice};
use pleach_git::git::{Git, Store};
use pleach_log::database::{Database, DatabaseError};
use pleach_system::text::hash::hash;
use pleach_system::text::shell_words::line;

use crate::config::{Layers, Settings};
use crate::consent::in_words;

pub(crate) use push::may_push;
pub use push::may_push_from_now_on;

/// What a project opens: settings of its own file, and the project's folder itself where tasks work in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustRequest {
    pub folder: PathBuf,
    pub settings: Vec<(String, String)>,
    /// Whether it is in no repository, so that tasks work in the folder itself.
    pub is_in_place: bool,
}

fn written(paths: Vec<PathBuf>) -> Vec<String> {
    let paths = paths.into_iter();
    paths.map(|path| path.display().to_string()).collect()
}

impl TrustRequest {
    /// What holds only because the file of the project says so, and is weaker than what would hold without it.
    pub fn find(layers: &Layers, settings: &Settings, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let (with, without) = (layers.merged(), layers.without_project().merged());
        let sandbox = with.sandbox.as_ref().filter(|now| {
            let before = without.sandbox.as_ref();
            before != Some(*now) && is_weaker(now, before)
        });
        let opened = |now: Option<Vec<String>>, before: Option<Vec<String>>| {
            let (mut now, before) = (now.unwrap_or_default(), before.unwrap_or_default());
            now.retain(|path| !before.contains(path));
            (!now.is_empty()).then(|| line(&now))
        };
        let write = opened(
            with.sandbox_write.map(written),
            without.sandbox_write.map(written),
        );
        let read = opened(
            with.sandbox_read.map(written),
            without.sandbox_read.map(written),
        );
        let network = (with.network != without.network)
            .then_some(with.network)
            .flatten();
        let network = network.filter(|network| *network == NetworkChoice::Open);
        let elsewhere = |is_said: bool, path: &Option<PathBuf>| {
            let path = path.as_ref().filter(|_| is_said)?;
            // A link that leads out by the time it is used cannot be told from others now.
            let found = path
                .canonicalize()
                .is_ok_and(|path| path.starts_with(&folder));
            (!found).then(|| path.display().to_string())
        };
        // It is read by Pleach itself, which no sandbox holds, and shown to the agent.
        let prompt = elsewhere(with.prompt != without.prompt, &settings.prompt);
        let worktrees = elsewhere(with.worktrees != without.worktrees, &settings.worktrees);
        let all = [
            ("sandbox", sandbox.map(in_words)),
            ("sandbox_write", write),
            ("sandbox_read", read),
            ("network", network.map(|network| network.word().to_owned())),
            // The server's own variables may be secrets.
            (
                "validate_env",
                opened(with.validate_env, without.validate_env),
            ),
            ("prompt", prompt),
            ("worktrees", worktrees),
        ];
        let agents = with.agents.into_iter().filter_map(|(name, agent)| {
            let before = without
                .agents
                .get(&name)
                .and_then(|agent| agent.env.clone());
            Some((format!("agents.{name}.env"), opened(agent.env, before)?))
        });
        let settings = all
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Self {
            settings: settings.chain(agents).collect(),
            is_in_place: Git::find().is_ok_and(|git| Store::is_plain(&git, &folder)),
            folder,
        }
    }

    pub fn in_words(&self) -> Vec<String> {
        let settings = self.settings.iter();
        let mut words: Vec<String> = settings
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        if self.is_in_place {
            words.push(
                "it is not a git repository, so agents and tests change the folder itself"
                    .to_owned(),
            );
        }
        words
    }

    /// Whether a person trusts the project with exactly this; with nothing, everybody does.
    pub fn are_trusted(&self, database: &Database) -> Result<bool, DatabaseError> {
        Ok(self.are_none() || database.is_trusted(&self.project(), &self.fingerprint())?)
    }

    pub fn are_none(&self) -> bool {
        self.settings.is_empty() && !self.is_in_place
    }

    pub fn trust(&self, database: &mut Database) -> Result<(), DatabaseError> {
        database.remember_trust(&self.project(), &self.fingerprint())
    }

    pub fn distrust(&self, database: &mut Database) -> Result<bool, DatabaseError> {
        database.forget_trust(&self.project())
    }

    /// The command that a person trusts the project with.
    pub fn command(&self) -> String {
        format!("pleach trust {}", line(&[self.project()]))
    }

    fn project(&self) -> String {
        self.folder.display().to_string()
    }

    fn fingerprint(&self) -> String {
        let settings = self.settings.iter();
        let settings = settings.flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        hash(settings.chain(self.is_in_place.then_some("in place")))
    }
}

/// Whether a sandbox holds less than the one that was there before, or may do so.
fn is_weaker(now: &SandboxChoice, before: Option<&SandboxChoice>) -> bool {
    match now {
        SandboxChoice::None | SandboxChoice::Wrapper(_) => before != Some(&SandboxChoice::None),
        SandboxChoice::Landlock => matches!(
            before,
            Some(SandboxChoice::Strict | SandboxChoice::Wrapper(_))
        ),
        SandboxChoice::Strict => matches!(before, Some(SandboxChoice::Wrapper(_))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_hold_as_much_is_not_weaker() {
        use SandboxChoice::{Landlock, None as Nothing, Strict, Wrapper};
        let wrapper = |word: &str| Wrapper(vec![word.to_owned()]);
        let weaker = [
            (Nothing, None),
            (Nothing, Some(Landlock)),
            (Nothing, Some(Strict)),
            (wrapper("env"), None),
            (wrapper("env"), Some(Strict)),
            (wrapper("env"), Some(wrapper("bwrap"))),
            (Landlock, Some(Strict)),
            (Landlock, Some(wrapper("bwrap"))),
            (Strict, Some(wrapper("bwrap"))),
        ];
        for (now, before) in weaker {
            assert!(is_weaker(&now, before.as_ref()), "{now:?} {before:?}");
        }
        let not_weaker = [
            (Landlock, None),
            (Strict, None),
            (Strict, Some(Landlock)),
            (Landlock, Some(Nothing)),
            (wrapper("env"), Some(Nothing)),
        ];
        for (now, before) in not_weaker {
            assert!(!is_weaker(&now, before.as_ref()), "{now:?} {before:?}");
        }
    }
}
