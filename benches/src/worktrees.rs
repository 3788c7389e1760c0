//! Worktrees and capturing against the git commands that do the same or less.
//!
//! In memory where the system has a place for that: some file systems without a journal make files far
//! more slowly after many were deleted, which would hit whoever comes second.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pleach_engine::capture::{CaptureOptions, Captured, capture, keep_last_state};
use pleach_engine::git::{CommitId, Git, Store};
use pleach_engine::worktree::{Worktree, WorktreeSpec, finish_removals};
use tempfile::TempDir;

use crate::measure;

const FILES: usize = 20_000;
const FILES_IN_A_FOLDER: usize = 9;
const ROUNDS: u32 = 7;
/// Calls in a sample, because the time of other programs is counted coarsely.
const CALLS: u32 = 8;
const MOST_CREATION: f64 = 1.1;
const MOST_REMOVAL: f64 = 0.1;
const MOST_CAPTURE: f64 = 1.5;

/// A large repository, its store, and room for worktrees.
pub(crate) struct Ground {
    folder: TempDir,
    pub(crate) store: Store,
    pub(crate) basis: CommitId,
}

/// Compares making, capturing and removing, and tells whether all limits are kept.
pub(crate) fn compare() -> bool {
    let ground = Ground::new();
    println!(
        "worktrees of {FILES} files in {}",
        ground.folder.path().display()
    );
    let made = ground.compare_making();
    let captured = ground.compare_capturing();
    made && captured
}

impl Ground {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.expect("there is room");
        let project = folder.path().join("project");
        write_files(&project);
        let git = |words: &[&str]| git(&project, words);
        git(&["init", "--quiet"]);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "files"]);
        let stores = folder.path().join("stores");
        let found = Git::find().expect("git is installed");
        let store = Store::open(found, &stores, &project).expect("the store can be made");
        let basis = store.resolve_base(None).expect("there is a commit");
        Self {
            folder,
            store,
            basis,
        }
    }

    fn spec(&self, name: &str) -> WorktreeSpec {
        WorktreeSpec {
            path: self.folder.path().join("trees").join(name),
            branch: format!("pleach/task-1/{name}"),
            basis: self.basis.clone(),
        }
    }

    pub(crate) fn make(&self, name: &str) -> Worktree {
        Worktree::create(&self.store, &self.spec(name)).expect("it can be made")
    }

    fn make_with_git(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join("stock").join(name);
        let text = path.to_str().expect("a plain path");
        let add = ["worktree", "add", "--quiet", "--no-track", "-b", name, text];
        let words = [&add[..], &[self.basis.as_str()]].concat();
        git(&self.store.git_dir(), &words);
        path
    }

    fn compare_making(&self) -> bool {
        let (mut stock, mut ours) = (Vec::new(), Vec::new());
        let mut removal = Removal::default();
        for round in 0..ROUNDS {
            let name = format!("round-{round}");
            let mut path = PathBuf::new();
            stock.push(measure::cpu_of_each(1, || path = self.make_with_git(&name)));
            let mut made = None;
            ours.push(measure::cpu_of_each(1, || made = Some(self.make(&name))));
            removal.compare(self, &path, made.expect("it was just made"));
        }
        let ratio = measure::middle_ratio(&ours, &stock);
        let (stock, ours) = (measure::least(&stock), measure::least(&ours));
        println!(
            "  git worktree add               {:8.0} ms CPU",
            stock * 1e3
        );
        println!("  a worktree                     {:8.0} ms CPU", ours * 1e3);
        let kept = measure::verdict("  times git worktree add", ratio, MOST_CREATION);
        removal.verdict() && kept
    }

    /// A few files differ, and the agent's own git has looked at all of them before.
    fn compare_capturing(&self) -> bool {
        let worktree = self.make("captured");
        let files = [("folder-1/file-10.txt", "edited"), ("new.txt", "new")];
        // What is as old as an index has to be read by whoever compares it.
        std::thread::sleep(Duration::from_millis(1100));
        for (name, text) in files {
            fs::write(worktree.path().join(name), text).expect("it can be written");
        }
        fs::remove_file(worktree.path().join("folder-2/file-20.txt")).expect("it was there");
        git(worktree.path(), &["status"]);
        let options = CaptureOptions {
            message: "work\n".into(),
            leave_out: vec!["folder-3/file-30.txt".into()],
        };
        let branch = format!("refs/heads/{}", worktree.branch());
        let (mut status, mut ours, mut committed) = (Vec::new(), Vec::new(), Vec::new());
        let mut take = || {
            let captured = capture(&self.store, &worktree, &options).expect("it can be captured");
            assert!(matches!(captured, Captured::Changed { .. }), "{captured:?}");
        };
        for _ in 0..ROUNDS {
            let look = || git(worktree.path(), &["status"]);
            status.push(measure::cpu_of_each(CALLS, look));
            let mut sum = 0.0;
            for _ in 0..CALLS {
                let update = ["update-ref", &branch, self.basis.as_str()];
                git(&self.store.git_dir(), &update);
                sum += measure::cpu_of_each(1, &mut take);
            }
            ours.push(sum / f64::from(CALLS));
            committed.push(measure::cpu_of_each(CALLS, &mut take));
        }
        let ratio = measure::middle_ratio(&ours, &status);
        let committed_ratio = measure::middle_ratio(&committed, &status);
        let [status, ours, committed] =
            [status, ours, committed].map(|samples| measure::least(&samples));
        println!(
            "  git status                     {:8.0} ms CPU",
            status * 1e3
        );
        println!("  capturing                      {:8.0} ms CPU", ours * 1e3);
        println!(
            "  capturing what is committed    {:8.0} ms CPU",
            committed * 1e3
        );
        let kept = measure::verdict("  times git status", ratio, MOST_CAPTURE);
        measure::verdict(
            "  times git status, committed",
            committed_ratio,
            MOST_CAPTURE,
        ) && kept
    }
}

/// What taking worktrees away costs, in CPU time and on the clock.
#[derive(Default)]
struct Removal {
    stock: Vec<f64>,
    ours: Vec<f64>,
    stock_clock: Vec<f64>,
    ours_clock: Vec<f64>,
}

impl Removal {
    fn compare(&mut self, ground: &Ground, stock: &Path, ours: Worktree) {
        let path = stock.to_str().expect("a plain path");
        let began = Instant::now();
        self.stock.push(measure::cpu_of_each(1, || {
            git(
                &ground.store.git_dir(),
                &["worktree", "remove", "--force", path],
            );
        }));
        self.stock_clock.push(began.elapsed().as_secs_f64());
        let kept = keep_last_state(&ground.store, &ours, "bench").expect("it can be kept");
        let mut ours = Some(ours);
        let began = Instant::now();
        self.ours.push(measure::cpu_of_each(1, || {
            let worktree = ours.take().expect("it is called once");
            let removed = worktree.remove(&ground.store, &kept);
            removed.expect("it can be removed");
        }));
        self.ours_clock.push(began.elapsed().as_secs_f64());
        finish_removals();
    }

    fn verdict(&self) -> bool {
        let Self {
            stock,
            ours,
            stock_clock,
            ours_clock,
        } = self;
        let [stock, ours, stock_clock, ours_clock] =
            [stock, ours, stock_clock, ours_clock].map(|samples| measure::least(samples));
        println!(
            "  git worktree remove --force    {:8.0} ms CPU",
            stock * 1e3
        );
        println!("  taking it away                 {:8.0} ms CPU", ours * 1e3);
        let kept = measure::verdict("  times git worktree remove", ours / stock, MOST_REMOVAL);
        let clock = ours_clock / stock_clock;
        measure::verdict("  times its time on the clock", clock, MOST_REMOVAL) && kept
    }
}

/// Folders of a few files each, with sizes like those of source code.
fn write_files(project: &Path) {
    let mut random = 42_u64;
    let mut next = |limit: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % limit
    };
    for number in 0..FILES {
        let folder = project.join(format!("folder-{}", number / FILES_IN_A_FOLDER));
        fs::create_dir_all(&folder).expect("there is room");
        let lines = 10 + next(20) * next(20);
        let mut text = String::new();
        for line in 0..lines {
            writeln!(text, "{line} {}", next(1 << 40)).expect("writing to a string works");
        }
        fs::write(folder.join(format!("file-{number}.txt")), text).expect("there is room");
    }
}

/// Git as an agent would run it, without anybody's settings.
pub(crate) fn git(folder: &Path, words: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=Bench", "-c", "user.email=bench@localhost"])
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("git can be started");
    assert!(status.success(), "git {words:?} failed");
}
