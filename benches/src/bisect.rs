//! What finding guilty tasks costs in runs of the test command, beside other ways to find them.
//!
//! Simulated by the real search; fails when it judges more woven sets than promised, or leaves out innocents.

mod trial;

use pleach_domain::bisect::{BisectStep, TestResult};
use trial::{Batch, BisectRng};

use crate::measure;

const TASKS: [usize; 5] = [4, 8, 16, 32, 64];
const PROBERS: [usize; 4] = [1, 2, 3, 7];
const BATCHES: usize = 1_000;
const FLAKY_BATCHES: usize = 100_000;
const MOST_INNOCENTS: f64 = 0.1;

/// The mean and the worst of some counts.
#[derive(Default)]
struct RunStatistics(Vec<usize>);

impl RunStatistics {
    fn worst(&self) -> usize {
        self.0.iter().copied().max().unwrap_or(0)
    }

    fn mean(&self) -> f64 {
        ratio(self.0.iter().sum(), self.0.len())
    }

    fn mean_and_worst(&self) -> String {
        format!("{:.1} ({})", self.mean(), self.worst())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// Prints the tables, and tells whether the limits are kept.
pub(crate) fn compare() -> bool {
    let costs = compare_costs();
    let innocents = compare_flakiness();
    costs && innocents
}

#[expect(clippy::print_stdout, reason = "printing is what a benchmark does")]
fn compare_costs() -> bool {
    println!(
        "guilty tasks of {BATCHES} batches each, found by runs of the test command; mean (worst)"
    );
    let sets = "woven sets judged";
    println!("  {:>12} {sets:^48} {:^11}  {:^24}", "", "runs", "rounds");
    println!(
        "  {:>5} {:>6} {:>12} {:>8} {:>13} {:>12} {:>11}  {:>5} {:>5} {:>5} {:>5}",
        "tasks", "guilty", "prefixes", "at most", "halving", "one by one", "", "1", "2", "3", "7"
    );
    let mut worst: f64 = 0.0;
    for tasks in TASKS {
        for guilty in 0..=3 {
            let most = trial::most_sets(tasks, guilty);
            let (mut sets, mut runs, mut halving) =
                <(RunStatistics, RunStatistics, RunStatistics)>::default();
            let mut rounds = <[RunStatistics; 4]>::default();
            for seed in (0..).take(BATCHES) {
                let batch = Batch::with_guilty(tasks, guilty, &mut BisectRng(seed));
                halving.0.push(sets_by_halving(&batch));
                for (probers, rounds) in PROBERS.into_iter().zip(&mut rounds) {
                    let trial = search(&batch, probers);
                    rounds.0.push(trial.rounds);
                    if probers == 1 {
                        sets.0.push(trial.sets);
                        runs.0.push(trial.runs);
                    }
                }
            }
            worst = worst.max(ratio(sets.worst(), most));
            let [one, two, three, seven] = rounds.map(|rounds| rounds.mean());
            println!(
                "  {tasks:>5} {guilty:>6} {:>12} {most:>8} {:>13} {tasks:>12} {:>11}  {one:>5.1} {two:>5.1} {three:>5.1} {seven:>5.1}",
                sets.mean_and_worst(),
                halving.mean_and_worst(),
                runs.mean_and_worst(),
            );
        }
    }
    measure::verdict("  sets judged, times the promise", worst, 1.0)
}

fn search(batch: &Batch, probers: usize) -> trial::Trial {
    let trial = trial::search(batch.needs.clone(), probers, |set| batch.run(set));
    assert_eq!(trial.end, BisectStep::Proved, "{batch:?}");
    assert_eq!(trial.search.kept(), batch.innocent(), "{batch:?}");
    trial
}

/// The way of bors: a red batch is split, and each half tried on top of what was green so far.
fn sets_by_halving(batch: &Batch) -> usize {
    let mut judged = 0;
    let mut green: Vec<usize> = Vec::new();
    let mut queue = vec![(0..batch.needs.len()).collect::<Vec<_>>()];
    while let Some(part) = queue.pop() {
        judged += 1;
        let set = [green.as_slice(), &part].concat();
        if batch.run(&set) == TestResult::Passed {
            green = set;
        } else if part.len() > 1 {
            let (first, second) = part.split_at(part.len() / 2);
            queue.push(second.to_vec());
            queue.push(first.to_vec());
        }
    }
    assert_eq!(green, batch.innocent());
    judged
}

#[expect(clippy::print_stdout, reason = "printing is what a benchmark does")]
fn compare_flakiness() -> bool {
    println!("{FLAKY_BATCHES} batches of 16 with 0, 1 and 2 guilty tasks, runs red for no reason");
    println!(
        "  {:>4} {:>8} {:>22} {:>22} {:>14} {:>7}",
        "red", "probers", "innocents out / 100", "guilty kept / 100", "red base / 100", "runs"
    );
    let mut worst: f64 = 0.0;
    for percent in [1, 5, 20] {
        for probers in [1, 7] {
            let sum = trial::flakiness(FLAKY_BATCHES, percent, probers);
            let per_100 = |count: usize| ratio(100 * count, FLAKY_BATCHES);
            let innocents = per_100(sum.innocents);
            if percent <= 5 {
                worst = worst.max(innocents);
            }
            println!(
                "  {percent:>2} % {probers:>8} {innocents:>22.3} {:>22.3} {:>14.3} {:>7.1}",
                per_100(sum.missed),
                per_100(sum.red_bases),
                ratio(sum.runs, FLAKY_BATCHES),
            );
        }
    }
    measure::verdict("  innocents out / 100, up to 5 %", worst, MOST_INNOCENTS)
}
