//! A cancel while some units run and many more wait: nothing is left of either, and the work of those that ran is kept.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::pace::PACE;
use pleach_testkit::{SlurmCluster, gate_or_night};

use super::{Behind, ON_CLUSTER, await_that, check_tidy, queue};
use crate::scene::{Running, Scene};

/// What is expected of a cancel beyond the time that agents have to end.
const ANSWER: Duration = Duration::from_secs(5);

/// How long agents have.
const GRACE: Duration = Duration::from_secs(10);

/// How long what waits may stay in the queue.
const TAKEN_BACK: Duration = Duration::from_secs(3);

/// So many run, one of which does not mind being told to end, and one leaves others behind.
const RUNNING: usize = 8;

const AGENT: &str = "echo half > half-$PLEACH_TASK; echo x >> 'BESIDE/began'; case $PLEACH_TASK in \
                     1) trap '' TERM; while :; do sleep 600; done;; \
                     2) setsid sleep 600 & setsid sh -c 'trap \"\" TERM; sleep 600' & sleep 600;; \
                     *) sleep 600;; esac";

/// Eight tasks that run for as long as they may, and many that wait for them.
pub(super) fn scene() -> Scene {
    let count = RUNNING + waiting();
    let settings = format!("max_parallel = {count}\ncluster.most = {count}\n{ON_CLUSTER}");
    Scene::of(&queue::tasks(count), &settings, AGENT)
}

fn waiting() -> usize {
    gate_or_night(50, 500)
}

/// Cancels a batch when its eight agents are at work, and checks what that leaves; what it took, in words.
#[track_caller]
pub(super) fn check_cancelled(cluster: &SlurmCluster, scene: &Scene, run: &mut Command) -> String {
    // At night with the time that agents really have.
    let mut run = Running::start(run.env(PACE, gate_or_night("20", "1")));
    for _ in 0..RUNNING {
        run.wait_for("batch:task:placed");
    }
    let is_waiting = |line: &String| line.ends_with("PENDING");
    let pending = || {
        cluster
            .queue()
            .iter()
            .filter(|line| is_waiting(line))
            .count()
    };
    await_that("all have been sent, and eight agents are at work", || {
        scene.trace("began").split(' ').count() == RUNNING && pending() == waiting()
    });
    let asked = Instant::now();
    let mut cancel = crate::command(scene.repo.path(), &scene.home(), &["cancel", "1"]);
    let cancel = Running::start(&mut cancel);
    while pending() > 0 {
        assert!(asked.elapsed() < TAKEN_BACK, "{} wait", pending());
        thread::sleep(Duration::from_millis(50));
    }
    let taken_back = asked.elapsed();
    cancel.answer().good();
    let answered = asked.elapsed();
    assert!(answered < GRACE + ANSWER, "{answered:?}");
    assert_eq!(cluster.queue(), Vec::<String>::new());
    let told = run.story();
    assert_eq!(told.status(), "cancelled", "{}", told.err);
    let store = format!("--git-dir={}", scene.store().display());
    let kept = ["for-each-ref", "refs/pleach/keep/"];
    let kept = scene.repo.git(&[&store, kept[0], kept[1]]);
    assert_eq!(kept.lines().count(), RUNNING, "{kept}");
    format!(
        "{RUNNING} running and {} waiting, those gone after {taken_back:.1?}, answered after {answered:.1?}",
        waiting()
    )
}

#[test]
fn a_cancelled_batch_leaves_nothing_in_the_queue_and_keeps_what_ran() {
    let cluster = SlurmCluster::start(2);
    let scene = scene();
    let mut run = Behind::Slurm(&cluster).run(&scene, &["run", "--yes"]);
    let took = check_cancelled(&cluster, &scene, &mut run);
    check_tidy(&scene);
    scene.check_nobody_is_left();
    super::tell(7, &took);
}
