//! Which phases of a plan are open.
//!
//! Knows the rule and nothing of who waits for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::PhaseNumber;
use crate::plan::Plan;
use crate::task::TaskStatus;

/// The share of an earlier phase that must be settled before a later one opens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Threshold(f64);

impl Threshold {
    /// A share between 0 (phases order nothing) and 1 (all of it).
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    fn is_reached(self, settled: usize, total: usize) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
        let (settled, total) = (settled as f64, total as f64);
        // 0.8 * 5 must be reached by 4 although 0.8 has no exact form.
        settled + 1e-9 >= self.0 * total
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Self(0.8)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    total: usize,
    settled: usize,
    unfinished: usize,
}

/// Which phases are open, given what the plan says of its tasks.
#[derive(Debug, Clone)]
pub struct OpenPhases {
    first_closed: Option<PhaseNumber>,
}

impl OpenPhases {
    /// Applies the rule to the statuses of a plan.
    pub fn of(plan: &Plan, threshold: Threshold) -> Self {
        Self::of_statuses(
            plan.tasks.iter().map(|task| (task.phase, task.status)),
            threshold,
        )
    }

    /// Applies the rule to pairs of phase and status.
    pub fn of_statuses(
        tasks: impl Iterator<Item = (Option<PhaseNumber>, TaskStatus)>,
        threshold: Threshold,
    ) -> Self {
        let mut tallies: BTreeMap<PhaseNumber, Tally> = BTreeMap::new();
        for (phase, status) in tasks {
            let Some(phase) = phase else { continue };
            let tally = tallies.entry(phase).or_default();
            tally.total += 1;
            tally.settled += usize::from(status.is_settled());
            let unfinished = matches!(status, TaskStatus::Pending | TaskStatus::InProgress);
            tally.unfinished += usize::from(unfinished);
        }
        let mut all_finished = true;
        let mut all_reached = true;
        for (phase, tally) in &tallies {
            if !(all_finished || all_reached) {
                return Self {
                    first_closed: Some(*phase),
                };
            }
            all_finished &= tally.unfinished == 0;
            all_reached &= threshold.is_reached(tally.settled, tally.total);
        }
        Self { first_closed: None }
    }

    /// Whether tasks of the phase may start.
    pub fn is_open(&self, phase: PhaseNumber) -> bool {
        self.first_closed.is_none_or(|closed| phase < closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases are words of one letter a task: c completed, s skipped, x cancelled, p pending, f failed.
    #[track_caller]
    fn check(threshold: f64, phases: &str, open: &[u32]) {
        let tasks = phases.split(' ').zip(1..).flat_map(|(states, number)| {
            states.chars().map(move |state| {
                let status = match state {
                    'c' => TaskStatus::Completed,
                    's' => TaskStatus::Skipped,
                    'x' => TaskStatus::Cancelled,
                    'f' => TaskStatus::Failed,
                    'r' => TaskStatus::InProgress,
                    _ => TaskStatus::Pending,
                };
                (Some(PhaseNumber(number)), status)
            })
        });
        let threshold = Threshold::new(threshold).unwrap();
        let phases = OpenPhases::of_statuses(tasks, threshold);
        let found: Vec<u32> = (1..=4)
            .filter(|n| phases.is_open(PhaseNumber(*n)))
            .collect();
        assert_eq!(found, open);
    }

    #[test]
    fn a_phase_opens_when_four_of_five_before_it_are_settled() {
        check(0.8, "ccccp p p p", &[1, 2]);
        check(0.8, "cccpp p p p", &[1]);
        check(0.8, "csxcp p p p", &[1, 2]);
    }

    #[test]
    fn a_phase_opens_when_nothing_before_it_is_left_to_try() {
        check(0.8, "fffff p p p", &[1, 2]);
        check(0.8, "ffffr p p p", &[1]);
    }

    #[test]
    fn every_earlier_phase_counts() {
        check(0.8, "ccccp ccccp p p", &[1, 2, 3]);
        check(0.8, "cp cccc p p", &[1]);
    }

    #[test]
    fn the_threshold_can_be_strict_or_off() {
        check(1.0, "ccccp p p p", &[1]);
        check(1.0, "ccccc p p p", &[1, 2]);
        check(0.0, "ppppp p p p", &[1, 2, 3, 4]);
    }
}
