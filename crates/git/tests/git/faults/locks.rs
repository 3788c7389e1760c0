//! Locks of gits that were killed, as a stopped container or a full memory leaves them.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use pleach_git::capture::{CaptureOptions, Captured, capture};
use pleach_git::git::Git;
use pleach_git::worktree::{Worktree, finish_removals, sweep};

use pleach_testkit::TestRepo;

use super::life::Life;

/// What each kind of write would wait for.
const LOCKS: [&str; 6] = [
    "store.git/refs/remotes/local/main.lock",
    "store.git/refs/pleach/keep/woven/task.lock",
    "store.git/refs/heads/pleach/task-1/task.lock",
    "store.git/packed-refs.lock",
    "store.git/config.lock",
    "store.git/HEAD.lock",
];

fn write_lock(lock: &Path, age: Duration) {
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let file = File::create(lock).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

fn plain() -> Git {
    Git::find().unwrap()
}

#[test]
fn locks_of_killed_gits_are_in_nobodys_way() {
    let repo = TestRepo::with_branches();
    let life = Life::new(&repo, "stores", "task");
    let home = life.open(plain()).home().to_owned();
    for lock in LOCKS {
        write_lock(&home.join(lock), Duration::from_mins(1));
    }
    // From a moment ago, and from a clock that is ahead.
    write_lock(&home.join("store.git/refs/tags/now.lock"), Duration::ZERO);
    let ahead = home.join("store.git/refs/tags/ahead.lock");
    write_lock(&ahead, Duration::ZERO);
    let tomorrow = SystemTime::now() + Duration::from_hours(24);
    File::options()
        .write(true)
        .open(&ahead)
        .unwrap()
        .set_modified(tomorrow)
        .unwrap();
    let (tip, published) = life.live(plain(), &|_| ());
    life.check(&repo, &tip, &published);
    for lock in LOCKS {
        assert!(!home.join(lock).exists(), "{lock}");
    }
    assert!(!ahead.exists());
}

#[test]
fn a_lock_stays_while_another_process_may_hold_it() {
    let repo = TestRepo::with_branches();
    let life = Life::new(&repo, "stores", "task");
    let home = life.open(plain()).home().to_owned();
    let company = home.join("live/1-company");
    let company = File::create(company).unwrap();
    company.lock().unwrap();
    let lock = home.join("store.git/refs/tags/held.lock");
    write_lock(&lock, Duration::from_mins(1));
    life.open(plain());
    assert!(lock.exists(), "somebody may be at work");
    write_lock(&lock, Duration::from_hours(1));
    life.open(plain());
    assert!(!lock.exists(), "no git is at work for an hour");
}

#[test]
fn an_agent_that_was_killed_while_it_committed_is_captured() {
    let repo = TestRepo::with_branches();
    let life = Life::new(&repo, "stores", "task");
    let store = life.open(plain());
    let spec = life.spec(&store);
    let worktree = Worktree::create(&store, &spec).unwrap();
    fs::write(worktree.path().join("new.txt"), "new\n").unwrap();
    let lock = format!("refs/heads/{}.lock", spec.branch);
    write_lock(&store.git_dir().join(&lock), Duration::ZERO);
    let options = CaptureOptions {
        message: "work\n".into(),
        leave_out: Vec::new(),
    };
    let captured = capture(&store, &worktree, &options).unwrap();
    assert!(matches!(captured, Captured::Changed { .. }));
    worktree.retire(&store, "task").unwrap();
    write_lock(&store.git_dir().join(&lock), Duration::ZERO);
    Worktree::create(&store, &spec).unwrap();
}

#[test]
fn what_git_finishes_for_the_dead_after_all_else_is_cleared_goes_as_well() {
    let repo = TestRepo::with_branches();
    let life = Life::new(&repo, "stores", "task");
    let store = life.open(plain());
    let late = [
        "index/some-task.1-gone",
        "trees/some-task.1-gone",
        "scratch-1-gone-abc",
    ];
    for file in late {
        let file = store.home().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
    }
    sweep(&store).unwrap();
    finish_removals();
    for file in late {
        assert!(!store.home().join(file).exists(), "{file}");
    }
}

#[test]
fn a_lock_that_a_killed_git_left_on_a_branch_of_ours_in_the_users_repository_goes() {
    let repo = TestRepo::with_branches();
    let life = Life::new(&repo, "stores", "task");
    let ours = repo.path().join(".git/refs/heads/pleach/task.lock");
    let theirs = repo.path().join(".git/refs/heads/main.lock");
    for lock in [&ours, &theirs] {
        write_lock(lock, Duration::ZERO);
    }
    let (tip, published) = life.live(plain(), &|_| ());
    life.check(&repo, &tip, &published);
    assert_eq!(published, "pleach/task");
    assert!(!ours.exists(), "nobody else makes such branches");
    assert!(theirs.exists(), "it is not ours to take away");
}
