//! Why a push did not do what it should, and what to do about it.

use std::path::PathBuf;

use pleach_system::text::shell_words::quoted;

use super::answer::http_status;
use crate::git::address::Address;
use crate::git::credentials::LoginPurpose;
use crate::git::store_error::{login_hint, unreachable_hint};
use crate::git::{CommitId, GitError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum PushError {
    #[error("the repository at {} has no remote to push to", path.display())]
    NoRemote { path: PathBuf },
    /// The branch is at a commit that was not expected there.
    #[error(
        "branch {branch:?} on the server is at {}, which Pleach did not push",
        short(found)
    )]
    Taken { branch: String, found: CommitId },
    #[error("branch {branch:?} is no longer on the server")]
    Gone { branch: String },
    /// The commit does not contain what the branch is at.
    #[error("branch {branch:?} could not be fast-forwarded from {}", short(from))]
    NotForward { branch: String, from: CommitId },
    /// The server has rules for this branch, or a hook that said no.
    #[error("the server rejected branch {branch:?}: {words}")]
    Declined { branch: String, words: String },
    #[error("{} does not allow you to push", address.as_str())]
    NoRights { address: Address },
    #[error("{branch:?} is not a valid branch name")]
    BadName { branch: String },
    #[error("could not push to {}", address.as_str())]
    Unreachable {
        address: Address,
        source: Box<GitError>,
    },
    /// Something else about the repository, a login that is missing or refused among it.
    #[error(transparent)]
    Store(Box<StoreError>),
}

impl PushError {
    /// Whether the same push may work a little later.
    pub(super) fn may_pass(&self) -> bool {
        let Self::Unreachable { address, source } = self else {
            return false;
        };
        let is_final = match (http_status(source), &**source) {
            (Some(status), _) => (400..500).contains(&status) && !matches!(status, 408 | 429),
            // What git says of an answer 404.
            (None, GitError::Failed { stderr, .. }) => stderr.ends_with("' not found"),
            (None, _) => true,
        };
        address.host().is_some() && !is_final
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::NoRemote { .. } => "no_remote",
            Self::Taken { .. } | Self::NotForward { .. } => "branch_taken",
            Self::Gone { .. } => "branch_gone",
            Self::Declined { .. } => "declined",
            Self::NoRights { .. } => "no_rights",
            Self::BadName { .. } => "bad_branch_name",
            Self::Unreachable { .. } => "unreachable",
            Self::Store(error) => match &**error {
                StoreError::Login { problem, .. } => problem.code(),
                _ => "git_failed",
            },
        }
    }

    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoRemote { .. } => {
                "run `git remote add origin URL`, then `pleach land`; the batch branch is in your repository".into()
            }
            Self::Taken { branch, .. } => format!(
                "inspect it with `git fetch origin {}`; delete or rename it on the server, then land again",
                quoted(branch)
            ),
            Self::Gone { .. } => "land the batch under a new branch".into(),
            Self::NotForward { .. } => {
                "land the batch under a new branch; Pleach never force-pushes".into()
            }
            Self::Declined { branch, .. } => {
                format!("allow pushes to {branch:?} in the repository's rules, or set another branch_prefix")
            }
            Self::NoRights { address } => {
                let host = address.host().unwrap_or("the server");
                format!(
                    "use a login on {host} that may {}, or make a fork your `origin`",
                    LoginPurpose::Push.words()
                )
            }
            Self::Unreachable { address, .. } => {
                format!("{}; then land again", unreachable_hint(address))
            }
            Self::Store(error) => match &**error {
                StoreError::Login { host, problem } => login_hint(host, problem, LoginPurpose::Push),
                other => return other.hint(),
            },
            Self::BadName { .. } => return None,
        };
        Some(hint)
    }
}

fn short(commit: &CommitId) -> &str {
    commit.as_str().get(..12).unwrap_or(commit.as_str())
}

/// Tells apart what an error of the network means for a push.
impl From<StoreError> for PushError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoOrigin { path } => Self::NoRemote { path },
            StoreError::Unreachable { address, source } => match http_status(&source) {
                Some(403) => Self::NoRights { address },
                _ => Self::Unreachable {
                    address,
                    source: Box::new(source),
                },
            },
            other => Self::Store(Box::new(other)),
        }
    }
}

impl From<GitError> for PushError {
    fn from(error: GitError) -> Self {
        Self::Store(Box::new(error.into()))
    }
}
