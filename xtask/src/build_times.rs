//! Measures what one touched file costs: `cargo build` after each of a few typical files, here and at another revision.
//!
//! Both trees take turns, so that whatever else the machine does slows both; the best of a few rounds counts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::{root, step, target};

const ROUNDS: usize = 3;

/// What people change, and where it is or was.
const TYPICAL: [(&str, &[&str]); 6] = [
    (
        "the loop",
        &[
            "crates/loop/src/run_loop.rs",
            "crates/engine/src/run/run_loop.rs",
        ],
    ),
    (
        "git",
        &[
            "crates/git/src/git/push.rs",
            "crates/engine/src/git/push.rs",
        ],
    ),
    (
        "processes",
        &[
            "crates/system/src/process/wrapper.rs",
            "crates/process/src/wrapper.rs",
            "crates/engine/src/process/wrapper.rs",
        ],
    ),
    ("a route", &["crates/server/src/routes/tasks.rs"]),
    ("a command", &["crates/cli/src/commands/status.rs"]),
    ("the core", &["crates/domain/src/batch/decide.rs"]),
];

/// How long a build took: by the clock, and by all processors together.
#[derive(Debug, Clone, Copy)]
struct BuildTime {
    wall: Duration,
    processor: Duration,
}

impl BuildTime {
    const NEVER: Self = Self {
        wall: Duration::MAX,
        processor: Duration::MAX,
    };

    fn or_faster(self, other: Self) -> Self {
        Self {
            wall: self.wall.min(other.wall),
            processor: self.processor.min(other.processor),
        }
    }
}

/// Prints a table of the times here, and beside them those of another revision with the ratio.
pub(crate) fn run(revision: Option<&str>) -> Result<(), String> {
    let mut trees = vec![root().to_owned()];
    if let Some(revision) = revision {
        trees.push(tree_of(revision)?);
    }
    for tree in &trees {
        build(tree)?;
    }
    let mut head = "                  wall  processors".to_owned();
    if let Some(revision) = revision {
        let _ = write!(
            head,
            "   at {revision}: wall  processors   ratio: wall  processors"
        );
    }
    println!("{head}");
    for (what, paths) in TYPICAL {
        let mut best = vec![BuildTime::NEVER; trees.len()];
        for _ in 0..ROUNDS {
            for (tree, best) in trees.iter().zip(&mut best) {
                touch(tree, paths)?;
                *best = best.or_faster(build(tree)?);
            }
        }
        println!("{what:<12}{}", columns(&best, revision.map_or(0, str::len)));
    }
    Ok(())
}

fn columns(times: &[BuildTime], revision: usize) -> String {
    let mut row = String::new();
    for (number, time) in times.iter().enumerate() {
        let width = if number == 0 { 8 } else { revision + 11 };
        let (wall, processor) = (time.wall.as_secs_f64(), time.processor.as_secs_f64());
        let _ = write!(row, "{wall:>width$.1} s{processor:>10.1} s");
    }
    if let [here, there] = times {
        let wall = here.wall.div_duration_f64(there.wall);
        let processor = here.processor.div_duration_f64(there.processor);
        let _ = write!(row, "{wall:>14.2}{processor:>12.2}");
    }
    row
}

/// A worktree of the revision with a target folder of its own; it stays, so that the next measurement begins warm.
fn tree_of(revision: &str) -> Result<PathBuf, String> {
    let tree = root().join(target()).join("build-times").join(revision);
    if !tree.join("Cargo.toml").is_file() {
        let mut add = Command::new("git");
        add.args(["worktree", "add", "--force", "--detach"]);
        step(add.arg(&tree).arg(revision))?;
    }
    Ok(tree)
}

/// Makes a file look changed, as saving it in an editor does.
fn touch(tree: &Path, paths: &[&str]) -> Result<(), String> {
    let found = paths.iter().map(|path| tree.join(path));
    let path = found
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| format!("{} has none of {}", tree.display(), paths.join(", ")))?;
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn build(tree: &Path) -> Result<BuildTime, String> {
    let (began, used) = (Instant::now(), children_time());
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked"]);
    cargo.current_dir(tree).env_remove("CARGO_TARGET_DIR");
    // One of the trees may have built its board, and the other not.
    cargo.env("PLEACH_WEB", "skip");
    let status = cargo.stdout(Stdio::null()).status();
    let wall = began.elapsed();
    match status {
        Ok(status) if status.success() => Ok(BuildTime {
            wall,
            processor: children_time().saturating_sub(used),
        }),
        Ok(status) => Err(format!("{}: cargo build: {status}", tree.display())),
        Err(error) => Err(format!("cargo build: {error}")),
    }
}

/// What all programs that ended below this one have used of the processors, as the kernel counts it, in hundredths.
fn children_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}
