//! Which phases of a plan are open.
//!
//! Knows the rule and nothing of who waits for it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::PhaseNumber;
use crate::plan::Plan;
use crate::task::{Task, TaskStatus};

/// The share of an earlier phase that must be settled before a later one opens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Threshold(f64);

/// It is never NaN, which alone equals nothing.
impl Eq for Threshold {}

impl Threshold {
    /// A share between 0 (phases order nothing) and 1 (all of it).
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    pub fn share(self) -> f64 {
        self.0
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
struct PhaseCounts {
    total: usize,
    settled: usize,
    unfinished: usize,
}

/// A phase of which less is done than the threshold asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortfall {
    pub phase: PhaseNumber,
    pub settled: usize,
    pub total: usize,
    threshold: Threshold,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "phase {} has only {} of {} tasks done, below {} %",
            self.phase,
            self.settled,
            self.total,
            (self.threshold.0 * 100.0).round()
        )
    }
}

/// The phases of which less is done than the threshold asks for, earliest first.
pub fn shortfalls(
    tasks: impl Iterator<Item = (Option<PhaseNumber>, TaskStatus)>,
    threshold: Threshold,
) -> impl Iterator<Item = Shortfall> {
    let short = move |(phase, tally): (PhaseNumber, PhaseCounts)| {
        let is_reached = threshold.is_reached(tally.settled, tally.total);
        (!is_reached).then_some(Shortfall {
            phase,
            settled: tally.settled,
            total: tally.total,
            threshold,
        })
    };
    tallies(tasks).into_iter().filter_map(short)
}

fn tallies(
    tasks: impl Iterator<Item = (Option<PhaseNumber>, TaskStatus)>,
) -> BTreeMap<PhaseNumber, PhaseCounts> {
    let mut tallies: BTreeMap<PhaseNumber, PhaseCounts> = BTreeMap::new();
    for (phase, status) in tasks {
        let Some(phase) = phase else { continue };
        let tally = tallies.entry(phase).or_default();
        tally.total += 1;
        tally.settled += usize::from(status.is_settled());
        let unfinished = matches!(status, TaskStatus::Pending | TaskStatus::InProgress);
        tally.unfinished += usize::from(unfinished);
    }
    tallies
}

/// Which phases are open, given what the plan says of its tasks.
#[derive(Debug, Clone)]
pub struct OpenPhases {
    first_closed: Option<PhaseNumber>,
}

impl OpenPhases {
    /// The phases that a run may enter: enough of every earlier one is settled.
    pub fn for_run(
        tasks: impl Iterator<Item = (Option<PhaseNumber>, TaskStatus)>,
        threshold: Threshold,
    ) -> Self {
        let short = shortfalls(tasks, threshold).next();
        let first_closed = short.map(|short| PhaseNumber(short.phase.0.saturating_add(1)));
        Self { first_closed }
    }

    /// The phases that `next` offers tasks of: also where nothing of the earlier ones is left to try. Tasks in no
    /// phase are of phase 0.
    pub fn for_next(plan: &Plan, threshold: Threshold) -> Self {
        let phase = |task: &Task| Some(task.phase.unwrap_or_default());
        let tasks = plan.tasks.iter().map(|task| (phase(task), task.status));
        let tallies = tallies(tasks);
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

    pub fn is_open(&self, phase: PhaseNumber) -> bool {
        self.first_closed.is_none_or(|closed| phase < closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases are words of one letter a task: c completed, s skipped, x cancelled, p pending, f failed.
    fn plan(phases: &str) -> Plan {
        let mut plan = Plan::default();
        for (states, number) in phases.split(' ').zip(1..) {
            for state in states.chars() {
                let mut task = Task::new("t", "t", 1);
                task.phase = Some(PhaseNumber(number));
                task.status = match state {
                    'c' => TaskStatus::Completed,
                    's' => TaskStatus::Skipped,
                    'x' => TaskStatus::Cancelled,
                    'f' => TaskStatus::Failed,
                    'r' => TaskStatus::InProgress,
                    _ => TaskStatus::Pending,
                };
                plan.tasks.push(task);
            }
        }
        plan
    }

    fn open(phases: &OpenPhases) -> Vec<u32> {
        let is_open = |number: &u32| phases.is_open(PhaseNumber(*number));
        (1..=4).filter(is_open).collect()
    }

    #[track_caller]
    fn check(threshold: f64, phases: &str, expected: &[u32]) {
        let threshold = Threshold::new(threshold).unwrap();
        assert_eq!(
            open(&OpenPhases::for_next(&plan(phases), threshold)),
            expected
        );
    }

    #[track_caller]
    fn check_run(phases: &str, expected: &[u32], short: &str) {
        let plan = plan(phases);
        let statuses = || plan.tasks.iter().map(|task| (task.phase, task.status));
        let threshold = Threshold::default();
        assert_eq!(open(&OpenPhases::for_run(statuses(), threshold)), expected);
        let first = shortfalls(statuses(), threshold).next();
        assert_eq!(first.unwrap().to_string(), short);
    }

    #[test]
    fn a_phase_opens_when_four_of_five_before_it_are_settled() {
        check(0.8, "ccccp p p p", &[1, 2]);
        check(0.8, "cccpp p p p", &[1]);
        check(0.8, "csxcp p p p", &[1, 2]);
    }

    #[test]
    fn a_phase_opens_for_next_when_nothing_before_it_is_left_to_try() {
        check(0.8, "fffff p p p", &[1, 2]);
        check(0.8, "ffffr p p p", &[1]);
    }

    #[test]
    fn a_run_does_not_go_on_over_failures() {
        check_run(
            "ff p p p",
            &[1],
            "phase 1 has only 0 of 2 tasks done, below 80 %",
        );
        check_run(
            "ccccf pc p p",
            &[1, 2],
            "phase 2 has only 1 of 2 tasks done, below 80 %",
        );
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

    #[test]
    fn tasks_in_no_phase_come_before_the_first() {
        let mut plan = plan("p p p p");
        plan.tasks.push(Task::new("t", "t", 1));
        assert_eq!(
            open(&OpenPhases::for_next(&plan, Threshold::default())),
            [0_u32; 0]
        );
    }
}
