//! Weaving gives the tree of `git merge`, and leaves out what it would not have: on random
//! repositories, and on nasty ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use pleach_engine::git::{CommitId, Git, Repository};
use pleach_engine::weave::{Loom, Outcome, Strand, Strategy, Weave, weave};
use pleach_testkit::{MergeLoop, Tangle, cases, merge_loop};

const STRATEGIES: [Strategy; 4] = [
    Strategy::Merge,
    Strategy::Squash,
    Strategy::Rebase,
    Strategy::Octopus,
];

fn strands(repository: &Repository, names: &[String]) -> Vec<Strand> {
    let commits = repository.resolve(names).unwrap();
    let strand = |(name, commit): (&String, Option<CommitId>)| Strand {
        subject: format!("branch '{name}'"),
        commit: commit.unwrap(),
        basis: None,
    };
    names.iter().zip(commits).map(strand).collect()
}

fn weave_all(repo: &Path, base: &str, names: &[String], strategy: Strategy) -> Weave {
    let repository = Repository::find(Git::find().unwrap(), repo).unwrap();
    let strands = strands(&repository, names);
    let loom = Loom::of_repository(&repository).unwrap();
    weave(&loom, &base.parse().unwrap(), &strands, strategy).unwrap()
}

fn left_out(weave: &Weave, names: &[String]) -> Vec<String> {
    let outcomes = names.iter().zip(&weave.outcomes);
    let left_out = outcomes.filter(|(_, outcome)| matches!(outcome, Outcome::Conflict(_)));
    left_out.map(|(name, _)| name.clone()).collect()
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
    for case in cases() {
        let repo = &case.repo;
        agrees(
            case.name,
            repo.path(),
            &repo.base,
            &repo.branches,
            &STRATEGIES,
        );
    }
}

#[test]
fn twenty_wild_repositories_are_woven_as_git_merges_them() {
    for seed in 0..20 {
        let tangled = Tangle::wild(seed).make();
        let what = format!("wild seed {seed}");
        agrees(
            &what,
            tangled.path(),
            &tangled.base,
            &tangled.branches,
            &STRATEGIES,
        );
    }
}
