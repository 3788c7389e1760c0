//! Weaving against a loop of `git merge --no-ff`: what `pleach weave` costs, and how it grows.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pleach_testkit::{MergeLoop, Tangle, Tangled, merge_loop};
use tempfile::TempDir;

use crate::measure::{cpu_with_children, figure, least, verdict};

const ROUNDS: usize = 5;
/// The kernel counts the time of children in hundredths of a second, so several runs are one sample.
const RUNS: usize = 5;

const MOST_OF_LOOP: f64 = 1.0 / 50.0;
const MOST_BY_BRANCHES: f64 = 15.0;
const MOST_BY_FILES: f64 = 2.0;

/// Measures, prints, and tells whether every limit is kept.
#[expect(clippy::print_stdout, reason = "printing is what a benchmark does")]
pub(crate) fn run(pleach: &Path) -> bool {
    let tangle = |files, branches| {
        let mut tangle = Tangle::tasks(7, files, branches);
        tangle.parent = in_memory();
        tangle.make()
    };
    let hundred = tangle(20_000, 100);
    println!("weaving 100 branches in a repository of 20,000 files");
    let mut reference = None;
    let checkout = cpu_with_children(|| merge_loop(hundred.path(), &hundred.base, &[]));
    let git = cpu_with_children(|| {
        reference = Some(merge_loop(hundred.path(), &hundred.base, &hundred.branches));
    }) - checkout;
    let reference = reference.expect("the loop has ended");
    let thousand = tangle(20_000, 1_000);
    let (mut by_hundred, mut by_thousand) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        by_hundred.push(cost(pleach, &hundred, RUNS));
        if round % 2 == 0 {
            by_thousand.push(cost(pleach, &thousand, 1));
        }
    }
    check(pleach, &hundred, &reference);
    let (ours, large) = (least(&by_hundred), least(&by_thousand));
    println!("  loop of git merge --no-ff      {:8.0} ms CPU", git * 1e3);
    println!("  pleach weave                   {:8.0} ms CPU", ours * 1e3);
    figure("  times less", git / ours);
    let ratio = verdict("  of the loop", ours / git, MOST_OF_LOOP);
    println!(
        "  pleach weave, 1,000 branches   {:8.0} ms CPU",
        large * 1e3
    );
    let growth = verdict("  growth to 1,000 branches", large / ours, MOST_BY_BRANCHES);
    drop((hundred, thousand));
    let (few, many) = (tangle(1_000, 50), tangle(80_000, 50));
    let (mut by_few, mut by_many) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        by_few.push(cost(pleach, &few, RUNS));
        by_many.push(cost(pleach, &many, RUNS));
    }
    let (few, many) = (least(&by_few), least(&by_many));
    println!("weaving 50 branches");
    println!("  1,000 files                    {:8.0} ms CPU", few * 1e3);
    println!("  80,000 files                   {:8.0} ms CPU", many * 1e3);
    let files = verdict("  growth to 80,000 files", many / few, MOST_BY_FILES);
    ratio && growth && files
}

/// A folder in memory, where there is one: file systems without a journal are slow after deletions.
fn in_memory() -> Option<PathBuf> {
    let folder = PathBuf::from("/dev/shm");
    folder.is_dir().then_some(folder)
}

/// CPU seconds of one weaving, each in a fresh copy: objects that exist already cost nothing to write.
fn cost(pleach: &Path, tangled: &Tangled, runs: usize) -> f64 {
    let copies: Vec<Copy> = (0..runs).map(|_| Copy::new(tangled)).collect();
    let all = cpu_with_children(|| {
        for copy in &copies {
            copy.weave(pleach, tangled, &["--as", "woven"]);
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "a handful of runs")]
    let runs = runs as f64;
    all / runs
}

struct Copy {
    folder: TempDir,
    path: PathBuf,
}

impl Copy {
    fn new(tangled: &Tangled) -> Self {
        let folder = match in_memory() {
            Some(parent) => TempDir::new_in(parent),
            None => TempDir::new(),
        };
        let folder = folder.expect("a temporary folder can be made");
        let path = folder.path().join("repository");
        let copied = Command::new("cp")
            .arg("-a")
            .args([tangled.path(), &path])
            .status();
        assert!(copied.expect("there is cp").success());
        Self { folder, path }
    }

    fn weave(&self, pleach: &Path, tangled: &Tangled, more: &[&str]) -> Vec<u8> {
        let output = Command::new(pleach)
            .current_dir(&self.path)
            .arg("weave")
            .args(&tangled.branches)
            .args(["--onto", &tangled.base, "--json"])
            .args(more)
            .env("TMPDIR", self.folder.path())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output();
        output.expect("pleach was built").stdout
    }
}

/// A quick answer that is wrong would not count.
fn check(pleach: &Path, tangled: &Tangled, reference: &MergeLoop) {
    let printed = Copy::new(tangled).weave(pleach, tangled, &["--as", "woven"]);
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let tree = format!("\"tree\": \"{}\"", reference.tree);
    assert!(
        printed.contains(&tree),
        "another tree than git's: {printed}"
    );
    let left_out = printed.matches("\"branch\": ").count();
    assert_eq!(left_out, reference.left_out.len(), "who is left out");
}
