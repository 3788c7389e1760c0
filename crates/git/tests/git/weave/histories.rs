//! Which commits stand between base and tip, and what happens when a branch is dropped again.

use pleach_domain::choice::Strategy;
use pleach_git::git::{CommitId, Store};
use pleach_git::weave::{Folded, Strand, StrandOutcome, WeaveFolder, fold, weave};
use pleach_testkit::TestRepo;

use super::{branch, named, open, strand, try_weave};

fn file(store: &Store, commit: &CommitId, name: &str) -> Option<String> {
    let content = store.read_file_at(commit, name).unwrap()?;
    Some(String::from_utf8(content).unwrap())
}

/// A branch of several commits, each with the file it writes.
fn series(repo: &TestRepo, name: &str, from: &str, files: &[(&str, &str)]) -> CommitId {
    repo.git(&["switch", "--quiet", "--create", name, from]);
    for (file, text) in files {
        repo.write(file, text);
        repo.commit(&format!("{name}: {file}"));
    }
    let head = repo.head();
    repo.git(&["switch", "--quiet", "main"]);
    head.parse().unwrap()
}

fn subjects(repo: &TestRepo, store: &Store, range: &str) -> Vec<String> {
    let log = ["log", "--topo-order", "--reverse", "--format=%s", range];
    let printed = repo.git_in(&store.git_dir(), &log);
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn rebasing_replays_the_commits_of_each_branch_one_after_the_other() {
    let repo = TestRepo::new();
    let one = series(&repo, "one", "main", &[("a", "1\n"), ("b", "1\n")]);
    let two = series(&repo, "two", "main", &[("c", "2\n"), ("d", "2\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = try_weave(&store, &base, &[&one, &two], Strategy::Rebase).unwrap();
    let range = format!("{base}..{}", weave.tip);
    let expected = ["one: a", "one: b", "two: c", "two: d"];
    assert_eq!(subjects(&repo, &store, &range), expected);
    let merges = repo.git_in(
        &store.git_dir(),
        &["rev-list", "--merges", "--count", &range],
    );
    assert_eq!(merges, "0");
}

#[test]
fn a_series_that_does_not_replay_becomes_one_commit_with_the_same_tree() {
    let repo = TestRepo::new();
    repo.write("f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    repo.commit("f");
    let one = series(
        &repo,
        "one",
        "main",
        &[("f", "1\n2\n3\n4\nFIVE\n6\n7\n8\n9\n")],
    );
    // It touches the same line on the way, and puts it back in the end.
    let detour = [
        ("f", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
        ("f", "1\n2\n3\n4\n5\n6\n7\n8\nNINE\n"),
    ];
    let two = series(&repo, "two", "main", &detour);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let merged = try_weave(&store, &base, &[&one, &two], Strategy::Merge).unwrap();
    let rebased = try_weave(&store, &base, &[&one, &two], Strategy::Rebase).unwrap();
    assert_eq!(
        rebased.outcomes,
        [StrandOutcome::Merged, StrandOutcome::Merged]
    );
    assert_eq!(rebased.tree, merged.tree);
    let range = format!("{base}..{}", rebased.tip);
    assert_eq!(subjects(&repo, &store, &range), ["one: f", "Squash task 2"]);
}

#[test]
fn a_squashed_commit_keeps_the_author_of_the_branch() {
    let repo = TestRepo::new();
    repo.git(&["switch", "--quiet", "--create", "one", "main"]);
    repo.write("a", "1\n");
    repo.git(&["add", "--all"]);
    let author = "--author=Ada Agent <ada@example.com>";
    repo.git(&["commit", "--quiet", "-m", "work\n\nwith a body", author]);
    let one: CommitId = repo.head().parse().unwrap();
    let two = series(&repo, "two", "main", &[("b", "2\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = try_weave(&store, &base, &[&two, &one], Strategy::Squash).unwrap();
    let show = [
        "show",
        "--no-patch",
        "--format=%an|%cn|%B",
        weave.tip.as_str(),
    ];
    let shown = repo.git_in(&store.git_dir(), &show);
    let expected = "Ada Agent|Tess Tester|work\n\nwith a body";
    assert_eq!(shown.trim_end(), expected);
}

#[test]
fn dropping_a_branch_is_weaving_again_without_it() {
    let repo = TestRepo::new();
    let names = ["one", "two", "three"];
    let commits = names.map(|name| branch(&repo, name, &[(name, "work\n")]));
    let [one, two, three] = &commits;
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let all = try_weave(&store, &base, &[one, two, three], Strategy::Merge).unwrap();
    let rest = try_weave(&store, &base, &[one, three], Strategy::Merge).unwrap();
    assert_eq!(file(&store, &all.tip, "two").as_deref(), Some("work\n"));
    assert_eq!(file(&store, &rest.tip, "two"), None);
    assert!(!store.is_ancestor(two, &rest.tip).unwrap());
}

/// A task that was built on top of two others.
fn built_on(repo: &TestRepo, store: &Store, basis: &CommitId, file: (&str, &str)) -> CommitId {
    let anchor = store.keep(basis, "basis").unwrap();
    let from = store.git_dir();
    repo.git(&["fetch", "--quiet", from.to_str().unwrap(), &anchor]);
    series(repo, "late", "FETCH_HEAD", &[file])
}

#[test]
fn what_came_after_a_dropped_branch_is_woven_without_its_work_and_history() {
    let repo = TestRepo::new();
    let dropped = branch(&repo, "dropped", &[("dropped", "bad work\n")]);
    let stays = branch(&repo, "stays", &[("stays", "good work\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave_folder = WeaveFolder::of_store(&store).unwrap();
    let both = named(&[dropped.clone(), stays.clone()]);
    let Folded::Basis(basis) = fold(&weave_folder, &base, &both).unwrap() else {
        panic!("they go together");
    };
    let late = built_on(&repo, &store, &basis, ("late", "late work\n"));
    let late = Strand {
        basis: Some(basis),
        ..strand("task 3", &late)
    };
    let store = open(&repo);
    let weave_folder = WeaveFolder::of_store(&store).unwrap();
    for strategy in [
        Strategy::Merge,
        Strategy::Squash,
        Strategy::Rebase,
        Strategy::Octopus,
    ] {
        let strands = [strand("task 2", &stays), late.clone()];
        let weave = weave(&weave_folder, &base, &strands, strategy).unwrap();
        assert_eq!(
            weave.outcomes,
            [StrandOutcome::Merged, StrandOutcome::Merged],
            "{strategy:?}"
        );
        assert_eq!(file(&store, &weave.tip, "dropped"), None, "{strategy:?}");
        assert_eq!(
            file(&store, &weave.tip, "late").as_deref(),
            Some("late work\n")
        );
        assert!(
            !store.is_ancestor(&dropped, &weave.tip).unwrap(),
            "{strategy:?}"
        );
        if strategy == Strategy::Merge {
            let range = format!("{base}..{}", weave.tip);
            let merges = ["log", "--merges", "--reverse", "--format=%s", &range];
            let merges = repo.git_in(&store.git_dir(), &merges);
            assert_eq!(merges.trim(), "Merge task 2\nMerge task 3");
        }
    }
    let whole = [
        strand("task 1", &dropped),
        strand("task 2", &stays),
        late.clone(),
    ];
    let weave = weave(&weave_folder, &base, &whole, Strategy::Merge).unwrap();
    assert!(store.is_ancestor(&late.commit, &weave.tip).unwrap());
    assert_eq!(
        file(&store, &weave.tip, "dropped").as_deref(),
        Some("bad work\n")
    );
}

#[test]
fn what_cannot_do_without_a_dropped_branch_is_left_out_with_it() {
    let repo = TestRepo::new();
    let dropped = branch(&repo, "dropped", &[("shared", "1\n2\n3\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave_folder = WeaveFolder::of_store(&store).unwrap();
    let Folded::Basis(basis) = fold(&weave_folder, &base, &named(&[dropped])).unwrap() else {
        panic!("one alone goes together");
    };
    let late = built_on(&repo, &store, &basis, ("shared", "1\nTWO\n3\n"));
    let store = open(&repo);
    let strands = [Strand {
        basis: Some(basis),
        ..strand("task 2", &late)
    }];
    let weave_folder = WeaveFolder::of_store(&store).unwrap();
    let weave = weave(&weave_folder, &base, &strands, Strategy::Merge).unwrap();
    assert!(
        matches!(weave.outcomes[..], [StrandOutcome::Conflict(_)]),
        "{weave:?}"
    );
    assert_eq!(weave.tip, base);
}
