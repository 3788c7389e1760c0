//! What Pleach adds to a cluster: how fast it gives a burst of tasks to Slurm, how long small tasks take through it, and
//! how much it asks of the controller and of the share.
//!
//! Beside it, the loops around `sbatch` that somebody would write by hand, on the same Slurm.

#![expect(clippy::print_stdout, reason = "printing is what a benchmark does")]

mod commits;
mod held;
mod opens;
mod polite;
mod taken_in;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pleach_testkit::{Scene, SlurmCluster};

use crate::measure;

/// So many tasks are ready at once.
const BURST: usize = 1_000;

/// So many are submitted by hand, one after the other; more would take as much longer.
const BY_HAND: usize = 100;

const MOST_SECONDS: f64 = 2.0;
const MOST_TIMES_LOOP: f64 = 0.2;
const MOST_TIMES_ARRAY: f64 = 3.0;

/// What a burst may take beyond what the array alone takes, however fast that is.
const BEYOND_ARRAY: f64 = 0.5;

/// So many tasks of a second each.
const SMALL: usize = 50;
const MOST_TIMES_SMALL: f64 = 1.15;

/// The seconds between two looks at the queue.
const LOOK_AT_QUEUE: f64 = 10.0;

const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) fn run(program: &Path) -> bool {
    let burst = burst(program);
    let small = small_tasks(program);
    let held = held::run(program);
    let taken_in = taken_in::run();
    let polite = polite::run(program);
    burst && small && held && taken_in && polite
}

/// Settings for a cluster whose share is beside the repository.
fn settings(tasks: usize) -> String {
    format!(
        "retries = 0\nland = \"none\"\nradar = \"off\"\nwhere = \"slurm\"\nmax_parallel = {tasks}\n\
         cluster.most = {tasks}\ncluster.share = \"BESIDE/share\"\ncluster.scratch = \"BESIDE/node\"\n\
         cluster.look = \"{LOOK_AT_QUEUE}s\"\n"
    )
}

fn scene(tasks: usize, shell: &str) -> Scene {
    scene_with(tasks, "", shell)
}

fn scene_with(tasks: usize, more: &str, shell: &str) -> Scene {
    let plan: Vec<String> = (1..=tasks).map(|task| task.to_string()).collect();
    let settings = format!("{more}{}", settings(tasks));
    Scene::of(&plan.join(", "), &settings, shell)
}

/// A run of ours, and when it told that everything that can start was sent on its way.
struct Run {
    child: Child,
    /// What it tells, with when.
    told: Receiver<(Instant, String)>,
    sent: Instant,
}

impl Run {
    fn start(program: &Path, cluster: &SlurmCluster, scene: &Scene, path: &str) -> Self {
        let mut command = ours(program, cluster, scene);
        command.args(["run", "--yes", "--json"]).env("PATH", path);
        let plan = fs::read_to_string(scene.repo.path().join("plan.json"));
        let tasks = plan.expect("it is there").matches("\"id\"").count();
        let mut run = Self::of(command);
        for _ in 0..tasks {
            run.sent = run.wait_for("batch:task:started");
        }
        run
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("pleach runs");
        let output = child.stdout.take().expect("it is a pipe");
        let (say, told) = channel();
        // Somebody has to read all that it tells.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = say.send((Instant::now(), line));
            }
        });
        let sent = Instant::now();
        Self { child, told, sent }
    }

    /// When it told of the next event of a kind.
    fn wait_for(&self, event: &str) -> Instant {
        let event = format!("\"{event}\"");
        loop {
            let (at, line) = self.told.recv_timeout(PATIENCE).expect(&event);
            if line.contains(&event) {
                return at;
            }
        }
    }

    fn process(&self) -> String {
        self.child.id().to_string()
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

fn ours(program: &Path, cluster: &SlurmCluster, scene: &Scene) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(scene.repo.path())
        .env_clear()
        .env("PATH", path())
        .env("HOME", scene.repo.beside("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("SLURM_CONF", cluster.conf());
    command
}

fn path() -> String {
    std::env::var("PATH").expect("there are programs")
}

/// Waits until the queue has so many jobs, and tells how long that took.
fn until_queued(cluster: &SlurmCluster, count: usize, since: Instant) -> f64 {
    while cluster.queue().len() != count {
        assert!(since.elapsed() < PATIENCE, "{} jobs", cluster.queue().len());
        std::thread::sleep(LOOK);
    }
    since.elapsed().as_secs_f64()
}

fn submit(cluster: &SlurmCluster, words: &[&str], script: &str) {
    let mut sbatch = cluster.program("sbatch");
    sbatch.args(["--parsable", "--output=/dev/null", "--chdir=/"]);
    sbatch
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut child = sbatch.spawn().expect("sbatch is installed");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin.write_all(script.as_bytes()).expect("it listens");
    drop(stdin);
    assert!(child.wait().expect("it ends").success());
}

/// Whether jobs may begin.
fn hold_all(cluster: &SlurmCluster, state: &str) {
    let mut scontrol = cluster.program("scontrol");
    let state = format!("State={state}");
    scontrol.args(["update", "PartitionName=all", &state]);
    assert!(scontrol.status().expect("it is installed").success());
}

fn empty(cluster: &SlurmCluster) {
    let mut scancel = cluster.program("scancel");
    scancel.args(["--partition=all"]);
    assert!(scancel.status().expect("it is installed").success());
    until_queued(cluster, 0, Instant::now());
}

fn burst(program: &Path) -> bool {
    let cluster = SlurmCluster::start(2);
    hold_all(&cluster, "DOWN");
    let script = "#!/bin/sh\ntrue\n";
    let began = Instant::now();
    for _ in 0..BY_HAND {
        submit(&cluster, &[], script);
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let by_hand = until_queued(&cluster, BY_HAND, began) * (BURST / BY_HAND) as f64;
    empty(&cluster);
    let began = Instant::now();
    submit(&cluster, &[&format!("--array=1-{BURST}")], script);
    let array = until_queued(&cluster, BURST, began);
    empty(&cluster);
    let scene = scene(BURST, "true");
    let run = Run::start(program, &cluster, &scene, &path());
    let ours_took = until_queued(&cluster, BURST, run.sent);
    let peak = measure::peak_memory_of(&run.process());
    run.kill();
    empty(&cluster);
    println!("{BURST} tasks that are ready at once, until all of them are in Slurm's queue");
    println!("  sbatch for each, by hand       {by_hand:8.2} s");
    println!("  sbatch --array, by hand        {array:8.2} s");
    let seconds = measure::verdict("  pleach, in seconds", ours_took, MOST_SECONDS);
    let ratio = measure::verdict("  times the loop", ours_took / by_hand, MOST_TIMES_LOOP);
    let beyond = (ours_took - BEYOND_ARRAY).max(0.0);
    let times = measure::verdict("  times the array", beyond / array, MOST_TIMES_ARRAY);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    measure::figure("  memory of pleach in MB", peak as f64 / 1e6);
    seconds && ratio && times
}

/// What a loop by hand has each job do: the same as ours, without anything that could go wrong.
const CLONE_AND_PUSH: &str = r#"#!/bin/sh
set -e
t="NODE/$SLURM_JOB_ID"
git clone --quiet "BARE" "$t"
cd "$t"
git checkout --quiet -b "t$SLURM_JOB_ID"
sleep 1
echo "$SLURM_JOB_ID" > "file-$SLURM_JOB_ID"
git add -A
git -c user.name=a -c user.email=a@b commit --quiet -m "$SLURM_JOB_ID"
git push --quiet origin "t$SLURM_JOB_ID"
cd /
rm -rf "$t"
"#;

fn small_tasks(program: &Path) -> bool {
    let cluster = SlurmCluster::start(2);
    let scene = scene(SMALL, "sleep 1; echo $PLEACH_TASK > file-$PLEACH_TASK");
    let bare = scene.repo.beside("bare.git");
    let origin = scene.repo.path().display().to_string();
    scene.repo.git(&[
        "clone",
        "--quiet",
        "--bare",
        &origin,
        &bare.display().to_string(),
    ]);
    let node = scene.repo.beside("by-hand");
    fs::create_dir(&node).expect("there is room");
    let script = CLONE_AND_PUSH.replace("NODE", &node.display().to_string());
    let script = script.replace("BARE", &bare.display().to_string());
    let began = Instant::now();
    for _ in 0..SMALL {
        submit(&cluster, &[], &script);
    }
    let by_hand = until_queued(&cluster, 0, began);
    let counted = CountedCalls::before(&scene, "squeue");
    let began = Instant::now();
    let mut run = Run::start(program, &cluster, &scene, &counted.path);
    assert!(run.child.wait().expect("it ends").success());
    let took = began.elapsed().as_secs_f64();
    println!("{SMALL} tasks of a second on two nodes of four processors");
    println!("  sbatch, clone, commit and push {by_hand:8.2} s");
    println!("  pleach run                     {took:8.2} s");
    let small = measure::verdict("  times the loop", took / by_hand, MOST_TIMES_SMALL);
    let polite = counted.verdict(took);
    small && polite
}

/// A program in front of one of Slurm's that notes when it is called.
struct CountedCalls {
    path: String,
    notes: PathBuf,
}

impl CountedCalls {
    fn before(scene: &Scene, name: &str) -> Self {
        let folder = scene.repo.beside("in-front");
        fs::create_dir_all(&folder).expect("there is room");
        let notes = scene.repo.beside("calls");
        let all = path();
        let mut places = std::env::split_paths(&all).map(|folder| folder.join(name));
        let real = places.find(|place| place.exists());
        let real = real.expect("Slurm is installed");
        let script = format!(
            "#!/bin/sh\ndate +%s.%N >> '{}'\nexec '{}' \"$@\"\n",
            notes.display(),
            real.display()
        );
        let place = folder.join(name);
        fs::write(&place, script).expect("there is room");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("it is ours");
        Self {
            path: format!("{}:{all}", folder.display()),
            notes,
        }
    }

    /// Whether it was called no more often than every look and once for an ending, and never twice within two seconds.
    fn verdict(&self, seconds: f64) -> bool {
        let moments = self.moments();
        let most = (seconds / LOOK_AT_QUEUE).ceil() + 1.0;
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let calls = measure::verdict("  calls of squeue", moments.len() as f64, most);
        let apart = moments.windows(2).map(|pair| pair[1] - pair[0]);
        let closest = apart.fold(f64::INFINITY, f64::min);
        measure::verdict("  2 s by the time between two", 2.0 / closest, 1.0) && calls
    }

    fn moments(&self) -> Vec<f64> {
        let text = fs::read_to_string(&self.notes).unwrap_or_default();
        let moments = text.lines().map(str::parse);
        moments
            .map(|moment| moment.expect("date prints numbers"))
            .collect()
    }
}
