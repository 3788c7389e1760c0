//! What Slurm takes from a unit that runs: its time, its memory, its machine.

use std::path::PathBuf;

use pleach_testkit::{SlurmCluster, gate_or_night};

use super::lost::{await_snapshots, half_done, is_at_work, kept};
use super::{Behind, ON_CLUSTER, await_that, check_tidy, submissions};
use crate::scene::Scene;

/// A program of Slurm that does what it is told.
#[track_caller]
fn slurm(cluster: &SlurmCluster, words: &[&str]) -> String {
    let output = cluster.program(words[0]).args(&words[1..]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_unit_that_obeys_when_its_time_is_up_has_taken_too_long() {
    let cluster = SlurmCluster::start(1);
    let scene = half_done("sleep 600");
    let mut run = Behind::Slurm(&cluster).start(&scene);
    run.wait_for("batch:task:placed");
    await_that("the agent begins", || is_at_work(&scene));
    let job = slurm(&cluster, &["squeue", "-h", "-o", "%A"]);
    let job_id = format!("JobId={job}");
    slurm(&cluster, &["scontrol", "update", &job_id, "TimeLimit=2"]);
    if gate_or_night(true, false) {
        // What Slurm says itself two minutes before the end, but not at once.
        slurm(&cluster, &["scancel", "--signal=TERM", "--batch", &job]);
    }
    let told = run.story();
    told.check(1, "1:timed_out");
    assert_eq!(told.attempts(), "1:1");
    assert_eq!(kept(&scene, "half"), "half");
    check_tidy(&scene);
}

#[test]
fn what_somebody_more_urgent_takes_the_machine_of_goes_back_to_the_queue_and_has_not_failed() {
    let cluster = SlurmCluster::start(1);
    for partition in gate_or_night(&["all"][..], &["all", "cheap"]) {
        // Were it the shell that waits, it might go on for a moment when what it waits for is ended first.
        let shell = "echo half > half; echo x >> 'BESIDE/began'
            [ $PLEACH_ATTEMPT != 1 ] || exec sleep 600; rm half; echo x > file-$PLEACH_TASK";
        let settings = format!("slurm.partition = \"{partition}\"\n{ON_CLUSTER}");
        let scene = Scene::of("1, 2", &settings, shell);
        let mut run = Behind::Slurm(&cluster).start(&scene);
        await_that("both agents begin", || scene.trace("began") == "x x");
        // Slurm may end them before they have handed over what came after that.
        await_snapshots(&scene, 2);
        let urgent = cluster.submit_urgent(1);
        for _ in 0..2 {
            run.wait_for("batch:task:lost");
        }
        slurm(&cluster, &["scancel", &urgent]);
        let told = run.story();
        told.check(0, "1:merged 2:merged");
        assert_eq!(told.attempts(), "1:2 2:2");
        for lost in told.told("batch:task:lost") {
            let because = lost["because"].as_str().unwrap();
            assert!(because.contains("preempted"), "{because}");
        }
        assert_eq!(kept(&scene, "half"), "half");
        check_tidy(&scene);
        cluster.await_empty_queue();
    }
}

#[test]
fn a_unit_that_takes_more_memory_than_it_asked_for_fails_and_says_so() {
    if gate_or_night(true, false) {
        return;
    }
    let mut cluster = SlurmCluster::start(1);
    cluster.enforce_memory();
    let shell = "head -c 900000000 /dev/zero | tail > file; sleep 600";
    let settings = format!("sizes.default.memory = \"400MiB\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, shell);
    let told = Behind::Slurm(&cluster).start(&scene).story();
    told.check(1, "1:failed");
    let error = told.error_of("1");
    let why = "ran out of memory on n1 (asked for 400 MiB); see sizes.default";
    assert!(error.contains(why), "{error}");
    assert_eq!(told.attempts(), "1:1");
    // What was killed leaves on its node what goes when another unit comes there.
    assert_eq!(submissions(&scene), Vec::<PathBuf>::new());
}
