//! Stores and the server that a project comes from: cloning by address, fetching, choosing a base.
//!
//! Knows nothing of who asked; the network is used only by the functions that say so.

use std::path::{Path, PathBuf};

use super::address::{Address, BadAddress, UserInfo};
use super::checkout::Checkout;
use super::credentials::Logins;
use super::network::{ANSWERED_WITHIN, FETCHED_WITHIN, ServerCall};
use super::store::{FETCH, Project, REMOTE_HEAD, RemoteProject, make_home};
use super::users_config::UsersConfig;
use super::{CallPlace, CommitId, Git, GitError, Store, StoreError, parse_id};

/// Branches of the server, and its tags where no fetch of ours takes them for our own.
const FROM_ORIGIN: [&str; 3] = [
    "+refs/heads/*:refs/remotes/origin/*",
    "+refs/tags/*:refs/remotes/origin-tags/*",
    // It would stand where the server's choice of a branch is noted.
    "^refs/heads/HEAD",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Upstream {
    AsTheUserKnowsIt,
    JustFetched,
}

/// What a server says about its branches before anything is fetched.
pub(super) struct ServerHead {
    /// The branch that it means when nobody names one.
    pub(super) branch: Option<String>,
    pub(super) commit: Option<CommitId>,
}

impl Store {
    /// Opens the store of a repository that is known by its address.
    ///
    /// The first time it is fetched as a whole, later only by [`Store::fetch_origin`]. A login in the
    /// address is used and not kept.
    pub fn open_url(
        git: Git,
        stores: &Path,
        address: &str,
        logins: &Logins,
    ) -> Result<Self, StoreError> {
        let (address, written) = Address::parse(address)?;
        let home = make_home(stores, &address.name(), address.as_str().as_bytes())?;
        let mut store = Self::of_address(git, home, address, written)?;
        let lock = store.lock("store.lock")?;
        if let Err(error) = store.open_or_clone(logins) {
            // As for a repository nearby.
            let found = store.set_aside_damage()?.ok_or(error)?;
            store.set_aside.push(found);
            store.clone_all(logins)?;
        }
        drop(lock);
        Ok(store)
    }

    /// A store in a home that is there, of which nothing but the address is known so far.
    pub(super) fn of_address(
        git: Git,
        home: PathBuf,
        address: Address,
        written: UserInfo,
    ) -> Result<Self, StoreError> {
        let config = UsersConfig::read(git.call(CallPlace::Nowhere(&home)))?;
        let identity = config.identity();
        let remote = RemoteProject {
            address,
            written,
            config,
            object_format: String::new(),
        };
        Ok(Self::at(git, home, Project::Remote(remote), identity))
    }

    fn open_or_clone(&mut self, logins: &Logins) -> Result<(), StoreError> {
        if self.git_dir().exists() {
            self.prepare()?;
            let refs = self.call().args(["for-each-ref", REMOTE_HEAD]).output()?;
            // Noted after everything else, so it says that all has come.
            if !refs.is_empty() && self.set_aside.is_empty() {
                return Ok(());
            }
        }
        self.show_up()?;
        self.clone_all(logins)
    }

    fn clone_all(&mut self, logins: &Logins) -> Result<(), StoreError> {
        let (address, written) = self.server()?;
        let announced = announced(&self.line(&address, &written, logins))?;
        if let Project::Remote(remote) = &mut self.project {
            let is_long = |id: &CommitId| id.as_str().len() == 64;
            let is_long = announced.commit.as_ref().is_some_and(is_long);
            let format = if is_long { "sha256" } else { "sha1" };
            format.clone_into(&mut remote.object_format);
        }
        self.ensure_folders()?;
        // Objects that were here may be gone.
        let how: &[&str] = match self.set_aside[..] {
            [] => &[],
            _ => &["--refetch"],
        };
        self.fetch_all(logins, &announced, how)
    }

    /// Fetches from the project's server into `refs/remotes/origin/`; touches no other ref.
    pub fn fetch_origin(&self, logins: &Logins) -> Result<(), StoreError> {
        let _lock = self.lock("store.lock")?;
        let (address, written) = self.server()?;
        let announced = announced(&self.line(&address, &written, logins))?;
        self.fetch_all(logins, &announced, &[])
    }

    /// The commit to start from: what a name means in the user's repository, or the default.
    pub fn resolve_base(&self, base: Option<&str>) -> Result<CommitId, StoreError> {
        self.base(base, Upstream::AsTheUserKnowsIt)
    }

    /// The same, where branches of `origin` mean what [`Store::fetch_origin`] has just brought.
    pub fn resolve_fetched_base(&self, base: Option<&str>) -> Result<CommitId, StoreError> {
        self.base(base, Upstream::JustFetched)
    }

    fn base(&self, base: Option<&str>, upstream: Upstream) -> Result<CommitId, StoreError> {
        let not_found = |name: &str| StoreError::BaseNotFound { base: name.into() };
        match (&self.project, base) {
            (Project::Local(checkout), None) => self.default_base(checkout, upstream),
            (Project::Local(checkout), Some(name)) => {
                if upstream == Upstream::JustFetched
                    && let Some(branch) = branch_of_origin(name)
                    && let Some(commit) = self.ref_commit(&on_origin(branch))?
                {
                    return self.anchor_here(commit);
                }
                let found = checkout.resolve(&self.git, name)?;
                self.anchor_local(found.ok_or_else(|| not_found(name))?)
            }
            (Project::Remote(remote), None) => {
                let head = self.ref_commit(REMOTE_HEAD)?;
                self.anchor_here(head.ok_or_else(|| empty(&remote.address))?)
            }
            (Project::Remote(_), Some(name)) => {
                let found = self.named_on_origin(name)?;
                self.anchor_here(found.ok_or_else(|| not_found(name))?)
            }
            (Project::Plain(plain), _) => Err(StoreError::PlainFolder {
                path: plain.folder.clone(),
            }),
            (Project::Borrowed(borrowed), _) => Err(borrowed.no_repository()),
        }
    }

    /// The current branch if it is at or ahead of its upstream, else that upstream.
    fn default_base(
        &self,
        checkout: &Checkout,
        upstream: Upstream,
    ) -> Result<CommitId, StoreError> {
        let head = checkout.head(&self.git)?;
        let fetched = match (&head.on_origin, upstream) {
            (Some(branch), Upstream::JustFetched) => self.ref_commit(&on_origin(branch))?,
            _ => None,
        };
        if let Some(fetched) = fetched {
            let commit = self.anchor_local(head.commit)?;
            return if self.is_ancestor(&fetched, &commit)? {
                Ok(commit)
            } else {
                self.anchor_here(fetched)
            };
        }
        let commit = match head.upstream {
            Some(known) if !checkout.is_ancestor(&self.git, &known, &head.commit)? => known,
            _ => head.commit,
        };
        self.anchor_local(commit)
    }

    /// What a name means among the branches, tags and commits of the server.
    fn named_on_origin(&self, name: &str) -> Result<Option<CommitId>, GitError> {
        let end = name.find(['~', '^']).unwrap_or(name.len());
        let (name, steps) = name.split_at(end);
        let branch = branch_of_origin(name).or_else(|| name.strip_prefix("refs/heads/"));
        let tag = name.strip_prefix("refs/tags/").unwrap_or(name);
        let is_id = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let candidates = [
            Some(on_origin(branch.unwrap_or(name))),
            Some(format!("refs/remotes/origin-tags/{tag}")),
            is_id.then(|| name.to_owned()),
        ];
        for candidate in candidates.into_iter().flatten() {
            if let Some(commit) = self.ref_commit(&format!("{candidate}^{{commit}}{steps}"))? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Brings a commit of the user's here for good.
    fn anchor_local(&self, commit: CommitId) -> Result<CommitId, StoreError> {
        let anchor = anchor(&commit);
        if self.ref_commit(&anchor)?.is_none() {
            let _lock = self.lock("store.lock")?;
            self.fetch_local(&[&format!("{commit}:{anchor}")])?;
        }
        Ok(commit)
    }

    /// Keeps a commit that is here already for those who start from it.
    pub(super) fn anchor_here(&self, commit: CommitId) -> Result<CommitId, StoreError> {
        let anchor = anchor(&commit);
        let update = ["update-ref", "--no-deref", &anchor, commit.as_str()];
        self.call().args(update).output()?;
        Ok(commit)
    }

    fn fetch_all(
        &self,
        logins: &Logins,
        announced: &ServerHead,
        how: &[&str],
    ) -> Result<(), StoreError> {
        let (address, written) = self.server()?;
        self.drop_planted_links()?;
        let call = self.call().args(FETCH).args(how);
        let call = call.args(["--prune", "--", address.as_str()]);
        let mut call = call.args(FROM_ORIGIN);
        if let (None, Some(commit)) = (&announced.branch, &announced.commit) {
            // The server's choice is no branch, so nothing else brings it.
            call = call.arg(format!("+HEAD:{}", anchor(commit)));
        }
        self.line(&address, &written, logins)
            .run(call, FETCHED_WITHIN)?;
        self.note_head(announced)
    }

    /// Notes the server's choice of a branch where git itself would.
    fn note_head(&self, announced: &ServerHead) -> Result<(), StoreError> {
        let call = match announced {
            ServerHead {
                branch: Some(branch),
                commit: Some(_),
            } => {
                let target = on_origin(branch);
                self.call().args(["symbolic-ref", REMOTE_HEAD, &target])
            }
            ServerHead {
                commit: Some(commit),
                ..
            } => {
                let update = ["update-ref", "--no-deref", REMOTE_HEAD, commit.as_str()];
                self.call().args(update)
            }
            ServerHead { .. } => return Ok(()),
        };
        call.output()?;
        Ok(())
    }

    /// Where the server really is: the user may have configured short names and other ways to it.
    pub(super) fn server(&self) -> Result<(Address, UserInfo), StoreError> {
        let (place, (address, written)) = match &self.project {
            Project::Remote(remote) => (
                CallPlace::Nowhere(self.home()),
                (remote.address.clone(), remote.written.clone()),
            ),
            Project::Local(checkout) => {
                let origin = checkout.origin().ok_or_else(|| {
                    let path = checkout.folder.clone();
                    let wrong = checkout.wrong_origin().map(StoreError::from);
                    wrong.unwrap_or(StoreError::NoOrigin { path })
                })?;
                (CallPlace::Users(&checkout.folder), origin)
            }
            Project::Plain(plain) => {
                return Err(StoreError::PlainFolder {
                    path: plain.folder.clone(),
                });
            }
            Project::Borrowed(borrowed) => return Err(borrowed.no_repository()),
        };
        let ask = ["ls-remote", "--get-url", "--", address.as_str()];
        let meant = self.git.call(place).args(ask).output()?;
        Ok(match Address::parse(&String::from_utf8_lossy(&meant)) {
            Ok((meant, also)) if also == UserInfo::default() => (meant, written),
            Ok(both) => both,
            Err(why @ BadAddress::Dash) => return Err(why.into()),
            Err(_) => (address, written),
        })
    }

    pub(super) fn line<'l>(
        &'l self,
        address: &'l Address,
        written: &'l UserInfo,
        logins: &'l Logins,
    ) -> ServerCall<'l> {
        ServerCall {
            address,
            written,
            logins,
            settings: self.users_config().network(),
            store: self,
            stop: None,
        }
    }
}

pub(super) fn announced(line: &ServerCall<'_>) -> Result<ServerHead, StoreError> {
    let ask = ["ls-remote", "--symref", "--quiet", "--"];
    let store = line.store;
    let call = store.git.call(CallPlace::Nowhere(store.home())).args(ask);
    let call = call.args([line.address.as_str(), "HEAD"]);
    let printed = line.run(call, ANSWERED_WITHIN)?;
    let printed = String::from_utf8_lossy(&printed);
    let (mut branch, mut commit) = (None, None);
    for line in printed.lines() {
        let Some((value, "HEAD")) = line.split_once('\t') else {
            continue;
        };
        match value.strip_prefix("ref: ") {
            Some(name) => branch = name.strip_prefix("refs/heads/").map(str::to_owned),
            None => commit = Some(parse_id("ls-remote", value.as_bytes())?),
        }
    }
    Ok(ServerHead { branch, commit })
}

fn anchor(commit: &CommitId) -> String {
    format!("refs/pleach/base/{commit}")
}

fn on_origin(branch: &str) -> String {
    format!("refs/remotes/origin/{branch}")
}

fn branch_of_origin(name: &str) -> Option<&str> {
    let short = name.strip_prefix("refs/remotes/").unwrap_or(name);
    short.strip_prefix("origin/")
}

fn empty(address: &Address) -> StoreError {
    StoreError::NoCommits {
        path: address.as_str().into(),
    }
}
