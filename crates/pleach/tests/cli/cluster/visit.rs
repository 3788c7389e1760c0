//! `pleach doctor --where` and `pleach agents test --where`: one unit that looks at a node, and one that works there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use pleach_testkit::SlurmCluster;
use serde_json::Value;

use super::{
    Behind, ON_CLUSTER, check_tidy, is_written_below, left_on_nodes, on_node, submissions,
};
use crate::Answer;
use crate::scene::Scene;

fn asked(behind: &Behind<'_>, scene: &Scene, words: &[&str]) -> (i32, Value) {
    let mut command = behind.run(scene, words);
    let answer: Answer = command.env("CANARY", SECRET).output().unwrap().into();
    let told = serde_json::from_str(&answer.out);
    (
        answer.code,
        told.unwrap_or_else(|_| panic!("{}{}", answer.out, answer.err)),
    )
}

/// How long a node may take to clear up.
const SOON: Duration = Duration::from_secs(30);

const SECRET: &str = "c4n4ry-0123456789abcdef";

/// What was found, each as `topic level`, on nodes alone.
fn on_nodes(told: &Value) -> Vec<String> {
    let findings = told["findings"].as_array().unwrap().iter();
    let on_node = findings.filter(|finding| finding["node"].is_string());
    let word = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
    on_node
        .map(|finding| format!("{} {}", word(finding, "topic"), word(finding, "level")))
        .collect()
}

/// A node clears up after it has answered.
fn await_tidy(scene: &Scene) {
    let began = Instant::now();
    while !left_on_nodes(scene).is_empty() && began.elapsed() < SOON {
        std::thread::sleep(Duration::from_millis(20));
    }
    check_tidy(scene);
}

fn with_canary(scene: &Scene) {
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene
        .repo
        .write("pleach.toml", format!("{config}env = [\"CANARY\"]\n"));
}

fn looks_at_a_node(behind: &Behind<'_>) {
    let scene = Scene::of("1", ON_CLUSTER, "true");
    with_canary(&scene);
    let (code, told) = asked(behind, &scene, &["doctor", "--where", "slurm"]);
    assert_eq!(code, 0, "{told:#}");
    let found = on_nodes(&told);
    for topic in [
        "cluster", "size", "share", "kernel", "git", "disk", "ports", "secrets", "agent",
    ] {
        assert!(found.contains(&format!("{topic} ok")), "{topic}: {told:#}");
    }
    let is_about = |finding: &&Value| finding["topic"] == "secrets";
    let secrets = told["findings"].as_array().unwrap().iter().find(is_about);
    assert_eq!(secrets.unwrap()["message"], "arrived: CANARY");
    await_tidy(&scene);
    assert!(!on_node(&scene, "trees").exists());
    for place in ["share", "node"] {
        assert!(
            !is_written_below(&scene.repo.beside(place), SECRET),
            "{place}"
        );
    }
}

#[test]
fn doctor_looks_at_a_node_by_a_unit_that_leaves_nothing() {
    looks_at_a_node(&Behind::StandIn);
}

#[test]
fn doctor_looks_at_a_node_of_slurm() {
    let cluster = SlurmCluster::start(1);
    looks_at_a_node(&Behind::Slurm(&cluster));
    cluster.await_empty_queue();
}

#[test]
fn doctor_sends_nothing_to_a_cluster_that_refuses_it_and_says_which_size() {
    let cluster = SlurmCluster::start(1);
    let settings = format!("slurm.partition = \"nowhere\"\n{ON_CLUSTER}");
    let scene = Scene::of("1", &settings, "true");
    let behind = Behind::Slurm(&cluster);
    let (code, told) = asked(&behind, &scene, &["doctor", "--where", "slurm"]);
    let findings = told["findings"].as_array().unwrap().iter();
    let wrong = findings.filter(|finding| finding["level"] == "error");
    let wrong: Vec<&Value> = wrong.map(|finding| &finding["topic"]).collect();
    assert_eq!((code, wrong), (3, vec![&Value::from("size")]), "{told:#}");
    assert!(!scene.repo.beside("share").exists());
}

#[test]
fn doctor_tells_what_keeps_a_node_from_working() {
    let settings = ON_CLUSTER.replace("BESIDE/node", "/proc/nowhere");
    let scene = Scene::of("1", &settings, "true");
    let (code, told) = asked(&Behind::StandIn, &scene, &["doctor", "--where", "slurm"]);
    assert_eq!(code, 3, "{told:#}");
    assert!(
        on_nodes(&told).contains(&"scratch error".to_owned()),
        "{told:#}"
    );
    assert_eq!(submissions(&scene).len(), 0);
}

#[test]
fn doctor_without_a_share_says_which_key_to_set() {
    let scene = Scene::of("1", "", "true");
    let (code, told) = asked(&Behind::StandIn, &scene, &["doctor", "--where", "slurm"]);
    assert_eq!(code, 3, "{told:#}");
    let findings = told["findings"].as_array().unwrap();
    let finding = findings
        .iter()
        .find(|finding| finding["topic"] == "share_unusable");
    let fix = finding.unwrap()["fix"].as_str().unwrap();
    assert!(fix.contains("pleach config set cluster.share"), "{fix}");
    assert!(on_nodes(&told).is_empty());
}

#[test]
fn an_agent_that_only_nodes_have_runs_there_and_is_missed_where_they_lack_it() {
    // What prepares the worktrees of nodes brings it there.
    let nodes_have = "setup = \"cp BESIDE/hidden BESIDE/agent\"\n";
    let agent = "agent = \"there\"\nagents.there.command = [\"BESIDE/agent\"]\n";
    let scene = Scene::of("1", &format!("{agent}{nodes_have}{ON_CLUSTER}"), "true");
    let hidden = scene.repo.beside("hidden");
    fs::write(&hidden, "#!/bin/sh\necho x > file\n").unwrap();
    fs::set_permissions(&hidden, fs::Permissions::from_mode(0o755)).unwrap();
    let behind = Behind::StandIn;
    let (code, told) = asked(&behind, &scene, &["doctor", "--where", "slurm"]);
    let findings = told["findings"].as_array().unwrap().iter();
    let about = findings.filter(|finding| finding["topic"] == "agent");
    let about: Vec<(bool, &Value)> = about
        .map(|finding| (finding["node"].is_string(), &finding["level"]))
        .collect();
    let (ok, error) = (Value::from("ok"), Value::from("error"));
    assert_eq!(
        (code, about),
        (3, vec![(false, &ok), (true, &error)]),
        "{told:#}"
    );
    let here = ["run", "--yes", "--where", "local"];
    let (code, told) = asked(&behind, &scene, &here);
    assert_eq!((code, &told["error"]["code"]), (3, &"no_agent".into()));
    behind.start(&scene).story().check(0, "1:merged");
    await_tidy(&scene);
}

#[test]
fn an_agent_is_tried_on_a_node() {
    let scene = Scene::of("1", ON_CLUSTER, "true");
    let words = ["agents", "test", "demo", "--where", "slurm", "--yes"];
    let (code, told) = asked(&Behind::StandIn, &scene, &words);
    assert_eq!((code, &told["works"]), (0, &Value::Bool(true)), "{told:#}");
    await_tidy(&scene);
}
