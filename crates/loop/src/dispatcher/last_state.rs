//! What is left of an attempt whose machine is gone: the last that it brought over before.

use pleach_domain::batch::AttemptEnding;
use pleach_git::git::CommitId;

use super::Dispatcher;
use super::follow::FollowedUnit;
use crate::loop_input::LoopInput;
use crate::spool::UnitWork;

impl Dispatcher {
    /// Adds what is left of an attempt to how it ended, as far as that says nothing of it; it is kept before the loop hears
    /// of it.
    pub(super) fn add_last_state(&self, unit: &FollowedUnit, input: &mut LoopInput) {
        let LoopInput::Finished(finished, _) = input else {
            return;
        };
        // What is built is all there is.
        let is_built = matches!(finished.ending, AttemptEnding::Built { .. });
        if finished.kept.is_none() && !is_built {
            finished.kept = self.last_state(unit);
        }
        if finished.spent.is_none() && finished.session.is_none() {
            finished.take_in(unit.said());
        }
    }

    /// The newest state that can be read, in the store.
    fn last_state(&self, unit: &FollowedUnit) -> Option<CommitId> {
        let UnitWork::Attempt(attempt) = &unit.work else {
            return None;
        };
        let keep_as = self.context.keep_name(&attempt.segment, attempt.number);
        // One that was being written when its machine failed is refused.
        let mut bundles = unit.place().bundles().into_iter();
        bundles.find_map(|bundle| {
            let brought = self.context.take_bundle(attempt, &bundle).ok()?;
            let mut brought = brought.into_iter();
            let (_, commit) = brought.find(|(name, _)| *name == keep_as)?;
            Some(commit)
        })
    }
}
