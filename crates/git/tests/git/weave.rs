//! Weaving: the tree that `git merge` would give, or the files that stand in the way.

mod histories;
mod kinds;

use pleach_domain::choice::Strategy;
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::weave::{
    Conflict, ConflictKind, Folded, Strand, StrandOutcome, Weave, WeaveError, WeaveFolder, fold,
    weave,
};
use pleach_testkit::TestRepo;

fn open(repo: &TestRepo) -> Store {
    Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path()).unwrap()
}

/// A branch from `main` that writes some files.
/// Commits as dependencies, each by a name.
fn named(commits: &[CommitId]) -> Vec<(CommitId, String)> {
    let commits = commits.iter().zip(1..);
    commits
        .map(|(commit, number)| (commit.clone(), format!("task {number}")))
        .collect()
}

fn branch(repo: &TestRepo, name: &str, files: &[(&str, &str)]) -> CommitId {
    repo.git(&["switch", "--quiet", "--create", name, "main"]);
    for (file, content) in files {
        repo.write(file, content);
    }
    let commit = repo.commit(name);
    repo.git(&["switch", "--quiet", "main"]);
    commit.parse().unwrap()
}

fn strand(name: &str, commit: &CommitId) -> Strand {
    Strand {
        subject: name.to_owned(),
        commit: commit.clone(),
        basis: None,
    }
}

fn try_weave(
    store: &Store,
    onto: &CommitId,
    commits: &[&CommitId],
    strategy: Strategy,
) -> Result<Weave, WeaveError> {
    let strands: Vec<_> = commits
        .iter()
        .enumerate()
        .map(|(number, commit)| strand(&format!("task {}", number + 1), commit))
        .collect();
    weave(
        &WeaveFolder::of_store(store).unwrap(),
        onto,
        &strands,
        strategy,
    )
}

/// Weaves by merging, and expects no trouble.
#[track_caller]
fn woven(store: &Store, onto: &CommitId, commits: &[&CommitId]) -> Weave {
    try_weave(store, onto, commits, Strategy::Merge).unwrap()
}

#[track_caller]
fn conflict(weave: &Weave, place: usize) -> &Conflict {
    match &weave.outcomes[place] {
        StrandOutcome::Conflict(conflict) => conflict,
        other => panic!("no conflict: {other:?}"),
    }
}

#[test]
fn a_clean_merge_has_two_parents_and_the_tree_of_git_merge() {
    let repo = TestRepo::new();
    let one = branch(&repo, "one", &[("one.txt", "1\n")]);
    let two = branch(&repo, "two", &[("two.txt", "2\n")]);
    let store = open(&repo);
    let before = repo.fingerprint();
    let commit = woven(&store, &one, &[&two]).tip;
    assert_eq!(repo.fingerprint(), before);
    let look = |args: &[&str]| repo.git_in(&store.git_dir(), args);
    let shown = look(&["show", "--no-patch", "--format=%P|%s|%an", commit.as_str()]);
    assert_eq!(shown, format!("{one} {two}|Merge task 1|Tess Tester"));
    repo.git(&["switch", "--quiet", "one"]);
    repo.git(&["merge", "--quiet", "--no-ff", "-m", "m", "two"]);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(store.tree_of(&commit).unwrap().as_str(), tree);
}

#[test]
fn a_fast_forward_is_a_merge_commit_all_the_same() {
    let repo = TestRepo::new();
    let base: CommitId = repo.head().parse().unwrap();
    let one = branch(&repo, "one", &[("one.txt", "1\n")]);
    let store = open(&repo);
    let commit = woven(&store, &base, &[&one]).tip;
    assert_ne!(commit, one);
    assert_eq!(
        store.tree_of(&commit).unwrap(),
        store.tree_of(&one).unwrap()
    );
}

#[test]
fn weaving_again_gives_the_same_commit_and_weaving_in_what_is_in_gives_none() {
    let repo = TestRepo::new();
    let one = branch(&repo, "one", &[("one.txt", "1\n")]);
    let two = branch(&repo, "two", &[("two.txt", "2\n")]);
    let store = open(&repo);
    let first = woven(&store, &one, &[&two]);
    assert_eq!(woven(&store, &one, &[&two]), first);
    let again = woven(&store, &first.tip, &[&two]);
    assert_eq!(again.outcomes, [StrandOutcome::AlreadyIn]);
    assert_eq!(again.tip, first.tip);
}

#[test]
fn a_conflict_names_its_files_whatever_they_are_called() {
    let repo = TestRepo::new();
    let names = ["-rf", "line\nbreak", "two words", "ünïcödé"];
    let mine: Vec<_> = names.iter().map(|name| (*name, "mine\n")).collect();
    let theirs: Vec<_> = names.iter().map(|name| (*name, "theirs\n")).collect();
    let one = branch(&repo, "one", &mine);
    let two = branch(&repo, "two", &theirs);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let woven = woven(&store, &base, &[&one, &two]);
    assert_eq!(conflict(&woven, 1).paths(), names);
    assert_eq!(conflict(&woven, 1).with, [Some(0)]);
}

#[test]
fn a_file_that_one_side_deleted_and_one_changed_is_a_conflict() {
    let repo = TestRepo::new();
    let one = branch(&repo, "one", &[("README.md", "changed\n")]);
    repo.branch("two");
    repo.git(&["rm", "--quiet", "README.md"]);
    let two: CommitId = repo.commit("gone").parse().unwrap();
    let store = open(&repo);
    let woven = woven(&store, &one, &[&two]);
    let [file] = conflict(&woven, 0).files.as_slice() else {
        panic!("one file: {woven:?}");
    };
    assert_eq!(
        (file.path.as_str(), file.kind),
        ("README.md", ConflictKind::ModifyDelete)
    );
    assert_eq!(conflict(&woven, 0).with, [None]);
}

#[test]
fn an_unknown_commit_is_an_error_and_no_conflict() {
    let repo = TestRepo::new();
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let unknown: CommitId = "1".repeat(40).parse().unwrap();
    assert!(try_weave(&store, &base, &[&unknown], Strategy::Merge).is_err());
    assert!(try_weave(&store, &unknown, &[&base], Strategy::Merge).is_err());
}

#[test]
fn attributes_of_the_repository_count_as_they_do_for_git_merge() {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "CHANGES merge=union\n");
    repo.write("CHANGES", "start\n");
    repo.commit("union");
    let one = branch(&repo, "one", &[("CHANGES", "start\none\n")]);
    let two = branch(&repo, "two", &[("CHANGES", "start\ntwo\n")]);
    let store = open(&repo);
    let commit = woven(&store, &one, &[&two]).tip;
    let changes = store.read_file_at(&commit, "CHANGES").unwrap().unwrap();
    assert_eq!(changes, b"start\none\ntwo\n");
}

#[test]
fn attributes_that_a_branch_brings_count_for_those_after_it() {
    let repo = TestRepo::new();
    repo.write("CHANGES", "start\n");
    repo.commit("start");
    let one = branch(&repo, "one", &[("CHANGES", "start\none\n")]);
    let two = branch(&repo, "two", &[("CHANGES", "start\ntwo\n")]);
    let union = branch(
        &repo,
        "union",
        &[(".gitattributes", "CHANGES merge=union\n")],
    );
    let again = branch(&repo, "again", &[("CHANGES", "start\ntwo\n")]);
    let store = open(&repo);
    let base = store.resolve_base(None).unwrap();
    let weave = woven(&store, &base, &[&one, &two, &union, &again]);
    conflict(&weave, 1);
    assert_eq!(weave.outcomes[3], StrandOutcome::Merged);
}

#[test]
fn folding_merges_every_commit_in_order() {
    let repo = TestRepo::new();
    let base: CommitId = repo.head().parse().unwrap();
    let one = branch(&repo, "one", &[("one.txt", "1\n")]);
    let two = branch(&repo, "two", &[("two.txt", "2\n")]);
    let store = open(&repo);
    let Folded::Basis(basis) = fold(
        &WeaveFolder::of_store(&store).unwrap(),
        &base,
        &named(&[one.clone(), two.clone()]),
    )
    .unwrap() else {
        panic!("they do not conflict");
    };
    for commit in [&base, &one, &two] {
        assert!(store.is_ancestor(commit, &basis).unwrap());
    }
    let log = ["log", "-2", "--first-parent", "--format=%s", basis.as_str()];
    let subjects = repo.git_in(&store.git_dir(), &log);
    assert_eq!(
        subjects,
        "Merge task 2 (dependency)\nMerge task 1 (dependency)"
    );
    let none = fold(&WeaveFolder::of_store(&store).unwrap(), &base, &[]).unwrap();
    assert_eq!(none, Folded::Basis(base.clone()));
    let again = fold(
        &WeaveFolder::of_store(&store).unwrap(),
        &base,
        &named(&[one.clone(), two, one]),
    )
    .unwrap();
    assert_eq!(again, Folded::Basis(basis));
}

#[test]
fn folding_names_the_pair_that_does_not_go_together() {
    let repo = TestRepo::new();
    let base: CommitId = repo.head().parse().unwrap();
    let bystander = branch(&repo, "bystander", &[("other.txt", "x\n")]);
    let first = branch(&repo, "first", &[("same.txt", "1\n")]);
    let second = branch(&repo, "second", &[("same.txt", "2\n")]);
    let store = open(&repo);
    let commits = [first.clone(), bystander, second.clone()];
    let expected = Folded::Conflict {
        first,
        second,
        files: vec!["same.txt".into()],
    };
    assert_eq!(
        fold(
            &WeaveFolder::of_store(&store).unwrap(),
            &base,
            &named(&commits)
        )
        .unwrap(),
        expected
    );
}
