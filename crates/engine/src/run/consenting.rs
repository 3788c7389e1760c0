//! Whether a batch that is ready was consented to, and remembering that it is.

use super::{Prepared, RunError, paths};
use crate::consent::{Change, Steering, show};

/// What steers and differs from what was consented to, the last time first; nothing where consent was given.
pub(super) fn unconsented(now: &Steering, consented: Vec<Steering>) -> Vec<Change> {
    let fingerprint = now.fingerprint();
    let mut known = consented.iter().map(Steering::fingerprint);
    if known.any(|known| known == fingerprint) {
        // Of what is not in the repository nobody knows whether it is as it was.
        return now.changes_since(now);
    }
    now.changes_since(&consented.into_iter().next().unwrap_or_default())
}

impl Prepared {
    /// What steers this batch and was never consented to as it is, told by what differs from the last time; nothing
    /// where consent was given.
    pub fn unconsented(&self) -> Result<Vec<Change>, RunError> {
        let Some(now) = &self.consent else {
            return Ok(Vec::new());
        };
        let project = paths::project_name(&self.store);
        Ok(unconsented(now, self.database.consented(&project)?))
    }

    /// Writes into changes what their files held and hold, as far as anybody reads it.
    pub fn show_contents(&self, changes: &mut [Change]) -> Result<(), RunError> {
        Ok(show(&self.store, changes, &self.secrets.hider())?)
    }

    /// A short name for exactly the state that needs consent; nothing for a batch that has begun.
    pub fn fingerprint(&self) -> Option<String> {
        self.consent.as_ref().map(Steering::fingerprint)
    }

    /// Remembers that a person consents, if what they were shown is exactly what steers this batch; tells whether it is.
    pub fn consent_to(&mut self, fingerprint: &str) -> Result<bool, RunError> {
        let is_this = self.fingerprint().is_some_and(|this| this == fingerprint);
        if is_this {
            self.consent()?;
        }
        Ok(is_this)
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
