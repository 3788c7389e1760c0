//! The search for guilty tasks: as stories, as properties, and with tests that fail for no reason.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

mod all_small;
mod properties;
mod stories;
#[path = "../../../../benches/src/bisect/trial.rs"]
mod trial;

use pleach_domain::bisect::BisectStep;
use trial::{Batch, Trial};

/// The search found exactly those who are guilty and those who need them, and judged few enough sets.
#[track_caller]
fn check(batch: &Batch, trial: &Trial) {
    assert_eq!(trial.end, BisectStep::Proved, "{batch:?}");
    assert_eq!(trial.search.kept(), batch.innocent(), "{batch:?}");
    check_cost(batch.needs.len(), trial);
}

#[track_caller]
fn check_cost(tasks: usize, trial: &Trial) {
    let most = trial::most_sets(tasks, blamed(trial).count());
    assert!(trial.sets <= most, "{} sets, not {most}", trial.sets);
    assert_eq!(trial.rounds, trial.runs, "one prober runs one at a time");
}

/// The sets for which somebody was blamed.
fn blamed(trial: &Trial) -> impl Iterator<Item = &Vec<usize>> {
    let left_out = trial.search.left_out().iter();
    left_out.filter_map(|left_out| match &left_out.why {
        pleach_domain::bisect::LeftOutReason::Guilty { first_red } => Some(first_red),
        _ => None,
    })
}

#[test]
fn few_innocents_are_left_out_when_every_twentieth_run_is_red_for_no_reason() {
    let batches = 20_000;
    let sum = trial::flakiness(batches, 5, 1);
    assert!(sum.innocents * 1_000 <= batches, "{sum:?}");
    assert_eq!(sum.missed, 0, "{sum:?}");
    assert!(sum.red_bases * 200 <= batches, "{sum:?}");
    assert!(sum.runs <= 12 * batches, "{sum:?}");
}
