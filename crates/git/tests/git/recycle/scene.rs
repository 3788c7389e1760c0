//! A repository with two commits, an agent of shell in a worktree of the first, and a look at what the second becomes.
//!
//! Knows nothing of what the agent leaves behind.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pleach_git::capture::keep_last_state;
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{Spare, Worktree, WorktreeError, WorktreeSpec};
use pleach_testkit::TestRepo;

use super::portrait::portrait;

/// Enough files that looking at them is cheaper than making them.
const FILES: usize = 220;

pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
    pub(crate) store: Store,
    /// What the first task begins with.
    pub(crate) first: CommitId,
    pub(crate) second: CommitId,
    /// Which pair of tasks this is.
    turn: Cell<u32>,
    /// What fresh worktrees are like.
    fresh: RefCell<HashMap<String, String>>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::new();
        for n in 0..FILES {
            repo.write(format!("many/{}/{n}.txt", n % 7), format!("{n}\n"));
        }
        repo.write("a.txt", "a\n");
        repo.write("gone.txt", "goes\n");
        repo.write("going/only.txt", "goes with its folder\n");
        repo.write("kind/file.txt", "becomes a file\n");
        repo.write("deep/er/c.txt", "c\n");
        repo.write("same/of/old.txt", "old\n");
        repo.write(
            ".gitignore",
            "*.log\n/out/\n/target/\n/.tools/\n/web/modules\n",
        );
        repo.write("web/page.html", "page\n");
        let sh = |script: &str| run(&repo, repo.path(), script);
        sh("echo run > run.sh; chmod +x run.sh; ln -s a.txt link; ln -s many/1 folder-link");
        sh("git add --all; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub");
        sh("git commit -qm first; git rev-parse HEAD > ../first");
        sh("echo b >> a.txt; rm -r gone.txt going kind; echo file > kind; chmod -x run.sh");
        sh("ln -sfn many/2 folder-link; mkdir new; echo n > new/n.txt; echo 1 >> many/1/1.txt");
        sh("git add --all -- . ':!sub'; git commit -qm second");
        let store = Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path()).unwrap();
        let second = store.resolve_base(None).unwrap();
        let first = fs::read_to_string(repo.beside("first")).unwrap();
        Self {
            first: first.trim().parse().unwrap(),
            second,
            repo,
            store,
            turn: Cell::default(),
            fresh: RefCell::default(),
        }
    }

    /// Begins with other tasks.
    pub(crate) fn turn(&self) {
        self.turn.set(self.turn.get() + 1);
    }

    pub(crate) fn spec(&self, task: &str, basis: &CommitId) -> WorktreeSpec {
        WorktreeSpec {
            path: self.path(task),
            branch: format!("pleach/task-{}/{task}", self.turn.get()),
            basis: basis.clone(),
        }
    }

    pub(crate) fn path(&self, task: &str) -> PathBuf {
        let folder = format!("worktrees/turn-{}/task-{task}", self.turn.get());
        self.repo.beside(&folder)
    }

    /// A worktree of the first commit in which an agent did something.
    #[track_caller]
    pub(crate) fn worked(&self, deed: &str) -> Worktree {
        let worktree = Worktree::create(&self.store, &self.spec("one", &self.first)).unwrap();
        run(&self.repo, worktree.path(), deed);
        worktree
    }

    /// What is left for others when the work of that agent is kept.
    #[track_caller]
    pub(crate) fn spare(&self, deed: &str, cache: &[&str]) -> Option<Spare> {
        let worktree = self.worked(deed);
        let kept = keep_last_state(&self.store, &worktree, "one").unwrap();
        let cache: Vec<String> = cache.iter().map(|path| (*path).to_owned()).collect();
        let spare = worktree.release(&self.store, &kept, &cache).unwrap();
        assert!(!self.path("one").exists());
        spare
    }

    /// The same folder, for a second task.
    pub(crate) fn recycled(
        &self,
        deed: &str,
        cache: &[&str],
    ) -> Result<Worktree, Box<WorktreeError>> {
        let spare = self.spare(deed, cache).expect("it has many files");
        let spec = self.spec("two", &self.second);
        Worktree::recycle(&self.store, &spec, spare).map_err(Box::new)
    }

    /// Checks that a worktree cannot be told from a fresh one, but for some paths.
    #[track_caller]
    pub(crate) fn check_like_fresh(&self, worktree: &Worktree, but_for: &[&str], what: &str) {
        let used = portrait(self, worktree, but_for);
        let mut portraits = self.fresh.borrow_mut();
        let of = format!("{} but for {but_for:?}", worktree.basis());
        let new = portraits.entry(of).or_insert_with(|| {
            let spec = self.spec("new", worktree.basis());
            let fresh = Worktree::create(&self.store, &spec).unwrap();
            portrait(self, &fresh, but_for)
        });
        let only_in = |one: &str, other: &str| {
            let lines = one.lines().filter(|line| !other.contains(line));
            lines.collect::<Vec<_>>().join("\n  ")
        };
        let (more, less) = (only_in(&used, new), only_in(new, &used));
        assert!(
            used == *new,
            "after {what}\nthere is\n  {more}\nand not\n  {less}"
        );
    }
}

/// Runs a script as an agent would, in a folder.
#[track_caller]
pub(crate) fn run(repo: &TestRepo, folder: &Path, script: &str) {
    let status = Command::new("sh")
        .args(["-e", "-c", script])
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", repo.beside(""))
        .env("OUTSIDE", repo.beside("outside"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "Tess")
        .env("GIT_AUTHOR_EMAIL", "tess@example.com")
        .env("GIT_COMMITTER_NAME", "Tess")
        .env("GIT_COMMITTER_EMAIL", "tess@example.com")
        .status()
        .unwrap();
    assert!(status.success(), "{script}");
}
