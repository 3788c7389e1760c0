//! Why a store cannot be had, or cannot do what was asked, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::GitError;
use super::address::{Address, BadAddress};
use super::credentials::{Wish, what_to_set};
use crate::shell_words::quoted;

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
        /// The folder that was asked about, or the address.
        path: PathBuf,
    },
    /// No branch can be made in it.
    #[error("the repository cannot be written: {}", path.display())]
    NotWritable {
        /// The folder in it that is closed.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
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
    /// There is no remote to fetch from.
    #[error("the repository at {} has no remote \"origin\" to fetch from", path.display())]
    NoOrigin {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// The project is an address, so there is no repository of the user to bring a branch to.
    #[error("{} was cloned by its address: there is no folder of yours to make a branch in", address.as_str())]
    NoCheckout {
        /// The address of the project.
        address: Address,
    },
    /// There is no repository, and what was asked for needs one.
    #[error("{} is no git repository: there are no branches to make or to push there", path.display())]
    PlainFolder {
        /// The folder.
        path: PathBuf,
    },
    /// What was given as an address is none.
    #[error(transparent)]
    BadAddress(#[from] BadAddress),
    /// A server wants a login that it did not get.
    #[error("{host} {problem}")]
    Login {
        /// The server.
        host: String,
        /// What is the matter with the login.
        problem: LoginProblem,
    },
    /// The other repository could not be read.
    #[error("could not fetch from {}", address.as_str())]
    Unreachable {
        /// Where it should be.
        address: Address,
        /// What git said.
        source: GitError,
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

/// What is the matter with a login.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginProblem {
    /// Nobody knows one.
    #[error("wants a login, and none was found")]
    Missing,
    /// It was refused.
    #[error("did not accept the login{}", from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default())]
    Rejected {
        /// Where it was found, if not by git itself.
        from: Option<String>,
    },
    /// The address leads to another server, which is told nothing.
    #[error("wants a login, but it is not the server that was asked for")]
    SentOn,
}

impl LoginProblem {
    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "no_login",
            Self::Rejected { .. } => "login_rejected",
            Self::SentOn => "sent_on",
        }
    }
}

impl StoreError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotARepository { .. } => {
                "go to a git repository, or run `git init` and commit something: each task gets a worktree of its own"
                    .into()
            }
            Self::NoCommits { .. } => "commit something first".into(),
            Self::NotWritable { path, .. } => format!(
                "Pleach makes branches there: run as its owner, or check `ls -ld {}`",
                quoted(&path.to_string_lossy())
            ),
            Self::Shallow { .. } => "run `git fetch --unshallow`".into(),
            Self::Partial { .. } => "make a clone without --filter and run there".into(),
            Self::DubiousOwnership { path } => format!(
                "if you trust it, run `git config --global --add safe.directory {}`",
                quoted(&path.to_string_lossy())
            ),
            Self::PrefixTaken { branch, .. } => format!(
                "rename that branch, `git branch -m {0} {0}-old`, or set branch_prefix to another name",
                quoted(branch)
            ),
            Self::BaseNotFound { .. } => {
                "name a branch, tag or commit that `git rev-parse` knows".into()
            }
            Self::NoOrigin { .. } => {
                "run `git remote add origin URL`, or run without --fetch".into()
            }
            Self::PlainFolder { .. } => {
                "run `git init` there and commit something, if you want branches".into()
            }
            Self::NoCheckout { .. } => "land the batch by a push instead".into(),
            Self::BadAddress(_) => {
                "an address looks like https://host/owner/name.git or git@host:owner/name.git"
                    .into()
            }
            Self::Login { host, problem } => login_hint(host, problem, Wish::Read),
            Self::Unreachable { address, .. } => unreachable_hint(address),
            Self::Io { .. } => {
                "check that there is room and that the folder can be written to".into()
            }
            Self::Git(_) => return None,
        };
        Some(hint)
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

pub(super) fn login_hint(host: &str, problem: &LoginProblem, wish: Wish) -> String {
    match problem {
        LoginProblem::Missing | LoginProblem::Rejected { from: None } => what_to_set(host, wish),
        LoginProblem::Rejected { from: Some(from) } => {
            let may = wish.words();
            format!("replace the one in {from} by one that is valid and may {may}")
        }
        LoginProblem::SentOn => {
            format!("if you trust {host}, give the address that the repository has there")
        }
    }
}

pub(super) fn unreachable_hint(address: &Address) -> String {
    match address.host() {
        Some(host) if address.is_ssh() => format!(
            "check the address, that {host} is a known host and that your key is loaded: `ssh -oBatchMode=yes {}` \
             must not ask anything",
            quoted(host)
        ),
        Some(host) => format!(
            "check the address, and that {host} can be reached and lets you read the repository"
        ),
        None => "check that there is a repository".into(),
    }
}
