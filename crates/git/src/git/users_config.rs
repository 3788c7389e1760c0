//! What the user's git is configured to do, as far as Pleach follows it.
//!
//! Reads everything with one call; changes nothing.

use std::path::PathBuf;

use super::network::is_network_setting;
use super::{Call, GitError, Identity, nul_separated};

/// The settings that git follows at a place, in the order in which later ones win.
#[derive(Clone)]
pub struct UsersConfig {
    settings: Vec<ConfigEntry>,
}

#[derive(Clone)]
struct ConfigEntry {
    /// Whether it stands in the repository itself.
    is_local: bool,
    /// Whether our own call says so, above all that the user says.
    is_of_call: bool,
    key: String,
    value: String,
}

/// Without the values, some of which are secrets.
impl std::fmt::Debug for UsersConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UsersConfig({} settings)", self.settings.len())
    }
}

impl UsersConfig {
    pub(super) fn none() -> Self {
        let settings = Vec::new();
        Self { settings }
    }

    pub(crate) fn read(call: Call) -> Result<Self, GitError> {
        let list = ["config", "--list", "-z", "--show-scope", "--includes"];
        let printed = call.args(list).output()?;
        let mut fields = nul_separated(&printed);
        let mut settings = Vec::new();
        while let (Some(scope), Some(setting)) = (fields.next(), fields.next()) {
            let setting = String::from_utf8_lossy(setting);
            // A key without a value means yes.
            let (key, value) = setting.split_once('\n').unwrap_or((&setting, "true"));
            settings.push(ConfigEntry {
                is_local: scope == b"local" || scope == b"worktree",
                is_of_call: scope == b"command",
                key: key.to_owned(),
                value: value.to_owned(),
            });
        }
        Ok(Self { settings })
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        let mut all = self.settings.iter().rev();
        all.find(|setting| setting.key == key)
            .map(|setting| setting.value.as_str())
    }

    pub(crate) fn identity(&self) -> Identity {
        let owned = |key| self.value(key).map(str::to_owned);
        Identity::from_settings(owned("user.name"), owned("user.email"))
    }

    pub(crate) fn is_on(&self, key: &str) -> bool {
        let mut all = self.settings.iter().rev();
        let said = all.find(|setting| setting.key == key && !setting.is_of_call);
        let value = said.map(|setting| setting.value.to_ascii_lowercase());
        matches!(value.as_deref(), Some("true" | "yes" | "on" | "1"))
    }

    /// The author of commits where the user's address is not known.
    pub(crate) fn stand_in_author(&self) -> Option<String> {
        let Identity { name, email } = self.identity();
        let is_users = self.value("user.email") == Some(email.as_str());
        (!is_users).then(|| format!("{name} <{email}>"))
    }

    /// Older versions of git note it in the one place, newer ones in the other.
    pub(crate) fn is_partial_clone(&self) -> bool {
        self.settings.iter().any(|ConfigEntry { key, .. }| {
            key == "extensions.partialclone"
                || (key.starts_with("remote.") && key.ends_with(".promisor"))
        })
    }

    /// What `git merge` would follow, as `name=value`.
    pub(crate) fn merging(&self) -> Vec<String> {
        let does_renormalize = self
            .value("merge.renormalize")
            .is_some_and(|value| !matches!(value, "false" | "no" | "off" | "0"));
        let is_about_lines = |key: &str| {
            matches!(key, "core.autocrlf" | "core.eol" | "core.safecrlf")
                || key.starts_with("filter.")
        };
        let is_about_merging = |key: &str| {
            key.starts_with("merge.")
                || matches!(key, "diff.renames" | "diff.renamelimit")
                || (does_renormalize && is_about_lines(key))
        };
        let settings = self.settings.iter();
        settings
            .filter(|setting| is_about_merging(&setting.key))
            .map(|setting| format!("{}={}", setting.key, setting.value))
            .collect()
    }

    pub(crate) fn attributes_file(&self) -> Option<PathBuf> {
        self.file_for_all("core.attributesfile", "attributes")
    }

    pub(crate) fn excludes_file(&self) -> Option<PathBuf> {
        self.file_for_all("core.excludesfile", "ignore")
    }

    fn file_for_all(&self, key: &str, default: &str) -> Option<PathBuf> {
        let set = |name| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let Some(path) = self.value(key) else {
            let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
            return Some(config?.join("git").join(default));
        };
        match path.strip_prefix("~/") {
            Some(below) => Some(set("HOME")?.join(below)),
            None => Some(PathBuf::from(path)),
        }
    }

    /// All keys and values, some of which hold logins.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let settings = self.settings.iter();
        settings.map(|setting| (setting.key.as_str(), setting.value.as_str()))
    }

    /// How the repository says servers are reached, which git does not see from another folder.
    pub(crate) fn network(&self) -> Vec<(String, String)> {
        let ours = self.settings.iter().filter(|setting| {
            // This one is passed by a variable that would hide it otherwise.
            let is_ssh = setting.key == "core.sshcommand";
            is_ssh || (setting.is_local && is_network_setting(&setting.key))
        });
        ours.map(|setting| (setting.key.clone(), setting.value.clone()))
            .collect()
    }
}
