//! A project on other machines: a git folder whose objects their stores borrow, and bundles that come back.
//!
//! Knows nothing of how either gets there, nor of what is done with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::bundle::BundleHead;
use super::excludes::RULES;
use super::store::{FETCH, Project};
use super::users_config::UsersConfig;
use super::{Address, CallPlace, CommitId, Git, GitError, Identity, Store, StoreError};

/// Where the store has what a bundle brought until it is kept.
const BROUGHT: &str = "refs/pleach/brought/";

const KEPT: &str = "refs/pleach/keep/";

/// Where a store has what an agent made so far, which is kept only where it is taken in.
const LIVE: &str = "refs/pleach/live/";

/// A bundle with no more than that is unpacked.
const FEW_OBJECTS: u32 = 100;
const FEW_BYTES: u64 = 16 << 20;

/// What a store on another machine has to know of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LentProject {
    /// The git folder whose objects it borrows.
    #[serde(with = "pleach_system::files::stored_path")]
    pub depot: PathBuf,
    pub object_format: String,
    pub name: String,
    pub email: String,
    /// What git ignores besides what the project says itself.
    pub ignored: String,
    /// Where the project comes from, without any login.
    pub origin: Option<String>,
}

/// A project whose objects are somewhere else.
#[derive(Debug)]
pub(super) struct BorrowedProject {
    pub(super) lent: LentProject,
    /// Nothing of this machine's user has a say.
    pub(super) config: UsersConfig,
}

impl BorrowedProject {
    pub(super) fn no_repository(&self) -> StoreError {
        let path = self.lent.depot.clone();
        StoreError::NotARepository { path }
    }

    pub(super) fn origin(&self) -> Option<Address> {
        let (address, _) = Address::parse(self.lent.origin.as_ref()?).ok()?;
        Some(address)
    }
}

impl Store {
    /// Brings commits into a depot, which is made if it is not there, and says what a borrower has to know.
    pub fn lend(&self, depot: &Path, commits: &[CommitId]) -> Result<LentProject, StoreError> {
        let _lock = self.lock("depot.lock")?;
        self.make_depot(depot)?;
        let git_dir = self.git_dir();
        let call = self.git.call(CallPlace::Ours(depot)).reading(&git_dir);
        let call = call.args(FETCH).args(["--no-prune", "--"]).arg(&git_dir);
        let wanted = commits
            .iter()
            .map(|commit| format!("+{commit}:refs/pleach/lent/{commit}"));
        call.args(wanted).output()?;
        self.adopt_excludes()?;
        let rules = fs::read(git_dir.join(RULES)).unwrap_or_default();
        let Identity { name, email } = self.identity().clone();
        Ok(LentProject {
            depot: depot.to_owned(),
            object_format: self.object_format().to_owned(),
            name,
            email,
            ignored: String::from_utf8_lossy(&rules).into_owned(),
            origin: self
                .origin_address()
                .map(|address| address.as_str().to_owned()),
        })
    }

    /// Opens the store of a project that was lent, in a folder of its own.
    pub fn borrowing(git: Git, home: &Path, lent: LentProject) -> Result<Self, StoreError> {
        fs::create_dir_all(home).map_err(StoreError::io("create", home))?;
        let home = home.canonicalize().map_err(StoreError::io("find", home))?;
        let identity = Identity {
            name: lent.name.clone(),
            email: lent.email.clone(),
        };
        let config = UsersConfig::none();
        let project = Project::Borrowed(BorrowedProject { lent, config });
        let mut store = Self::at(git, home, project, identity);
        let _lock = store.lock("store.lock")?;
        store.prepare()?;
        Ok(store)
    }

    /// Writes everything that is kept here beyond some commit to a file; nothing if there is no more.
    pub fn bundle(&self, file: &Path, basis: &CommitId) -> Result<bool, StoreError> {
        let not_merged = format!("--no-merged={basis}");
        let list = ["for-each-ref", "--format=%(refname)", &not_merged, KEPT];
        let printed = self.call().args(list).output()?;
        let printed = String::from_utf8_lossy(&printed);
        let names: Vec<&str> = printed.lines().collect();
        if names.is_empty() {
            return Ok(false);
        }
        self.write_bundle(file, &names, basis)?;
        Ok(true)
    }

    /// Writes a commit that nobody keeps here to a file, with the name under which it is kept where it is taken in.
    pub(crate) fn bundle_commit(
        &self,
        file: &Path,
        (commit, name): (&CommitId, &str),
        basis: &CommitId,
    ) -> Result<(), GitError> {
        let name = format!("{LIVE}{name}");
        let update = ["update-ref", "--no-deref", &name, commit.as_str()];
        self.call().args(update).output()?;
        self.write_bundle(file, &[&name], basis)
    }

    fn write_bundle(&self, file: &Path, names: &[&str], basis: &CommitId) -> Result<(), GitError> {
        let folder = file.parent().unwrap_or(Path::new("/"));
        let call = self.call().writing(folder);
        let call = call.args(["bundle", "create", "--quiet"]).arg(file);
        call.arg(format!("^{basis}")).args(names).output()?;
        Ok(())
    }

    /// Takes in what a bundle holds, checked, and keeps it under the same names; tells what that is.
    ///
    /// It may have these names alone, and numbers behind them: no checksum holds for its head.
    pub fn take_bundle(
        &self,
        file: &Path,
        names: &[&str],
    ) -> Result<Vec<(String, CommitId)>, StoreError> {
        let head = BundleHead::read(file).map_err(StoreError::io("read", file))?;
        if !head.needs.iter().all(|commit| self.has_commit(commit)) {
            let missing = io::Error::other("it builds on what is not here");
            return Err(StoreError::io("take in", file)(missing));
        }
        let taken = head.names.iter().map(|(commit, name)| {
            let short = [KEPT, LIVE].iter().find_map(|at| name.strip_prefix(at))?;
            let is_wanted = names.iter().any(|wanted| is_numbered(short, wanted));
            is_wanted.then(|| (short.to_owned(), commit.clone(), name))
        });
        let foreign = || io::Error::other("it brings what was not asked for");
        let taken: Option<Vec<_>> = taken.collect();
        let taken = taken.filter(|taken| !taken.is_empty());
        let taken = taken.ok_or_else(|| StoreError::io("take in", file)(foreign()))?;
        let is_unpacked = self.unpack(file, &head)?;
        if !is_unpacked {
            let fetch = self.call().reading(file).args(FETCH);
            let fetch = fetch.args(["--no-prune", "--"]).arg(file);
            let wanted = taken.iter();
            let wanted = wanted.map(|(short, _, name)| format!("+{name}:{BROUGHT}{short}"));
            fetch.args(wanted).output()?;
        }
        let mut brought = Vec::new();
        for (name, commit, _) in taken {
            self.keep(&commit, &name)?;
            if !is_unpacked {
                self.drop_ref(&format!("{BROUGHT}{name}"), &commit)?;
            }
            brought.push((name, commit));
        }
        Ok(brought)
    }

    /// Makes objects of their own of what is little, so that not every bundle leaves a pack; tells whether it did.
    fn unpack(&self, file: &Path, head: &BundleHead) -> Result<bool, StoreError> {
        if head.objects > FEW_OBJECTS || head.bytes > FEW_BYTES {
            return Ok(false);
        }
        let kind = match self.object_format() {
            "sha256" => gix_hash::Kind::Sha256,
            _ => gix_hash::Kind::Sha1,
        };
        let pack = head.pack(file, kind);
        let Some(pack) = pack.map_err(StoreError::io("read", file))? else {
            return Ok(false);
        };
        let unpack = self.call().args(["unpack-objects", "-q", "--strict"]);
        // It lets nothing through that is let through elsewhere; that is decided there.
        Ok(unpack.stdin(pack).run()?.code == 0)
    }

    /// Puts a branch of ours at a commit; what it held before is kept.
    pub fn put_branch(&self, branch: &str, commit: &CommitId) -> Result<(), StoreError> {
        let name = format!("refs/heads/{branch}");
        let seen = self.ref_commit(&name)?;
        if seen.as_ref() == Some(commit) {
            return Ok(());
        }
        if let Some(seen) = &seen
            && !self.is_ancestor(seen, commit)?
        {
            self.keep(seen, branch)?;
        }
        self.clear_lock_of(&name)?;
        Ok(self.swap_ref(&name, commit, seen.as_ref())?)
    }
}

/// Whether a name is that one, or one beside it.
fn is_numbered(name: &str, wanted: &str) -> bool {
    let behind = name.strip_prefix(wanted);
    let number = behind.and_then(|behind| behind.strip_prefix('-'));
    behind == Some("") || number.is_some_and(|number| number.parse::<u32>().is_ok())
}
