//! Brings a commit into the user's repository as a new branch.
//!
//! This is the only thing that is ever written there; it moves nothing that exists.

use super::checkout::Checkout;
use super::store::Project;
use super::{CommitId, Place, Store, StoreError};

impl Store {
    /// Creates a branch in the user's repository and returns its name, numbered if it was taken.
    ///
    /// A project that is only an address has no such repository: [`StoreError::NoCheckout`].
    pub fn publish(&self, commit: &CommitId, branch: &str) -> Result<String, StoreError> {
        let checkout = self.checkout()?;
        self.check_prefixes(branch)?;
        self.copy_objects(checkout, commit)?;
        let checked_out = checkout.checked_out(&self.git)?;
        let name = self.claim(
            Place::Users(&checkout.folder),
            &format!("refs/heads/{branch}"),
            commit,
            &checked_out,
        )?;
        Ok(name.trim_start_matches("refs/heads/").to_owned())
    }

    /// Fails if a branch stands where a folder of branches is wanted.
    pub(crate) fn check_prefixes(&self, branch: &str) -> Result<(), StoreError> {
        let Project::Local(checkout) = &self.project else {
            return Ok(());
        };
        for (end, _) in branch.match_indices('/') {
            let prefix = &branch[..end];
            let full = format!("refs/heads/{prefix}");
            let exists = ["show-ref", "--verify", "--quiet", &full];
            let call = self.git.call(Place::Users(&checkout.folder));
            if call.args(exists).answer()? {
                return Err(StoreError::PrefixTaken {
                    branch: prefix.to_owned(),
                    wanted: branch.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// From the vault, so that git serves it without reading what agents configured.
    fn copy_objects(&self, checkout: &Checkout, commit: &CommitId) -> Result<(), StoreError> {
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
        let call = self.git.call(Place::Users(&checkout.folder)).args(quietly);
        call.arg(self.vault()).arg(commit.as_str()).output()?;
        Ok(())
    }
}
