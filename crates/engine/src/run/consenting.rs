//! Whether a batch that is ready was consented to, where it may push to, and remembering both.

use pleach_domain::batch::Message;
use pleach_domain::choice::Landing;
use pleach_log::batch_paths::project_name;

use super::{Opening, Prepared, RunError};
use crate::consent::{Steering, SteeringChange, show};
use crate::trust::may_push_from_now_on;

/// What steers and differs from what was consented to, the last time first; nothing where consent was given.
pub(super) fn unconsented(now: &Steering, consented: Vec<Steering>) -> Vec<SteeringChange> {
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
    pub fn unconsented(&self) -> Result<Vec<SteeringChange>, RunError> {
        let Some(now) = &self.consent else {
            return Ok(Vec::new());
        };
        let project = project_name(&self.store);
        Ok(unconsented(now, self.database.consented(&project)?))
    }

    /// Writes into changes what their files held and hold, as far as anybody reads it.
    pub fn show_contents(&self, changes: &mut [SteeringChange]) -> Result<(), RunError> {
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
            let project = project_name(&self.store);
            self.database
                .remember_consent(&project, &now.fingerprint(), now)?;
        }
        Ok(())
    }
}

impl Prepared {
    /// Whether its result shall go to a server, as far as that is known before it runs.
    fn pushes(&self) -> bool {
        let landing = self.record.design.settings.landing;
        match &self.opening {
            _ if self.record.is_in_place() => false,
            // Whoever asks for it means a server, unless a local branch is named or configured.
            Opening::TakenUp {
                first: Some(Message::Land(asked)),
                ..
            } => asked.into.is_none() && landing != Landing::Local,
            _ => landing.pushes(),
        }
    }

    /// The address that its result shall be pushed to, if it shall and there is one; it holds no login.
    pub fn push_address(&self) -> Option<String> {
        // What is wrong with a remote is told by whoever pushes, and keeps nothing from running.
        let remote = self.pushes().then(|| self.store.remote());
        let remote = remote?.ok()??;
        Some(remote.as_str().to_owned())
    }

    /// The same if nobody has confirmed yet that the project pushes there.
    pub fn unconfirmed_push(&mut self) -> Result<Option<String>, RunError> {
        let Some(address) = self.push_address() else {
            return Ok(None);
        };
        let project = project_name(&self.store);
        let is_confirmed = may_push_from_now_on(&mut self.database, &project, &address)?;
        Ok((!is_confirmed).then(|| self.secrets.hider().hidden(address)))
    }

    /// Remembers that a person confirms the address that its result shall be pushed to.
    pub fn confirm_push(&mut self) -> Result<(), RunError> {
        if let Some(address) = self.push_address() {
            let project = project_name(&self.store);
            self.database.confirm_push(&project, &address)?;
        }
        Ok(())
    }
}
