//! What the queue says: what waits may be taken back, and what is gone from there and silent is given up.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::validate::RunEnding;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::pace::paced;

use super::follow::{Arrival, FollowedUnit};
use super::line::ClusterCall;
use super::send::ended;
use super::{Dispatcher, Trouble};
use crate::cluster::{EndHow, SeenUnit, UnitName, UnitOver, UnitState, was_killed_for_memory};
use crate::loop_input::LoopInput;
use crate::spool::{Control, NodePace};

/// A unit that the cluster does not name was not taken, once it was missed so often.
const MOST_MISSES: u32 = 2;

/// The cluster is asked no more often than this, whatever happens.
const LEAST: Duration = Duration::from_secs(2);

/// What a node may take beyond its lease until nothing of a unit runs there.
const BEYOND_LEASE: Duration = Duration::from_secs(30);

/// How long it may take until the share shows that a unit began which the cluster says is over.
const UNTIL_SHOWN: Duration = Duration::from_secs(10);

/// After so long without a sign of life nothing of a unit runs any more.
pub(super) fn silence(pace: &NodePace) -> Duration {
    pace.lease + paced(BEYOND_LEASE)
}

impl Dispatcher {
    /// Asks the cluster, if it is time to.
    pub(super) fn look(&mut self) {
        let is_hurried = self.wants_a_look && !self.troubles.contains(&Trouble::Queue);
        let pace = if is_hurried {
            LEAST
        } else {
            self.place.look.max(LEAST)
        };
        let is_early = self
            .looked
            .is_some_and(|looked| looked.elapsed() < paced(pace));
        if self.units.is_empty() || self.is_looking || is_early {
            return;
        }
        self.looked = Some(Instant::now());
        self.is_looking = true;
        self.wants_a_look = false;
        self.call(ClusterCall::Look);
    }

    pub(super) fn take_in_seen(&mut self, asked: Instant, seen: Vec<SeenUnit>) {
        self.looked = Some(Instant::now());
        self.troubles.remove(&Trouble::Queue);
        self.report(&seen);
        let mut seen_by_name: SeenByName = HashMap::new();
        for unit in seen {
            seen_by_name
                .entry(unit.name.clone())
                .or_default()
                .push(unit);
        }
        let shown = seen_by_name
            .keys()
            .map(|name| name.submission.as_str())
            .collect();
        self.take_in_shown(asked, &shown);
        self.take_out(&seen_by_name);
        let now = Instant::now();
        for unit in &mut self.units {
            let has_begun = unit.heartbeat.is_some();
            let is_newer = unit.sent_at.is_none_or(|sent| sent > asked);
            let seen = most_alive(seen_by_name.get(&unit.name()), has_begun);
            unit.node = seen.and_then(|seen| seen.node.clone()).or(unit.node.take());
            match seen.map(|seen| &seen.state) {
                Some(UnitState::Waiting(_) | UnitState::Running) => {
                    (unit.misses, unit.over, unit.gone_at) = (0, None, None);
                }
                Some(UnitState::Over(how)) => {
                    unit.over = Some(how.clone());
                    unit.gone_at.get_or_insert(now);
                }
                None if is_newer => {}
                None => {
                    unit.misses += 1;
                    if unit.misses >= MOST_MISSES {
                        unit.gone_at.get_or_insert(now);
                    }
                }
            }
        }
    }

    /// Gives up what is neither in the queue nor heard from; nobody else gets a task before that is sure to be over.
    pub(super) fn give_up_what_is_gone(&mut self) {
        if self.is_share_gone {
            return;
        }
        let silence = silence(&self.place.pace);
        let is_lost = |unit: &FollowedUnit| {
            let is_silent = match (&unit.heartbeat, unit.gone_at) {
                (_, None) => false,
                (Some(_), _) => unit.heard_at.elapsed() > silence,
                // Nothing had begun that could be waited for.
                (None, _) if unit.wanted() != Control::Go => true,
                (None, Some(gone)) => gone.elapsed() > paced(UNTIL_SHOWN),
            };
            let is_evicted = unit.gone_at.is_some() && unit.brought.is_some();
            is_evicted || (is_silent || has_unheard_result(unit)) && unit.arrival.is_none()
        };
        for position in positions(&self.units, is_lost).into_iter().rev() {
            let unit = &mut self.units[position];
            if unit.brought.is_none() && unit.place().has_result() {
                // It was killed before it could say so.
                unit.arrival = Some(Arrival::now());
            } else {
                self.give_up_unit(position);
            }
        }
    }

    /// What nobody wants any more and the cluster does not have needs no word of the cluster.
    pub(super) fn drop_what_was_never_sent(&mut self) {
        let is_over = |unit: &FollowedUnit| match unit.wanted() {
            Control::Go => false,
            Control::Stop => self.is_surely_unsent(&unit.sent.submission),
            Control::StopAtOnce => self.is_unsent(&unit.sent.submission),
        };
        for position in positions(&self.units, is_over).into_iter().rev() {
            self.give_up_unit(position);
        }
    }

    fn give_up_unit(&mut self, position: usize) {
        // Should it live after all, it hears that nobody wants what it does.
        let unit = &self.units[position];
        let _ = unit.folder.say(unit.sent.unit, Control::StopAtOnce);
        crash_point(CrashPoint::UnitGivenUp);
        let unit = &mut self.units[position];
        if matches!(unit.over, Some(UnitOver::Failed(_)))
            && was_killed_for_memory(unit.folder.path(), unit.sent.unit)
        {
            unit.over = Some(UnitOver::OutOfMemory);
        }
        let (attempt, run) = self.lost_how(position);
        self.blame_for(position);
        let unit = &mut self.units[position];
        // What the queue does not know, the unit says itself.
        let is_silent = matches!(
            unit.over,
            None | Some(UnitOver::Ended | UnitOver::Failed(_))
        );
        let mut input = match unit.brought.take() {
            Some(brought) if is_silent && unit.wanted() == Control::Go => brought,
            Some(brought) => ended_so(brought, attempt, run),
            None => ended(&unit.work, attempt, run),
        };
        self.add_last_state(&self.units[position], &mut input);
        self.tell_end(position, input);
    }

    /// Takes what is not wanted any more out of the queue, and ends at once what is to end at once.
    fn take_out(&mut self, seen: &SeenByName) {
        let unwanted = |control: Control, is_to_end: fn(&SeenUnit) -> bool| -> Vec<UnitName> {
            let units = self.units.iter().filter(|unit| unit.said == control);
            let mut names: Vec<UnitName> = units.map(FollowedUnit::name).collect();
            names.retain(|name| seen.get(name).into_iter().flatten().any(is_to_end));
            names
        };
        let waiting = unwanted(Control::Stop, |seen| {
            matches!(seen.state, UnitState::Waiting(_))
        });
        let at_once = unwanted(Control::StopAtOnce, |seen| {
            !matches!(seen.state, UnitState::Over(_))
        });
        // Whoever waits to hear that all is over looks again soon.
        let is_evicted = self.units.iter().any(|unit| unit.brought.is_some());
        self.wants_a_look |= is_evicted || !waiting.is_empty() || !at_once.is_empty();
        for (names, how) in [(waiting, EndHow::IfItWaits), (at_once, EndHow::ForGood)] {
            if !names.is_empty() {
                // Tried again at the next look.
                self.call(ClusterCall::End(names, how));
            }
        }
    }
}

/// What the cluster says of each unit, which it may have been given twice.
type SeenByName = HashMap<UnitName, Vec<SeenUnit>>;

/// What counts of a unit that the cluster may have been given twice: one that waits cannot begin what another began.
fn most_alive(seen: Option<&Vec<SeenUnit>>, has_begun: bool) -> Option<&SeenUnit> {
    let rank = |seen: &&SeenUnit| match seen.state {
        UnitState::Running => 2,
        UnitState::Waiting(_) => 1,
        UnitState::Over(_) => 0,
    };
    let is_waiting = |seen: &SeenUnit| matches!(seen.state, UnitState::Waiting(_));
    let seen = seen.into_iter().flatten();
    let counting = seen.filter(|seen| !has_begun || !is_waiting(seen));
    counting.max_by_key(rank)
}

/// What the cluster says is over may have ended between its result and its word of it.
fn has_unheard_result(unit: &FollowedUnit) -> bool {
    unit.over.is_some() && unit.place().has_result()
}

fn positions(units: &[FollowedUnit], is_one: impl Fn(&FollowedUnit) -> bool) -> Vec<usize> {
    let units = units.iter().enumerate();
    units
        .filter_map(|(position, unit)| is_one(unit).then_some(position))
        .collect()
}

impl Dispatcher {
    /// A machine has failed on which a job fails without a word, or is lost before it says one.
    fn blame_for(&mut self, position: usize) {
        let unit = &self.units[position];
        let why = match &unit.over {
            Some(UnitOver::Failed(why)) => Some(why),
            Some(UnitOver::Lost(why)) if unit.is_waiting() => Some(why),
            _ => None,
        };
        if let (Some(why), Some(node)) = (why, &unit.node) {
            let (why, node, handle) = (why.clone(), node.clone(), unit.handle.clone());
            self.blame(&node, &why, &handle);
        }
    }

    /// How a unit ended that is gone.
    fn lost_how(&mut self, position: usize) -> (AttemptEnding, RunEnding) {
        let unit = &self.units[position];
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
                let size = self.waiting.size_of(&unit.work);
                let asked = size.memory.map(|bytes| bytes.div_ceil(1 << 20));
                let asked = asked.map(|asked| format!(" (asked for {asked} MiB)"));
                let (asked, name) = (asked.unwrap_or_default(), size.name);
                let why = format!("ran out of memory{node}{asked}; see sizes.{name}");
                (AttemptEnding::Failed(why.clone()), why)
            }
            Some(UnitOver::Cancelled) => {
                let why = format!("its job{node} was cancelled outside Pleach");
                (AttemptEnding::Hopeless(why.clone()), why)
            }
            over => {
                let how = match over {
                    Some(UnitOver::Failed(how) | UnitOver::Lost(how)) => how,
                    Some(UnitOver::Ended) => "its job ended without a result",
                    _ => "it is not in the queue",
                };
                let (work, why) = (unit.work.clone(), format!("lost{node}: {how}"));
                return self.lost_endings(&work, why);
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
