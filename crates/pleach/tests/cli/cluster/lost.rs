//! What is left of units whose machine is gone, was taken from them, or cannot be reached.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pleach_testkit::SlurmCluster;
use rustix::process::Signal;

use super::{Behind, ON_CLUSTER, check_tidy, runner, signal_runner, submissions};
use crate::scene::{Running, Scene};

/// How long something may take that must come.
const SOON: Duration = Duration::from_secs(30);

#[track_caller]
fn await_that(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the only unit has brought over what its agent made so far.
fn await_snapshot(scene: &Scene) {
    await_that("no snapshot", || {
        submissions(scene).iter().any(|submission| {
            let files = fs::read_dir(submission.join("1")).into_iter().flatten();
            let mut names = files.flatten().map(|entry| entry.file_name());
            names.any(|name| name.to_string_lossy().starts_with("live-"))
        })
    });
}

/// What a file held in the last state of the first attempt on the first task.
fn kept(scene: &Scene, file: &str) -> String {
    let store = format!("--git-dir={}", scene.store().display());
    let name = format!("refs/pleach/keep/batch-1/task-1/attempt-1:{file}");
    scene.repo.git(&[&store, "show", &name])
}

/// One task that leaves something half done at its first attempt, and does not end.
fn half_done(how: &str) -> Scene {
    let shell =
        format!("echo half > half; [ $PLEACH_ATTEMPT != 1 ] || {{ {how}; }}; echo x > file");
    Scene::of("1", ON_CLUSTER, &shell)
}

#[test]
fn the_last_snapshot_of_a_unit_whose_machine_fails_is_kept() {
    let scene = half_done("sleep 600");
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:task:placed");
    await_snapshot(&scene);
    signal_runner(&scene, Signal::KILL);
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.told("batch:task:lost").len(), 1);
    assert_eq!(kept(&scene, "half"), "half");
    check_tidy(&scene);
}

#[test]
fn snapshots_of_nodes_let_conflicts_be_seen_coming() {
    let shell = "echo $PLEACH_TASK > same; until [ -e 'BESIDE/go' ]; do sleep 0.1; done";
    let settings = format!("radar = \"200ms\"\n{ON_CLUSTER}");
    let scene = Scene::of("1, 2", &settings, shell);
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:predicted");
    fs::write(scene.repo.beside("go"), "").unwrap();
    let told = run.story();
    let predicted = told.told("batch:predicted");
    assert_eq!(predicted[0]["pairs"][0]["files"][0], "same");
}

#[test]
fn a_unit_whose_machine_is_taken_from_it_keeps_its_work_and_is_done_again() {
    let scene = half_done("trap '' TERM; echo more >> half; while :; do sleep 1; done");
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:task:placed");
    await_that("the agent does not begin", || is_at_work(&scene));
    let began = Instant::now();
    signal_runner(&scene, Signal::TERM);
    let told = run.story();
    // It has ten seconds before it is ended; the rest is for slow machines.
    assert!(
        began.elapsed() < Duration::from_secs(25),
        "{:?}",
        began.elapsed()
    );
    told.check(0, "1:merged");
    assert_eq!(told.told("batch:task:lost").len(), 1);
    assert_eq!(told.attempts(), "1:2");
    assert_eq!(kept(&scene, "half"), "half\nmore");
    check_tidy(&scene);
    scene.check_nobody_is_left();
}

/// Whether the agent of the only unit has written what it writes first.
fn is_at_work(scene: &Scene) -> bool {
    fn holds(folder: &Path, name: &str) -> bool {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths = entries.map(|entry| entry.path());
        paths.any(|path| path.ends_with(name) || (path.is_dir() && holds(&path, name)))
    }
    holds(&scene.repo.beside("node"), "half")
}

#[test]
fn a_job_that_somebody_else_cancels_is_not_sent_again() {
    let cluster = SlurmCluster::start(1);
    let scene = half_done("sleep 600");
    let mut run = Behind::Slurm(&cluster).start(&scene);
    run.wait_for("batch:task:placed");
    await_that("the agent does not begin", || is_at_work(&scene));
    let user = rustix::process::getuid().as_raw().to_string();
    let cancelled = cluster.program("scancel").args(["-u", &user]).status();
    assert!(cancelled.unwrap().success());
    let told = run.story();
    told.check(1, "1:failed");
    assert!(
        told.error_of("1").contains("cancelled outside"),
        "{}",
        told.err
    );
    assert_eq!(kept(&scene, "half"), "half");
    check_tidy(&scene);
}

/// A run whose only unit cannot reach its share from now on, and what it had there instead of its owner's word.
fn frozen(scene: &Scene) -> (Running, std::path::PathBuf, std::path::PathBuf) {
    let mut run = Behind::StandIn.start(scene);
    run.wait_for("batch:task:placed");
    let control = submissions(scene)[0].join("control");
    let aside = submissions(scene)[0].join("aside");
    // Whoever opens a pipe for reading hangs until somebody writes to it, as on a share whose server is gone.
    pleach_testkit::make_pipe(&submissions(scene)[0].join("pipe"));
    fs::rename(&control, &aside).unwrap();
    fs::rename(submissions(scene)[0].join("pipe"), &control).unwrap();
    (run, control, aside)
}

#[test]
fn a_share_that_is_gone_for_a_moment_changes_nothing() {
    let scene = half_done("read go < 'BESIDE/gate'");
    let gate = scene.repo.beside("gate");
    pleach_testkit::make_pipe(&gate);
    let (run, control, aside) = frozen(&scene);
    // A third of the lease, at the pace of tests.
    thread::sleep(Duration::from_millis(1_500));
    let pipe = submissions(&scene)[0].join("old");
    fs::rename(&control, &pipe).unwrap();
    fs::rename(&aside, &control).unwrap();
    // Whoever hangs there goes on.
    fs::File::options().write(true).open(&pipe).unwrap();
    fs::File::options().write(true).open(&gate).unwrap();
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:1");
}

#[test]
fn a_node_that_cannot_reach_its_share_ends_what_it_runs_and_that_is_done_again_once() {
    let scene = half_done("sleep 600");
    let (run, control, aside) = frozen(&scene);
    let node = runner(&scene);
    await_that("it does not end", || {
        !Path::new(&format!("/proc/{}", node.as_raw_nonzero())).exists()
    });
    fs::rename(&aside, &control).unwrap();
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:2");
    assert_eq!(scene.show("pleach/batch-1", "file"), "x");
    scene.check_nobody_is_left();
}
