//! Moves a branch of the user's ahead to a commit, as `git merge --ff-only` does.
//!
//! Only on the user's word. Files and index move along where the branch is checked out; what the user has not
//! committed stays as it is, and where it cannot, nothing happens.

mod in_the_way;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::checkout::Checkout;
use super::{
    Call, CallPlace, CommitId, GitError, Output, Store, StoreError, nul_separated, os_str, parse_id,
};

/// What the user's reflog says about it.
const REASON: &str = "pleach land";

/// How often is looked again when others move the branch at the same time.
const MOST_TRIES: u32 = 5;

/// Editors ask git for the status all the time, and hold the index for a moment.
const LONGEST_LOCK: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const MOST_FILES: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForwarded {
    Advanced {
        from: CommitId,
        /// The folder it is checked out in, whose files moved along.
        checkout: Option<PathBuf>,
    },
    AlreadyIn {
        tip: CommitId,
    },
}

/// Why a branch was not moved; nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum FastForwardError {
    #[error("branch {branch:?} not found")]
    NoSuchBranch { branch: String },
    #[error("branch {branch:?} has {} that the result does not have", commits(*.lacking))]
    NotAFastForward {
        branch: String,
        /// Where it is: what the result would have to be woven onto.
        branch_tip: CommitId,
        lacking: usize,
    },
    /// Somebody is in the middle of something.
    #[error("cannot fast-forward branch {branch:?}: {what} is in progress in {}", folder.display())]
    InProgress {
        branch: String,
        what: &'static str,
        folder: PathBuf,
    },
    /// Work that is not committed would be overwritten.
    #[error("{} in {} would be overwritten: {}", number(files), folder.display(), some(files))]
    InTheWay {
        /// The files that are changed or untracked there, all of them.
        files: Vec<String>,
        folder: PathBuf,
    },
    /// Another git holds the index, or was killed when it did.
    #[error("another git process is running in the checkout: {} exists", lock.display())]
    Locked { lock: PathBuf },
    /// It is checked out in more than one folder, of which only one could move along.
    #[error("branch {branch:?} is checked out in {} folders", folders.len())]
    CheckedOutTwice {
        branch: String,
        folders: Vec<PathBuf>,
    },
    #[error("branch {branch:?} is checked out in {}, which no longer exists", folder.display())]
    CheckoutGone { branch: String, folder: PathBuf },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn commits(count: usize) -> String {
    match count {
        1 => "1 commit".to_owned(),
        _ => format!("{count} commits"),
    }
}

fn number(files: &[String]) -> String {
    match files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    }
}

fn some(files: &[String]) -> String {
    let named: Vec<&str> = files.iter().take(MOST_FILES).map(String::as_str).collect();
    let named = named.join(", ");
    match files.len().saturating_sub(MOST_FILES) {
        0 => named,
        rest => format!("{named} and {rest} more"),
    }
}

impl FastForwardError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchBranch { .. } => Some("`git branch` lists the branches".into()),
            Self::NotAFastForward { .. } => {
                Some("weave the batch again onto that branch, or merge it yourself".into())
            }
            Self::InProgress { .. } => Some("finish or abort it, then try again".into()),
            Self::InTheWay { .. } => Some("commit, stash or move them, then try again".into()),
            Self::Locked { lock } => Some(format!(
                "if no git process is running there, remove {} and try again",
                lock.display()
            )),
            Self::CheckedOutTwice { .. } => {
                Some("switch to another branch in all but one of them".into())
            }
            Self::CheckoutGone { .. } => {
                Some("if the folder is gone for good, run `git worktree prune`".into())
            }
            Self::Git(_) => None,
            Self::Store(error) => error.hint(),
        }
    }
}

impl Store {
    /// Moves a local branch of the user's repository ahead to a commit of the store, and what is checked out of it.
    pub fn fast_forward(
        &self,
        branch: &str,
        to: &CommitId,
    ) -> Result<FastForwarded, FastForwardError> {
        let checkout = self.checkout()?;
        let mut way = FastForward {
            store: self,
            checkout,
            branch,
            to,
            full: format!("refs/heads/{branch}"),
        };
        way.tip()?;
        way.follow_alias()?;
        self.copy_objects(checkout, to)?;
        for _ in 0..MOST_TRIES {
            if let Some(done) = way.go()? {
                return Ok(done);
            }
        }
        Err(way.in_progress("another update", &checkout.folder))
    }
}

struct FastForward<'a> {
    store: &'a Store,
    checkout: &'a Checkout,
    branch: &'a str,
    to: &'a CommitId,
    full: String,
}

impl FastForward<'_> {
    fn call(&self, folder: &Path) -> Call {
        let call = self.store.git.call(CallPlace::Users(folder));
        // As weaving sees history.
        self.store.signed(call).env("GIT_NO_REPLACE_OBJECTS", "1")
    }

    fn writing(&self, call: Call) -> Call {
        let written = self.checkout.written();
        written.iter().fold(call, |call, path| call.writing(path))
    }

    /// The same call, where files may pass through filters of the user's, which may fetch what they need.
    pub(super) fn with_filters(&self, call: Call) -> Call {
        let mut settings = self.checkout.config.pairs();
        if settings.any(|(key, _)| key.starts_with("filter.")) {
            self.writing(call).with_users_programs().with_servers()
        } else {
            call
        }
    }

    fn tip(&self) -> Result<CommitId, FastForwardError> {
        let call = || self.call(&self.checkout.folder);
        let verify = ["show-ref", "--verify", "--quiet", &self.full];
        if !call().args(verify).answer()? {
            let branch = self.branch.to_owned();
            return Err(FastForwardError::NoSuchBranch { branch });
        }
        let show = ["show-ref", "--verify", "--hash", &self.full];
        Ok(parse_id("show-ref", &call().args(show).output()?)?)
    }

    /// A branch may be another name of a branch.
    fn follow_alias(&mut self) -> Result<(), FastForwardError> {
        let ask = ["symbolic-ref", "--quiet", &self.full];
        let found = self.call(&self.checkout.folder).args(ask).run()?;
        let target = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        if found.code == 0 && target.starts_with("refs/heads/") {
            self.full = target;
        }
        Ok(())
    }

    /// One try; nothing where somebody else moved the branch meanwhile.
    fn go(&self) -> Result<Option<FastForwarded>, FastForwardError> {
        let tip = self.tip()?;
        let git = &self.store.git;
        if self.checkout.is_ancestor(git, self.to, &tip)? {
            return Ok(Some(FastForwarded::AlreadyIn { tip }));
        }
        if !self.checkout.is_ancestor(git, &tip, self.to)? {
            return Err(FastForwardError::NotAFastForward {
                branch: self.branch.to_owned(),
                lacking: self.lacking(&tip)?,
                branch_tip: tip,
            });
        }
        self.check_half_done()?;
        let folder = self.folder()?;
        let moved = match &folder {
            Some(folder) => self.merge(folder, &tip)?,
            None => self.move_ref(&tip)?,
        };
        let now = self.tip()?;
        if now == *self.to {
            return Ok(Some(FastForwarded::Advanced {
                from: tip,
                checkout: folder,
            }));
        }
        if moved.code != 0 && now == tip {
            return Err(moved.failure().into());
        }
        Ok(None)
    }

    fn move_ref(&self, tip: &CommitId) -> Result<Output, GitError> {
        let message = format!("{REASON}: Fast-forward");
        let update = ["update-ref", "--no-deref", "-m", &message, &self.full];
        let ends = [self.to.as_str(), tip.as_str()];
        let call = self.writing(self.call(&self.checkout.folder));
        call.args(update).args(ends).run()
    }

    fn lacking(&self, tip: &CommitId) -> Result<usize, GitError> {
        let range = format!("{}..{tip}", self.to);
        let count = ["rev-list", "--count", &range];
        let printed = self.call(&self.checkout.folder).args(count).output()?;
        let printed = String::from_utf8_lossy(&printed);
        Ok(printed.trim().parse().unwrap_or_default())
    }

    /// Fails if a rebase or a bisection is going to come back to the branch.
    fn check_half_done(&self) -> Result<(), FastForwardError> {
        if self.checkout.half_done().contains(&self.full) {
            return Err(self.in_progress("a rebase or a bisect", &self.checkout.folder));
        }
        Ok(())
    }

    fn in_progress(&self, what: &'static str, folder: &Path) -> FastForwardError {
        FastForwardError::InProgress {
            branch: self.branch.to_owned(),
            what,
            folder: folder.to_owned(),
        }
    }

    fn folder(&self) -> Result<Option<PathBuf>, FastForwardError> {
        let list = ["worktree", "list", "--porcelain", "-z"];
        let printed = self.call(&self.checkout.folder).args(list).output()?;
        let (mut folders, mut folder) = (Vec::new(), PathBuf::new());
        for line in nul_separated(&printed) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                folder = PathBuf::from(os_str(path));
            } else if line.strip_prefix(b"branch ") == Some(self.full.as_bytes()) {
                folders.push(folder.clone());
            }
        }
        let branch = self.branch.to_owned();
        match folders.as_slice() {
            [] => Ok(None),
            [only] => {
                // Git gives a folder of its own for a main checkout that is elsewhere, such as that of a submodule.
                let folder = self.own_folder()?.unwrap_or_else(|| only.clone());
                if folder.is_dir() {
                    Ok(Some(folder))
                } else {
                    Err(FastForwardError::CheckoutGone { branch, folder })
                }
            }
            _ => Err(FastForwardError::CheckedOutTwice { branch, folders }),
        }
    }

    /// The top of the checkout that the user is in, if it has the branch.
    fn own_folder(&self) -> Result<Option<PathBuf>, FastForwardError> {
        let call = || self.call(&self.checkout.folder);
        let head = call().args(["symbolic-ref", "--quiet", "HEAD"]).run()?;
        let top = call().args(["rev-parse", "--show-toplevel"]).run()?;
        let is_here = head.stdout.strip_suffix(b"\n") == Some(self.full.as_bytes());
        Ok((is_here && top.code == 0).then(|| path_of(top.stdout)))
    }

    /// Moves branch, index and files, unless something is in the way.
    fn merge(&self, folder: &Path, tip: &CommitId) -> Result<Output, FastForwardError> {
        let git_dir = ["rev-parse", "--absolute-git-dir"];
        let git_dir = path_of(self.call(folder).args(git_dir).output()?);
        self.check_in_progress(folder, &git_dir)?;
        wait_for_index(&git_dir)?;
        self.check_files(folder, tip)?;
        let merge = [
            "-c",
            "submodule.recurse=false",
            "merge",
            "--ff-only",
            "--no-autostash",
            "--no-squash",
            // What is ignored is somebody's as well.
            "--no-overwrite-ignore",
            "--quiet",
            self.to.as_str(),
        ];
        let call = self.writing(self.call(folder)).writing(folder);
        let call = self.with_filters(call).env("GIT_REFLOG_ACTION", REASON);
        let merged = call.args(merge).run()?;
        if merged.code != 0 {
            // Another git may have come in between.
            wait_for_index(&git_dir)?;
        }
        Ok(merged)
    }

    fn check_in_progress(&self, folder: &Path, git_dir: &Path) -> Result<(), FastForwardError> {
        const SIGNS: [(&str, &str); 6] = [
            ("MERGE_HEAD", "a merge"),
            ("CHERRY_PICK_HEAD", "a cherry-pick"),
            ("REVERT_HEAD", "a revert"),
            ("sequencer", "a cherry-pick or a revert"),
            ("rebase-merge", "a rebase"),
            ("rebase-apply", "a rebase"),
        ];
        let mut signs = SIGNS.iter();
        match signs.find(|(sign, _)| git_dir.join(sign).exists()) {
            Some((_, what)) => Err(self.in_progress(what, folder)),
            None => Ok(()),
        }
    }
}

/// Fails if another git keeps the index to itself.
fn wait_for_index(git_dir: &Path) -> Result<(), FastForwardError> {
    let lock = git_dir.join("index.lock");
    let began = Instant::now();
    while lock.exists() {
        if began.elapsed() > LONGEST_LOCK {
            return Err(FastForwardError::Locked { lock });
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

fn path_of(mut printed: Vec<u8>) -> PathBuf {
    if printed.last() == Some(&b'\n') {
        printed.pop();
    }
    PathBuf::from(OsString::from_vec(printed))
}
