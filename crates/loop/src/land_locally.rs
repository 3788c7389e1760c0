//! Landing without a server: a local branch gets the result.

use pleach_domain::batch::Message;
use pleach_domain::choice::Landing;
use pleach_domain::event::BatchEvent;
use pleach_git::git::FastForwardError;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::text::causes::with_causes;
use pleach_system::text::shell_words::quoted;

use super::run_loop::Loop;

impl Loop<'_> {
    /// The local branch that shall get the result, where it is not pushed.
    pub(super) fn lands_into(&self) -> Option<String> {
        let asked = self.batch.landing_asked.as_ref();
        let asked = asked.and_then(|asked| asked.into.clone());
        let is_local = self.batch.design.settings.landing == Landing::Local;
        let base = self.record.base_branch.as_ref();
        asked.or_else(|| base.filter(|_| is_local).cloned())
    }

    /// The event that landing begins, with the branch that only the record knows.
    pub(super) fn with_its_branch(&self, event: BatchEvent) -> BatchEvent {
        match event {
            BatchEvent::Landing { .. } => BatchEvent::Landing {
                into: self.lands_into(),
            },
            other => other,
        }
    }

    pub(super) fn land_into(&mut self, branch: &str) -> bool {
        let store = &self.context.store;
        match store.fast_forward(branch, &self.tip) {
            Ok(_) => {
                crash_point(CrashPoint::BranchForwarded);
                let into = Some(branch.to_owned());
                self.decide(Message::Landed(BatchEvent::Landed { pr_url: None, into }))
            }
            Err(error) => {
                let hint = match (&error, &self.batch.published) {
                    // As `git merge --ff-only` does: what happens to a branch of theirs is for people to say.
                    (FastForwardError::NotAFastForward { .. }, Some((result, _))) => Some(format!(
                        "merge it yourself: `git switch {} && git merge {}`",
                        quoted(branch),
                        quoted(result)
                    )),
                    _ => error.hint(),
                };
                self.not_landed(with_causes(&error), hint)
            }
        }
    }
}
