//! Many worktrees at once, and siblings that work or rage meanwhile.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use pleach_git::git::Store;
use pleach_git::worktree::{Worktree, finish_removals, list};
use pleach_testkit::{TestRepo, gate_or_night};

use super::{open, spec};

const AT_A_TIME: usize = 24;

/// Programs that keep all cores busy, as gently as a test may.
struct Load(Vec<Child>);

impl Load {
    fn new() -> Self {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let spin = || {
            let mut shell = Command::new("nice");
            shell.args(["-n", "19", "sh", "-c", "while :; do :; done"]);
            shell.process_group(0).stdin(Stdio::null()).spawn().unwrap()
        };
        Self((0..cores).map(|_| spin()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn worktrees_come_and_go_in_crowds_and_disturb_no_sibling() {
    let repo = TestRepo::new();
    for n in 0..12 {
        repo.write(format!("src/{n}.txt"), format!("{n}\n"));
    }
    repo.commit("files");
    let (store, basis) = open(&repo);
    let before = repo.fingerprint();
    let sibling = Worktree::create(&store, &spec(&repo, "sibling", &basis)).unwrap();
    let _load = Load::new();
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let mut disturbed = 0;
    thread::scope(|scope| {
        let makers: Vec<_> = (0..AT_A_TIME)
            .map(|_| {
                scope.spawn(|| {
                    while let Some(number) = one_more(&next) {
                        let spec = spec(&repo, &number.to_string(), &basis);
                        let worktree = Worktree::create(&store, &spec).unwrap();
                        assert!(worktree.path().join("src/11.txt").exists());
                        worktree.retire(&store, &format!("{number}")).unwrap();
                    }
                })
            })
            .collect();
        let worker = scope.spawn(|| work_until(&repo, sibling.path(), &is_over));
        let made: Vec<_> = makers
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        is_over.store(true, Ordering::Relaxed);
        disturbed = worker.join().unwrap();
        assert!(made.iter().all(Result::is_ok), "some could not be made");
    });
    assert!(disturbed > 20, "the sibling hardly ran");
    finish_removals();
    assert_eq!(list(&store).unwrap().len(), 1);
    assert_eq!(repo.fingerprint(), before);
}

fn one_more(next: &AtomicUsize) -> Option<usize> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    (number < gate_or_night(120, 480)).then_some(number)
}

/// Works as an agent does, panics when git fails, and returns how many commands ran.
fn work_until(repo: &TestRepo, folder: &Path, is_over: &AtomicBool) -> usize {
    let mut commands = 0;
    while !is_over.load(Ordering::Relaxed) {
        fs::write(folder.join("work.txt"), commands.to_string()).unwrap();
        for words in [
            &["add", "--all"][..],
            &["commit", "--quiet", "--allow-empty", "-m", "work"],
            &["status", "--porcelain"],
            &["log", "-1", "--format=%H"],
            &["worktree", "list"],
        ] {
            repo.git_in(folder, words);
            commands += 1;
        }
    }
    commands
}

#[test]
fn a_sibling_that_collects_garbage_and_prunes_harms_nobody() {
    let repo = TestRepo::new();
    let (store, basis) = open(&repo);
    let rager = Worktree::create(&store, &spec(&repo, "rager", &basis)).unwrap();
    let worker = Worktree::create(&store, &spec(&repo, "worker", &basis)).unwrap();
    let git = |args: &[&str]| repo.git_in(worker.path(), args);
    // A commit that nothing but a detached head holds, and one that nothing but a keep ref holds.
    git(&["switch", "--quiet", "--detach"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "detached"]);
    let tree = format!("{basis}^{{tree}}");
    let loose = repo.git_in(&store.git_dir(), &["commit-tree", "-m", "kept", &tree]);
    store.keep(&loose.parse().unwrap(), "loose").unwrap();
    let is_over = AtomicBool::new(false);
    let mut commands = 0;
    thread::scope(|scope| {
        let rage = scope.spawn(|| rage_until(&repo, &store, rager.path(), &is_over));
        for _ in 0..8 {
            fs::write(worker.path().join("work.txt"), commands.to_string()).unwrap();
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--allow-empty", "-m", "work"]);
            git(&["status", "--porcelain"]);
            git(&["fsck", "--no-dangling", "--connectivity-only"]);
            commands += 1;
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(rage.join().unwrap() > 0, "it never raged");
    });
    repo.git_in(&store.git_dir(), &["cat-file", "-e", &loose]);
    assert_eq!(
        git(&["rev-list", "--count", &format!("{basis}..HEAD")]),
        "9"
    );
    let head = git(&["rev-parse", "HEAD"]);
    let kept = worker.retire(&store, "worker").unwrap().unwrap();
    assert_eq!(kept.as_str(), head);
}

/// Returns how often it went through all of it.
fn rage_until(repo: &TestRepo, store: &Store, folder: &Path, is_over: &AtomicBool) -> usize {
    let mut rounds = 0;
    loop {
        for words in [
            &["reflog", "expire", "--expire=all", "--all"][..],
            &["gc", "--quiet", "--prune=now"],
            &["prune", "--expire=now"],
            &["worktree", "prune", "--expire=now"],
            &["pack-refs", "--all"],
            &["repack", "-a", "-d", "--quiet"],
        ] {
            // Git refuses some of them, which is the point.
            repo.git_succeeds(folder, words);
            repo.git_succeeds(&store.git_dir(), words);
        }
        rounds += 1;
        if is_over.load(Ordering::Relaxed) {
            return rounds;
        }
    }
}
