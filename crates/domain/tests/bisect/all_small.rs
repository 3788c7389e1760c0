//! All small batches, so that no case between them is missed.

use pleach_domain::bisect::{BisectStep, TestResult};

use crate::trial::{Batch, search};
use crate::{blamed, check, check_cost};

/// All sets of places below the count, as bits.
fn subsets(count: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1_usize << count).map(move |bits| (0..count).filter(|at| bits >> at & 1 == 1).collect())
}

fn all_pairs(count: usize) -> Vec<(usize, usize)> {
    let of = |two: usize| (0..two).map(move |one| (one, two));
    (0..count).flat_map(of).collect()
}

/// No pair, or any one of them.
fn up_to_a_pair(count: usize) -> impl Iterator<Item = Vec<(usize, usize)>> {
    let one = all_pairs(count).into_iter().map(|pair| vec![pair]);
    std::iter::once(Vec::new()).chain(one)
}

#[track_caller]
fn search_with_any_probers(batch: &Batch) {
    for probers in 1..=3 {
        let trial = search(batch.needs.clone(), probers, |set| batch.run(set));
        if probers == 1 {
            check(batch, &trial);
        }
        assert_eq!(trial.end, BisectStep::Proved, "{batch:?}");
        assert_eq!(trial.search.kept(), batch.innocent(), "{batch:?}");
    }
}

#[test]
fn every_choice_of_guilty_ones_among_up_to_six_is_found() {
    for tasks in 0..=6 {
        for guilty in subsets(tasks) {
            for pairs in up_to_a_pair(tasks) {
                let needs = vec![Vec::new(); tasks];
                let guilty = guilty.clone();
                search_with_any_probers(&Batch {
                    needs,
                    guilty,
                    pairs,
                });
            }
        }
    }
}

#[test]
fn every_way_in_which_four_may_need_each_other_is_respected() {
    for edges in subsets(6) {
        let mut needs = vec![Vec::new(); 4];
        for (one, two) in edges.iter().map(|edge| all_pairs(4)[*edge]) {
            needs[two].push(one);
        }
        for guilty in subsets(4) {
            for pairs in up_to_a_pair(4) {
                let (needs, guilty) = (needs.clone(), guilty.clone());
                search_with_any_probers(&Batch {
                    needs,
                    guilty,
                    pairs,
                });
            }
        }
    }
}

#[test]
fn every_place_of_one_or_two_guilty_ones_is_found_in_time() {
    for tasks in 1..=64 {
        let mut batch = Batch {
            needs: vec![Vec::new(); tasks],
            guilty: Vec::new(),
            pairs: Vec::new(),
        };
        for place in 0..tasks {
            batch.guilty = vec![place];
            let trial = search(batch.needs.clone(), 1, |set| batch.run(set));
            check(&batch, &trial);
            batch.guilty.push(place / 3);
            batch.guilty.dedup();
            let trial = search(batch.needs.clone(), 1, |set| batch.run(set));
            check(&batch, &trial);
        }
    }
}

/// Whatever a test command may say of the sets of four, such as that one mends what two others broke.
#[test]
fn every_way_in_which_four_may_fail_ends_with_a_green_rest() {
    for greens in 0..1_usize << 15 {
        let run = |set: &[usize]| {
            let number: usize = set.iter().map(|place| 1 << place).sum();
            // The base is green.
            if ((greens << 1) | 1) >> number & 1 == 1 {
                TestResult::Passed
            } else {
                TestResult::Failed
            }
        };
        let trial = search(vec![Vec::new(); 4], 1, run);
        check_cost(4, &trial);
        assert_eq!(trial.end, BisectStep::Proved);
        assert_eq!(run(trial.search.kept()), TestResult::Passed);
        for set in blamed(&trial) {
            assert_eq!(run(set), TestResult::Failed);
            assert_eq!(run(&set[..set.len() - 1]), TestResult::Passed);
        }
    }
}
