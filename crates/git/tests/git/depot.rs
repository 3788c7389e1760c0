//! A project on another machine: a store that borrows, and what comes back from it.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_git::capture::{
    CaptureOptions, Captured, LiveBundles, capture, keep_captured, keep_last_state,
};
use pleach_git::git::{CommitId, Git, Store, StoreError};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::{TestRepo, gate_or_night};

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
        self.work_of(1)
    }

    fn work_of(&self, files: usize) -> CommitId {
        let worktree = self.worktree();
        for file in 0..files {
            let text = format!("{file} made there\n");
            fs::write(worktree.path().join(format!("new-{file}")), text).unwrap();
        }
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

    /// What somebody has made so far elsewhere, in a file, and as a commit.
    fn made_so_far(&self) -> (PathBuf, CommitId) {
        let worktree = self.worktree();
        let branch = worktree.branch().to_owned();
        let mut live = LiveBundles::new(&self.there, branch, KEPT_AS.into(), Vec::new());
        let file = self.repo.beside("live.bundle");
        fs::write(worktree.path().join("new"), "half\n").unwrap();
        assert!(live.write(&file).unwrap());
        let name = format!("refs/pleach/live/{KEPT_AS}");
        let commit = self.there.ref_commit(&name).unwrap();
        (file, commit.unwrap())
    }

    fn take(&self, bundle: &Path) -> Result<Vec<(String, CommitId)>, StoreError> {
        self.store.take_bundle(bundle, &[KEPT_AS])
    }

    /// How many packs the store here has.
    fn packs(&self) -> u32 {
        let printed = self.store.call().args(["count-objects", "-v"]).output();
        let printed = String::from_utf8(printed.unwrap()).unwrap();
        let mut lines = printed.lines();
        let packs = lines.find_map(|line| line.strip_prefix("packs: "));
        packs.unwrap().parse().unwrap()
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
    scene.take(&bundle).unwrap();
    assert_eq!(scene.kept().as_ref(), Some(&commit));
    let listed = scene.store.call().arg("for-each-ref");
    let listed = listed.arg("refs/pleach/brought/").output().unwrap();
    assert!(listed.is_empty(), "{}", String::from_utf8_lossy(&listed));
    // Whoever was interrupted takes it in once more.
    scene.take(&bundle).unwrap();
    assert_eq!(scene.kept(), Some(commit));
}

#[test]
fn little_work_leaves_no_pack_and_much_leaves_one() {
    for (files, more_packs) in [(1, 0), (200, 1)] {
        let scene = Scene::new();
        let before = scene.packs();
        let commit = scene.work_of(files);
        scene.take(&scene.bundle()).unwrap();
        assert_eq!(scene.kept(), Some(commit), "{files}");
        assert_eq!(scene.packs(), before + more_packs, "{files}");
    }
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

/// Every part of a bundle, and every byte behind its head changed; then every byte of its head. At night each of their
/// bits; the gate looks at some of what is no head.
fn damaged(whole: &[u8]) -> [Vec<Vec<u8>>; 2] {
    let head = whole.windows(6).position(|at| at == b"\n\nPACK").unwrap() + 2;
    let is_tried = |place: &usize| gate_or_night(place.is_multiple_of(32), true);
    let torn = (0..whole.len()).filter(is_tried);
    let torn = torn.map(|length| whole[..length].to_vec());
    let bits = |place: usize| gate_or_night(place % 8..place % 8 + 1, 0..8);
    let flip = |place: usize| {
        bits(place).map(move |bit| {
            let mut changed = whole.to_vec();
            changed[place] ^= 1 << bit;
            changed
        })
    };
    let behind = (head..whole.len()).filter(is_tried).flat_map(flip);
    [
        torn.chain(behind).collect(),
        (0..head).flat_map(flip).collect(),
    ]
}

/// Checks that no damage to a bundle makes anything else of it: it is refused, or what it says does not matter.
#[track_caller]
fn check_damaged(scene: &Scene, bundle: &Path, commit: &CommitId) {
    let names = || {
        let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let printed = scene.store.call().args(list).output().unwrap();
        String::from_utf8(printed).unwrap()
    };
    let before = names();
    let whole = fs::read(bundle).unwrap();
    let [objects, heads] = damaged(&whole);
    // As long as nobody has brought them undamaged.
    for damaged in objects {
        fs::write(bundle, &damaged).unwrap();
        let shown = String::from_utf8_lossy(&damaged);
        assert!(scene.take(bundle).is_err(), "{shown}");
        assert_eq!(names(), before, "{shown}");
    }
    for damaged in heads {
        fs::write(bundle, &damaged).unwrap();
        let shown = String::from_utf8_lossy(&damaged);
        // The subject of the commit that it builds on may be another.
        if let Ok(brought) = scene.take(bundle) {
            assert_eq!(brought, [(KEPT_AS.to_owned(), commit.clone())], "{shown}");
            assert_eq!(scene.kept().as_ref(), Some(commit), "{shown}");
            let drop = ["update-ref", "-d", &format!("refs/pleach/keep/{KEPT_AS}")];
            scene.store.call().args(drop).output().unwrap();
        }
        assert_eq!(names(), before, "{shown}");
    }
}

#[test]
fn a_bundle_of_work_that_is_torn_or_changed_is_never_taken_for_something_else() {
    let scene = Scene::new();
    let commit = scene.work();
    check_damaged(&scene, &scene.bundle(), &commit);
}

#[test]
fn names_that_are_somebody_elses_are_not_taken_in() {
    let scene = Scene::new();
    scene.work();
    let bundle = scene.bundle();
    let others = ["batch-1/task-a/attempt-10", "batch-1/task-a/attempt-1-2"];
    for name in others.iter().chain(&["batch-1/task-a"]) {
        assert!(scene.store.take_bundle(&bundle, &[name]).is_err(), "{name}");
        assert_eq!(scene.kept(), None);
    }
}

#[test]
fn a_bundle_of_what_was_made_so_far_that_is_torn_or_changed_is_never_taken_for_something_else() {
    let scene = Scene::new();
    let (file, commit) = scene.made_so_far();
    check_damaged(&scene, &file, &commit);
}

#[test]
fn what_an_agent_has_made_so_far_is_written_when_it_is_news_and_kept_where_it_is_taken_in() {
    let scene = Scene::new();
    let worktree = scene.worktree();
    let branch = worktree.branch().to_owned();
    let left_out = vec![PathBuf::from("plan")];
    let mut live = LiveBundles::new(&scene.there, branch, KEPT_AS.into(), left_out);
    let file = scene.repo.beside("live.bundle");
    assert!(!live.write(&file).unwrap());
    for (name, text, is_news) in [
        ("plan", "done\n", false),
        ("new", "half\n", true),
        ("new", "half\n", false),
        ("new", "whole\n", true),
    ] {
        fs::write(worktree.path().join(name), text).unwrap();
        assert_eq!(live.write(&file).unwrap(), is_news, "{name}: {text}");
    }
    // Nobody keeps it there, so it does not come back with the work as well.
    let work = scene.repo.beside("work.bundle");
    assert!(!scene.there.bundle(&work, &scene.basis).unwrap());
    let brought = scene.take(&file).unwrap();
    let kept = scene.kept().unwrap();
    assert_eq!(brought, [(KEPT_AS.to_owned(), kept.clone())]);
    let text = |path| scene.store.read_file_at(&kept, path).unwrap();
    assert_eq!(text("new").as_deref(), Some(&b"whole\n"[..]));
    assert_eq!(text("plan"), None);
}

#[test]
fn a_worktree_is_brought_to_where_one_elsewhere_was_left() {
    let scene = Scene::new();
    let worktree = scene.worktree();
    let git = |args: &[&str]| scene.repo.git_in(worktree.path(), args);
    fs::write(worktree.path().join("first"), "committed\n").unwrap();
    git(&["add", "first"]);
    git(&["commit", "--quiet", "-m", "By the agent"]);
    let head = git(&["rev-parse", "HEAD"]);
    fs::write(worktree.path().join("first"), "and changed\n").unwrap();
    fs::write(worktree.path().join("second"), "new\n").unwrap();
    let status = git(&["status", "--porcelain"]);
    let kept = keep_last_state(&scene.there, &worktree, KEPT_AS).unwrap();
    let commit = kept.commit().unwrap().clone();
    worktree.remove(&scene.there, &kept).unwrap();
    let bundle = scene.bundle();
    scene.take(&bundle).unwrap();

    let depot = scene.repo.beside("share/depot.git");
    let both = [scene.basis.clone(), commit.clone()];
    let lent = scene.store.lend(&depot, &both).unwrap();
    let home = scene.repo.beside("other/store");
    let other = Store::borrowing(Git::find().unwrap(), &home, lent).unwrap();
    let spec = WorktreeSpec {
        path: scene.repo.beside("other/trees/task-a"),
        branch: "pleach/task-1/a".into(),
        basis: scene.basis.clone(),
    };
    let again = Worktree::create(&other, &spec).unwrap();
    again.bring_back(&other, &commit).unwrap();
    let git = |args: &[&str]| scene.repo.git_in(again.path(), args);
    assert_eq!(git(&["rev-parse", "HEAD"]), head);
    assert_eq!(git(&["status", "--porcelain"]), status);
    let text = fs::read_to_string(again.path().join("first")).unwrap();
    assert_eq!(text, "and changed\n");
    // Whoever keeps that once more keeps the same files.
    let kept = keep_last_state(&other, &again, KEPT_AS).unwrap();
    let tree = |commit: &CommitId| format!("{commit}^{{tree}}");
    let trees = [tree(&commit), tree(kept.commit().unwrap())];
    let trees = other.look_up(&trees).unwrap();
    assert_eq!(trees[0], trees[1]);
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
