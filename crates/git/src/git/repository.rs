//! The user's repository as a place to weave in: names looked up, one branch put.
//!
//! Touches neither working tree nor index, and moves nothing that would lose a commit.

use std::path::Path;

use pleach_system::text::shell_words::quoted;

use super::checkout::Checkout;
use super::{Call, CallPlace, CommitId, Git, GitError, StoreError, parse_id};

#[derive(Debug)]
pub struct Repository {
    git: Git,
    checkout: Checkout,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedCommit {
    Branch(CommitId),
    /// The commit of a tag, a remote branch, or an expression.
    Other(CommitId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchPut {
    Created,
    /// It went ahead to a later commit.
    Advanced,
    Unchanged,
}

#[derive(Debug, thiserror::Error)]
pub enum PutError {
    #[error("{branch:?} is not a valid branch name")]
    BadName { branch: String },
    /// It is there, and its commits would be lost.
    #[error("branch {branch:?} already exists at {at}, which the woven result does not contain")]
    Taken { branch: String, at: CommitId },
    #[error("branch {branch:?} is checked out; checked-out branches are never moved")]
    CheckedOut { branch: String },
    /// Another branch has a part of its name, or it of theirs.
    #[error("branch {branch:?} clashes with branch {other:?}: one would be a folder of the other")]
    InTheWay { branch: String, other: String },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How often a branch is looked at again that others move or hold at the same time.
const MOST_TRIES: u32 = 5;

impl PutError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BadName { .. } => {
                Some("`git check-ref-format --branch NAME` checks a name".into())
            }
            Self::Taken { branch, .. } => Some(format!(
                "choose another name, or delete it first: `git branch -D {}`",
                quoted(branch)
            )),
            Self::CheckedOut { .. } | Self::InTheWay { .. } => {
                Some("choose another name with --as".into())
            }
            Self::Git(_) => None,
            Self::Store(error) => error.hint(),
        }
    }
}

impl Repository {
    pub fn find(git: Git, folder: &Path) -> Result<Self, StoreError> {
        let checkout = Checkout::find(&git, folder)?;
        Ok(Self { git, checkout })
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    pub fn folder(&self) -> &Path {
        &self.checkout.folder
    }

    pub fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// The commit to start from: what a name means, or the default.
    pub fn resolve_base(&self, base: Option<&str>) -> Result<CommitId, StoreError> {
        match base {
            None => self.default_base(),
            Some(name) => {
                let found = self.checkout.resolve(&self.git, name)?;
                found.ok_or_else(|| StoreError::BaseNotFound { base: name.into() })
            }
        }
    }

    /// The current branch if it is at or ahead of its upstream, else that upstream.
    fn default_base(&self) -> Result<CommitId, StoreError> {
        let head = self.checkout.head(&self.git)?;
        match head.upstream {
            Some(upstream)
                if !self
                    .checkout
                    .is_ancestor(&self.git, &upstream, &head.commit)? =>
            {
                Ok(upstream)
            }
            _ => Ok(head.commit),
        }
    }

    /// What names mean, in their order; `None` for a name that means no commit.
    ///
    /// A branch comes before a tag of the same name.
    pub fn resolve(&self, names: &[String]) -> Result<Vec<Option<NamedCommit>>, StoreError> {
        // No name of a commit has a line break, and one process answers for all others.
        let asked = |name: &&String| !name.contains('\n') && !name.is_empty();
        let lines = names.iter().filter(asked);
        let lines: Vec<String> = lines
            .map(|name| format!("refs/heads/{name}^{{commit}}\n{name}^{{commit}}\n"))
            .collect();
        let check = ["cat-file", "--batch-check=%(objectname) %(objecttype)"];
        let printed = self.call().args(check).stdin(lines.concat()).output()?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let mut answers = printed.lines();
        let mut commit = || -> Result<Option<CommitId>, StoreError> {
            match answers.next().and_then(|line| line.strip_suffix(" commit")) {
                Some(id) => Ok(Some(parse_id("cat-file", id.as_bytes())?)),
                None => Ok(None),
            }
        };
        let answer = |name: &String| {
            if !asked(&name) {
                return Ok(None);
            }
            let (branch, other) = (commit()?, commit()?);
            Ok(branch
                .map(NamedCommit::Branch)
                .or(other.map(NamedCommit::Other)))
        };
        names.iter().map(answer).collect()
    }

    /// Fails if a branch of that name could not be put, before anything is made for it.
    pub fn check_branch(&self, branch: &str) -> Result<(), PutError> {
        let check = ["check-ref-format", "--branch", branch];
        let known = self.call().args(check).run()?;
        let is_misleading = matches!(branch, "@" | "HEAD")
            || branch.starts_with("refs/")
            || branch.parse::<CommitId>().is_ok();
        // It prints another name for what stands for one, such as `@{-1}`.
        if is_misleading
            || known.code != 0
            || known.stdout.strip_suffix(b"\n") != Some(branch.as_bytes())
        {
            let branch = branch.to_owned();
            return Err(PutError::BadName { branch });
        }
        let list = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
        let printed = self.call().args(list).output()?;
        let printed = String::from_utf8_lossy(&printed);
        let is_below = |one: &str, other: &str| {
            let rest = one.strip_prefix(other);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        match printed
            .lines()
            .find(|other| is_below(branch, other) || is_below(other, branch))
        {
            Some(other) => Err(PutError::InTheWay {
                branch: branch.to_owned(),
                other: other.to_owned(),
            }),
            None if self.is_checked_out(branch)? => {
                let branch = branch.to_owned();
                Err(PutError::CheckedOut { branch })
            }
            None => Ok(()),
        }
    }

    fn is_checked_out(&self, branch: &str) -> Result<bool, StoreError> {
        let full = format!("refs/heads/{branch}");
        Ok(self.checkout.checked_out(&self.git)?.contains(&full))
    }

    /// Creates a branch at a commit, or moves it ahead to it; never back and never aside.
    pub fn put_branch(&self, branch: &str, commit: &CommitId) -> Result<BranchPut, PutError> {
        let mut tries = 1;
        loop {
            match self.try_put(branch, commit) {
                // Somebody else may have been quicker, which decides anew what can be done.
                Err(PutError::Git(_)) if tries < MOST_TRIES => tries += 1,
                Err(PutError::Git(error)) => {
                    self.check_branch(branch)?;
                    return Err(error.into());
                }
                put => return put,
            }
        }
    }

    fn try_put(&self, branch: &str, commit: &CommitId) -> Result<BranchPut, PutError> {
        let full = format!("refs/heads/{branch}");
        let seen = self.checkout.resolve(&self.git, &full)?;
        if seen.as_ref() == Some(commit) {
            return Ok(BranchPut::Unchanged);
        }
        let taken = branch.to_owned();
        if self.is_checked_out(branch)? {
            return Err(PutError::CheckedOut { branch: taken });
        }
        let (old, put) = match seen {
            None => (commit.zero(), BranchPut::Created),
            Some(at) => {
                if !self.checkout.is_ancestor(&self.git, &at, commit)? {
                    return Err(PutError::Taken { branch: taken, at });
                }
                (at.to_string(), BranchPut::Advanced)
            }
        };
        let update = ["update-ref", "--no-deref", &full, commit.as_str(), &old];
        let call = self.checkout.writing_call(&self.git);
        call.args(update).output()?;
        Ok(put)
    }

    /// Fails if a branch stands where a folder of branches is wanted.
    pub fn check_prefixes(&self, branch: &str) -> Result<(), StoreError> {
        self.checkout.check_prefixes(&self.git, branch)
    }

    pub(super) fn call(&self) -> Call {
        self.git.call(CallPlace::Users(&self.checkout.folder))
    }
}
