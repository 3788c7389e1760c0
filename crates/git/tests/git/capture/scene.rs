//! A repository with a worktree in which a test plays the agent.
//!
//! Knows nothing of what the agent does.

use std::fs;
use std::path::{Path, PathBuf};

use pleach_git::capture::{CaptureOptions, Captured, capture};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{Worktree, WorktreeSpec};
use pleach_testkit::{Fingerprint, TestRepo};

/// A repository with a worktree in which the test plays the agent.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
    pub(crate) store: Store,
    pub(crate) worktree: Worktree,
    before: Fingerprint,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::new();
        repo.write("a.txt", "a\n");
        repo.write("dir/b.txt", "b\n");
        repo.write("PLAN.md", "- [ ] task\n");
        repo.write(".gitignore", "*.log\n/out/\n");
        repo.commit("basis");
        Self::of(repo)
    }

    pub(crate) fn of(repo: TestRepo) -> Self {
        let stores = repo.beside("stores");
        let store = Store::open(Git::find().unwrap(), &stores, repo.path()).unwrap();
        let spec = WorktreeSpec {
            path: repo.beside("worktrees/task-1"),
            branch: "pleach/task-1/1".into(),
            basis: store.resolve_base(None).unwrap(),
        };
        let worktree = Worktree::create(&store, &spec).unwrap();
        let before = repo.fingerprint();
        Self {
            repo,
            store,
            worktree,
            before,
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.worktree.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.repo.git_in(self.worktree.path(), args)
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    #[track_caller]
    pub(crate) fn capture_with(&self, leave_out: &[&str]) -> Captured {
        let options = CaptureOptions {
            message: "Task 1: do it\n".into(),
            leave_out: leave_out.iter().map(PathBuf::from).collect(),
        };
        let captured = capture(&self.store, &self.worktree, &options).unwrap();
        assert_eq!(self.repo.fingerprint(), self.before);
        captured
    }

    /// Captures, and checks that the branch is there and holds the basis.
    #[track_caller]
    pub(crate) fn capture(&self) -> Work {
        let captured = self.capture_with(&[]);
        let Captured::Changed {
            commit,
            files,
            agent_commits,
            ..
        } = captured
        else {
            panic!("nothing was captured");
        };
        let branch = self.store.ref_commit("refs/heads/pleach/task-1/1").unwrap();
        assert_eq!(branch.as_ref(), Some(&commit));
        let basis = self.worktree.basis();
        assert!(self.store.is_ancestor(basis, &commit).unwrap());
        Work {
            commit,
            files,
            agent_commits,
        }
    }

    pub(crate) fn read(&self, commit: &CommitId, path: &str) -> Option<String> {
        let content = self.store.read_file_at(commit, path).unwrap();
        content.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// Git in the store, as an administrator would look at it.
    pub(crate) fn look(&self, args: &[&str]) -> String {
        self.repo.git_in(&self.store.git_dir(), args)
    }
}

/// What was captured.
pub(crate) struct Work {
    pub(crate) commit: CommitId,
    pub(crate) files: Vec<String>,
    pub(crate) agent_commits: usize,
}
