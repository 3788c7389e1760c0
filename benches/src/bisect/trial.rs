//! Batches whose guilty tasks are known, and searches for them in simulated runs.
//!
//! Knows no clock and no git, so it gives the same numbers everywhere.

use std::collections::BTreeSet;

use pleach_domain::bisect::{BisectStep, Bisection, TestResult};

/// A batch, by what is wrong with it.
#[derive(Debug, Clone)]
pub(crate) struct Batch {
    /// What each task needs, by places in weaving order.
    pub(crate) needs: Vec<Vec<usize>>,
    /// Those that turn every set red.
    pub(crate) guilty: Vec<usize>,
    /// Those that turn red only the sets with both of them; the later one comes second.
    pub(crate) pairs: Vec<(usize, usize)>,
}

impl Batch {
    /// So many tasks that need nothing, of which so many are guilty.
    pub(crate) fn with_guilty(tasks: usize, guilty: usize, dice: &mut BisectRng) -> Self {
        let mut places: Vec<usize> = (0..tasks).collect();
        for place in 0..guilty {
            places.swap(place, place + dice.below(tasks - place));
        }
        places.truncate(guilty);
        Self {
            needs: vec![Vec::new(); tasks],
            guilty: places,
            pairs: Vec::new(),
        }
    }

    /// What the test command says of a set.
    pub(crate) fn run(&self, set: &[usize]) -> TestResult {
        let has = |place: &usize| set.binary_search(place).is_ok();
        let has_pair = self.pairs.iter().any(|(one, two)| has(one) && has(two));
        if has_pair || self.guilty.iter().any(has) {
            TestResult::Failed
        } else {
            TestResult::Passed
        }
    }

    /// Whom a search must keep: each task that is green with those kept before it, and has what it needs.
    pub(crate) fn innocent(&self) -> Vec<usize> {
        let mut kept = Vec::new();
        for (place, needs) in self.needs.iter().enumerate() {
            if needs.iter().all(|need| kept.contains(need)) {
                kept.push(place);
                if self.run(&kept) == TestResult::Failed {
                    kept.pop();
                }
            }
        }
        kept
    }
}

/// A search that came to an end, and what it cost.
pub(crate) struct Trial {
    /// The search.
    pub(crate) search: Bisection,
    /// How it ended.
    pub(crate) end: BisectStep,
    /// Different woven sets that were run; the base is not woven.
    pub(crate) sets: usize,
    /// All runs, those of the base among them.
    pub(crate) runs: usize,
    /// How often all probers were waited for.
    pub(crate) rounds: usize,
}

/// Searches with so many probers, whose runs all take the same time.
pub(crate) fn search(
    needs: Vec<Vec<usize>>,
    probers: usize,
    mut run: impl FnMut(&[usize]) -> TestResult,
) -> Trial {
    let mut search = Bisection::new(needs);
    let mut tried = BTreeSet::new();
    let (mut runs, mut rounds) = (0, 0);
    loop {
        let end = match search.next(probers, &[]) {
            BisectStep::Run(sets) => {
                assert!(!sets.is_empty(), "nothing is tried and nothing is known");
                runs += sets.len();
                rounds += 1;
                for set in sets {
                    search.ran(&set, run(&set));
                    tried.insert(set);
                }
                continue;
            }
            end => end,
        };
        tried.remove(&Vec::new());
        return Trial {
            search,
            end,
            sets: tried.len(),
            runs,
            rounds,
        };
    }
}

/// The most woven sets that one prober judges to find so many guilty ones among so many.
pub(crate) fn most_sets(tasks: usize, guilty: usize) -> usize {
    let halvings = tasks.next_power_of_two().trailing_zeros();
    1 + guilty * (usize::try_from(halvings).expect("it is small") + 1)
}

/// What became of batches of 16 whose runs are red without reason now and then.
#[derive(Debug, Default)]
pub(crate) struct Flakiness {
    /// Tasks that were left out and had done nothing.
    pub(crate) innocents: usize,
    /// Guilty tasks that are part of what was proved.
    pub(crate) missed: usize,
    /// Batches whose base was called red.
    pub(crate) red_bases: usize,
    /// Runs of the test command.
    pub(crate) runs: usize,
}

/// Searches through so many batches with no, one and two guilty tasks in turn.
pub(crate) fn flakiness(batches: usize, percent: usize, probers: usize) -> Flakiness {
    let mut dice = BisectRng(1);
    let mut sum = Flakiness::default();
    for number in 0..batches {
        let batch = Batch::with_guilty(16, number % 3, &mut dice);
        let trial = search(batch.needs.clone(), probers, |set| {
            if dice.below(100) < percent {
                TestResult::Failed
            } else {
                batch.run(set)
            }
        });
        let innocent = batch.innocent();
        let kept = trial.search.kept();
        sum.runs += trial.runs;
        sum.innocents += innocent.iter().filter(|at| !kept.contains(at)).count();
        match trial.end {
            BisectStep::Proved => {
                sum.missed += kept.iter().filter(|at| !innocent.contains(at)).count();
            }
            _ => sum.red_bases += 1,
        }
    }
    sum
}

/// Numbers that are the same for the same seed (splitmix64).
pub(crate) struct BisectRng(pub(crate) u64);

impl BisectRng {
    /// A number below the limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let limit = u64::try_from(limit).expect("limits are small");
        usize::try_from(mixed % limit).expect("limits are small")
    }
}
