//! Weaving gives the tree of `git merge`, and leaves out what it would not have: on random
//! repositories, and on nasty ones.
//!
//! `cargo xtask fuzz` tries far more of them than the gate does, and other ones each time.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pleach_domain::choice::Strategy;
use pleach_git::git::{CallPlace, Git, NamedCommit, Repository};
use pleach_git::weave::{Strand, StrandOutcome, Weave, WeaveFolder, weave};
use pleach_testkit::{MergeLoop, Tangle, cases, gate_or_night, merge_loop, seed};

const STRATEGIES: [Strategy; 4] = [
    Strategy::Merge,
    Strategy::Squash,
    Strategy::Rebase,
    Strategy::Octopus,
];

/// Does something for each number below `count`, on both cores.
fn for_each(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    work(number);
                }
            });
        }
    });
}

fn strands(repository: &Repository, names: &[String]) -> Vec<Strand> {
    let commits = repository.resolve(names).unwrap();
    let strand = |(name, named): (&String, Option<NamedCommit>)| Strand {
        subject: format!("branch '{name}'"),
        commit: match named.unwrap() {
            NamedCommit::Branch(commit) | NamedCommit::Other(commit) => commit,
        },
        basis: None,
    };
    names.iter().zip(commits).map(strand).collect()
}

fn weave_all(repo: &Path, base: &str, names: &[String], strategy: Strategy) -> Weave {
    let repository = Repository::find(Git::find().unwrap(), repo).unwrap();
    let strands = strands(&repository, names);
    let weave_folder = WeaveFolder::of_repository(&repository).unwrap();
    weave(&weave_folder, &base.parse().unwrap(), &strands, strategy).unwrap()
}

fn left_out(weave: &Weave, names: &[String]) -> Vec<String> {
    let outcomes = names.iter().zip(&weave.outcomes);
    let left_out = outcomes.filter(|(_, outcome)| matches!(outcome, StrandOutcome::Conflict(_)));
    left_out.map(|(name, _)| name.clone()).collect()
}

/// Whoever is named alone as the other side of a conflict collides alone.
///
/// That holds for branches as tasks make them; among wild ones it may take two renames or somebody's
/// attributes as well.
#[track_caller]
fn names_who_collides(what: &str, repo: &Path, base: &str, names: &[String]) {
    let weave = weave_all(repo, base, names, Strategy::Merge);
    let git = Git::find().unwrap();
    for (name, outcome) in names.iter().zip(&weave.outcomes) {
        let StrandOutcome::Conflict(conflict) = outcome else {
            continue;
        };
        if let [partner] = conflict.with.as_slice() {
            let partner = partner.map_or(base, |place| &names[place]);
            let merge = git
                .call(CallPlace::Users(repo))
                .env("GIT_ATTR_SOURCE", base);
            let merge = merge.args(["merge-tree", "--write-tree", partner, name]);
            let is_clean = merge.run().unwrap().code == 0;
            assert!(!is_clean, "{what}: {name} goes together with {partner}");
        }
    }
}

/// Every strategy ends where the loop of `git merge` does.
#[track_caller]
fn agrees(what: &str, repo: &Path, base: &str, names: &[String], strategies: &[Strategy]) {
    let MergeLoop {
        tree,
        left_out: expected,
        ..
    } = merge_loop(repo, base, names);
    for strategy in strategies {
        let weave = weave_all(repo, base, names, *strategy);
        let found = left_out(&weave, names);
        assert_eq!(found, expected, "{what}, {strategy:?}: who is left out");
        assert_eq!(weave.tree.as_str(), tree, "{what}, {strategy:?}: the tree");
    }
}

#[test]
fn nasty_cases_are_woven_as_git_merges_them() {
    let cases = cases();
    for_each(cases.len(), |number| {
        let (case, repo) = (&cases[number], &cases[number].repo);
        let one = [STRATEGIES[number % STRATEGIES.len()]];
        let strategies = gate_or_night(&one[..], &STRATEGIES);
        agrees(
            case.name,
            repo.path(),
            &repo.base,
            &repo.branches,
            strategies,
        );
    });
}

#[test]
fn wild_repositories_are_woven_as_git_merges_them() {
    let first = seed();
    for_each(gate_or_night(8, 400), |number| {
        let seed = first.wrapping_add(number as u64);
        let tangled = Tangle::wild(seed).make();
        let what = format!("wild seed {seed}");
        let (path, base) = (tangled.path(), &tangled.base);
        agrees(&what, path, base, &tangled.branches, &STRATEGIES);
    });
}

fn many_branches(branches: usize, seeds: usize) {
    for_each(seeds, |seed| {
        let mut tangle = Tangle::tasks(seed as u64, 300, branches);
        tangle.median = 600;
        let tangled = tangle.make();
        let what = format!("{branches} branches, seed {seed}");
        let (path, base) = (tangled.path(), &tangled.base);
        agrees(&what, path, base, &tangled.branches, &[Strategy::Merge]);
        names_who_collides(&what, path, base, &tangled.branches);
    });
}

#[test]
fn ten_branches_are_woven_as_git_merges_them() {
    many_branches(10, 20);
}

#[test]
fn a_hundred_branches_are_woven_as_git_merges_them() {
    many_branches(100, gate_or_night(6, 20));
}

/// A thousand of them at night.
#[test]
fn hundreds_of_branches_are_woven_as_git_merges_them() {
    many_branches(gate_or_night(200, 1_000), gate_or_night(1, 20));
}
