//! Takes what a unit brings: its work into the store, checked, and its word to the loop.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_git::git::{CommitId, StoreError};
use pleach_log::database::SubmittedUnit;
use pleach_system::crash_point::{CrashPoint, crash_point};
use pleach_system::pace::paced;
use pleach_system::text::causes::with_causes;

use super::follow::{Arrival, FollowedUnit};
use super::lose::silence;
use super::{Dispatcher, DispatcherInput};
use crate::attempt::{Attempt, AttemptContext, Finished};
use crate::loop_input::LoopInput;
use crate::spool::{UnitEnding, UnitFolder, UnitWork};

/// So many results are taken in at once.
const MOST_AT_ONCE: usize = 4;

/// How long a result is left alone that could not be taken in.
const PAUSE: Duration = Duration::from_secs(2);

/// A result, or why it could not be taken in.
#[derive(Debug)]
pub(super) struct TakenUnit {
    fence: String,
    brought: Result<Brought, NotTaken>,
}

/// What a unit brought, checked.
#[derive(Debug)]
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

/// Why a result could not be taken in.
#[derive(Debug)]
enum NotTaken {
    /// It may be whole a moment later: a network file system shows some things late.
    NotYet(String),
    Never(String),
}

impl Dispatcher {
    /// Has results taken in that are there, a few at once.
    pub(super) fn take_results(&mut self) {
        let now = Instant::now();
        let free = MOST_AT_ONCE.saturating_sub(self.taking);
        let is_ready = |unit: &&mut FollowedUnit| unit.arrival.is_some_and(|it| it.is_due(now));
        for unit in self.units.iter_mut().filter(is_ready).take(free) {
            let (work, sent, place) = (unit.work.clone(), unit.sent.clone(), unit.place());
            let (context, line) = (Arc::clone(&self.context), self.line.clone());
            let take = move || {
                let brought = context.result_of_unit(&work, &sent, &place);
                let fence = sent.fence;
                let _ = line.send(DispatcherInput::Taken(TakenUnit { fence, brought }));
            };
            let started = std::thread::Builder::new().name("result".to_owned());
            if started.spawn(take).is_ok() {
                unit.arrival = unit.arrival.map(Arrival::under_way);
                self.taking += 1;
            }
        }
    }

    pub(super) fn tell_taken(&mut self, taken: TakenUnit) {
        self.taking -= 1;
        let is_it = |unit: &FollowedUnit| unit.sent.fence == taken.fence;
        let Some(position) = self.units.iter().position(is_it) else {
            return;
        };
        let is_stopping = self.units[position].handle.cancel.is_cancelled();
        match taken.brought {
            Ok(Brought::Evicted(input)) if !is_stopping => {
                // Whether it may begin again depends on who took its machine.
                self.wants_a_look = true;
                self.units[position].brought = Some(input);
            }
            Ok(Brought::Evicted(mut input)) => {
                self.add_last_state(&self.units[position], &mut input);
                self.tell_end(position, input);
            }
            Ok(Brought::Ended { mut input, node }) => {
                self.note_red(&input, node);
                self.add_last_state(&self.units[position], &mut input);
                self.tell_end(position, input);
            }
            Ok(Brought::Unfit { node, why }) => {
                let handle = self.units[position].handle.clone();
                self.blame(&node, &why, &handle);
                self.tell_lost(position, &format!("lost on {node}: {why}"));
            }
            Err(NotTaken::Never(why)) => self.tell_lost(position, &why),
            Err(NotTaken::NotYet(why)) => {
                let unit = &mut self.units[position];
                let since = unit.arrival.map_or_else(Instant::now, |it| it.since);
                if since.elapsed() > silence(&self.place.pace) && !self.is_share_gone {
                    self.tell_lost(position, &why);
                } else {
                    let again = Instant::now() + paced(PAUSE);
                    unit.arrival = Some(Arrival {
                        since,
                        due: Some(again),
                    });
                }
            }
        }
        self.take_results();
    }

    fn tell_lost(&mut self, unit: usize, why: &str) {
        let work = self.units[unit].work.clone();
        let mut input = self.lost(&work, why);
        self.add_last_state(&self.units[unit], &mut input);
        self.tell_end(unit, input);
    }

    /// Tells the loop how a unit ended, and that nothing more comes of it.
    pub(super) fn tell_end(&mut self, unit: usize, mut input: LoopInput) {
        let mut unit = self.units.remove(unit);
        let fence = Some(unit.sent.fence.clone());
        match &mut input {
            LoopInput::Finished(finished, _) => {
                finished.fence = fence;
                unit.holds_place = matches!(finished.ending, AttemptEnding::Limited(..));
            }
            LoopInput::Judged(ended) => ended.fence = fence,
            _ => {}
        }
        // One that never began has not taken them away.
        let _ = unit.folder.take_secrets(unit.sent.unit);
        unit.handle.tell(input);
        self.told.push(unit);
    }
}

impl AttemptContext {
    fn result_of_unit(
        &self,
        work: &UnitWork,
        sent: &SubmittedUnit,
        place: &UnitFolder,
    ) -> Result<Brought, NotTaken> {
        let not_yet =
            |what: &str, why: String| NotTaken::NotYet(format!("could not {what}: {why}"));
        let result = place.result();
        let result = result.map_err(|error| not_yet("read its result", error.to_string()))?;
        if result.fence != sent.fence {
            let why = "its result is of another sending".to_owned();
            return Err(NotTaken::Never(why));
        }
        if let (true, UnitWork::Attempt(attempt)) = (result.has_bundle, work) {
            let taken = self.take_bundle(attempt, &place.bundle());
            taken.map_err(|error| not_yet("take its work in", with_causes(&error)))?;
            crash_point(CrashPoint::WorkFetched);
        }
        let input = match (result.ended, work) {
            (UnitEnding::Unfit(why), _) => {
                let node = result.node;
                return Ok(Brought::Unfit { node, why });
            }
            (UnitEnding::Finished(finished), UnitWork::Attempt(attempt))
                if finished.task == attempt.task && finished.attempt == attempt.number =>
            {
                let checked = self.check_work(attempt, &finished);
                checked.map_err(NotTaken::Never)?;
                LoopInput::Finished(finished, channel().0)
            }
            (UnitEnding::Judged(ended), UnitWork::Probe(probe))
                if ended.number == probe.number && ended.tree == probe.tree =>
            {
                LoopInput::Judged(ended)
            }
            _ => {
                let why = "its result is of something else".to_owned();
                return Err(NotTaken::Never(why));
            }
        };
        Ok(if result.was_evicted {
            Brought::Evicted(input)
        } else {
            let node = result.node;
            Brought::Ended { input, node }
        })
    }

    /// Takes in what an attempt kept on its node: under its own names, and under no others.
    pub(super) fn take_bundle(
        &self,
        attempt: &Attempt,
        file: &Path,
    ) -> Result<Vec<(String, CommitId)>, StoreError> {
        let keep_as = self.keep_name(&attempt.segment, attempt.number);
        let names = [keep_as.as_str(), &attempt.branch];
        self.store.take_bundle(file, &names)
    }

    /// What it says it made is here, and comes after what it began with.
    fn check_work(&self, attempt: &Attempt, finished: &Finished) -> Result<(), String> {
        let store = &self.store;
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
