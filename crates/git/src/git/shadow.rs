//! The store of a folder that is no repository: states of the folder are captured there, and nothing is written to it.
//!
//! Knows nothing of tasks, nor of who changes the files.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::checkout::Checkout;
use super::store::{Project, home_of, make_home};
use super::users_config::UsersConfig;
use super::{CallPlace, CommitId, Git, GitError, Store, StoreError, TreeId, parse_id};

/// What no capture takes, whatever the folder itself says: the books of other version controls, and what a rewrite of
/// the plan leaves for a moment.
const NEVER: &str = ".hg/\n.svn/\n.jj/\n.*.pleach-*\n";

/// What a folder without rules of its own does not mean to keep: dependencies and caches.
const CLUTTER: &str = "\
node_modules/
bower_components/
.venv/
venv/
__pycache__/
*.pyc
.tox/
.nox/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.gradle/
.terraform/
.direnv/
.cache/
.parcel-cache/
.turbo/
.next/
.nuxt/
.svelte-kit/
.DS_Store
";

/// Names that people also give to what they write themselves: clutter only beside a file of the tool that makes it.
const MADE_BY: [(&str, &[&str]); 3] = [
    ("target/", &["Cargo.toml", "pom.xml", "build.sbt"]),
    (
        "dist/",
        &["package.json", "pyproject.toml", "setup.py", "setup.cfg"],
    ),
    (
        "build/",
        &[
            "package.json",
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "build.gradle",
            "build.gradle.kts",
            "CMakeLists.txt",
        ],
    ),
];

/// Files are kept byte for byte, whatever attributes say of them in some repository.
const ATTRIBUTES: &[u8] = b"* -text !eol !filter !ident !working-tree-encoding\n";

/// A folder that is in no repository.
#[derive(Debug)]
pub(super) struct PlainFolder {
    pub(super) folder: PathBuf,
    pub(super) config: UsersConfig,
    /// Paths in it whose changes no capture takes.
    leave_out: Vec<PathBuf>,
    /// Files that were too large to be captured and are not told yet, and those that are.
    oversized: Mutex<(BTreeSet<PathBuf>, BTreeSet<PathBuf>)>,
}

impl Store {
    /// Whether a folder is in no repository, not even in one that cannot be used.
    pub fn is_plain(git: &Git, folder: &Path) -> bool {
        let has_git = |folder: PathBuf| folder.ancestors().any(|above| above.join(".git").exists());
        // Looked for first, which spares most runs a process.
        !folder.canonicalize().is_ok_and(has_git)
            && matches!(
                Checkout::find(git, folder),
                Err(StoreError::NotARepository { .. })
            )
    }

    /// Opens the store of a folder that is in no repository; changes of some paths in it are nobody's work.
    pub fn open_plain(
        git: Git,
        stores: &Path,
        folder: &Path,
        leave_out: Vec<PathBuf>,
    ) -> Result<Self, StoreError> {
        let folder = folder
            .canonicalize()
            .map_err(StoreError::io("find", folder))?;
        let home = make_home(stores, &folder, &place(&folder))?;
        let mut store = Self::plain_at(git, home, folder, leave_out)?;
        let _lock = store.lock("store.lock")?;
        store.prepare()?;
        if let Err(error) = store.call().arg("for-each-ref").output() {
            let found = store.set_aside_damage()?.ok_or(error)?;
            store.set_aside.push(found);
        }
        let attributes = store.git_dir().join("info/attributes");
        let info = attributes.parent().unwrap_or(&attributes);
        fs::create_dir_all(info).map_err(StoreError::io("create", info))?;
        store.replace_if_other(&attributes, ATTRIBUTES)?;
        Ok(store)
    }

    /// The store of a folder that was in no repository when it was made, as it is, if there is one.
    pub fn existing_plain(
        git: Git,
        stores: &Path,
        folder: &Path,
    ) -> Result<Option<Self>, StoreError> {
        let Ok(home) = home_of(stores, folder, &place(folder)).canonicalize() else {
            return Ok(None);
        };
        let store = Self::plain_at(git, home, folder.to_owned(), Vec::new())?;
        Ok(store.git_dir().is_dir().then_some(store))
    }

    /// The store of a folder that is in no repository, as it would be; nothing is made.
    pub fn imagined_plain(git: Git, stores: &Path, folder: &Path) -> Result<Self, StoreError> {
        let home = home_of(stores, folder, &place(folder));
        let config = UsersConfig::read(git.call(CallPlace::Nowhere(folder)))?;
        Ok(Self::plain_with(
            git,
            home,
            folder.to_owned(),
            Vec::new(),
            config,
        ))
    }

    /// The name of the store of a folder that is in no repository, whether or not it is there yet.
    pub fn plain_name(folder: &Path) -> String {
        let home = home_of(Path::new(""), folder, &place(folder));
        home.to_string_lossy().into_owned()
    }

    /// The names of all stores that are of the place where somebody stands: a folder may have become a repository.
    pub fn names_of(git: &Git, stores: &Path, folder: &Path) -> Result<Vec<String>, StoreError> {
        let name = match Self::name_of(git, stores, folder) {
            Err(StoreError::NotARepository { .. }) => None,
            name => Some(name?),
        };
        let folder = folder.canonicalize().unwrap_or(folder.to_owned());
        let mut above = folder.ancestors();
        let top = above.find(|above| above.join(".git").exists());
        // A folder around a repository is another place.
        let is_here = |plain: &Path| top.is_none_or(|top| plain.starts_with(top));
        let plain = Self::nearest_plain(stores, &folder).filter(|(plain, _)| is_here(plain));
        let plain = plain.map(|(_, plain)| plain);
        Ok(name.into_iter().chain(plain).collect())
    }

    /// The nearest folder at or above one that has such a store, and the name of that.
    pub(super) fn nearest_plain(stores: &Path, folder: &Path) -> Option<(PathBuf, String)> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().find_map(|above| {
            let home = home_of(stores, above, &place(above));
            let name = home.file_name()?.to_string_lossy().into_owned();
            home.join("store.git")
                .is_dir()
                .then(|| (above.to_owned(), name))
        })
    }

    fn plain_at(
        git: Git,
        home: PathBuf,
        folder: PathBuf,
        leave_out: Vec<PathBuf>,
    ) -> Result<Self, StoreError> {
        let config = UsersConfig::read(git.call(CallPlace::Nowhere(&home)))?;
        Ok(Self::plain_with(git, home, folder, leave_out, config))
    }

    fn plain_with(
        git: Git,
        home: PathBuf,
        folder: PathBuf,
        leave_out: Vec<PathBuf>,
        config: UsersConfig,
    ) -> Self {
        let identity = config.identity();
        let plain = PlainFolder {
            folder,
            config,
            leave_out,
            oversized: Mutex::default(),
        };
        Self::at(git, home, Project::Plain(plain), identity)
    }

    /// The folder itself, where this is the store of one that is in no repository.
    pub fn plain_folder(&self) -> Option<&Path> {
        Some(&self.plain()?.folder)
    }

    pub(crate) fn never_captured(&self) -> &[PathBuf] {
        self.plain().map_or(&[], |plain| &plain.leave_out)
    }

    pub(crate) fn note_oversized(&self, found: Vec<PathBuf>) {
        if let Some(plain) = self.plain() {
            let both = plain.oversized.lock();
            let (news, told) = &mut *both.unwrap_or_else(PoisonError::into_inner);
            news.extend(found.into_iter().filter(|path| !told.contains(path)));
        }
    }

    /// The files that were noted since this was asked last; each is told once.
    pub fn oversized_news(&self) -> Vec<PathBuf> {
        let Some(plain) = self.plain() else {
            return Vec::new();
        };
        let both = plain.oversized.lock();
        let (news, told) = &mut *both.unwrap_or_else(PoisonError::into_inner);
        let news = std::mem::take(news);
        told.extend(news.iter().cloned());
        news.into_iter().collect()
    }

    /// The commit of an empty folder, which everything that is captured comes after.
    pub(crate) fn nothing(&self) -> Result<CommitId, GitError> {
        let empty = self.call().args(["hash-object", "-w", "-t", "tree"]);
        let empty: TreeId = parse_id("hash-object", &empty.arg("/dev/null").output()?)?;
        self.commit_tree(&empty, &[], "Empty folder\n", Some(0))
    }

    /// The commit that a batch starts from, for a state of the folder; the same for the same state.
    pub fn anchor_state(&self, tree: &TreeId) -> Result<CommitId, StoreError> {
        let nothing = self.nothing()?;
        let commit = self.commit_tree(tree, &[&nothing], "Snapshot of the folder\n", Some(0))?;
        self.anchor_here(commit)
    }

    fn plain(&self) -> Option<&PlainFolder> {
        match &self.project {
            Project::Plain(plain) => Some(plain),
            Project::Local(_) | Project::Remote(_) | Project::Borrowed(_) => None,
        }
    }
}

impl PlainFolder {
    /// What is ignored besides what the folder says itself.
    pub(super) fn rules(&self) -> Vec<u8> {
        let mut rules = NEVER.as_bytes().to_vec();
        let is_there = |name: &str| self.folder.join(name).symlink_metadata().is_ok();
        if is_there(".gitignore") {
            return rules;
        }
        rules.extend_from_slice(CLUTTER.as_bytes());
        for (name, makers) in MADE_BY {
            if makers.iter().any(|maker| is_there(maker)) {
                rules.extend_from_slice(name.as_bytes());
                rules.push(b'\n');
            }
        }
        rules
    }
}

/// What tells one folder from another, and from a repository that may be made of it later.
fn place(folder: &Path) -> Vec<u8> {
    let mut place = OsString::from("folder ");
    place.push(folder);
    OsStr::as_bytes(&place).to_vec()
}
