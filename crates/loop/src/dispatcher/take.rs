//! Takes what a unit brings: its work into the store, checked, and its word to the loop.

use std::sync::mpsc::channel;

use pleach_domain::batch::AttemptEnding;
use pleach_git::git::CommitId;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::text::causes::with_causes;

use super::Dispatcher;
use super::follow::FollowedUnit;
use crate::attempt::{Attempt, Finished};
use crate::loop_input::LoopInput;
use crate::spool::{UnitEnding, UnitWork};

/// What a unit brought, checked.
enum Brought {
    Ended {
        input: LoopInput,
        node: String,
    },
    /// Its machine was taken from it, and this is how far it came.
    Evicted(LoopInput),
    /// Its machine cannot do it, for this reason.
    Unfit {
        node: String,
        why: String,
    },
}

impl Dispatcher {
    pub(super) fn take(&mut self, mut unit: FollowedUnit) {
        let mut input = match self.result_of(&unit) {
            Ok(Brought::Ended { input, node }) => {
                self.note_red(&input, node);
                input
            }
            Ok(Brought::Evicted(input)) => {
                // Whether it may begin again depends on who took its machine.
                self.wants_a_look = true;
                unit.brought = Some(input);
                self.units.push(unit);
                return;
            }
            Ok(Brought::Unfit { node, why }) => {
                self.blame(&node, &why, &unit.handle);
                self.lost(&unit.work, &format!("lost on {node}: {why}"))
            }
            Err(why) => self.lost(&unit.work, &why),
        };
        self.add_last_state(&unit, &mut input);
        self.tell_end(unit, input);
    }

    /// Tells the loop how a unit ended, and that nothing more comes of it.
    pub(super) fn tell_end(&mut self, unit: FollowedUnit, mut input: LoopInput) {
        let fence = Some(unit.sent.fence.clone());
        match &mut input {
            LoopInput::Finished(finished, _) => finished.fence = fence,
            LoopInput::Judged(ended) => ended.fence = fence,
            _ => {}
        }
        // One that never began has not taken them away.
        let _ = unit.folder.take_secrets(unit.sent.unit);
        unit.handle.tell(input);
        self.told.push(unit);
    }

    fn result_of(&self, unit: &FollowedUnit) -> Result<Brought, String> {
        let place = unit.place();
        let result = place.result();
        let result = result.map_err(|error| format!("could not read its result: {error}"))?;
        if result.fence != unit.sent.fence {
            return Err("its result is of another sending".to_owned());
        }
        if result.has_bundle {
            let taken = self.context.store.take_bundle(&place.bundle());
            taken
                .map_err(|error| format!("could not take its work in: {}", with_causes(&error)))?;
            crash_point(CrashPoint::WorkFetched);
        }
        let input = match (result.ended, &unit.work) {
            (UnitEnding::Unfit(why), _) => {
                let node = result.node;
                return Ok(Brought::Unfit { node, why });
            }
            (UnitEnding::Finished(finished), UnitWork::Attempt(attempt))
                if finished.task == attempt.task && finished.attempt == attempt.number =>
            {
                self.check_work(attempt, &finished)?;
                LoopInput::Finished(finished, channel().0)
            }
            (UnitEnding::Judged(ended), UnitWork::Probe(probe))
                if ended.number == probe.number && ended.tree == probe.tree =>
            {
                LoopInput::Judged(ended)
            }
            _ => return Err("its result is of something else".to_owned()),
        };
        Ok(
            if result.was_evicted && !unit.handle.cancel.is_cancelled() {
                Brought::Evicted(input)
            } else {
                let node = result.node;
                Brought::Ended { input, node }
            },
        )
    }

    /// What it says it made is here, and comes after what it began with.
    fn check_work(&self, attempt: &Attempt, finished: &Finished) -> Result<(), String> {
        let store = &self.context.store;
        let made = match &finished.ending {
            AttemptEnding::Built { commit, .. } => Some(commit.0.parse::<CommitId>()),
            _ => None,
        };
        let made = made.transpose().map_err(|error| error.to_string())?;
        for commit in made.iter().chain(&finished.kept) {
            if !store.has_commit(commit) {
                return Err(format!("its work {commit} did not come along"));
            }
        }
        let Some(made) = made else { return Ok(()) };
        let follows = store.is_ancestor(&attempt.basis, &made);
        if !follows.map_err(|error| with_causes(&error))? {
            let basis = &attempt.basis;
            return Err(format!("its work {made} does not build on {basis}"));
        }
        let put = store.put_branch(&attempt.branch, &made);
        put.map_err(|error| with_causes(&error))
    }
}
