//! What the queue says: what waits may be taken back, and what is gone from there and silent is given up.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::validate::RunEnding;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::pace::paced;

use super::Dispatcher;
use super::follow::FollowedUnit;
use super::send::ended;
use crate::cluster::{EndHow, SeenUnit, UnitName, UnitOver, UnitState};
use crate::loop_input::LoopInput;
use crate::spool::Control;

/// A unit that the cluster does not name was not taken, once it was missed so often.
const MOST_MISSES: u32 = 2;

/// How much longer than its lease a machine is silent before nobody waits for it any more: it ends what it runs by its
/// own clock.
const BEYOND_LEASE: Duration = Duration::from_secs(30);

/// The cluster is asked no more often than this, whatever happens.
const LEAST: Duration = Duration::from_secs(2);

impl Dispatcher {
    /// Asks the cluster, if it is time to.
    pub(super) fn look(&mut self) {
        let pace = if self.wants_a_look {
            LEAST
        } else {
            self.place.look.max(LEAST)
        };
        let is_early = self
            .looked
            .is_some_and(|looked| looked.elapsed() < paced(pace));
        if self.units.is_empty() || is_early {
            return;
        }
        self.looked = Some(Instant::now());
        // What cannot be asked now is asked the next time; what runs is heard from all the same.
        let Ok(seen) = self.cluster.look() else {
            return;
        };
        let seen = seen.into_iter().map(|unit| (unit.name.clone(), unit));
        let seen: HashMap<UnitName, SeenUnit> = seen.collect();
        self.take_out(&seen);
        let unsent: Vec<bool> = self
            .units
            .iter()
            .map(|unit| self.is_unsent(&unit.sent.submission))
            .collect();
        let patience = self.place.pace.lease + paced(BEYOND_LEASE);
        let mut gone = Vec::new();
        for (position, (unit, is_unsent)) in self.units.iter_mut().zip(unsent).enumerate() {
            let seen = seen.get(&unit.name());
            unit.node = seen.and_then(|seen| seen.node.clone()).or(unit.node.take());
            match seen.map(|seen| &seen.state) {
                Some(UnitState::Waiting(_) | UnitState::Running) => unit.misses = 0,
                Some(UnitState::Over(how)) => unit.over = Some(how.clone()),
                None if is_unsent => unit.misses = 0,
                None => unit.misses += 1,
            }
            let is_unwanted = is_unsent && unit.said != Control::Go;
            let is_gone = unit.over.is_some() || unit.misses >= MOST_MISSES || is_unwanted;
            // It may live where the cluster does not see it; nobody else gets the task before that is sure to be over.
            let is_silent = unit.is_waiting() || unit.heard_at.elapsed() > patience;
            if is_gone && (is_silent || unit.brought.is_some()) {
                gone.push(position);
            }
        }
        for position in gone.into_iter().rev() {
            let mut unit = self.units.remove(position);
            // It may have said its last word since it was listened to.
            if unit.brought.is_none() && unit.listen(&self.context) {
                self.take(unit);
                continue;
            }
            // Should it live after all, it hears that nobody wants what it does.
            let _ = unit.folder.say(unit.sent.unit, Control::StopAtOnce);
            crash_point(CrashPoint::UnitGivenUp);
            self.blame_for(&unit);
            let (attempt, run) = self.lost_how(&unit);
            let mut input = match unit.brought.take() {
                Some(brought) => ended_so(brought, attempt, run),
                None => ended(&unit.work, attempt, run),
            };
            self.add_last_state(&unit, &mut input);
            self.tell_end(unit, input);
        }
    }

    /// Takes what is not wanted any more out of the queue, and ends at once what is to end at once.
    fn take_out(&mut self, seen: &HashMap<UnitName, SeenUnit>) {
        let state = |name: &UnitName| seen.get(name).map(|seen| &seen.state);
        let unwanted = |control: Control, unit: &&FollowedUnit| unit.said == control;
        let names = |control: Control| -> Vec<UnitName> {
            let units = self.units.iter().filter(|unit| unwanted(control, unit));
            let names = units.map(FollowedUnit::name);
            names
                .filter(|name| !matches!(state(name), None | Some(UnitState::Over(_))))
                .collect()
        };
        let is_waiting = |name: &UnitName| matches!(state(name), Some(UnitState::Waiting(_)));
        let mut waiting = names(Control::Stop);
        waiting.retain(is_waiting);
        let at_once = names(Control::StopAtOnce);
        // Whoever waits to hear that all is over looks again soon.
        let is_evicted = self.units.iter().any(|unit| unit.brought.is_some());
        self.wants_a_look = is_evicted || !waiting.is_empty() || !at_once.is_empty();
        for (names, how) in [(waiting, EndHow::IfItWaits), (at_once, EndHow::ForGood)] {
            if !names.is_empty() {
                // Tried again at the next look.
                let _ = self.cluster.end(&names, how);
            }
        }
    }
}

impl Dispatcher {
    /// A machine on which a job ends without a word has failed, whatever it was to do.
    fn blame_for(&mut self, unit: &FollowedUnit) {
        if let (Some(UnitOver::Failed(why)), Some(node)) = (&unit.over, &unit.node) {
            let (why, node) = (why.clone(), node.clone());
            self.blame(&node, &why, &unit.handle);
        }
    }

    /// How a unit ended that is gone.
    fn lost_how(&mut self, unit: &FollowedUnit) -> (AttemptEnding, RunEnding) {
        let node = { unit.heartbeat.as_ref() }.map(|beat| &beat.node);
        let node = node.or(unit.node.as_ref());
        let node = node.map(|node| format!(" on {node}")).unwrap_or_default();
        let (attempt, why) = match &unit.over {
            _ if unit.handle.cancel.is_cancelled() => {
                return (AttemptEnding::Stopped, RunEnding::Stopped);
            }
            _ if unit.is_taken_back => return (AttemptEnding::Interrupted, RunEnding::Stopped),
            Some(UnitOver::TimedOut) => (
                AttemptEnding::TimedOut,
                format!("its job{node} took too long"),
            ),
            Some(UnitOver::OutOfMemory) => {
                let why = format!("ran out of memory{node}");
                (AttemptEnding::Failed(why.clone()), why)
            }
            Some(UnitOver::Cancelled) => {
                let why = format!("its job{node} was cancelled outside Pleach");
                (AttemptEnding::Hopeless(why.clone()), why)
            }
            Some(UnitOver::Failed(how) | UnitOver::Lost(how)) => {
                return self.lost_endings(&unit.work, format!("lost{node}: {how}"));
            }
            None => {
                return self
                    .lost_endings(&unit.work, format!("lost{node}: it is not in the queue"));
            }
        };
        (attempt, RunEnding::Trouble(why))
    }
}

/// What a unit brought, with an end that the queue knows better.
fn ended_so(mut brought: LoopInput, attempt: AttemptEnding, run: RunEnding) -> LoopInput {
    match &mut brought {
        LoopInput::Finished(finished, _) => finished.ending = attempt,
        LoopInput::Judged(judged) => judged.ending = run,
        _ => {}
    }
    brought
}
