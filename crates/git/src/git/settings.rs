//! The git folder of a store: made whole, and configured as this version wants it.
//!
//! Knows nothing of what is fetched into them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::address::Address;
use super::alternate_line;
use super::fill::link_objects;
use super::store::Project;
use super::{CallPlace, Store, StoreError};

/// What holds for the store and for the git folders of agents.
const SETTINGS: &str = "\
[core]
\trepositoryFormatVersion = 1
\tfsync = committed
\tlogAllRefUpdates = always
\tfilesRefLockTimeout = 5000
\tpackedRefsTimeout = 5000
[extensions]
\tpreciousObjects = true
[gc]
\tauto = 0
[maintenance]
\tauto = false
[fetch]
\tfsckObjects = true
[transfer]
\tfsckObjects = true
[receive]
\tdenyNonFastForwards = true
";

/// What holds for the store alone.
///
/// The flaws that are let through stand in many old histories and harm nobody.
const STORE_SETTINGS: &str = "\
[core]
\tfsyncMethod = batch
\texcludesFile = /dev/null
\tattributesFile = /dev/null
[fetch \"fsck\"]
\tbadTimezone = ignore
\tmissingNameBeforeEmail = ignore
\tmissingSpaceBeforeDate = ignore
\tmissingSpaceBeforeEmail = ignore
\tzeroPaddedDate = ignore
\tzeroPaddedFilemode = ignore
";

/// A way that no push can go, whichever address an agent pushes to; git names it when it refuses.
const NO_PUSH: &str = "pleach-agents-do-not-push";

/// A branch that nobody makes, so that no tree is taken for the current one.
pub(super) const NO_HEAD: &str = "ref: refs/heads/pleach-nothing\n";

impl Store {
    /// Makes what is missing and brings up to date what an older version made.
    pub(super) fn ensure_folders(&self) -> Result<(), StoreError> {
        let generated = self.generated_config()?;
        let store = self.git_dir();
        ensure_git_dir(&store, |folder| {
            for inside in ["refs/heads", "refs/tags", "logs", "info"] {
                fs::create_dir_all(folder.join(inside))?;
            }
            self.fill(folder)
        })?;
        // Nothing could be fetched if somebody had taken it away.
        let logs = store.join("logs");
        fs::create_dir_all(&logs).map_err(StoreError::io("create", &logs))?;
        let shared = [&generated[..], SETTINGS.as_bytes()].concat();
        let ours = [&shared[..], STORE_SETTINGS.as_bytes()].concat();
        let push = push_settings(self.origin_address().as_ref());
        // Each of theirs has files beside it; a setting that stands there twice would be in the way of theirs.
        let theirs = String::from_utf8_lossy(&shared).replace("bare = true", "bare = false");
        let agents = [theirs.as_bytes(), &push].concat();
        self.replace_if_other(&self.agent_config(), &agents)?;
        self.replace_if_other(&store.join("config"), &ours)
    }

    /// What the git folder of each worktree is configured to do when it is made.
    pub(crate) fn agent_config(&self) -> PathBuf {
        self.home().join("agent.config")
    }

    /// Where the project comes from, without any login.
    pub(super) fn origin_address(&self) -> Option<Address> {
        match &self.project {
            Project::Local(checkout) => checkout.origin().map(|(address, _)| address),
            Project::Remote(remote) => Some(remote.address.clone()),
            Project::Plain(_) => None,
            Project::Borrowed(borrowed) => borrowed.origin(),
        }
    }

    /// The objects of a repository nearby are linked; what that leaves out, the fetch brings.
    fn fill(&self, folder: &Path) -> io::Result<()> {
        let objects = folder.join("objects");
        if let Project::Local(checkout) = &self.project {
            let linked = folder.join("linked");
            fs::create_dir(&linked)?;
            if link_objects(&checkout.common_dir.join("objects"), &linked).is_ok() {
                return fs::rename(&linked, &objects);
            }
            fs::remove_dir_all(&linked)?;
        }
        fs::create_dir_all(objects.join("pack"))?;
        fs::create_dir_all(objects.join("info"))?;
        match self.borrowed_objects() {
            Some(lent) => fs::write(objects.join("info/alternates"), alternate_line(&lent)),
            None => Ok(()),
        }
    }

    /// A git folder that other machines read, with nothing in it that this machine alone knows.
    pub(super) fn make_depot(&self, depot: &Path) -> Result<(), StoreError> {
        let above = depot.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(above).map_err(StoreError::io("create", above))?;
        let config = [&self.generated_config()?[..], SETTINGS.as_bytes()].concat();
        ensure_git_dir(depot, |folder| {
            for inside in ["refs/heads", "objects/pack", "objects/info"] {
                fs::create_dir_all(folder.join(inside))?;
            }
            fs::write(folder.join("config"), &config)
        })
    }

    /// What git finds out about the file system, asked once.
    fn generated_config(&self) -> Result<Vec<u8>, StoreError> {
        let known = self.home().join("init.config");
        if let Ok(text) = fs::read(&known) {
            return Ok(text);
        }
        let scratch = self.scratch()?;
        let format = format!("--object-format={}", self.object_format());
        self.git
            .call(CallPlace::Ours(scratch.path()))
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .args(["init", "--quiet", "--bare", "--template=", &format])
            .output()?;
        let made = scratch.path().join("config");
        let text = fs::read(&made).map_err(StoreError::io("read", &made))?;
        self.replace_if_other(&known, &text)?;
        Ok(text)
    }

    /// Puts a text in the place of another one of the store, as a whole.
    pub(super) fn replace_if_other(&self, path: &Path, text: &[u8]) -> Result<(), StoreError> {
        if fs::read(path).is_ok_and(|there| there == text) {
            return Ok(());
        }
        let mut file = self.scratch_file()?;
        let replace = || {
            file.write_all(text)?;
            file.as_file().sync_all()?;
            file.persist(path)?;
            File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
        };
        replace().map_err(StoreError::io("write", path))
    }
}

/// Makes a git folder aside and renames it in, so that it is whole or not there at all.
fn ensure_git_dir(
    folder: &Path,
    furnish: impl Fn(&Path) -> io::Result<()>,
) -> Result<(), StoreError> {
    if folder.exists() {
        return Ok(());
    }
    let stage = folder.with_extension("new");
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(StoreError::io("remove", &stage))?;
    }
    fs::create_dir(&stage)
        .and_then(|()| fs::write(stage.join("HEAD"), NO_HEAD))
        .and_then(|()| furnish(&stage))
        .and_then(|()| fs::rename(&stage, folder))
        .map_err(StoreError::io("set up", folder))
}

/// Tells agents where the project comes from, and sends whatever they push nowhere.
fn push_settings(origin: Option<&Address>) -> Vec<u8> {
    let mut text = format!(
        "[protocol \"{NO_PUSH}\"]\n\tallow = never\n[url \"{NO_PUSH}://\"]\n\tpushInsteadOf = \"\"\n"
    )
    .into_bytes();
    if let Some(origin) = origin {
        text.extend_from_slice(b"[remote \"origin\"]\n\turl = ");
        text.extend_from_slice(quoted(origin.as_str()).as_bytes());
        let rest = format!(
            "\n\tpushurl = {NO_PUSH}://\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\ttagOpt = --no-tags\n"
        );
        text.extend_from_slice(rest.as_bytes());
    }
    text
}

/// A value as a configuration file holds it; an address has no control characters.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}
