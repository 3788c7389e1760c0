//! Reads the user's repository: where it is, whose it is, what its names mean.
//!
//! Writes nothing there, and knows nothing of the store.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::address::{Address, BadAddress, UserInfo};
use super::users_config::UsersConfig;
use super::{Call, CallPlace, CommitId, Git, GitError, StoreError, nul_separated, parse_id};

/// The user's repository, seen from one folder of it.
#[derive(Debug)]
pub struct Checkout {
    pub folder: PathBuf,
    pub common_dir: PathBuf,
    /// The hash that its objects are named by, in git's own word.
    pub(crate) object_format: String,
    pub(crate) config: UsersConfig,
}

#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) commit: CommitId,
    /// Where its upstream was when the user last looked.
    pub(crate) upstream: Option<CommitId>,
    /// The name of its upstream on `origin`, if it is there.
    pub(crate) on_origin: Option<String>,
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
        let facts = [
            "rev-parse",
            "--path-format=absolute",
            "--git-common-dir",
            "--is-shallow-repository",
            "--show-object-format",
        ];
        let mut found = git.call(CallPlace::Users(&folder)).args(facts).run()?;
        if found.code != 0 {
            return Err(refusal(&folder).unwrap_or_else(|| found.failure().into()));
        }
        // The path comes first and may itself contain line breaks.
        let object_format = last_line(&mut found.stdout);
        let is_shallow = last_line(&mut found.stdout) == "true";
        let common_dir = PathBuf::from(OsString::from_vec(found.stdout)).canonicalize();
        let common_dir = common_dir.map_err(|_| not_found())?;
        if is_shallow {
            return Err(StoreError::Shallow { path: folder });
        }
        let config = UsersConfig::read(git.call(CallPlace::Users(&folder)))?;
        if config.is_partial_clone() {
            return Err(StoreError::Partial { path: folder });
        }
        let checkout = Self {
            folder,
            common_dir,
            object_format,
            config,
        };
        checkout.check_not_empty(git)?;
        Ok(checkout)
    }

    /// The top of the working tree that the folder is in, if it is in one.
    pub(crate) fn top(&self) -> Option<&Path> {
        let mut above = self.folder.ancestors();
        above.find(|place| place.join(".git").exists())
    }

    /// Where objects and refs are written, also where links of the user's lead.
    pub(crate) fn written(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.common_dir.clone()];
        for inside in ["objects", "refs", "logs", "packed-refs"] {
            let Ok(real) = self.common_dir.join(inside).canonicalize() else {
                continue;
            };
            // A file is replaced, by another one that is written beside it.
            let folder = if real.is_dir() {
                Some(&*real)
            } else {
                real.parent()
            };
            let elsewhere = folder.filter(|folder| !folder.starts_with(&self.common_dir));
            folders.extend(elsewhere.map(Path::to_owned));
        }
        folders
    }

    pub fn check_writable(&self) -> Result<(), StoreError> {
        let mut folders = self.written();
        folders.extend(["objects", "refs/heads"].map(|inside| self.common_dir.join(inside)));
        for folder in folders {
            match access(&folder, Access::WRITE_OK | Access::EXEC_OK) {
                // Git makes what is missing.
                Ok(()) | Err(Errno::NOENT) => {}
                Err(source) => {
                    return Err(StoreError::NotWritable {
                        path: folder,
                        source: source.into(),
                    });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn writing_call(&self, git: &Git) -> Call {
        let call = git.call(CallPlace::Users(&self.folder));
        let folders = self.written();
        folders
            .iter()
            .fold(call, |call, folder| call.writing(folder))
    }

    fn check_not_empty(&self, git: &Git) -> Result<(), StoreError> {
        if self.resolve(git, "HEAD")?.is_some() {
            return Ok(());
        }
        let any = ["for-each-ref", "--count=1", "refs/heads", "refs/remotes"];
        let any = git
            .call(CallPlace::Users(&self.folder))
            .args(any)
            .output()?;
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

    /// Fails if a branch stands where a folder of branches is wanted.
    pub(super) fn check_prefixes(&self, git: &Git, branch: &str) -> Result<(), StoreError> {
        for (end, _) in branch.match_indices('/') {
            let prefix = &branch[..end];
            let full = format!("refs/heads/{prefix}");
            let exists = ["show-ref", "--verify", "--quiet", &full];
            let call = git.call(CallPlace::Users(&self.folder));
            if call.args(exists).answer()? {
                return Err(StoreError::PrefixTaken {
                    branch: prefix.to_owned(),
                    wanted: branch.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The commit that a name means here, if it means one.
    pub(crate) fn resolve(&self, git: &Git, name: &str) -> Result<Option<CommitId>, StoreError> {
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        let ask = |name: &str| {
            git.call(CallPlace::Users(&self.folder))
                .args(verify)
                .arg(name)
                .run()
        };
        // A name that searches messages would swallow the suffix, so it is looked up first.
        let is_search = name.contains("{/") || name.starts_with(":/");
        let object = if is_search {
            let object = ask(name)?;
            if object.code != 0 {
                return Ok(None);
            }
            String::from_utf8_lossy(&object.stdout).trim().to_owned()
        } else {
            name.to_owned()
        };
        let commit = ask(&format!("{object}^{{commit}}"))?;
        match commit.code {
            0 => Ok(Some(parse_id("rev-parse", &commit.stdout)?)),
            _ => Ok(None),
        }
    }

    /// The commit that is checked out, and what it is compared with when nobody names a base.
    pub(crate) fn head(&self, git: &Git) -> Result<Head, StoreError> {
        let call = || git.call(CallPlace::Users(&self.folder));
        let commit = self.resolve(git, "HEAD")?;
        let commit = commit.ok_or_else(|| self.no_commits())?;
        let branch = call().args(["symbolic-ref", "--quiet", "HEAD"]).run()?;
        if branch.code != 0 {
            return Ok(Head {
                commit,
                upstream: None,
                on_origin: None,
            });
        }
        let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
        let format = "--format=%(upstream)%0a%(upstream:remotename)%0a%(upstream:remoteref)";
        let printed = call().args(["for-each-ref", format, &branch]).output()?;
        let printed = String::from_utf8_lossy(&printed);
        let mut lines = printed.lines();
        let (upstream, remote) = (lines.next().unwrap_or_default(), lines.next());
        let there = lines
            .next()
            .and_then(|name| name.strip_prefix("refs/heads/"));
        let upstream = match upstream {
            "" => None,
            name => self.resolve(git, name)?,
        };
        Ok(Head {
            commit,
            upstream,
            on_origin: there
                .filter(|_| remote == Some("origin"))
                .map(str::to_owned),
        })
    }

    /// The branch of a remote that a local one follows, if it does.
    pub(crate) fn upstream_on(
        &self,
        git: &Git,
        remote: &str,
        branch: &str,
    ) -> Result<Option<String>, StoreError> {
        let format = "--format=%(upstream:remotename)%0a%(upstream:remoteref)";
        let call = git.call(CallPlace::Users(&self.folder));
        let printed = call.args(["for-each-ref", format, branch]).output()?;
        let printed = String::from_utf8_lossy(&printed);
        let mut lines = printed.lines();
        let is_there = lines.next() == Some(remote);
        let there = lines
            .next()
            .and_then(|name| name.strip_prefix("refs/heads/"));
        Ok(there.filter(|_| is_there).map(str::to_owned))
    }

    /// Whether a commit is another one or comes before it.
    pub(crate) fn is_ancestor(
        &self,
        git: &Git,
        early: &CommitId,
        late: &CommitId,
    ) -> Result<bool, GitError> {
        let ask = ["merge-base", "--is-ancestor", early.as_str(), late.as_str()];
        // As weaving sees history, or a commit could be lost that only looks as if it were in.
        let call = git.call(CallPlace::Users(&self.folder));
        call.env("GIT_NO_REPLACE_OBJECTS", "1").args(ask).answer()
    }

    /// Where the user's `origin` is, and the login that stands in its address.
    pub fn origin(&self) -> Option<(Address, UserInfo)> {
        let (address, written) = Address::parse(self.config.value("remote.origin.url")?).ok()?;
        Some((address.seen_from(self.home_of_paths()), written))
    }

    /// Why the user's `origin` cannot be used, where it is configured.
    pub(crate) fn wrong_origin(&self) -> Option<BadAddress> {
        Address::parse(self.config.value("remote.origin.url")?).err()
    }

    /// Where the paths of remotes begin: git stands at the top of the working tree then.
    pub(crate) fn home_of_paths(&self) -> &Path {
        let is_inner = self
            .common_dir
            .file_name()
            .is_some_and(|name| name == ".git");
        let above = self.common_dir.parent().filter(|_| is_inner);
        above.unwrap_or(&self.common_dir)
    }

    /// The full names of the branches that are checked out in any worktree, born or not.
    pub(crate) fn checked_out(&self, git: &Git) -> Result<Vec<String>, StoreError> {
        let list = ["worktree", "list", "--porcelain", "-z"];
        let printed = git
            .call(CallPlace::Users(&self.folder))
            .args(list)
            .output()?;
        let branches = nul_separated(&printed).filter_map(|line| line.strip_prefix(b"branch "));
        let branches = branches.map(|name| String::from_utf8_lossy(name).into_owned());
        Ok(branches.chain(self.half_done()).collect())
    }

    /// The branches that a rebase or a bisection will come back to.
    pub(super) fn half_done(&self) -> Vec<String> {
        let linked = std::fs::read_dir(self.common_dir.join("worktrees"));
        let linked = linked.into_iter().flatten().flatten();
        let folders = linked.map(|entry| entry.path());
        let mut names = Vec::new();
        for folder in folders.chain([self.common_dir.clone()]) {
            for file in ["rebase-merge/head-name", "rebase-apply/head-name"] {
                let name = std::fs::read_to_string(folder.join(file));
                names.extend(name.map(|name| name.trim().to_owned()));
            }
            let start = std::fs::read_to_string(folder.join("BISECT_START"));
            names.extend(start.map(|name| format!("refs/heads/{}", name.trim())));
        }
        names
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

/// Takes the last line off what git printed.
fn last_line(printed: &mut Vec<u8>) -> String {
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    let start = printed.iter().rposition(|byte| *byte == b'\n');
    let line = printed.split_off(start.map_or(0, |start| start + 1));
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    String::from_utf8_lossy(&line).into_owned()
}
