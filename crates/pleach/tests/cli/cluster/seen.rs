//! What people and programs see of units: where they run, what they wait for, and what is printed there, while it is.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pleach_testkit::SlurmCluster;
use serde_json::{Value, json};

use super::{Behind, ON_CLUSTER};
use crate::scene::{Running, Scene, make_pipe};

/// How long what is asked for may take to be there.
const SOON: Duration = Duration::from_mins(1);

fn asked((scene, home): &(&Scene, PathBuf), words: &[&str]) -> Value {
    let answer = crate::pleach(scene.repo.path(), home, words);
    serde_json::from_str(&answer.out).unwrap_or_else(|_| panic!("{}{}", answer.out, answer.err))
}

/// The tasks of the batch, once they are as they are waited for.
#[track_caller]
fn tasks_when(there: &(&Scene, PathBuf), are_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let told = asked(there, &["status", "1", "--json"]);
        let tasks = told["batches"][0]["tasks"].as_array().unwrap().clone();
        if are_so(&tasks) {
            return tasks;
        }
        assert!(began.elapsed() < SOON, "{told:#}");
    }
}

#[test]
fn what_waits_in_the_queue_says_why_and_what_runs_says_where() {
    let cluster = SlurmCluster::start(1);
    let shell = "echo x > file-$PLEACH_TASK; until [ -e 'BESIDE/go' ]; do sleep 0.1; done";
    let settings = format!("max_parallel = 5\n{ON_CLUSTER}");
    let scene = Scene::of("1, 2, 3, 4, 5", &settings, shell);
    let mut run = Behind::Slurm(&cluster).start(&scene);
    run.wait_for("batch:task:placed");
    let there = (&scene, scene.home());
    let tasks = tasks_when(&there, |tasks| {
        let is_on_node = |task: &&Value| task["node"] == "n1";
        let waits = |task: &Value| task["unit"]["because"].is_string();
        tasks.iter().filter(is_on_node).count() == 4 && tasks.iter().any(waits)
    });
    let (waiting, running): (Vec<&Value>, Vec<&Value>) =
        tasks.iter().partition(|task| task["node"].is_null());
    let [waiting] = waiting[..] else {
        panic!("{waiting:?}")
    };
    assert_eq!(waiting["status"], "queued");
    assert_eq!(waiting["seconds"], 0.0);
    assert_eq!(waiting["unit"]["state"], "waiting");
    assert_eq!(waiting["unit"]["because"], "Resources");
    for task in running {
        assert_eq!(
            (&task["status"], &task["state"]),
            (&json!("running"), &json!("running"))
        );
        assert_eq!(task["unit"]["cluster"], "slurm");
        assert_eq!(task["unit"]["state"], "running");
    }
    // What Slurm knows it by can be asked for there.
    let job = waiting["unit"]["job"].as_str().unwrap();
    let shown = cluster
        .program("squeue")
        .args(["-h", "-r", "-j", job])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&shown.stdout).contains("(Resources)"),
        "{shown:?}"
    );
    let table = crate::pleach(scene.repo.path(), &scene.home(), &["status", "1"]).out;
    assert!(table.contains("in Slurm's queue: Resources"), "{table}");
    assert_eq!(table.matches(" n1 ").count(), 4, "{table}");
    let trees = asked(&there, &["worktrees", "--json"]);
    let trees = trees["worktrees"].as_array().unwrap();
    let is_on_node = |tree: &&Value| tree["node"] == "n1" && tree["state"] == "in_use";
    assert_eq!(trees.iter().filter(is_on_node).count(), 4, "{trees:?}");
    for tree in trees {
        // All nodes of the test have the disk of this machine.
        assert!(
            fs::exists(tree["path"].as_str().unwrap()).unwrap(),
            "{tree}"
        );
    }
    fs::write(scene.repo.beside("go"), "").unwrap();
    run.story()
        .check(0, "1:merged 2:merged 3:merged 4:merged 5:merged");
}

#[test]
fn what_waits_for_room_says_so_until_the_cluster_has_it() {
    let shell = "echo x > file-$PLEACH_TASK; until [ -e 'BESIDE/go' ]; do sleep 0.1; done";
    let settings = format!("cluster.most = 1\nmax_parallel = 1\n{ON_CLUSTER}");
    let first = Scene::of("1", &settings, shell);
    let share = first.repo.beside("share");
    let settings = settings.replace("BESIDE/share", share.to_str().unwrap());
    let second = Scene::of("1", &settings, "echo x > file");
    let start = |scene: &Scene| {
        let mut run = Behind::StandIn.run(scene, &["run", "--yes"]);
        Running::start(run.env("HOME", first.home()))
    };
    let mut run_first = start(&first);
    run_first.wait_for("batch:task:placed");
    let mut run_second = start(&second);
    run_second.wait_for("batch:task:started");
    let why = "waiting for room (cluster.most = 1)";
    let waits = json!({"cluster": "slurm", "job": null, "state": "waiting", "because": why});
    let there = (&second, first.home());
    let tasks = tasks_when(&there, |tasks| tasks[0]["unit"] == waits);
    assert_eq!(tasks[0]["status"], "queued");
    let shown = || crate::pleach(second.repo.path(), &there.1, &["status", "1"]).out;
    assert!(shown().contains(why), "{}", shown());
    assert!(!shown().contains("queue:"), "{}", shown());
    fs::write(first.repo.beside("go"), "").unwrap();
    run_first.story().check(0, "1:merged");
    run_second.story().check(0, "1:merged");
    assert!(!shown().contains(why), "{}", shown());
}

#[test]
fn a_line_that_is_printed_on_a_node_is_in_the_log_while_its_agent_works() {
    let behind = Behind::StandIn;
    let shell =
        "echo 'the first line'; read line < 'BESIDE/gate'; echo x > file; echo 'the last one'";
    let scene = Scene::of("1", ON_CLUSTER, shell);
    let gate = scene.repo.beside("gate");
    make_pipe(&gate);
    let mut run = behind.start(&scene);
    run.wait_for("batch:task:placed");
    let words = ["logs", "1", "1", "-f"];
    let mut log = Running::start(&mut crate::command(
        scene.repo.path(),
        &scene.home(),
        &words,
    ));
    // Its agent goes on only when somebody opens the other end.
    log.wait_for("the first line");
    fs::File::options().write(true).open(&gate).unwrap();
    log.wait_for("the last one");
    assert_eq!(log.answer().code, 0);
    run.story().check(0, "1:merged");
}
