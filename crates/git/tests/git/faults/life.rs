//! One whole life of a task: worktree, work, capture, weaving, publishing, and the worktree away.
//!
//! Knows nothing of who kills it; tells each step when it is done, so that others know what must not
//! be lost.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pleach_domain::choice::Strategy;
use pleach_git::capture::{CaptureOptions, Captured, capture, keep_captured};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::weave::{Strand, StrandOutcome, WeaveFolder, weave};
use pleach_git::worktree::{Worktree, WorktreeSpec, finish_removals};
use pleach_testkit::TestRepo;

const PROJECT: &str = "PLEACH_TEST_PROJECT";
const STORES: &str = "PLEACH_TEST_STORES";
const NAME: &str = "PLEACH_TEST_NAME";
const GIT: &str = "PLEACH_TEST_GIT";

/// What every woven tree has in the end.
const FILES: &str = "README.md\ncommitted.txt\nloose.txt\nstory.txt";
const STORY: &str = "ONCE\nupon\na\nTIME";

/// The life of one task of a project.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) project: PathBuf,
    /// The folder of the stores, as the state folder has one.
    pub(crate) stores: PathBuf,
    /// The name of the task, which is what it writes as well.
    pub(crate) name: String,
}

impl Life {
    pub(crate) fn new(repo: &TestRepo, stores: &str, name: &str) -> Self {
        Self {
            project: repo.path().to_owned(),
            stores: repo.beside(stores),
            name: name.to_owned(),
        }
    }

    pub(crate) fn open(&self, git: Git) -> Store {
        Store::open(git, &self.stores, &self.project).unwrap()
    }

    pub(crate) fn spec(&self, store: &Store) -> WorktreeSpec {
        WorktreeSpec {
            path: self.stores.join("worktrees").join(&self.name),
            branch: format!("pleach/task-1/{}", self.name),
            basis: store.resolve_base(None).unwrap(),
        }
    }

    /// The branch that it leaves in the user's repository.
    pub(crate) fn published(&self) -> String {
        format!("pleach/{}", self.name)
    }

    /// Lives; returns the last commit and the name it was published under.
    pub(crate) fn live(&self, git: Git, tell: &dyn Fn(&str)) -> (CommitId, String) {
        let store = self.open(git);
        tell("opened");
        let spec = self.spec(&store);
        let worktree = Worktree::create(&store, &spec).unwrap();
        tell("created");
        self.work(worktree.path(), tell);
        let options = CaptureOptions {
            message: "the rest\n".into(),
            leave_out: Vec::new(),
        };
        let captured = capture(&store, &worktree, &options).unwrap();
        let Captured::Changed { commit, .. } = &captured else {
            panic!("nothing was captured");
        };
        tell(&format!("commit {commit}"));
        let kept = keep_captured(&store, &worktree, &captured, &self.name);
        let kept = kept.unwrap().unwrap();
        tell("kept");
        let tip = self.weave(&store, commit);
        store.keep(&tip, &format!("woven/{}", self.name)).unwrap();
        tell(&format!("commit {tip}"));
        let published = store.publish(&tip, &self.published(), None).unwrap();
        tell(&format!("published {tip} {published}"));
        worktree.remove(&store, &kept).unwrap();
        tell("removed");
        finish_removals();
        (tip, published)
    }

    /// What an agent would do: some of the work is committed, some is not.
    fn work(&self, folder: &Path, tell: &dyn Fn(&str)) {
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(folder).args(["-c", "user.name=Ann"]);
            command.args(["-c", "user.email=ann@example.com"]);
            let output = command.args(words).output().unwrap();
            assert!(output.status.success(), "{words:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        fs::write(folder.join("committed.txt"), &self.name).unwrap();
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "a part"]);
        tell(&format!("commit {}", git(&["rev-parse", "HEAD"])));
        fs::write(folder.join("loose.txt"), &self.name).unwrap();
        tell("wrote");
    }

    fn weave(&self, store: &Store, work: &CommitId) -> CommitId {
        let named = |branch: &str| {
            let name = format!("refs/remotes/local/{branch}");
            store.ref_commit(&name).unwrap().unwrap()
        };
        let commits = [work.clone(), named("one"), named("two"), named("three")];
        let strands = commits.map(|commit| Strand {
            subject: format!("part of {}", self.name),
            commit,
            basis: None,
        });
        let weave_folder = WeaveFolder::of_store(store).unwrap();
        let base = store.resolve_base(None).unwrap();
        let woven = weave(&weave_folder, &base, &strands, Strategy::Merge).unwrap();
        let is_in = |place: usize| woven.outcomes[place] == StrandOutcome::Merged;
        assert_eq!([0, 1, 2, 3].map(is_in), [true, true, false, true]);
        woven.tip
    }

    /// Checks what a life that came to its end left in the user's repository.
    #[track_caller]
    pub(crate) fn check(&self, repo: &TestRepo, tip: &CommitId, published: &str) {
        let show = |what: &str| repo.git(&["show", &format!("{tip}:{what}")]);
        let at = repo.git(&["rev-parse", &format!("refs/heads/{published}")]);
        assert_eq!(at, tip.as_str());
        let files = repo.git(&["ls-tree", "-r", "--name-only", tip.as_str()]);
        assert_eq!(files, FILES);
        assert_eq!(show("story.txt"), STORY);
        assert_eq!(show("committed.txt"), self.name);
        assert_eq!(show("loose.txt"), self.name);
    }

    pub(crate) fn process(&self, git: &Path) -> Command {
        let mut command = Command::new("/proc/self/exe");
        command
            .args([
                "--exact",
                "faults::life::the_role_of_a_child",
                "--nocapture",
            ])
            .env(PROJECT, &self.project)
            .env(STORES, &self.stores)
            .env(NAME, &self.name)
            .env(GIT, git)
            .stdout(Stdio::piped());
        command
    }
}

#[test]
fn the_role_of_a_child() {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(project), Some(stores), Some(git)) = (set(PROJECT), set(STORES), set(GIT)) else {
        return;
    };
    let name = std::env::var(NAME).unwrap();
    let life = Life {
        project,
        stores,
        name,
    };
    let tell = |what: &str| {
        let told = format!("\nstep {what}\n");
        std::io::stdout().write_all(told.as_bytes()).unwrap();
    };
    life.live(Git::at(git).unwrap(), &tell);
}

/// The steps that a process of a life told of.
pub(crate) fn steps(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    let steps = text.lines().filter_map(|line| line.strip_prefix("step "));
    steps.map(str::to_owned).collect()
}

/// The plain git of this machine.
pub(crate) fn plain_git() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("git"));
    found.find(|file| file.exists()).unwrap()
}
