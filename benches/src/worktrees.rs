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

use pleach_git::capture::{CaptureOptions, Captured, capture, keep_last_state};
use pleach_git::git::{CommitId, Git, Store};
use pleach_git::worktree::{Worktree, WorktreeSpec, finish_removals};
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
const MOST_RECYCLED: f64 = 0.2;
/// So many files differ between two tasks.
const DIFFERENT: usize = 20;

/// A large repository, its store, and room for worktrees.
pub(crate) struct WorktreeSetup {
    folder: TempDir,
    pub(crate) store: Store,
    pub(crate) basis: CommitId,
    /// Another commit, which differs in a few files.
    next: CommitId,
}

/// Compares making, capturing and removing, and tells whether all limits are kept.
pub(crate) fn compare() -> bool {
    let ground = WorktreeSetup::new();
    println!(
        "worktrees of {FILES} files in {}",
        ground.folder.path().display()
    );
    let made = ground.compare_making();
    let captured = ground.compare_capturing();
    let recycled = ground.compare_recycling();
    made && captured && recycled
}

impl WorktreeSetup {
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
        for number in 0..DIFFERENT {
            let name = file_name(number * (FILES / DIFFERENT));
            fs::write(project.join(name), "other\n").expect("it can be written");
        }
        git(&["commit", "--quiet", "--all", "-m", "next"]);
        let next = store.resolve_base(None).expect("there is another commit");
        Self {
            folder,
            store,
            basis,
            next,
        }
    }

    fn spec(&self, name: &str) -> WorktreeSpec {
        WorktreeSpec {
            path: self.folder.path().join("trees").join(name),
            branch: format!("pleach/task-1/{name}"),
            basis: self.basis.clone(),
        }
    }

    /// Takes the files of one task over to another, back and forth between two commits, against new ones.
    fn compare_recycling(&self) -> bool {
        let (mut stock, mut ours, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let mut worktree = self.make("used-0");
        for round in 1..=ROUNDS {
            let name = format!("used-{round}");
            let mut path = PathBuf::new();
            stock.push(measure::cpu_of_each(1, || path = self.make_with_git(&name)));
            let remove = [
                "worktree",
                "remove",
                "--force",
                path.to_str().expect("a plain path"),
            ];
            git(&self.store.git_dir(), &remove);
            let mut made = None;
            let new = format!("new-{round}");
            ours.push(measure::cpu_of_each(1, || made = Some(self.make(&new))));
            self.leave(made.expect("it was just made"));
            // What the last task did.
            fs::write(worktree.path().join(file_name(7)), "edited\n").expect("it can be written");
            fs::write(worktree.path().join("new.txt"), "new\n").expect("it can be written");
            let kept = keep_last_state(&self.store, &worktree, "bench").expect("it can be kept");
            let mut spec = self.spec(&name);
            if round % 2 == 1 {
                spec.basis = self.next.clone();
            }
            let mut used = Some(worktree);
            again.push(measure::cpu_of_each(1, || {
                let worktree = used.take().expect("it is called once");
                let spare = worktree.release(&self.store, &kept, &[]);
                let spare = spare.expect("it can be released").expect("it is worth it");
                let made = Worktree::recycle(&self.store, &spec, spare);
                used = Some(made.expect("it can be used again"));
            }));
            worktree = used.expect("it was just made");
            finish_removals();
        }
        self.leave(worktree);
        let to_stock = measure::middle_ratio(&again, &stock);
        let to_ours = measure::middle_ratio(&again, &ours);
        println!(
            "  a worktree that is used again  {:8.0} ms CPU",
            measure::least(&again) * 1e3
        );
        let kept = measure::verdict("  times git worktree add", to_stock, MOST_RECYCLED);
        measure::verdict("  times a new worktree", to_ours, MOST_RECYCLED) && kept
    }

    fn leave(&self, worktree: Worktree) {
        worktree
            .retire(&self.store, "bench")
            .expect("it can be removed");
        finish_removals();
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
    fn compare(&mut self, ground: &WorktreeSetup, stock: &Path, ours: Worktree) {
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
        let file = project.join(file_name(number));
        let folder = file.parent().expect("it is in a folder");
        fs::create_dir_all(folder).expect("there is room");
        let lines = 10 + next(20) * next(20);
        let mut text = String::new();
        for line in 0..lines {
            writeln!(text, "{line} {}", next(1 << 40)).expect("writing to a string works");
        }
        fs::write(file, text).expect("there is room");
    }
}

fn file_name(number: usize) -> String {
    format!("folder-{}/file-{number}.txt", number / FILES_IN_A_FOLDER)
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
