//! Why a store cannot be had, or cannot do what was asked, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use pleach_system::text::shell_words::quoted;

use super::GitError;
use super::address::{Address, BadAddress};
use super::credentials::{LoginPurpose, what_to_set};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{} is not in a git repository", path.display())]
    NotARepository { path: PathBuf },
    /// The repository belongs to another user, and git will not read it.
    #[error("the repository at {} belongs to another user", path.display())]
    DubiousOwnership { path: PathBuf },
    #[error("the repository at {} has no commit to start from", path.display())]
    NoCommits {
        /// The folder that was asked about, or the address.
        path: PathBuf,
    },
    #[error("the repository is not writable: {}", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    /// History is cut off, and merges would go wrong.
    #[error("the repository at {} is a shallow clone", path.display())]
    Shallow { path: PathBuf },
    #[error("base {base:?} is not a branch, tag or commit of this repository")]
    BaseNotFound { base: String },
    /// A branch stands where a folder of branches has to be.
    #[error("branch {branch:?} prevents creating branch {wanted:?}")]
    PrefixTaken {
        /// The branch of the user.
        branch: String,
        /// The branch that was to be made.
        wanted: String,
    },
    /// Some of its objects are on a server only.
    #[error("{} is a partial clone; Pleach needs all objects", path.display())]
    Partial { path: PathBuf },
    #[error("the repository at {} has no remote \"origin\" to fetch from", path.display())]
    NoOrigin { path: PathBuf },
    /// The project is an address, so there is no repository of the user to bring a branch to.
    #[error("{} was cloned from a URL: there is no checkout of yours to create a branch in", address.as_str())]
    NoCheckout { address: Address },
    /// There is no repository, and what was asked for needs one.
    #[error("{} is not a git repository: there are no branches to create or push", path.display())]
    PlainFolder { path: PathBuf },
    #[error(transparent)]
    BadAddress(#[from] BadAddress),
    #[error("{host} {problem}")]
    Login { host: String, problem: LoginProblem },
    /// The other repository could not be read.
    #[error("could not fetch from {}", address.as_str())]
    Unreachable { address: Address, source: GitError },
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error(transparent)]
    Git(#[from] GitError),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoginProblem {
    #[error("requires a login, and none was found")]
    Missing,
    #[error("did not accept the login{}", from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default())]
    Rejected { from: Option<String> },
    /// The address leads to another server, which is told nothing.
    #[error("requires a login, but is not the server of the address")]
    SentOn,
}

impl LoginProblem {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "no_login",
            Self::Rejected { .. } => "login_rejected",
            Self::SentOn => "sent_on",
        }
    }
}

impl StoreError {
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotARepository { .. } => {
                "change to a git repository, or run `git init` and commit something".into()
            }
            Self::NoCommits { .. } => "commit something first".into(),
            Self::NotWritable { path, .. } => format!(
                "run as its owner, or check the permissions: `ls -ld {}`",
                quoted(&path.to_string_lossy())
            ),
            Self::Shallow { .. } => "run `git fetch --unshallow`".into(),
            Self::Partial { .. } => "clone without --filter and run there".into(),
            Self::DubiousOwnership { path } => format!(
                "if you trust it, run `git config --global --add safe.directory {}`",
                quoted(&path.to_string_lossy())
            ),
            Self::PrefixTaken { branch, .. } => format!(
                "rename it, `git branch -m {0} {0}-old`, or set another branch_prefix",
                quoted(branch)
            ),
            Self::BaseNotFound { .. } => {
                "pass a branch, tag or commit that `git rev-parse` accepts".into()
            }
            Self::NoOrigin { .. } => {
                "run `git remote add origin URL`, or run without --fetch".into()
            }
            Self::PlainFolder { .. } => {
                "run `git init` there and commit something to use branches".into()
            }
            Self::NoCheckout { .. } => "push the batch instead".into(),
            Self::BadAddress(_) => {
                "an address looks like https://host/owner/name.git or git@host:owner/name.git"
                    .into()
            }
            Self::Login { host, problem } => login_hint(host, problem, LoginPurpose::Read),
            Self::Unreachable { address, .. } => unreachable_hint(address),
            Self::Io { .. } => {
                "check that the disk has free space and the folder is writable".into()
            }
            Self::Git(_) => return None,
        };
        Some(hint)
    }

    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }
}

pub(super) fn login_hint(host: &str, problem: &LoginProblem, wish: LoginPurpose) -> String {
    match problem {
        LoginProblem::Missing | LoginProblem::Rejected { from: None } => what_to_set(host, wish),
        LoginProblem::Rejected { from: Some(from) } => {
            let may = wish.words();
            format!("replace the login in {from} with a valid one that may {may}")
        }
        LoginProblem::SentOn => {
            format!("if you trust {host}, use the repository's address on it")
        }
    }
}

pub(super) fn unreachable_hint(address: &Address) -> String {
    match address.host() {
        Some(host) if address.is_ssh() => format!(
            "check the address, that {host} is a known host, and that your key is loaded: `ssh -oBatchMode=yes {}` \
             must not prompt",
            quoted(host)
        ),
        Some(host) => format!(
            "check the address, the connection to {host}, and your access to the repository"
        ),
        None => "check that the repository exists".into(),
    }
}
