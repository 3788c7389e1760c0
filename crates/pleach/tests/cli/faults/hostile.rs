//! One agent that prunes, clears and deletes whatever git lets it, beside others that work.
//!
//! Leaves out what only a sandbox can hold: deleting the files of others, and forcing git twice to do
//! so (`git worktree remove -f -f`).

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pleach_git::capture::{CaptureOptions, Captured, capture};
use pleach_git::git::{Git, Store};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::TestRepo;

use super::check_objects;

const COMMITS: usize = 25;

/// However slow the others are, the hostile one comes to an end.
const MOST_ROUNDS: usize = 100;

const SIBLINGS: [&str; 3] = ["2", "3", "4"];

/// Everything that an agent might do to what it shares, in a repository it takes for its own.
const DEEDS: [&[&str]; 22] = [
    &["gc", "--quiet", "--prune=now"],
    &["gc", "--quiet", "--aggressive", "--prune=all", "--force"],
    &["prune", "--expire=now"],
    &["prune-packed"],
    &["repack", "-a", "-d", "-q"],
    &["repack", "-A", "-d", "-q", "--unpack-unreachable=now"],
    &[
        "reflog",
        "expire",
        "--expire=now",
        "--expire-unreachable=now",
        "--all",
    ],
    &["pack-refs", "--all", "--prune"],
    &["stash", "push", "--include-untracked"],
    &["stash", "clear"],
    &["worktree", "prune", "--expire=now"],
    &["worktree", "remove", "--force", "../2"],
    &["update-ref", "-d", "refs/heads/pleach/task-1/2"],
    &["update-ref", "-d", "refs/pleach/keep/precious"],
    &["update-ref", "-d", "refs/remotes/local/main"],
    &["branch", "-D", "pleach/task-1/3"],
    &["branch", "--force", "pleach/task-1/4", "HEAD"],
    &["remote", "prune", "origin"],
    &["maintenance", "run", "--task=gc"],
    &["config", "user.name", "Somebody Else"],
    &["config", "gc.auto", "1"],
    &["config", "alias.st", "status"],
];

struct Scene {
    repo: TestRepo,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("shared.txt", "one\n");
        repo.commit("second");
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        let scene = Self { repo, store };
        // What only a kept ref holds, so that it would be pruned without it.
        let gone = scene.worktree("gone");
        scene.commit(&gone, 0);
        gone.retire(&scene.store, "precious").unwrap();
        scene
    }

    fn worktree(&self, task: &str) -> Worktree {
        let spec = WorktreeSpec {
            path: self.repo.beside("worktrees").join(task),
            branch: format!("pleach/task-1/{task}"),
            basis: self.store.resolve_base(None).unwrap(),
        };
        Worktree::create(&self.store, &spec).unwrap()
    }

    fn commit(&self, worktree: &Worktree, number: usize) {
        let file = format!("{number}.txt");
        fs::write(worktree.path().join(file), worktree.branch()).unwrap();
        let git = |words: &[&str]| self.repo.git_in(worktree.path(), words);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", &number.to_string()]);
        assert_eq!(git(&["status", "--porcelain"]), "");
    }

    /// Every ref that no agent may move.
    fn others(&self) -> String {
        let list = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let refs = self.repo.git_in(&self.store.git_dir(), &list);
        let others = refs
            .lines()
            .filter(|line| !line.contains(" refs/heads/pleach/task-1/"));
        others.collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn check_capture(&self, worktree: &Worktree) {
        fs::write(worktree.path().join("last.txt"), "not committed\n").unwrap();
        let options = CaptureOptions {
            message: "the rest\n".into(),
            leave_out: Vec::new(),
        };
        let captured = capture(&self.store, worktree, &options).unwrap();
        let Captured::Changed {
            files,
            agent_commits,
            ..
        } = captured
        else {
            panic!("nothing was captured");
        };
        assert_eq!((files.len(), agent_commits), (COMMITS + 1, COMMITS));
    }
}

#[test]
fn an_agent_that_prunes_and_deletes_in_a_loop_harms_no_sibling() {
    let scene = Scene::new();
    let hostile = scene.worktree("1");
    let siblings = SIBLINGS.map(|task| scene.worktree(task));
    let before = scene.others();
    let working = AtomicUsize::new(siblings.len());
    let mut rounds = 0;
    thread::scope(|scope| {
        for sibling in &siblings {
            let (scene, working) = (&scene, &working);
            scope.spawn(move || {
                let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    (0..COMMITS).for_each(|number| scene.commit(sibling, number));
                }));
                working.fetch_sub(1, Ordering::SeqCst);
                worked.unwrap();
            });
        }
        while working.load(Ordering::SeqCst) > 0 && rounds < MOST_ROUNDS {
            fs::write(hostile.path().join("shared.txt"), rounds.to_string()).unwrap();
            for deed in DEEDS {
                scene.repo.git_succeeds(hostile.path(), deed);
            }
            rounds += 1;
        }
    });
    assert!(rounds > 1, "they worked at the same time");
    assert_eq!(scene.others(), before);
    for sibling in &siblings {
        let log = scene
            .repo
            .git_in(sibling.path(), &["log", "--format=%s", "local/main.."]);
        assert_eq!(log.lines().count(), COMMITS, "{log}");
    }
    check_objects(&scene.repo, &scene.store.git_dir());
    for sibling in &siblings {
        scene.check_capture(sibling);
    }
    let kept = "refs/pleach/keep/precious:0.txt";
    scene
        .repo
        .git_in(&scene.store.git_dir(), &["cat-file", "-e", kept]);
}
