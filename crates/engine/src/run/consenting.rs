//! Whether a batch that is ready was consented to, and remembering that it is.

use super::{Prepared, RunError, paths};
use crate::consent::{Change, Steering};

impl Prepared {
    /// What steers this batch and was never consented to as it is, told by what differs from the last time; nothing
    /// where consent was given.
    pub fn unconsented(&self) -> Result<Vec<Change>, RunError> {
        let Some(now) = &self.consent else {
            return Ok(Vec::new());
        };
        let project = paths::project_name(&self.store);
        let consented = self.database.consented(&project)?;
        let fingerprint = now.fingerprint();
        let mut known = consented.iter().map(Steering::fingerprint);
        if known.any(|known| known == fingerprint) {
            return Ok(Vec::new());
        }
        let last = consented.into_iter().next().unwrap_or_default();
        Ok(now.changes_since(&last))
    }

    /// Remembers that a person consents to what steers this batch.
    pub fn consent(&mut self) -> Result<(), RunError> {
        if let Some(now) = &self.consent {
            let project = paths::project_name(&self.store);
            self.database.remember_consent(&project, now)?;
        }
        Ok(())
    }
}
