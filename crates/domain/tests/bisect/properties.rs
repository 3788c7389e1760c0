//! What holds for every batch and every order in which runs may end.

use pleach_domain::bisect::{BisectStep, Bisection, LeftOutReason, TestResult};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::check;
use crate::trial::{Batch, BisectRng, search};

/// How many cases a property is tried on; `cargo xtask fuzz` asks for many more.
fn cases(usual: u32) -> u32 {
    let asked = std::env::var("PLEACH_CASES").ok();
    asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

fn needs() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let one = prop_oneof![
        3 => Just(Vec::new()),
        1 => proptest::collection::vec(any::<Index>(), 1..3),
    ];
    proptest::collection::vec(one, 1..=64).prop_map(|drafts| {
        let places = drafts.iter().enumerate();
        let needs = places.map(|(place, needs)| {
            let before = needs.iter().filter(|_| place > 0);
            before.map(|need| need.index(place)).collect()
        });
        needs.collect()
    })
}

fn batch() -> impl Strategy<Value = Batch> {
    let guilty = proptest::collection::vec(any::<Index>(), 0..=3);
    let pairs = proptest::collection::vec((any::<Index>(), any::<Index>()), 0..=3);
    (needs(), guilty, pairs).prop_map(|(needs, guilty, pairs)| {
        let at = |index: &Index| index.index(needs.len());
        let pairs = pairs.iter().map(|(one, two)| (at(one), at(two)));
        let pairs = pairs.map(|(one, two)| (one.min(two), one.max(two)));
        Batch {
            guilty: guilty.iter().map(at).collect(),
            pairs: pairs.filter(|(one, two)| one < two).collect(),
            needs,
        }
    })
}

/// What a search was told.
#[derive(Debug, Clone)]
enum Told {
    Ran(Vec<usize>, TestResult),
    Conflicted(usize),
}

fn tell(search: &mut Bisection, told: &Told) {
    match told {
        Told::Ran(set, run) => search.ran(set, *run),
        Told::Conflicted(place) => search.conflicted(*place),
    }
}

/// Goes on to the end, with runs that end in any order; those that no longer matter may be stopped.
fn finish(
    search: &mut Bisection,
    probers: usize,
    dice: &mut BisectRng,
    mut answer: impl FnMut(&mut BisectRng, Vec<usize>, &Bisection) -> Told,
) -> (BisectStep, Vec<Told>) {
    let mut under_way: Vec<Vec<usize>> = Vec::new();
    let mut history = Vec::new();
    loop {
        match search.next(probers, &under_way) {
            BisectStep::Run(sets) => under_way.extend(sets),
            end => return (end, history),
        }
        assert!(under_way.len() <= probers, "{under_way:?}");
        assert!(!under_way.is_empty(), "it is stuck");
        let mut different = under_way.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), under_way.len(), "{under_way:?}");
        let set = under_way.swap_remove(dice.below(under_way.len()));
        let told = answer(dice, set, search);
        tell(search, &told);
        history.push(told);
        if dice.below(2) == 0 {
            under_way.retain(|set| search.wants(set));
        }
    }
}

/// Nobody is lost, nobody stays without what it needs, and everybody who went had a reason.
fn check_shape(needs: &[Vec<usize>], search: &Bisection) {
    let kept = search.kept();
    assert!(kept.is_sorted());
    for place in kept {
        assert!(needs[*place].iter().all(|need| kept.contains(need)));
    }
    let out = search.left_out().iter().map(|left_out| left_out.place);
    let mut all: Vec<usize> = kept.iter().copied().chain(out).collect();
    all.sort_unstable();
    assert_eq!(all, (0..needs.len()).collect::<Vec<_>>());
    for left_out in search.left_out() {
        match &left_out.why {
            LeftOutReason::Guilty { first_red } => {
                assert_eq!(first_red.last(), Some(&left_out.place));
            }
            LeftOutReason::Needs(other) => {
                assert!(needs[left_out.place].contains(other) && !kept.contains(other));
            }
            LeftOutReason::Conflicts => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn every_guilty_one_goes_with_what_needs_it_and_nobody_else(batch in batch()) {
        let trial = search(batch.needs.clone(), 1, |set| batch.run(set));
        check(&batch, &trial);
        check_shape(&batch.needs, &trial.search);
    }

    #[test]
    fn any_number_of_probers_and_any_order_of_endings_leave_out_the_same(
        batch in batch(), probers in 1..=9_usize, seed in any::<u64>()
    ) {
        let alone = search(batch.needs.clone(), 1, |set| batch.run(set));
        let mut together = Bisection::new(batch.needs.clone());
        let answer = |_: &mut BisectRng, set: Vec<usize>, _: &Bisection| {
            let run = batch.run(&set);
            Told::Ran(set, run)
        };
        let (end, _) = finish(&mut together, probers, &mut BisectRng(seed), answer);
        prop_assert_eq!(end, BisectStep::Proved);
        prop_assert_eq!(together.left_out(), alone.search.left_out());
    }

    #[test]
    fn a_crash_at_any_moment_loses_nothing(
        batch in batch(), probers in (1..=5_usize, 1..=5_usize), seed in any::<u64>(), crash in any::<Index>()
    ) {
        let mut dice = BisectRng(seed);
        let answer = |_: &mut BisectRng, set: Vec<usize>, _: &Bisection| {
            let run = batch.run(&set);
            Told::Ran(set, run)
        };
        let mut live = Bisection::new(batch.needs.clone());
        let (_, history) = finish(&mut live, probers.0, &mut dice, answer);
        let mut again = Bisection::new(batch.needs.clone());
        for told in &history[..crash.index(history.len() + 1)] {
            tell(&mut again, told);
        }
        finish(&mut again, probers.1, &mut dice, answer);
        prop_assert_eq!(again.left_out(), live.left_out());
    }

    /// Runs that say anything, and merges that fail: it ends, in the same way when told the same.
    #[test]
    fn any_verdicts_and_conflicts_come_to_an_end(
        needs in needs(), probers in 1..=5_usize, percent in 0..=100_usize, seed in any::<u64>()
    ) {
        let mut search = Bisection::new(needs.clone());
        let mut before = vec![search.clone()];
        let answer = |dice: &mut BisectRng, set: Vec<usize>, search: &Bisection| {
            before.push(search.clone());
            // Only what was woven beside somebody who is out can conflict.
            if !search.left_out().is_empty() && !set.is_empty() && dice.below(20) == 0 {
                return Told::Conflicted(set[dice.below(set.len())]);
            }
            let run = if dice.below(100) < percent { TestResult::Failed } else { TestResult::Passed };
            Told::Ran(set, run)
        };
        let (end, history) = finish(&mut search, probers, &mut BisectRng(seed), answer);
        check_shape(&needs, &search);
        if end == BisectStep::BaseRed {
            let blamed = search.left_out().iter().any(|out| matches!(out.why, LeftOutReason::Guilty { .. }));
            prop_assert!(!blamed);
        }
        let mut replayed = Bisection::new(needs);
        for (told, before) in history.iter().zip(&before[1..]) {
            prop_assert_eq!(&replayed, before);
            prop_assert_eq!(replayed.next(probers, &[]), before.next(probers, &[]));
            tell(&mut replayed, told);
        }
        prop_assert_eq!(replayed, search);
    }
}
