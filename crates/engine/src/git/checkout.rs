//! Reads the user's repository: where it is, whose it is, what its names mean.
//!
//! Writes nothing there, and knows nothing of the store.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::store::{Identity, StoreError};
use super::{Call, CommitId, Git, Place, nul_separated, parse_id};

/// The user's repository, seen from one folder of it.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) folder: PathBuf,
    pub(crate) common_dir: PathBuf,
    /// The hash that its objects are named by, in git's own word.
    pub(crate) object_format: String,
    pub(crate) identity: Identity,
}

impl Checkout {
    pub(crate) fn find(git: &Git, folder: &Path) -> Result<Self, StoreError> {
        let not_found = || StoreError::NotARepository {
            path: folder.to_owned(),
        };
        let folder = folder.canonicalize().map_err(|_| not_found())?;
        if !folder.is_dir() {
            return Err(not_found());
        }
        let call = || git.call(Place::Users(&folder)).arg("rev-parse");
        let found = call()
            .args(["--path-format=absolute", "--git-common-dir"])
            .run()?;
        if found.code != 0 {
            return Err(refusal(&folder).unwrap_or_else(|| found.failure().into()));
        }
        let common_dir = path_of_line(found.stdout).canonicalize();
        let common_dir = common_dir.map_err(|_| not_found())?;
        let facts = call().args(["--is-shallow-repository", "--show-object-format"]);
        let facts = String::from_utf8_lossy(&facts.output()?).into_owned();
        let mut facts = facts.lines();
        if facts.next() == Some("true") {
            return Err(StoreError::Shallow { path: folder });
        }
        // Older versions of git note it in the one place, newer ones in the other.
        let keys = r"^(extensions\.partialclone|remote\..*\.promisor)$";
        let promisor = ["config", "--get-regexp", keys];
        let promisor = git.call(Place::Users(&folder)).args(promisor).run()?;
        if promisor.code == 0 {
            return Err(StoreError::Partial { path: folder });
        }
        let object_format = facts.next().unwrap_or("sha1").to_owned();
        let identity = configured_identity(git.call(Place::Users(&folder)))?;
        let checkout = Self {
            folder,
            common_dir,
            object_format,
            identity,
        };
        checkout.check_not_empty(git)?;
        Ok(checkout)
    }

    fn check_not_empty(&self, git: &Git) -> Result<(), StoreError> {
        if self.resolve(git, "HEAD")?.is_some() {
            return Ok(());
        }
        let any = ["for-each-ref", "--count=1", "refs/heads", "refs/remotes"];
        let any = git.call(Place::Users(&self.folder)).args(any).output()?;
        if any.is_empty() {
            return Err(self.no_commits());
        }
        Ok(())
    }

    fn no_commits(&self) -> StoreError {
        StoreError::NoCommits {
            path: self.folder.clone(),
        }
    }

    /// The commit that a name means here, if it means one.
    pub(crate) fn resolve(&self, git: &Git, name: &str) -> Result<Option<CommitId>, StoreError> {
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        let call = || git.call(Place::Users(&self.folder)).args(verify);
        let object = call().arg(name).run()?;
        if object.code != 0 {
            return Ok(None);
        }
        let object = String::from_utf8_lossy(&object.stdout).trim().to_owned();
        // In a second step, because a name that searches messages would swallow the suffix.
        let commit = call().arg(format!("{object}^{{commit}}")).run()?;
        match commit.code {
            0 => Ok(Some(parse_id("rev-parse", &commit.stdout)?)),
            _ => Ok(None),
        }
    }

    /// The commit to start from when nobody says which.
    pub(crate) fn default_base(&self, git: &Git) -> Result<CommitId, StoreError> {
        let call = || git.call(Place::Users(&self.folder));
        let head = self.resolve(git, "HEAD")?;
        let head = head.ok_or_else(|| self.no_commits())?;
        let branch = call().args(["symbolic-ref", "--quiet", "HEAD"]).run()?;
        if branch.code != 0 {
            return Ok(head);
        }
        let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
        let upstream = ["for-each-ref", "--format=%(upstream)", &branch];
        let upstream = call().args(upstream).output()?;
        let upstream = String::from_utf8_lossy(&upstream).trim().to_owned();
        if upstream.is_empty() {
            return Ok(head);
        }
        let Some(upstream) = self.resolve(git, &upstream)? else {
            return Ok(head);
        };
        let ahead = [
            "merge-base",
            "--is-ancestor",
            upstream.as_str(),
            head.as_str(),
        ];
        Ok(if call().args(ahead).answer()? {
            head
        } else {
            upstream
        })
    }

    /// The full names of the branches that are checked out in any worktree, born or not.
    pub(crate) fn checked_out(&self, git: &Git) -> Result<Vec<String>, StoreError> {
        let list = ["worktree", "list", "--porcelain", "-z"];
        let printed = git.call(Place::Users(&self.folder)).args(list).output()?;
        let branches = nul_separated(&printed).filter_map(|line| line.strip_prefix(b"branch "));
        Ok(branches
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect())
    }
}

/// Tells apart why git would not have a folder, by looking for what it looked for.
fn refusal(folder: &Path) -> Option<StoreError> {
    let found = folder.ancestors().find(|place| place.join(".git").exists());
    let Some(found) = found else {
        return Some(StoreError::NotARepository {
            path: folder.to_owned(),
        });
    };
    let us = rustix::process::geteuid().as_raw();
    let is_foreign = |path: &Path| path.metadata().is_ok_and(|meta| meta.uid() != us);
    if is_foreign(found) || is_foreign(&found.join(".git")) {
        return Some(StoreError::DubiousOwnership {
            path: found.to_owned(),
        });
    }
    None
}

fn configured_identity(call: Call) -> Result<Identity, StoreError> {
    let wanted = ["config", "-z", "--get-regexp", "^user\\.(name|email)$"];
    let found = call.args(wanted).run()?;
    let (mut name, mut email) = (None, None);
    for record in nul_separated(&found.stdout) {
        let record = String::from_utf8_lossy(record);
        match record.split_once('\n') {
            Some(("user.name", value)) => name = Some(value.to_owned()),
            Some(("user.email", value)) => email = Some(value.to_owned()),
            _ => {}
        }
    }
    Ok(Identity::from_settings(name, email))
}

/// A path that git printed on a line of its own; it may itself contain line breaks.
fn path_of_line(mut printed: Vec<u8>) -> PathBuf {
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    PathBuf::from(OsString::from_vec(printed))
}
