//! Why a forge did not do what was asked, and what to do about it; holds no secret.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pleach_git::git::{LoginPurpose, what_to_set};
use pleach_system::text::moment::rfc3339;

use super::PullRequest;

/// What forges want to be left alone for when they do not say.
const UNTOLD: Duration = Duration::from_mins(1);

#[derive(Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("{host} requires a login, and none was found")]
    NoLogin { host: String },
    #[error("{host} did not accept the login from {from}")]
    LoginRejected { host: String, from: String },
    #[error("{host} does not allow this login to {doing}: {words}")]
    NoRights {
        host: String,
        doing: &'static str,
        from: String,
        words: String,
    },
    /// The project is not there, or this login may not see it.
    #[error("{host} has no project {path}, or the login from {from} has no access to it")]
    NotFound {
        host: String,
        path: String,
        from: String,
    },
    #[error("the project moved to {to}")]
    Moved { to: String },
    #[error("{host} is rate limiting requests{}", until.map(|until| format!(", until {}", moment(until))).unwrap_or_default())]
    RateLimited {
        host: String,
        until: Option<SystemTime>,
    },
    #[error("{host} has no branch {base:?} for the pull request")]
    BaseMissing { host: String, base: String },
    /// The branch to merge is not on the forge, or not yet.
    #[error("{host} does not have branch {head:?} yet")]
    HeadMissing { host: String, head: String },
    #[error("branch {base:?} already contains branch {head:?}: nothing to land")]
    NothingToLand { head: String, base: String },
    /// One was opened already, but it is not shown yet.
    #[error("{host} reports an existing pull request for {head:?}, but does not list it")]
    Exists { host: String, head: String },
    /// One is there, but its text cannot be changed.
    #[error("pull request {} exists, but its text could not be updated", pull_request.url)]
    NotUpdated {
        pull_request: PullRequest,
        source: Box<ForgeError>,
    },
    #[error("{host} refused to {doing} ({status}): {words}")]
    Refused {
        host: String,
        doing: &'static str,
        status: u16,
        words: String,
    },
    /// The forge has a fault of its own, which may pass.
    #[error("{host} failed ({status})")]
    OutOfOrder { host: String, status: u16 },
    #[error("could not connect securely to {host}: {why}")]
    Untrusted { host: String, why: String },
    #[error("could not reach {host}: {why}")]
    Unreachable { host: String, why: String },
    #[error("{host} sent an invalid response: {why}")]
    Garbled { host: String, why: String },
}

impl ForgeError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoLogin { .. } => "no_login",
            Self::LoginRejected { .. } => "login_rejected",
            Self::NoRights { .. } => "no_rights",
            Self::NotFound { .. } => "not_found",
            Self::Moved { .. } => "moved",
            Self::RateLimited { .. } => "rate_limited",
            Self::BaseMissing { .. } => "base_missing",
            Self::HeadMissing { .. } => "head_missing",
            Self::NothingToLand { .. } => "nothing_to_land",
            Self::Exists { .. } => "exists",
            Self::NotUpdated { .. } => "not_updated",
            Self::Refused { .. } => "refused",
            Self::OutOfOrder { .. } => "out_of_order",
            Self::Untrusted { .. } => "untrusted",
            Self::Unreachable { .. } => "unreachable",
            Self::Garbled { .. } => "garbled",
        }
    }

    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoLogin { host } => what_to_set(host, LoginPurpose::PullRequest),
            Self::LoginRejected { from, .. } => format!(
                "replace the login in {from} with a valid one that may {}",
                LoginPurpose::PullRequest.words()
            ),
            Self::NoRights { from, .. } => format!(
                "give the login in {from} write access to the repository and its pull requests, or use another one"
            ),
            Self::NotFound { from, .. } => format!(
                "check the remote's address, and that the login in {from} has access to the project"
            ),
            Self::Moved { .. } => {
                "run `git remote set-url origin URL` with the project's new address".into()
            }
            Self::RateLimited {
                until: Some(until), ..
            } => {
                format!("land again after {}", moment(*until))
            }
            Self::RateLimited { until: None, .. } => "land again in a few minutes".into(),
            Self::BaseMissing { base, .. } => {
                format!("push {base} first, or use a base that is on the server")
            }
            Self::HeadMissing { .. } | Self::Exists { .. } | Self::OutOfOrder { .. } => {
                "land again in a moment; nothing is created twice".into()
            }
            Self::Untrusted { host, .. } => format!(
                "if {host} has a private certificate, set SSL_CERT_FILE to the file of its authority"
            ),
            Self::Unreachable { host, .. } => {
                format!("check the connection to {host}, then land again; nothing is created twice")
            }
            Self::Garbled { host, .. } => format!(
                "check that `kind` under [forge] is right for {host}, and that no proxy answers for it"
            ),
            Self::NotUpdated { source, .. } => return source.hint(),
            Self::NothingToLand { .. } | Self::Refused { .. } => return None,
        };
        Some(hint)
    }

    /// The pull request that is there in spite of the error.
    pub fn pull_request(&self) -> Option<&PullRequest> {
        match self {
            Self::NotUpdated { pull_request, .. } => Some(pull_request),
            _ => None,
        }
    }

    /// Whether the same may work a little later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::HeadMissing { .. }
                | Self::Exists { .. }
                | Self::OutOfOrder { .. }
                | Self::Unreachable { .. }
                | Self::Garbled { .. }
        )
    }

    pub(super) fn wait(&self, now: SystemTime) -> Option<Duration> {
        match self {
            Self::RateLimited { until: None, .. } => Some(UNTOLD),
            Self::RateLimited {
                until: Some(until), ..
            } => Some(until.duration_since(now).unwrap_or_default()),
            _ => None,
        }
    }
}

fn moment(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = rfc3339(since.as_secs() * 1000);
    text.replace(".000Z", "Z")
}
