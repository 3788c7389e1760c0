//! What is to be sent waits here until the cluster may have more, and goes out with what asks the same of it.
//!
//! Knows nothing of how it is sent.

use std::mem;
use std::time::{Duration, Instant};

use pleach_domain::batch::AttemptEnding;
use pleach_engine::batch_record::UnitSizes;
use pleach_engine::cluster::{ClusterError, ClusterSurvey, UnitSize};
use pleach_engine::validate::RunEnding;
use pleach_system::pace::paced;

use super::line::ClusterCall;
use super::send::ended;
use super::{Dispatcher, OutgoingUnit};
use crate::spool::UnitWork;

/// How many units are sent at once where the cluster does not say how many it takes.
const MOST_AT_ONCE: usize = 1_000;

/// How long to wait for room where all that the cluster may have is there, and none of ours comes to its end.
const FULL_PAUSE: Duration = Duration::from_secs(5);

/// What is not sent yet, and why not.
#[derive(Debug)]
pub(super) struct WaitingUnits {
    sizes: UnitSizes,
    outgoing: Vec<OutgoingUnit>,
    /// How many units the cluster takes at once, once it has said so.
    most_at_once: Option<usize>,
    /// When there may be room again.
    full_until: Option<Instant>,
}

impl WaitingUnits {
    pub(super) fn new(sizes: UnitSizes) -> Self {
        Self {
            sizes,
            outgoing: Vec::new(),
            most_at_once: None,
            full_until: None,
        }
    }

    pub(super) fn add(&mut self, outgoing: Vec<OutgoingUnit>) {
        self.outgoing.extend(outgoing);
    }

    pub(super) fn size_of(&self, work: &UnitWork) -> UnitSize {
        match work {
            UnitWork::Attempt(attempt) => self.sizes.of_task(&attempt.task),
            UnitWork::Probe(_) => self.sizes.of_tests(),
        }
    }

    /// Room may have come about.
    pub(super) fn look_for_room(&mut self) {
        self.full_until = None;
    }

    /// Takes back what there was no room for.
    pub(super) fn wait_for_room(&mut self, left: Vec<OutgoingUnit>) {
        if !left.is_empty() {
            self.full_until = Some(Instant::now() + paced(FULL_PAUSE));
            self.outgoing.extend(left);
        }
    }

    /// What there is no room for.
    pub(super) fn without_room(&self) -> &[OutgoingUnit] {
        if self.is_full() { &self.outgoing } else { &[] }
    }

    fn is_full(&self) -> bool {
        self.full_until.is_some_and(|until| Instant::now() < until)
    }
}

/// What is the same for all units of a submission.
#[derive(Debug, PartialEq, Eq)]
struct SentTogether {
    size: UnitSize,
    /// The machines that they must not be on, as long as there are others.
    avoid: Vec<String>,
}

impl Dispatcher {
    /// Asks the cluster how much it takes; nothing is sent before it answers.
    pub(super) fn ask_how_much(&self) {
        self.call(ClusterCall::Survey);
    }

    pub(super) fn take_in_survey(&mut self, survey: Result<ClusterSurvey, ClusterError>) {
        let most = survey.map_or(MOST_AT_ONCE, |survey| survey.most_at_once);
        self.waiting.most_at_once = Some(most);
    }

    /// Sends out what waits, a submission for all that asks the same of the cluster, as far as that may have more.
    pub(super) fn send_waiting(&mut self) {
        self.end_unwanted();
        let Some(most) = self.waiting.most_at_once else {
            return;
        };
        if self.waiting.is_full() {
            return;
        }
        for (together, mut outgoing) in self.by_what_it_asks() {
            while !outgoing.is_empty() {
                let behind = outgoing.split_off(outgoing.len().min(most));
                if self.waiting.is_full() {
                    self.waiting.add(outgoing);
                } else {
                    self.send_together(outgoing, together.avoid.clone());
                }
                outgoing = behind;
            }
        }
    }

    /// Takes all that waits, by what it asks of the cluster.
    fn by_what_it_asks(&mut self) -> Vec<(SentTogether, Vec<OutgoingUnit>)> {
        let mut groups: Vec<(SentTogether, Vec<OutgoingUnit>)> = Vec::new();
        for outgoing_unit in mem::take(&mut self.waiting.outgoing) {
            let asked = SentTogether {
                size: self.waiting.size_of(&outgoing_unit.work),
                avoid: self.avoided(&outgoing_unit.work),
            };
            match groups.iter_mut().find(|(known, _)| *known == asked) {
                Some((_, outgoing)) => outgoing.push(outgoing_unit),
                None => groups.push((asked, vec![outgoing_unit])),
            }
        }
        groups
    }

    /// Tells the end of what nobody wants any more, and that was never sent.
    fn end_unwanted(&mut self) {
        let is_unwanted =
            |outgoing_unit: &mut OutgoingUnit| outgoing_unit.handle.cancel.is_cancelled();
        for OutgoingUnit { work, handle } in self.waiting.outgoing.extract_if(.., is_unwanted) {
            handle.tell(ended(&work, AttemptEnding::Stopped, RunEnding::Stopped));
        }
    }

    /// Ends what waits and is not to begin; nothing is spent for it.
    pub(super) fn give_back(&mut self, is_meant: impl Fn(&UnitWork) -> bool) {
        let is_meant = |outgoing_unit: &mut OutgoingUnit| is_meant(&outgoing_unit.work);
        for OutgoingUnit { work, handle } in self.waiting.outgoing.extract_if(.., is_meant) {
            handle.tell(ended(&work, AttemptEnding::Interrupted, RunEnding::Stopped));
        }
    }
}
