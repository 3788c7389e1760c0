//! Brings a commit into the user's repository as a branch.
//!
//! Moves nothing there but what it put there itself.

use pleach_system::crash_point::{CrashPoint, crash_point};

use super::checkout::Checkout;
use super::store::Project;
use super::{CallPlace, CommitId, Store, StoreError};

impl Store {
    /// Creates a branch in the user's repository and returns its name, numbered if it was taken.
    ///
    /// One that we made before (`ours`) and that still is where we put it moves instead, unless it is checked out. A
    /// project that is only an address has no such repository: [`StoreError::NoCheckout`].
    pub fn publish(
        &self,
        commit: &CommitId,
        branch: &str,
        ours: Option<(&str, &CommitId)>,
    ) -> Result<String, StoreError> {
        let checkout = self.checkout()?;
        self.check_prefixes(branch)?;
        self.copy_objects(checkout, commit)?;
        crash_point(CrashPoint::ObjectsCopied);
        let checked_out = checkout.checked_out(&self.git)?;
        self.clear_lock_of_published(&checkout.common_dir, branch)?;
        if let Some((ours, tip)) = ours {
            let full = format!("refs/heads/{ours}");
            let new = commit.as_str();
            let update = ["update-ref", "--no-deref", &full, new, tip.as_str()];
            let call = self.signed(checkout.writing_call(&self.git));
            if !checked_out.contains(&full) && call.args(update).run()?.code == 0 {
                return Ok(ours.to_owned());
            }
        }
        let name = self.claim(
            CallPlace::Users(&checkout.folder),
            &format!("refs/heads/{branch}"),
            commit,
            &checked_out,
        )?;
        Ok(name.trim_start_matches("refs/heads/").to_owned())
    }

    /// Removes a branch from the user's repository that still is where we put it and is not checked out.
    pub fn unpublish(&self, branch: &str, ours: &CommitId) -> Result<(), StoreError> {
        let checkout = self.checkout()?;
        let full = format!("refs/heads/{branch}");
        if !checkout.checked_out(&self.git)?.contains(&full) {
            let delete = ["update-ref", "--no-deref", "-d", &full, ours.as_str()];
            let call = self.signed(checkout.writing_call(&self.git));
            // One that somebody moved is theirs now, and one that is gone is what was wanted.
            call.args(delete).run()?;
        }
        Ok(())
    }

    /// Fails if a branch stands where a folder of branches is wanted.
    pub fn check_prefixes(&self, branch: &str) -> Result<(), StoreError> {
        let Project::Local(checkout) = &self.project else {
            return Ok(());
        };
        checkout.check_prefixes(&self.git, branch)
    }

    /// Fails if no branch could be made in the user's repository.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        match &self.project {
            Project::Local(checkout) => checkout.check_writable(),
            _ => Ok(()),
        }
    }

    /// From the store, whose configuration is ours.
    pub(super) fn copy_objects(
        &self,
        checkout: &Checkout,
        commit: &CommitId,
    ) -> Result<(), StoreError> {
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
        let call = checkout.writing_call(&self.git).args(quietly);
        let call = call.reading(self.home());
        call.arg(self.git_dir()).arg(commit.as_str()).output()?;
        Ok(())
    }
}
