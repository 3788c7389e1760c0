//! Which branch of the server the result of a batch is meant for.
//!
//! Names come from the user's repository, and what is there from the place that is pushed to.

use super::checkout::Checkout;
use super::credentials::Logins;
use super::network::{FETCHED_WITHIN, ServerCall};
use super::origin::announced;
use super::push::{again_and_again, look_at_all, push_remote};
use super::store::{FETCH, Project};
use super::{CallPlace, CommitId, Pauses, PushError, Store, StoreError};

#[derive(Debug)]
pub struct ServerBranches {
    /// The branch that the result is meant for; none where the server has no choice of its own.
    pub target: Option<PushTarget>,
    /// All of them by their full names; not every one of these commits is known here.
    branches: Vec<(String, CommitId)>,
}

impl ServerBranches {
    pub fn tips(&self) -> Vec<CommitId> {
        let tips = self.branches.iter().map(|(_, commit)| commit.clone());
        // It may have moved on before it was fetched.
        let target = self.target.iter().filter_map(|target| target.at.clone());
        tips.chain(target).collect()
    }

    pub fn tip_of(&self, branch: &str) -> Option<&CommitId> {
        let full = format!("refs/heads/{branch}");
        let found = self.branches.iter().find(|(name, _)| *name == full);
        found.map(|(_, commit)| commit)
    }
}

#[derive(Debug)]
pub struct PushTarget {
    pub branch: String,
    /// What it is at, if it is there; that commit is here by then.
    pub at: Option<CommitId>,
}

impl Store {
    /// The branch of the server that a base stands for, as the user would name it there.
    ///
    /// None where the base is no branch; then the server's own choice is meant.
    pub fn target_branch(&self, base: Option<&str>) -> Result<Option<String>, StoreError> {
        let Project::Local(checkout) = &self.project else {
            let base = base.filter(|_| self.plain_folder().is_none());
            let branch = base.map(|name| name.strip_prefix("origin/").unwrap_or(name));
            return Ok(branch.map(str::to_owned));
        };
        let call = || self.git.call(CallPlace::Users(&checkout.folder));
        let remote = push_remote(checkout, &call)?;
        let remote = remote.as_deref().unwrap_or("origin");
        let Some(name) = base else {
            let current = self.current_branch(checkout)?;
            let followed = |branch: String| self.followed(checkout, remote, &branch);
            return current.map(followed).transpose();
        };
        let short = name.strip_prefix("refs/remotes/").unwrap_or(name);
        let on_remote = short.strip_prefix(remote);
        if let Some(branch) = on_remote.and_then(|rest| rest.strip_prefix('/')) {
            return Ok(Some(branch.to_owned()));
        }
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        let full = format!("refs/heads/{branch}");
        if checkout.resolve(&self.git, &full)?.is_none() {
            return Ok(None);
        }
        self.followed(checkout, remote, branch).map(Some)
    }

    /// The branch of the user's repository that a base stands for: the one that is named, or the current one.
    pub fn base_branch(&self, base: Option<&str>) -> Result<Option<String>, StoreError> {
        let Project::Local(checkout) = &self.project else {
            return Ok(None);
        };
        let Some(name) = base else {
            return self.current_branch(checkout);
        };
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
        let found = checkout.resolve(&self.git, &format!("refs/heads/{branch}"))?;
        Ok(found.map(|_| branch.to_owned()))
    }

    /// What a branch is called on a remote: by what it follows there, or as it is here.
    fn followed(
        &self,
        checkout: &Checkout,
        remote: &str,
        branch: &str,
    ) -> Result<String, StoreError> {
        let full = format!("refs/heads/{branch}");
        let upstream = checkout.upstream_on(&self.git, remote, &full)?;
        Ok(upstream.unwrap_or_else(|| branch.to_owned()))
    }

    fn current_branch(&self, checkout: &Checkout) -> Result<Option<String>, StoreError> {
        let call = self.git.call(CallPlace::Users(&checkout.folder));
        let found = call.args(["symbolic-ref", "--quiet", "--short", "HEAD"]);
        let found = found.run()?;
        let name = String::from_utf8_lossy(&found.stdout).trim().to_owned();
        Ok((found.code == 0).then_some(name))
    }

    /// Asks the place that is pushed to for its branches, and fetches the one that is named, or its own choice.
    ///
    /// What a failing network leaves open is tried again after pauses.
    pub fn fetch_target(
        &self,
        branch: Option<&str>,
        logins: &Logins,
        pauses: &Pauses,
    ) -> Result<ServerBranches, PushError> {
        let (address, written) = self.push_server()?;
        let line = ServerCall {
            stop: pauses.stop(),
            ..self.line(&address, &written, logins)
        };
        again_and_again(pauses, || Ok(self.try_to_fetch_target(&line, branch)?))
    }

    fn try_to_fetch_target(
        &self,
        line: &ServerCall<'_>,
        branch: Option<&str>,
    ) -> Result<ServerBranches, StoreError> {
        let branch = match branch {
            Some(branch) => Some(branch.to_owned()),
            None => announced(line)?.branch,
        };
        let mut server = ServerBranches {
            target: None,
            branches: look_at_all(line)?,
        };
        if let Some(branch) = branch {
            let at = self.fetched(line, &branch, server.tip_of(&branch).cloned())?;
            server.target = Some(PushTarget { branch, at });
        }
        Ok(server)
    }

    /// Fetches a branch that is there, unless what it is at is here already.
    fn fetched(
        &self,
        line: &ServerCall<'_>,
        branch: &str,
        at: Option<CommitId>,
    ) -> Result<Option<CommitId>, StoreError> {
        let here = format!("refs/remotes/push/{branch}");
        if at.is_none() || self.ref_commit(&here)? == at {
            return Ok(at);
        }
        let _lock = self.lock_until("store.lock", line.stop)?;
        self.drop_planted_links()?;
        let call = self.call().args(FETCH);
        let call = call.args(["--no-prune", "--", line.address.as_str()]);
        let call = call.arg(format!("+refs/heads/{branch}:{here}"));
        line.run(call, FETCHED_WITHIN)?;
        Ok(self.ref_commit(&here)?)
    }
}
