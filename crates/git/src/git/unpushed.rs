//! The user's own commits that a result would take along to the server, as far as the user's repository knows.
//!
//! Asks nobody else.

use std::fmt;

use super::push::push_remote;
use super::store::Project;
use super::{CallPlace, CommitId, Store, StoreError};

/// So many commits are named, and the rest counted.
const MOST_NAMED: usize = 3;

/// Commits below a base that no branch of the server is known to have, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpushed {
    /// The branch of the server that lacks them, such as `origin/main`.
    pub branch: String,
    /// Their short ids and subjects.
    pub commits: Vec<(String, String)>,
}

impl Store {
    /// What would be pushed along with a result that is made on a base, if the user's repository knows the target.
    pub fn unpushed(
        &self,
        base: &CommitId,
        target: Option<&str>,
    ) -> Result<Option<Unpushed>, StoreError> {
        let (Project::Local(checkout), Some(target)) = (&self.project, target) else {
            return Ok(None);
        };
        let call = || self.git.call(CallPlace::Users(&checkout.folder));
        let Some(remote) = push_remote(checkout, &call)? else {
            return Ok(None);
        };
        let branch = format!("{remote}/{target}");
        let known = checkout.resolve(&self.git, &format!("refs/remotes/{branch}"))?;
        if known.is_none() {
            return Ok(None);
        }
        let list = ["rev-list", "--no-commit-header", "--format=%h %s"];
        let list = call().args(list).arg(base.as_str());
        let listed = list.args(["--not", &format!("--remotes={remote}")]).run()?;
        // A base that was fetched for Pleach alone is unknown here, and on the server.
        let printed = match listed.code {
            0 => String::from_utf8_lossy(&listed.stdout).into_owned(),
            _ => String::new(),
        };
        let commits = printed.lines().filter_map(|line| line.split_once(' '));
        let commits: Vec<_> = commits
            .map(|(id, subject)| (id.to_owned(), subject.to_owned()))
            .collect();
        Ok((!commits.is_empty()).then_some(Unpushed { branch, commits }))
    }
}

impl fmt::Display for Unpushed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { branch, commits } = self;
        let number = count_of_commits(commits.len());
        write!(to, "{number} of yours that {branch} does not have: ")?;
        for (place, (id, subject)) in commits.iter().take(MOST_NAMED).enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(to, "{comma}{id} {subject}")?;
        }
        match commits.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(to, " and {more} more"),
        }
    }
}

pub fn count_of_commits(number: usize) -> String {
    match number {
        1 => "1 commit".to_owned(),
        _ => format!("{number} commits"),
    }
}
