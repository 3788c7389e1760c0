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
use crate::cluster::{EndHow, UnitName, UnitOver, UnitState};
use crate::loop_input::LoopInput;
use crate::spool::Control;

/// A unit that the cluster does not name was not taken, once it was missed so often.
const MOST_MISSES: u32 = 2;

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
        let seen = seen.into_iter().map(|unit| (unit.name, unit.state));
        let seen: HashMap<UnitName, UnitState> = seen.collect();
        self.take_back(&seen);
        let unsent: Vec<bool> = self
            .units
            .iter()
            .map(|unit| self.is_unsent(&unit.sent.submission))
            .collect();
        let lease = self.place.pace.lease;
        let mut gone = Vec::new();
        for (position, (unit, is_unsent)) in self.units.iter_mut().zip(unsent).enumerate() {
            match seen.get(&unit.name()) {
                Some(UnitState::Waiting(_) | UnitState::Running) => unit.misses = 0,
                Some(UnitState::Over(how)) => unit.over = Some(how.clone()),
                None if is_unsent => unit.misses = 0,
                None => unit.misses += 1,
            }
            let is_unwanted = is_unsent && unit.said != Control::Go;
            let is_gone = unit.over.is_some() || unit.misses >= MOST_MISSES || is_unwanted;
            // It may live where the cluster does not see it; nobody else gets the task before that is sure to be over.
            let is_silent = unit.heartbeat.is_none() || unit.heard_at.elapsed() > lease;
            if is_gone && is_silent {
                gone.push(position);
            }
        }
        for position in gone.into_iter().rev() {
            let unit = self.units.remove(position);
            // Should it live after all, it hears that nobody wants what it does.
            let _ = unit.folder.say(unit.sent.unit, Control::StopAtOnce);
            crash_point(CrashPoint::UnitGivenUp);
            let input = self.lost_how(&unit);
            self.tell_end(unit, input);
        }
    }

    /// Takes what is not wanted any more out of the queue, and ends at once what is to end at once.
    fn take_back(&mut self, seen: &HashMap<UnitName, UnitState>) {
        let unwanted = |control: Control, unit: &&FollowedUnit| unit.said == control;
        let names = |control: Control| -> Vec<UnitName> {
            let units = self.units.iter().filter(|unit| unwanted(control, unit));
            let names = units.map(FollowedUnit::name);
            names
                .filter(|name| !matches!(seen.get(name), None | Some(UnitState::Over(_))))
                .collect()
        };
        let is_waiting = |name: &UnitName| matches!(seen.get(name), Some(UnitState::Waiting(_)));
        let mut waiting = names(Control::Stop);
        waiting.retain(is_waiting);
        let at_once = names(Control::StopAtOnce);
        // Whoever waits to hear that all is over looks again soon.
        self.wants_a_look = !waiting.is_empty() || !at_once.is_empty();
        for (names, how) in [(waiting, EndHow::IfItWaits), (at_once, EndHow::ForGood)] {
            if !names.is_empty() {
                // Tried again at the next look.
                let _ = self.cluster.end(&names, how);
            }
        }
    }
}

impl Dispatcher {
    /// What is told of a unit that is gone.
    fn lost_how(&mut self, unit: &FollowedUnit) -> LoopInput {
        let node = unit
            .heartbeat
            .as_ref()
            .map(|beat| format!(" on {}", beat.node));
        let node = node.unwrap_or_default();
        let (attempt, why) = match &unit.over {
            _ if unit.handle.cancel.is_cancelled() => {
                return ended(&unit.work, AttemptEnding::Stopped, RunEnding::Stopped);
            }
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
            Some(UnitOver::Lost(how)) => {
                return self.lost(&unit.work, &format!("lost{node}: {how}"));
            }
            None => return self.lost(&unit.work, &format!("lost{node}: it is not in the queue")),
        };
        ended(&unit.work, attempt, RunEnding::Trouble(why))
    }
}
