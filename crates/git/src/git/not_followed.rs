//! What of the user's repository and of the user's git Pleach does not follow, for whoever tells people.
//!
//! Changes nothing.

use std::fmt;

use super::users_config::UsersConfig;
use super::{CommitId, GitError, ObjectSource, Repository, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFollowed {
    Submodules,
    /// Commits are not signed, although the user's git signs them.
    Signing,
    /// Nobody's address is known; commits are by this author.
    Author(String),
}

impl NotFollowed {
    pub fn topic(&self) -> &'static str {
        match self {
            Self::Submodules => "submodules",
            Self::Signing | Self::Author(_) => "commits",
        }
    }

    pub fn fix(&self) -> &'static str {
        match self {
            Self::Submodules => "omit tasks that need their files",
            Self::Signing => "squash when you merge the pull request, or sign the merge yourself",
            Self::Author(_) => "git config user.email YOU@EXAMPLE.COM",
        }
    }
}

impl fmt::Display for NotFollowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submodules => {
                f.write_str("submodules are not fetched; their folders are empty in worktrees")
            }
            Self::Signing => {
                f.write_str("commit.gpgsign is set, but Pleach's commits are not signed")
            }
            Self::Author(author) => {
                write!(
                    f,
                    "user.email is not set; the author of commits is {author}"
                )
            }
        }
    }
}

impl Store {
    /// What is not followed in batches that start from a commit.
    pub fn not_followed(&self, base: &CommitId) -> Result<Vec<NotFollowed>, GitError> {
        let config = self.checkout().ok().map(|checkout| &checkout.config);
        all(self, config, base)
    }
}

impl Repository {
    /// What is not followed in batches that start from a commit.
    pub fn not_followed(&self, base: &CommitId) -> Result<Vec<NotFollowed>, GitError> {
        all(self, Some(&self.checkout().config), base)
    }
}

fn all(
    objects: &impl ObjectSource,
    config: Option<&UsersConfig>,
    base: &CommitId,
) -> Result<Vec<NotFollowed>, GitError> {
    let modules = format!("{base}:.gitmodules");
    let has_modules = objects.call().args(["cat-file", "-e", &modules]).run()?;
    let mut found = Vec::new();
    if has_modules.code == 0 {
        found.push(NotFollowed::Submodules);
    }
    if config.is_some_and(|config| config.is_on("commit.gpgsign")) {
        found.push(NotFollowed::Signing);
    }
    found.extend(
        config
            .and_then(UsersConfig::stand_in_author)
            .map(NotFollowed::Author),
    );
    Ok(found)
}
