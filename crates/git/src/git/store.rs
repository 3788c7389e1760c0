//! The private store of a project: a bare repository that worktrees and results live in.
//!
//! Reads the user's repository and never writes to it; publishing is another file's duty.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::address::{Address, UserInfo};
use super::checkout::Checkout;
use super::depot::BorrowedProject;
use super::names::fnv1a;
use super::shadow::PlainFolder;
use super::users_config::UsersConfig;
use super::{
    Call, CallPlace, CommitId, DamagedFiles, Git, GitError, StoreError, TreeId, nul_separated,
    parse_id,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
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
/// Nobody but Pleach writes to its git folder. Each worktree has a git folder of its own that borrows the store's
/// objects; what an agent commits there comes into the store through an import that checks it.
#[derive(Debug)]
pub struct Store {
    pub git: Git,
    pub(super) project: Project,
    pub(super) identity: Identity,
    home: PathBuf,
    /// What was damaged when it was opened.
    pub(super) set_aside: Vec<DamagedFiles>,
}

#[derive(Debug)]
pub(super) enum Project {
    /// A repository of the user's on this machine.
    Local(Checkout),
    /// A repository that is known by its address only.
    Remote(RemoteProject),
    /// A folder of the user's that is in no repository.
    Plain(PlainFolder),
    /// One whose objects are somewhere else, on behalf of another machine.
    Borrowed(BorrowedProject),
}

#[derive(Debug)]
pub(super) struct RemoteProject {
    pub(super) address: Address,
    pub(super) written: UserInfo,
    pub(super) config: UsersConfig,
    pub(super) object_format: String,
}

impl Store {
    /// Opens the store of the repository that a folder is in, and brings it up to date with it.
    pub fn open(git: Git, stores: &Path, checkout: &Path) -> Result<Self, StoreError> {
        let checkout = Checkout::find(&git, checkout)?;
        let place = checkout.common_dir.as_os_str().as_encoded_bytes();
        let home = make_home(stores, top(&checkout.common_dir), place)?;
        let identity = checkout.config.identity();
        let mut store = Self::at(git, home, Project::Local(checkout), identity);
        let _lock = store.lock("store.lock")?;
        store.prepare()?;
        let fetched = match store.set_aside[..] {
            [] => store.fetch_local(&NEWS),
            _ => store.fetch_anew(),
        };
        if let Err(error) = fetched {
            // What stands in its way may not be git's own; if all is well, the error stands.
            let found = store.set_aside_damage()?.ok_or(error)?;
            store.set_aside.push(found);
            store.fetch_anew()?;
        }
        Ok(store)
    }

    /// The store of the repository that a folder is in, as it is, if there is one; where there is no repository,
    /// that of the folder itself or of the nearest above.
    pub fn existing(git: Git, stores: &Path, checkout: &Path) -> Result<Option<Self>, StoreError> {
        let checkout = match (Checkout::find(&git, checkout), checkout) {
            (Err(StoreError::NotARepository { path }), folder) => {
                let plain = Self::nearest_plain(stores, folder);
                let (plain, _) = plain.ok_or(StoreError::NotARepository { path })?;
                return Self::existing_plain(git, stores, &plain);
            }
            (found, _) => found?,
        };
        let place = checkout.common_dir.as_os_str().as_encoded_bytes();
        let home = home_of(stores, top(&checkout.common_dir), place);
        let Ok(home) = home.canonicalize() else {
            return Ok(None);
        };
        let identity = checkout.config.identity();
        let store = Self::at(git, home, Project::Local(checkout), identity);
        Ok(store.git_dir().is_dir().then_some(store))
    }

    /// The store as it would be; nothing is made, and only the user's repository can be asked about.
    pub fn imagined(git: Git, stores: &Path, checkout: &Path) -> Result<Self, StoreError> {
        let checkout = Checkout::find(&git, checkout)?;
        let place = checkout.common_dir.as_os_str().as_encoded_bytes();
        let home = home_of(stores, top(&checkout.common_dir), place);
        let identity = checkout.config.identity();
        Ok(Self::at(git, home, Project::Local(checkout), identity))
    }

    pub fn users_config(&self) -> &UsersConfig {
        match &self.project {
            Project::Local(checkout) => &checkout.config,
            Project::Remote(remote) => &remote.config,
            Project::Plain(plain) => &plain.config,
            Project::Borrowed(borrowed) => &borrowed.config,
        }
    }

    /// The name of the store of the repository that a folder is in, whether or not it is there yet; where there is no
    /// repository, of the store that [`Store::existing`] finds.
    pub fn name_of(git: &Git, stores: &Path, checkout: &Path) -> Result<String, StoreError> {
        let checkout = match (Checkout::find(git, checkout), checkout) {
            (Err(StoreError::NotARepository { path }), folder) => {
                let plain = Self::nearest_plain(stores, folder);
                let (_, name) = plain.ok_or(StoreError::NotARepository { path })?;
                return Ok(name);
            }
            (found, _) => found?,
        };
        let place = checkout.common_dir.as_os_str().as_encoded_bytes();
        let home = home_of(Path::new(""), top(&checkout.common_dir), place);
        Ok(home.to_string_lossy().into_owned())
    }

    pub(super) fn at(git: Git, home: PathBuf, project: Project, identity: Identity) -> Self {
        Self {
            git,
            project,
            identity,
            home,
            set_aside: Vec::new(),
        }
    }

    /// Brings what is there of the store to the present layout, and out of the way what stands in that of every git.
    pub(super) fn prepare(&mut self) -> Result<(), StoreError> {
        self.show_up()?;
        let top = self.set_aside_top()?;
        self.ensure_folders()?;
        let older = self.leave_older_layout()?;
        self.set_aside.extend(top.into_iter().chain(older));
        Ok(())
    }

    /// What was found to be damaged when the store was opened, and moved away.
    pub fn set_aside(&self) -> &[DamagedFiles] {
        &self.set_aside
    }

    /// Makes this process known to others of the store, and clears what dead ones left in its way.
    pub(super) fn show_up(&self) -> Result<(), StoreError> {
        self.sign()?;
        Self::end_abandoned_gits();
        self.clear_locks()
    }

    /// The git folder that everything is kept in, and that only Pleach writes to.
    pub fn git_dir(&self) -> PathBuf {
        self.home.join("store.git")
    }

    /// The folder that holds everything of this project's store.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) fn object_format(&self) -> &str {
        match &self.project {
            Project::Local(checkout) => &checkout.object_format,
            Project::Remote(remote) => &remote.object_format,
            Project::Plain(_) => "sha1",
            Project::Borrowed(borrowed) => &borrowed.lent.object_format,
        }
    }

    /// The folders of the user's own checkout, if the project is one.
    pub fn users_folders(&self) -> Vec<PathBuf> {
        let Project::Local(checkout) = &self.project else {
            return Vec::new();
        };
        let top = checkout.top().map(Path::to_owned);
        [Some(checkout.common_dir.clone()), top]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The user's repository; a project that is only an address has none.
    pub fn checkout(&self) -> Result<&Checkout, StoreError> {
        match &self.project {
            Project::Local(checkout) => Ok(checkout),
            Project::Remote(remote) => Err(StoreError::NoCheckout {
                address: remote.address.clone(),
            }),
            Project::Plain(plain) => Err(StoreError::PlainFolder {
                path: plain.folder.clone(),
            }),
            Project::Borrowed(borrowed) => Err(borrowed.no_repository()),
        }
    }

    /// The folder of objects that are not its own, if it borrows any.
    pub(crate) fn borrowed_objects(&self) -> Option<PathBuf> {
        match &self.project {
            Project::Borrowed(borrowed) => Some(borrowed.lent.depot.join("objects")),
            Project::Local(_) | Project::Remote(_) | Project::Plain(_) => None,
        }
    }

    /// Writes a commit object that no ref points at yet.
    pub fn commit_tree(
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

    pub fn call(&self) -> Call {
        let git_dir = self.git_dir();
        let call = self.git.call(CallPlace::Ours(&git_dir));
        let call = match self.borrowed_objects() {
            Some(objects) => call.reading(&objects),
            None => call,
        };
        self.signed(call).holding(self.sign_file())
    }

    pub(super) fn signed(&self, call: Call) -> Call {
        let Identity { name, email } = self.identity();
        call.env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
    }

    /// Fetches everything once more, where objects that were here may be gone.
    pub(super) fn fetch_anew(&self) -> Result<(), StoreError> {
        self.fetch_as(&["--refetch"], &NEWS)
    }

    /// Fetches from the user's repository; writes to it no more than reading does.
    pub(super) fn fetch_local(&self, refspecs: &[&str]) -> Result<(), StoreError> {
        self.fetch_as(&[], refspecs)
    }

    fn fetch_as(&self, how: &[&str], refspecs: &[&str]) -> Result<(), StoreError> {
        let checkout = self.checkout()?;
        self.drop_planted_links()?;
        // A single commit is no ref of the other side, so a ref that was made of one would go.
        let is_single = !refspecs.iter().any(|refspec| refspec.contains('*'));
        let prune = if is_single { "--no-prune" } else { "--prune" };
        let call = self.call().with_users_config().args(FETCH).args(how);
        let call = call.reading(&checkout.common_dir);
        let call = call.args([prune, "--"]).arg(&checkout.common_dir);
        call.args(refspecs).output()?;
        Ok(())
    }

    /// Removes refs that lead to other refs from where fetches write, so that none writes elsewhere.
    pub(super) fn drop_planted_links(&self) -> Result<(), GitError> {
        let list = [
            "for-each-ref",
            "--format=%(symref)%0a%(refname)%00",
            "refs/remotes",
        ];
        let printed = self.call().args(list).output()?;
        let mut planted = nul_separated(&printed).filter_map(|record| {
            let record = String::from_utf8_lossy(record);
            let (target, name) = record.trim_start_matches('\n').split_once('\n')?;
            let is_ours = name == REMOTE_HEAD && target.starts_with("refs/remotes/origin/");
            (!target.is_empty() && !is_ours).then(|| name.to_owned())
        });
        planted.try_for_each(|name| {
            let delete = ["symbolic-ref", "--delete", &name];
            self.call().args(delete).output().map(drop)
        })
    }
}

/// What a store takes from the user's repository.
const NEWS: [&str; 3] = [
    "+refs/heads/*:refs/remotes/local/*",
    "+refs/remotes/*:refs/remotes/local-remotes/*",
    // What Pleach published itself is no news.
    "^refs/heads/pleach/*",
];

pub(super) const REMOTE_HEAD: &str = "refs/remotes/origin/HEAD";

/// Refs and objects, and nothing else that a fetch could bring or do.
pub(super) const FETCH: [&str; 6] = [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
];

/// Makes the folder of a store, under a name that people recognize and no other project has.
pub(super) fn make_home(stores: &Path, name: &Path, place: &[u8]) -> Result<PathBuf, StoreError> {
    let home = home_of(stores, name, place);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&home);
    made.map_err(StoreError::io("create", &home))?;
    home.canonicalize().map_err(StoreError::io("find", &home))
}

pub(super) fn home_of(stores: &Path, name: &Path, place: &[u8]) -> PathBuf {
    let name = name.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |c: char| match c {
        _ if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    };
    let plain: String = name.chars().map(plain).take(40).collect();
    stores.join(format!("{plain}-{:012x}", fnv1a(place) >> 16))
}

/// The folder that people know a repository by.
fn top(common_dir: &Path) -> &Path {
    let is_inner = common_dir.file_name().is_some_and(|name| name == ".git");
    let above = common_dir.parent().filter(|_| is_inner);
    above.unwrap_or(common_dir)
}
