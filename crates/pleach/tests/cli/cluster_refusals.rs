//! What keeps a batch from being given to a cluster: told before anything starts.

use std::fs;
use std::path::Path;

use pleach_system::pace::PACE;
use pleach_system::stand_in::STAND_IN;
use pleach_testkit::SlurmCluster;
use serde_json::Value;

use crate::cluster::tell;
use crate::scene::Scene;
use crate::{Answer, Place};

const PLAN: &str = "- [ ] 1 A (size: large)\n- [ ] 2 B\n";

const ON_CLUSTER: &str = "land = \"none\"\nwhere = \"slurm\"\ncluster.share = \"BESIDE/share\"\n";

const LARGE: &str = "sizes.large.cpus = 2\n";

fn scene(settings: &str) -> Scene {
    Scene::with(&format!("{ON_CLUSTER}{settings}"), PLAN, "touch BESIDE/ran")
}

/// What a program is told that has this for its cluster.
fn asked(scene: &Scene, cluster: (&str, &Path), words: &[&str]) -> Answer {
    let mut command = crate::command(scene.repo.path(), &scene.home(), words);
    command.env(PACE, "20").env(cluster.0, cluster.1);
    command.output().unwrap().into()
}

#[track_caller]
fn check_refused(scene: &Scene, answer: &Answer, code: i32, name: &str) -> Value {
    let error = answer.json()["error"].clone();
    let told = (answer.code, error["code"].as_str());
    assert_eq!(told, (code, Some(name)), "{}{}", answer.out, answer.err);
    assert!(error["hint"].is_string(), "{error}");
    assert!(!scene.state().join("batches/1").exists());
    assert!(!scene.repo.beside("ran").exists());
    assert_eq!(scene.branches(), "");
    error
}

const RUN: [&str; 3] = ["run", "--yes", "--json"];

#[test]
fn a_state_folder_on_a_network_file_system_is_refused_and_nothing_is_made() {
    let scene = scene(LARGE);
    let before = files_below(scene.repo.path());
    let answer = asked(&scene, (STAND_IN, Path::new("nfs")), &RUN);
    let error = check_refused(&scene, &answer, 3, "state_on_network");
    assert!(error["hint"].as_str().unwrap().contains("PLEACH_HOME"));
    assert!(!scene.state().exists());
    assert!(!scene.repo.beside("share").exists());
    assert_eq!(files_below(scene.repo.path()), before);
    let code = error["code"].as_str().unwrap();
    tell(
        22,
        &format!("exit {} with {code} and a hint, nothing made", answer.code),
    );
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        found.push(path.display().to_string());
        if entry.file_type().unwrap().is_dir() {
            found.extend(files_below(&path));
        }
    }
    found.sort();
    found
}

#[test]
fn a_cluster_that_is_not_there_is_told_by_the_program_that_is_missing() {
    let scene = scene(&format!("{LARGE}slurm.bin = \"BESIDE/nowhere\"\n"));
    let answer = asked(&scene, ("SLURM_CONF", Path::new("/nowhere")), &RUN);
    let error = check_refused(&scene, &answer, 3, "no_cluster");
    assert!(error["message"].as_str().unwrap().contains("sbatch"));
    assert!(!scene.repo.beside("share").exists());
}

#[test]
fn a_share_that_cannot_be_written_is_refused() {
    let scene = scene(LARGE);
    fs::write(scene.repo.beside("share"), "a file").unwrap();
    let answer = asked(&scene, (STAND_IN, Path::new("subprocess")), &RUN);
    let error = check_refused(&scene, &answer, 3, "share_unusable");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("not a directory"), "{message}");
}

#[test]
fn a_folder_without_a_repository_is_not_given_to_a_cluster() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    place.write(
        "pleach.toml",
        &format!("agent = \"shell\"\n{LARGE}[agents.shell]\ncommand = [\"true\"]\n"),
    );
    let words = [
        "run", "--yes", "--json", "--mode", "queue", "--where", "slurm",
    ];
    let rehearsed: Vec<&str> = words.iter().copied().chain(["--dry-run"]).collect();
    for words in [&words[..], &rehearsed] {
        let answer = place.pleach(words);
        let error = answer.json()["error"].clone();
        let told = (answer.code, error["code"].as_str());
        assert_eq!(told, (2, Some("no_cluster_in_place")), "{error}");
    }
}

#[test]
fn an_unknown_size_is_an_error_of_the_plan_with_its_line_and_the_nearest_one() {
    let scene = scene("sizes.larger.cpus = 2\n");
    let plan = asked(
        &scene,
        (STAND_IN, Path::new("subprocess")),
        &["plan", "--format", "json"],
    );
    assert_eq!(plan.code, 2);
    let plan = plan.json();
    assert_eq!(plan["tasks"][0]["size"], "large");
    assert_eq!(plan["tasks"][1]["size"], Value::Null);
    let error = &plan["errors"][0];
    assert_eq!(
        (&error["code"], &error["line"]),
        (&"unknown_size".into(), &1.into())
    );
    assert_eq!(error["hint"], "did you mean larger?");
    // Wherever it would run.
    for place in ["slurm", "local"] {
        let words = ["run", "--yes", "--json", "--where", place];
        let answer = asked(&scene, (STAND_IN, Path::new("subprocess")), &words);
        check_refused(&scene, &answer, 2, "unknown_size");
    }
    let tests = "validate = \"true\"\nvalidate_size = \"huge\"\n";
    let of_tests = self::scene(&format!("{tests}{LARGE}"));
    let answer = asked(&of_tests, (STAND_IN, Path::new("subprocess")), &RUN);
    check_refused(&of_tests, &answer, 2, "unknown_size");
}

#[test]
fn a_size_that_slurm_cannot_give_is_refused_with_its_words_and_a_rehearsal_shows_all() {
    let cluster = SlurmCluster::start(1);
    let conf = cluster.conf();
    let scene = scene("sizes.large.cpus = 900\nslurm.partition = \"all\"\n");
    let answer = asked(&scene, ("SLURM_CONF", &conf), &RUN);
    let error = check_refused(&scene, &answer, 3, "cluster_refused");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("large") && !message.contains("default"),
        "{message}"
    );
    assert!(!scene.repo.beside("share").exists());
    let before = files_below(scene.repo.path());
    let words = ["run", "--yes", "--json", "--dry-run"];
    let rehearse = || asked(&scene, ("SLURM_CONF", &conf), &words).json()["submissions"].clone();
    let submissions = rehearse();
    assert_eq!(files_below(scene.repo.path()), before);
    let [usual, large] = &submissions.as_array().unwrap()[..] else {
        panic!("{submissions}")
    };
    assert_eq!(
        (&usual["size"], &usual["tasks"]),
        (&"default".into(), &1.into())
    );
    assert_eq!(
        (&large["size"], &large["tasks"]),
        (&"large".into(), &1.into())
    );
    assert!(usual["answer"].is_string() && usual["refused"].is_null());
    assert!(large["answer"].is_null() && large["refused"].is_string());
    assert_eq!(large["options"][0], "--partition=all");
    assert_eq!(large["options"][1], "--cpus-per-task=900");
    // Programs that a repository names are not run before somebody consents to them.
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    scene
        .repo
        .write("pleach.toml", format!("slurm.bin = \"/usr/bin\"\n{config}"));
    let unasked = rehearse();
    assert!(
        unasked[0]["answer"].is_null() && unasked[0]["refused"].is_null(),
        "{unasked}"
    );
}

#[test]
fn what_has_no_effect_on_nodes_is_said_once_where_it_is_set() {
    let scene = scene(LARGE);
    let notes = |words: &[&str]| {
        let answer = asked(&scene, (STAND_IN, Path::new("subprocess")), words);
        answer.json()["notes"].clone()
    };
    let words = ["run", "--yes", "--json", "--dry-run"];
    assert_eq!(notes(&words), Value::Array(Vec::new()));
    let config = fs::read_to_string(scene.repo.path().join("pleach.toml")).unwrap();
    let set = format!("cache = [\"target\"]\nkeep_failed = true\n{config}");
    scene.repo.write("pleach.toml", set);
    let told = notes(&words);
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
    let note = told[0].as_str().unwrap();
    assert!(
        note.contains("keep_failed") && note.contains("cache"),
        "{note}"
    );
    let here = notes(&["run", "--yes", "--json", "--dry-run", "--where", "local"]);
    assert_eq!(here, Value::Array(Vec::new()));
}

#[test]
fn a_cluster_bears_more_tasks_at_once_than_this_machine() {
    let scene = scene(LARGE);
    let rehearse = |jobs: &str, place: &str| {
        let words = [
            "run",
            "--yes",
            "--json",
            "--dry-run",
            "--jobs",
            jobs,
            "--where",
            place,
        ];
        asked(&scene, (STAND_IN, Path::new("subprocess")), &words)
    };
    assert_eq!(rehearse("500", "slurm").json()["maxConcurrent"], 500);
    for (jobs, place) in [("501", "slurm"), ("65", "local")] {
        let answer = rehearse(jobs, place);
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.code, &error["code"]),
            (2, &"bad_config".into()),
            "{error}"
        );
    }
}
