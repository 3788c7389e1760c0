//! A queue of ten thousand tasks: how fast it is given to Slurm, and what it costs whoever waits for it.

use std::path::Path;
use std::time::{Duration, Instant};

use pleach_testkit::SlurmCluster;

use super::commits::Commits;
use super::{Run, empty, hold_all, ours, path, scene, until_queued};
use crate::measure;

const HELD: usize = 10_000;

/// Slurm takes a thousand at once.
const SUBMISSIONS: f64 = 10.0;

const MOST_SECONDS: f64 = 5.0;
const MOST_MEGABYTES: f64 = 300.0;

/// The submissions are looked at every second.
const MOST_CPU_A_SECOND: f64 = 0.1;

/// Two looks at the queue are within.
const WATCHED: Duration = Duration::from_secs(25);

/// How long it may take until it is known that a node began, and until whoever comes next has taken everything up.
const MOST_UNTIL_PLACED: f64 = 5.0;
const MOST_UNTIL_TAKEN_UP: f64 = 10.0;

pub(super) fn run(program: &Path) -> bool {
    let cluster = SlurmCluster::start(1);
    hold_all(&cluster, "DOWN");
    let scene = scene(HELD, "true");
    let known = ours(program, &cluster, &scene).arg("status").output();
    assert!(known.expect("pleach runs").status.success());
    let home = scene.repo.beside("home/.local/state/pleach");
    let commits = Commits::of(&home.join("pleach.db"));
    let run = Run::start(program, &cluster, &scene, &path());
    let before = commits.count();
    println!("{HELD} tasks in the queue");
    let took = until_queued(&cluster, HELD, run.sent);
    let given = measure::verdict("  seconds until they are there", took, MOST_SECONDS);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let stored = (commits.count() - before) as f64;
    let stored = measure::verdict("  transactions of the database", stored, SUBMISSIONS);
    let idle = wait(&run);
    hold_all(&cluster, "UP");
    let up = Instant::now();
    let placed = run.wait_for("batch:task:placed").duration_since(up);
    run.kill();
    let placed = placed.as_secs_f64();
    let heard = measure::verdict("  seconds until one is placed", placed, MOST_UNTIL_PLACED);
    let mut again = ours(program, &cluster, &scene);
    again.args(["resume", "1", "--json"]);
    let again = Run::of(again);
    let taken_up = again.wait_for("batch:task:completed");
    let taken_up = taken_up.duration_since(again.sent).as_secs_f64();
    again.kill();
    hold_all(&cluster, "DOWN");
    empty(&cluster);
    let resumed = "  seconds until taken up again";
    let resumed = measure::verdict(resumed, taken_up, MOST_UNTIL_TAKEN_UP);
    given && stored && idle && heard && resumed
}

/// Whether it costs little to wait for them.
fn wait(run: &Run) -> bool {
    let process = run.process();
    let cpu = measure::seconds_of_process(&process);
    std::thread::sleep(WATCHED);
    let cpu = measure::seconds_of_process(&process) - cpu;
    let cpu = cpu / WATCHED.as_secs_f64();
    let idle = measure::verdict("  CPU a second while they wait", cpu, MOST_CPU_A_SECOND);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = measure::peak_memory_of(&process) as f64 / 1e6;
    measure::verdict("  memory of pleach in MB", megabytes, MOST_MEGABYTES) && idle
}
