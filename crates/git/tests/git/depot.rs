//! A project on another machine: a store that borrows, and what comes back from it.

use std::fs;
use std::path::PathBuf;

use pleach_git::capture::{CaptureOptions, Captured, capture, keep_captured};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

/// A project here, and a store of it elsewhere.
struct Scene {
    repo: TestRepo,
    store: Store,
    there: Store,
    basis: CommitId,
}

const KEPT_AS: &str = "batch-1/task-a/attempt-1";

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::new();
        let store = Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path());
        let store = store.unwrap();
        let basis = store.resolve_base(None).unwrap();
        let depot = repo.beside("share/depot.git");
        let lent = store.lend(&depot, std::slice::from_ref(&basis)).unwrap();
        let home = repo.beside("node/store");
        let there = Store::borrowing(Git::find().unwrap(), &home, lent).unwrap();
        Self {
            repo,
            store,
            there,
            basis,
        }
    }

    fn worktree(&self) -> Worktree {
        let spec = WorktreeSpec {
            path: self.repo.beside("node/trees/task-a"),
            branch: "pleach/task-1/a".into(),
            basis: self.basis.clone(),
        };
        Worktree::create(&self.there, &spec).unwrap()
    }

    /// What somebody made of a worktree elsewhere, as a commit.
    fn work(&self) -> CommitId {
        let worktree = self.worktree();
        fs::write(worktree.path().join("new"), "made there\n").unwrap();
        let options = CaptureOptions {
            message: "Task a\n".into(),
            leave_out: Vec::new(),
        };
        let captured = capture(&self.there, &worktree, &options).unwrap();
        keep_captured(&self.there, &worktree, &captured, KEPT_AS).unwrap();
        let Captured::Changed { commit, .. } = captured else {
            panic!("a file is new");
        };
        commit
    }

    fn bundle(&self) -> PathBuf {
        let file = self.repo.beside("work.bundle");
        assert!(self.there.bundle(&file, &self.basis).unwrap());
        file
    }

    fn kept(&self) -> Option<CommitId> {
        let name = format!("refs/pleach/keep/{KEPT_AS}");
        self.store.ref_commit(&name).unwrap()
    }
}

#[test]
fn work_that_was_made_elsewhere_comes_back_under_its_name() {
    let scene = Scene::new();
    let commit = scene.work();
    assert!(!scene.store.has_commit(&commit));
    let bundle = scene.bundle();
    scene.store.take_bundle(&bundle).unwrap();
    assert_eq!(scene.kept().as_ref(), Some(&commit));
    let listed = scene.store.call().arg("for-each-ref");
    let listed = listed.arg("refs/pleach/brought/").output().unwrap();
    assert!(listed.is_empty(), "{}", String::from_utf8_lossy(&listed));
    // Whoever was interrupted takes it in once more.
    scene.store.take_bundle(&bundle).unwrap();
    assert_eq!(scene.kept(), Some(commit));
}

#[test]
fn no_object_of_a_project_is_copied_to_where_it_is_borrowed() {
    let scene = Scene::new();
    scene.worktree();
    let count = ["count-objects", "-v"];
    let printed = scene.there.call().args(count).output().unwrap();
    let printed = String::from_utf8(printed).unwrap();
    assert!(printed.starts_with("count: 0\n"), "{printed}");
    assert!(printed.contains("\nin-pack: 0\n"), "{printed}");
}

#[test]
fn where_nothing_was_kept_there_is_no_bundle() {
    let scene = Scene::new();
    scene.worktree();
    let file = scene.repo.beside("work.bundle");
    assert!(!scene.there.bundle(&file, &scene.basis).unwrap());
    assert!(!file.exists());
}

#[test]
fn a_bundle_that_is_torn_or_changed_is_refused_and_leaves_no_name() {
    let scene = Scene::new();
    scene.work();
    let bundle = scene.bundle();
    let whole = fs::read(&bundle).unwrap();
    let check = |damaged: &[u8]| {
        fs::write(&bundle, damaged).unwrap();
        assert!(scene.store.take_bundle(&bundle).is_err());
        assert_eq!(scene.kept(), None);
    };
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        check(&whole[..length]);
    }
    for place in (0..whole.len()).step_by(whole.len() / 8) {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x10;
        check(&flipped);
    }
}

#[test]
fn a_branch_is_put_where_it_is_wanted_and_what_it_held_is_kept() {
    let scene = Scene::new();
    scene.repo.write("file", "later\n");
    let later: CommitId = scene.repo.commit("later").parse().unwrap();
    let store = Store::open(
        Git::find().unwrap(),
        &scene.repo.beside("stores"),
        scene.repo.path(),
    );
    let store = store.unwrap();
    store.put_branch("pleach/task-1/a", &later).unwrap();
    scene
        .store
        .put_branch("pleach/task-1/a", &scene.basis)
        .unwrap();
    let at = |name: &str| scene.store.ref_commit(name).unwrap();
    assert_eq!(at("refs/heads/pleach/task-1/a"), Some(scene.basis.clone()));
    assert_eq!(at("refs/pleach/keep/pleach/task-1/a"), Some(later));
}
