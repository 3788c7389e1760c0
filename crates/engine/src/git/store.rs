//! The private store of a project: a bare repository that worktrees and results live in.
//!
//! Reads the user's repository and never writes to it; publishing is another file's duty.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::checkout::Checkout;
use super::names::fnv1a;
use super::{Call, CommitId, Git, GitError, Place, TreeId, parse_id};

/// What holds for both git folders.
const SETTINGS: &str = "\
[core]
\trepositoryFormatVersion = 1
\tfsync = committed
\tlogAllRefUpdates = always
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

/// What holds for our own folder alone.
///
/// The flaws that are let through stand in many old histories and harm nobody.
const VAULT_SETTINGS: &str = "\
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

/// A branch that nobody makes, so that no tree is taken for the current one.
const NO_HEAD: &str = "ref: refs/heads/pleach-nothing\n";

/// Why a store cannot be had, or cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder belongs to no repository.
    #[error("{} is not in a git repository", path.display())]
    NotARepository {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// The repository belongs to another user, and git will not read it.
    #[error("the repository at {} belongs to another user", path.display())]
    DubiousOwnership {
        /// The top of the repository.
        path: PathBuf,
    },
    /// There is nothing to start from yet.
    #[error("the repository at {} has no commit to start from", path.display())]
    NoCommits {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// History is cut off, and merges would go wrong.
    #[error("the repository at {} is shallow: its history is cut off", path.display())]
    Shallow {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// The base names no commit.
    #[error("base {base:?} names no commit of the repository")]
    BaseNotFound {
        /// What was asked for.
        base: String,
    },
    /// A branch stands where a folder of branches has to be.
    #[error("branch {branch:?} is in the way of branch {wanted:?}")]
    PrefixTaken {
        /// The branch of the user.
        branch: String,
        /// The branch that was to be made.
        wanted: String,
    },
    /// Some of its objects are on a server only.
    #[error("{} is a partial clone, which lacks objects that Pleach has to copy", path.display())]
    Partial {
        /// The folder.
        path: PathBuf,
    },
    /// Files of the store could not be written or read.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl StoreError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotARepository { .. } => Some(
                "each task gets a git worktree of its own: run `git init` and commit something"
                    .into(),
            ),
            Self::NoCommits { .. } => Some("commit something first".into()),
            Self::Shallow { .. } => Some("run `git fetch --unshallow`".into()),
            Self::Partial { .. } => Some("make a clone without --filter and run there".into()),
            Self::DubiousOwnership { path } => Some(format!(
                "if you trust it, run `git config --global --add safe.directory {}`",
                path.display()
            )),
            Self::PrefixTaken { branch, .. } => Some(format!(
                "rename that branch: git branch -m {branch} {branch}-old (branch_prefix cannot be set yet)"
            )),
            Self::BaseNotFound { .. } => {
                Some("name a branch, tag or commit that `git rev-parse` knows".into())
            }
            Self::Io { .. } => {
                Some("check that there is room and that the folder can be written to".into())
            }
            Self::Git(_) => None,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }
}

/// Who signs the commits that Pleach makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Identity {
    /// The user's own name and address, with Pleach standing in for what is missing or blank.
    pub fn from_settings(name: Option<String>, email: Option<String>) -> Self {
        // Git drops such characters from the ends of a name, and refuses a name that is left empty.
        let usable = |text: &String| text.chars().any(char::is_alphanumeric);
        let name = name.filter(usable).unwrap_or_else(|| "Pleach".into());
        let email = email.filter(usable);
        Self {
            name,
            email: email.unwrap_or_else(|| "pleach@localhost".into()),
        }
    }
}

/// The private bare store of one project.
///
/// It has two git folders that share objects and refs. Worktrees belong to `store.git`, whose
/// configuration agents can write to. `vault.git` has a configuration that only Pleach writes, and
/// is the one that Pleach works in, so that nothing an agent sets up is ever executed.
#[derive(Debug)]
pub struct Store {
    pub(crate) git: Git,
    pub(crate) checkout: Checkout,
    home: PathBuf,
}

impl Store {
    /// Opens the store of the repository that a folder is in, and brings it up to date with it.
    pub fn open(git: Git, stores: &Path, checkout: &Path) -> Result<Self, StoreError> {
        let checkout = Checkout::find(&git, checkout)?;
        let home = stores.join(home_name(&checkout.common_dir));
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&home);
        made.map_err(StoreError::io("create", &home))?;
        let home = home.canonicalize().map_err(StoreError::io("find", &home))?;
        let store = Self {
            git,
            checkout,
            home,
        };
        let _lock = store.lock("store.lock")?;
        store.ensure_store()?;
        store.ensure_vault()?;
        store.fetch(&[
            "+refs/heads/*:refs/remotes/local/*",
            "+refs/remotes/*:refs/remotes/local-remotes/*",
            // What Pleach published itself is no news.
            "^refs/heads/pleach/*",
        ])?;
        Ok(store)
    }

    /// The git folder that worktrees belong to.
    pub fn git_dir(&self) -> PathBuf {
        self.home.join("store.git")
    }

    /// The folder that holds everything of this project's store.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The signature of the commits that are made here.
    pub fn identity(&self) -> &Identity {
        &self.checkout.identity
    }

    pub(crate) fn object_format(&self) -> &str {
        &self.checkout.object_format
    }

    /// A folder of the user's repository, where there is one.
    pub(crate) fn users_folder(&self) -> Option<&Path> {
        Some(&self.checkout.folder)
    }

    /// The commit to start from: what a name means in the user's repository, or the default.
    pub fn resolve_base(&self, base: Option<&str>) -> Result<CommitId, StoreError> {
        let commit = match base {
            None => self.checkout.default_base(&self.git)?,
            Some(name) => {
                let found = self.checkout.resolve(&self.git, name)?;
                found.ok_or_else(|| StoreError::BaseNotFound { base: name.into() })?
            }
        };
        let anchor = format!("refs/pleach/base/{commit}");
        if self.ref_commit(&anchor)?.is_none() {
            let _lock = self.lock("store.lock")?;
            self.fetch(&[&format!("{commit}:{anchor}")])?;
        }
        Ok(commit)
    }

    /// Writes a commit object that no ref points at yet.
    pub(crate) fn commit_tree(
        &self,
        tree: &TreeId,
        parents: &[&CommitId],
        message: &str,
        date: Option<i64>,
    ) -> Result<CommitId, GitError> {
        let mut call = self.call().args(["commit-tree", "-F", "-"]);
        for parent in parents {
            call = call.args(["-p", parent.as_str()]);
        }
        if let Some(date) = date {
            let date = format!("@{date} +0000");
            call = call
                .env("GIT_AUTHOR_DATE", &date)
                .env("GIT_COMMITTER_DATE", &date);
        }
        let printed = call.arg(tree.as_str()).stdin(message).output()?;
        parse_id("commit-tree", &printed)
    }

    /// Begins a call in the vault.
    pub(crate) fn call(&self) -> Call {
        let vault = self.vault();
        self.signed(self.git.call(Place::Ours(&vault)))
    }

    /// Begins a call in the user's repository.
    pub(crate) fn users_call(&self) -> Call {
        self.signed(self.git.call(Place::Users(&self.checkout.folder)))
    }

    /// Takes a lock that holds across processes until it is dropped.
    pub(crate) fn lock(&self, name: &str) -> Result<File, StoreError> {
        let path = self.home.join(name);
        File::options()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(StoreError::io("lock", &path))
    }

    /// A private folder that goes away with its value.
    pub(crate) fn scratch(&self) -> Result<TempDir, StoreError> {
        tempfile::Builder::new()
            .prefix("scratch-")
            .tempdir_in(&self.home)
            .map_err(StoreError::io("create a folder in", &self.home))
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.home.join("vault.git")
    }

    fn signed(&self, call: Call) -> Call {
        let Identity { name, email } = self.identity();
        call.env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
    }

    fn fetch(&self, refspecs: &[&str]) -> Result<(), GitError> {
        let quietly = [
            "fetch",
            "--quiet",
            "--prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ];
        let call = self.call().with_users_config().args(quietly);
        call.arg(&self.checkout.common_dir)
            .args(refspecs)
            .output()
            .map(drop)
    }

    fn ensure_store(&self) -> Result<(), StoreError> {
        self.ensure_git_dir(&self.git_dir(), SETTINGS, |folder| {
            fs::create_dir_all(folder.join("logs"))?;
            fs::create_dir_all(folder.join("worktrees"))
        })
    }

    fn ensure_vault(&self) -> Result<(), StoreError> {
        let settings = format!("{SETTINGS}{VAULT_SETTINGS}");
        self.ensure_git_dir(&self.vault(), &settings, |folder| {
            for shared in ["refs", "objects"] {
                fs::remove_dir_all(folder.join(shared))?;
            }
            for shared in ["refs", "objects", "logs", "packed-refs"] {
                let target = Path::new("../store.git").join(shared);
                symlink(target, folder.join(shared))?;
            }
            Ok(())
        })
    }

    /// Makes a bare git folder aside and renames it in, so that it is whole or not there at all.
    fn ensure_git_dir(
        &self,
        folder: &Path,
        settings: &str,
        furnish: impl Fn(&Path) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        if folder.exists() {
            return Ok(());
        }
        let stage = folder.with_extension("new");
        if stage.exists() {
            fs::remove_dir_all(&stage).map_err(StoreError::io("remove", &stage))?;
        }
        fs::create_dir(&stage).map_err(StoreError::io("create", &stage))?;
        let format = format!("--object-format={}", self.checkout.object_format);
        self.git
            .call(Place::Ours(&stage))
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .args(["init", "--quiet", "--bare", "--template=", &format])
            .output()?;
        let config = stage.join("config");
        let furnished = fs::read_to_string(&config)
            .and_then(|generated| fs::write(&config, format!("{generated}{settings}")))
            .and_then(|()| fs::write(stage.join("HEAD"), NO_HEAD))
            .and_then(|()| furnish(&stage))
            .and_then(|()| fs::rename(&stage, folder));
        furnished.map_err(StoreError::io("set up", folder))
    }
}

/// A folder name that people recognize and no other repository has.
fn home_name(common_dir: &Path) -> String {
    let is_inner = common_dir.file_name().is_some_and(|name| name == ".git");
    let top = if is_inner {
        common_dir.parent().unwrap_or(common_dir)
    } else {
        common_dir
    };
    let name = top.file_stem().unwrap_or_default().to_string_lossy();
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let hash = fnv1a(common_dir.as_os_str().as_encoded_bytes());
    format!("{plain}-{:012x}", hash >> 16)
}
