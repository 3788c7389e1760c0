//! What is left of units whose machine is gone, was taken from them, or cannot be reached.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pleach_testkit::{SlurmCluster, gate_or_night};
use rustix::fs::OFlags;
use rustix::process::Signal;

use super::{Behind, ON_CLUSTER, await_that, check_tidy, runner, signal_runner, submissions, tell};
use crate::scene::{Running, Scene};

/// Waits until so many units have brought over what their agents made so far.
pub(super) fn await_snapshots(scene: &Scene, units: usize) {
    let has_one = |unit: &PathBuf| {
        let files = fs::read_dir(unit).into_iter().flatten().flatten();
        let mut names = files.map(|entry| entry.file_name());
        names.any(|name| name.to_string_lossy().starts_with("live-"))
    };
    await_that("there are snapshots", || {
        let inside = submissions(scene).into_iter().map(fs::read_dir);
        let inside = inside.flatten().flatten().flatten();
        let all: Vec<PathBuf> = inside.map(|entry| entry.path()).collect();
        all.iter().filter(|unit| has_one(unit)).count() == units
    });
}

/// What a file held in the last state of the first attempt on the first task.
pub(super) fn kept(scene: &Scene, file: &str) -> String {
    let store = format!("--git-dir={}", scene.store().display());
    let name = format!("refs/pleach/keep/batch-1/task-1/attempt-1:{file}");
    scene.repo.git(&[&store, "show", &name])
}

/// One task that leaves something half done at its first attempt, and does not end.
pub(super) fn half_done(how: &str) -> Scene {
    let shell =
        format!("echo half > half; [ $PLEACH_ATTEMPT != 1 ] || {{ {how}; }}; echo x > file");
    Scene::of("1", ON_CLUSTER, &shell)
}

#[test]
fn the_last_snapshot_of_a_unit_whose_machine_fails_is_kept() {
    let scene = half_done("sleep 600");
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:task:placed");
    await_snapshots(&scene, 1);
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
    await_that("the agent begins", || is_at_work(&scene));
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
pub(super) fn is_at_work(scene: &Scene) -> bool {
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
    await_that("the agent begins", || is_at_work(&scene));
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

#[test]
fn a_node_whose_share_takes_nothing_for_a_while_hands_its_work_over_later() {
    let scene = half_done("read go < 'BESIDE/gate'");
    let gate = scene.repo.beside("gate");
    pleach_testkit::make_pipe(&gate);
    let mut run = Behind::StandIn.start(&scene);
    run.wait_for("batch:task:placed");
    // Nothing can be written under that name for the time being.
    let in_the_way = submissions(&scene)[0].join("1/work.bundle");
    fs::create_dir(&in_the_way).unwrap();
    fs::File::options().write(true).open(&gate).unwrap();
    await_that("it ends", || !is_at_work(&scene));
    fs::remove_dir(&in_the_way).unwrap();
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:1");
    check_tidy(&scene);
}

/// How soon after Slurm knows that a node has failed what ran there runs again.
const AGAIN: Duration = Duration::from_secs(10);

/// Waits until Slurm knows that a node has failed, however long that takes it.
fn await_failure(cluster: &SlurmCluster) {
    let has_failed = || {
        cluster
            .jobs()
            .iter()
            .any(|job| job.contains("JobState=NODE_FAIL"))
    };
    let deadline = Instant::now() + Duration::from_mins(2);
    while !has_failed() {
        assert!(Instant::now() < deadline, "Slurm does not see it");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What the agent of a task wrote down last on its first attempt, in seconds since 1970.
fn written_last(scene: &Scene, task: &str) -> u64 {
    let store = format!("--git-dir={}", scene.store().display());
    let name = format!("refs/pleach/keep/batch-1/task-{task}/attempt-1:clock");
    let text = scene.repo.git(&[&store, "show", &name]);
    text.trim().parse().unwrap()
}

#[test]
fn units_of_a_node_that_loses_its_power_are_done_again_on_another_and_nothing_old_is_lost() {
    let rounds = gate_or_night(1, 10);
    let (mut oldest, mut slowest) = (0, Duration::ZERO);
    for _ in 0..rounds {
        let mut cluster = SlurmCluster::start(2);
        let shell = "until [ $PLEACH_ATTEMPT != 1 ] || [ -e 'BESIDE/go' ]; do date +%s > new; mv new clock; sleep 0.2; done
            rm -f new clock; echo x > file-$PLEACH_TASK";
        let settings = format!("max_parallel = 6\n{ON_CLUSTER}");
        let scene = Scene::of("1, 2, 3, 4, 5, 6", &settings, shell);
        let mut run = Behind::Slurm(&cluster).start(&scene);
        for _ in 0..6 {
            run.wait_for("batch:task:placed");
        }
        await_snapshots(&scene, 6);
        assert_eq!(cluster.running_on(1), 4);
        let killed = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        cluster.kill_node(1);
        super::hurry(&cluster, 1);
        fs::write(scene.repo.beside("go"), "").unwrap();
        await_failure(&cluster);
        let failed = Instant::now();
        for _ in 0..4 {
            run.wait_for("batch:task:placed");
        }
        slowest = slowest.max(failed.elapsed());
        assert!(slowest < gate_or_night(3 * AGAIN, AGAIN), "{slowest:?}");
        let told = run.story();
        told.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged 6:merged");
        let attempts = told.attempts();
        let again = attempts.split(' ').filter_map(|of| of.strip_suffix(":2"));
        let again: Vec<&str> = again.collect();
        assert_eq!(again.len(), 4, "{attempts}");
        assert_eq!(told.told("batch:task:lost").len(), 4);
        for task in again {
            let age = killed.saturating_sub(written_last(&scene, task));
            assert!(age <= 10, "{age} s");
            oldest = oldest.max(age);
        }
        // What is on the disk of a node that is gone stays until something runs there again.
        assert_eq!(submissions(&scene), Vec::<PathBuf>::new());
    }
    let sent = 4 * rounds;
    tell(
        4,
        &format!(
            "{sent} of {sent} sent again and at work within {slowest:.1?}, the oldest snapshot {oldest} s old"
        ),
    );
}

/// A run whose only unit cannot reach its share from now on, and what it had there instead of its owner's word.
fn frozen(scene: &Scene) -> (Running, PathBuf, PathBuf) {
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

/// Whether somebody hung there, who goes on with nothing.
fn let_go(pipe: &Path) -> bool {
    let mut options = fs::File::options();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    options.write(true).custom_flags(flags).open(pipe).is_ok()
}

#[test]
fn a_share_that_is_gone_for_a_moment_changes_nothing() {
    let scene = half_done("read go < 'BESIDE/gate'");
    let gate = scene.repo.beside("gate");
    pleach_testkit::make_pipe(&gate);
    let (run, control, aside) = frozen(&scene);
    // So many beats are a third of the lease.
    for _ in 0..6 {
        await_that("the node hangs", || let_go(&control));
    }
    let pipe = submissions(&scene)[0].join("old");
    fs::rename(&control, &pipe).unwrap();
    fs::rename(&aside, &control).unwrap();
    let_go(&pipe);
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
    await_that("it ends", || {
        !Path::new(&format!("/proc/{}", node.as_raw_nonzero())).exists()
    });
    fs::rename(&aside, &control).unwrap();
    let told = run.story();
    told.check(0, "1:merged");
    assert_eq!(told.attempts(), "1:2");
    assert_eq!(scene.show("pleach/batch-1", "file"), "x");
    scene.check_nobody_is_left();
}
