//! Brings a commit into the user's repository as a new branch.
//!
//! This is the only thing that is ever written there; it moves nothing that exists.

use super::{CommitId, Place, Store, StoreError};

impl Store {
    /// Creates a branch in the user's repository and returns its name, numbered if it was taken.
    pub fn publish(&self, commit: &CommitId, branch: &str) -> Result<String, StoreError> {
        self.check_prefixes(branch)?;
        self.copy_objects(commit)?;
        let checked_out = self.checkout.checked_out(&self.git)?;
        let name = self.claim(
            Place::Users(&self.checkout.folder),
            &format!("refs/heads/{branch}"),
            commit,
            &checked_out,
        )?;
        Ok(name.trim_start_matches("refs/heads/").to_owned())
    }

    /// Fails if a branch stands where a folder of branches is wanted.
    pub(crate) fn check_prefixes(&self, branch: &str) -> Result<(), StoreError> {
        for (end, _) in branch.match_indices('/') {
            let prefix = &branch[..end];
            let full = format!("refs/heads/{prefix}");
            let exists = ["show-ref", "--verify", "--quiet", &full];
            if self.users_call().args(exists).answer()? {
                return Err(StoreError::PrefixTaken {
                    branch: prefix.to_owned(),
                    wanted: branch.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// From the vault, so that git serves it without reading what agents configured.
    fn copy_objects(&self, commit: &CommitId) -> Result<(), StoreError> {
        let quietly = [
            "-c",
            "fetch.writeCommitGraph=false",
            "fetch",
            "--quiet",
            "--no-prune",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ];
        let call = self.users_call().args(quietly);
        call.arg(self.vault()).arg(commit.as_str()).output()?;
        Ok(())
    }
}
