//! What batches are called: counted within their project, and taken over from earlier versions.

use std::fs;
use std::path::Path;

use pleach_system::crash_point::{CrashPoint, DIE_AT};
use rusqlite::Connection;
use serde_json::Value;

use crate::scene::Scene;
use crate::{Answer, command, pleach};

const PLAN: &str = "- [ ] 1.1 Write alpha\n- [ ] 1.2 Write beta\n";
/// Writes what it is told it works on; 1.2 fails afterwards.
const SHELL: &str = "echo $PLEACH_BATCH > work-$PLEACH_TASK; test $PLEACH_TASK != 1.2";

fn scene() -> Scene {
    Scene::with("retries = 0\nkeep_failed = false", PLAN, SHELL)
}

#[test]
fn batches_are_numbered_from_one_in_each_project() {
    let (first, second) = (scene(), scene());
    let elsewhere = first.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let home = first.home();
    let at = |folder: &Path, words: &[&str]| -> Answer { pleach(folder, &home, words) };
    let told = |folder: &Path, words: &[&str]| -> Value { at(folder, words).json() };
    let (here, there) = (first.repo.path(), second.repo.path());
    at(here, &["run", "--yes", "1.1"]).good();
    at(there, &["run", "--yes", "1.1"]).good();
    assert_eq!(at(here, &["run", "--yes", "1.2"]).code, 1);
    assert_eq!(first.branches(), "pleach/batch-1 pleach/task-2/1.2");
    assert_eq!(second.branches(), "pleach/batch-1");
    assert_eq!(second.show("pleach/batch-1", "work-1.1"), "1");
    assert_eq!(first.show("pleach/task-2/1.2", "work-1.2"), "2");

    let shown = told(there, &["status", "1", "--json"]);
    let batch = &shown["batches"][0];
    assert_eq!((&batch["number"], &batch["id"]), (&1.into(), &2.into()));
    assert_eq!(batch["tasks"][0]["worktreeId"], "batch-1/task-1.1");
    let refused = |folder: &Path, number: &str| {
        let answer = at(folder, &["status", number, "--json"]);
        assert_eq!(answer.code, 2);
        answer.json()["error"]["code"].clone()
    };
    assert_eq!(refused(there, "2"), "batch_not_found");

    // Outside of all projects a number may mean several batches.
    assert_eq!(refused(&elsewhere, "1"), "batch_ambiguous");
    let shown = told(&elsewhere, &["status", "2", "--json"]);
    assert_eq!(shown["batches"][0]["id"], 3);
}

#[test]
fn what_is_refused_names_a_batch_by_its_number() {
    let (first, second) = (scene(), scene());
    let home = first.home();
    let there = |words: &[&str]| pleach(second.repo.path(), &home, words);
    for _ in 0..2 {
        pleach(first.repo.path(), &home, &["run", "--yes", "1.1", "--redo"]).good();
    }
    there(&["run", "--yes", "1.1"]).good();
    let mut dies = command(second.repo.path(), &home, &["run", "--yes", "1.2"]);
    dies.env(DIE_AT, format!("{:?}", CrashPoint::BatchStarted));
    assert!(!dies.output().unwrap().status.success());
    for (words, named) in [
        (&["cancel", "1", "1.1"][..], "pleach status 1"),
        (&["cancel", "1"], "pleach cancel 1 --rollback"),
        (&["stop", "1"], "pleach status 1"),
        (&["approve", "1"], "pleach status 1"),
        (&["retry", "1"], "pleach status 1"),
        (&["land", "2"], "pleach resume 2"),
        (&["approve", "2"], "pleach resume 2"),
        (&["cancel", "2", "1.2"], "pleach resume 2"),
    ] {
        let answer = there(&[words, &["--json"]].concat());
        assert_eq!(answer.code, 2, "{words:?}: {}", answer.err);
        let error = answer.json()["error"].clone();
        let (message, hint) = (error["message"].to_string(), error["hint"].to_string());
        assert!(hint.contains(named), "{words:?}: {error}");
        let number = format!("batch {}", words[1]);
        let names_none = !message.contains("batch ");
        assert!(
            names_none || message.contains(&number),
            "{words:?}: {error}"
        );
    }
}

#[test]
fn the_list_of_all_batches_is_in_columns_with_day_duration_and_repository() {
    let scene = scene();
    let elsewhere = scene.repo.beside("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for _ in 0..10 {
        scene.run(&["1.2"]);
    }
    let list = pleach(&elsewhere, &scene.home(), &["status", "--all"]).good();
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 10, "{list}");
    let folder = scene.repo.path().to_str().unwrap();
    let place = |line: &&str| (line.find("failed"), line.find(folder));
    let first = place(&lines[0]);
    assert!(first.0.is_some() && first.1.is_some(), "{list}");
    assert!(lines.iter().all(|line| place(line) == first), "{list}");
    let year = lines[0]
        .split_whitespace()
        .find(|word| word.starts_with("20"));
    assert_eq!(year.map(str::len), Some("2026-01-31".len()), "{list}");
    let seconds = |line: &str| {
        line.split_whitespace().any(|word| {
            word.strip_suffix('s')
                .is_some_and(|number| number.parse::<f64>().is_ok())
        })
    };
    assert!(lines.iter().all(|line| seconds(line)), "{list}");
}

/// Makes of a state folder what the version before left there: other names, and no numbers within projects.
fn age(scene: &Scene) {
    let store = scene.store();
    let git = |words: &[&str]| scene.repo.git_in(&store, words);
    let kept = git(&["rev-parse", "refs/pleach/keep/batch-1/task-1.2/attempt-1"]);
    for (old, new) in [
        (
            "pleach/keep/batch-1/task-1.2/attempt-1",
            "pleach/keep/batch-1/task-1-2e2/attempt-1",
        ),
        (
            "pleach/keep/batch-1/task-1.1/attempt-1",
            "pleach/keep/batch-1/task-1-2e1/attempt-1",
        ),
        ("heads/pleach/task-1/1.1", "heads/pleach/task-1/1-2e1"),
        ("heads/pleach/task-1/1.2", "heads/pleach/task-1/1-2e2"),
    ] {
        let commit = git(&[
            "for-each-ref",
            "--format=%(objectname)",
            &format!("refs/{old}"),
        ]);
        if !commit.is_empty() {
            git(&["update-ref", "-d", &format!("refs/{old}")]);
            git(&["update-ref", &format!("refs/{new}"), &commit]);
        }
    }
    let rename = ["branch", "-m", "pleach/task-1/1.2", "pleach/task-1/1-2e2"];
    scene.repo.git(&rename);
    let project = store.parent().unwrap().file_name().unwrap();
    let head = |name: &str| scene.repo.git(&["rev-parse", name]);
    let rows = include_str!("../fixtures/state-12.sql")
        .replace("FOLDER", scene.repo.path().to_str().unwrap())
        .replace("PROJECT", project.to_str().unwrap())
        .replace("BASE", &head("main"))
        .replace("BUILT", &head("pleach/batch-1^2"))
        .replace("TIP", &head("pleach/batch-1"))
        .replace("KEPT", &kept);
    for entry in fs::read_dir(scene.state()).unwrap().flatten() {
        if entry.file_name().to_string_lossy().starts_with("pleach.db") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    let database = Connection::open(scene.state().join("pleach.db")).unwrap();
    database.execute_batch(&rows).unwrap();
}

#[test]
fn the_state_folder_of_an_earlier_version_is_taken_over() {
    let scene = scene();
    assert_eq!(scene.run(&["all"]).code, 1);
    age(&scene);
    let here = |words: &[&str]| pleach(scene.repo.path(), &scene.home(), words);
    let shown: Value = serde_json::from_str(&here(&["status", "1", "--json"]).good()).unwrap();
    let batch = &shown["batches"][0];
    assert_eq!((&batch["number"], &batch["id"]), (&1.into(), &1.into()));
    let worktree = &batch["tasks"][1]["worktreeId"];
    assert_eq!(worktree, "batch-1/task-1-2e2", "as it was called then");
    let copies = fs::read_dir(scene.state()).unwrap().flatten();
    let is_copy = |name: &str| name.starts_with("pleach.db.before-");
    let copies = copies.filter(|entry| is_copy(&entry.file_name().to_string_lossy()));
    assert_eq!(copies.count(), 1, "what was there is copied first");

    let list = here(&["recover"]).good();
    assert!(list.contains("in pleach/task-1/1-2e2"), "{list}");
    here(&["recover", "1", "1.2"]).good();
    assert_eq!(scene.show("pleach/recovered-1/1-2e2", "work-1.2"), "1");
    assert!(here(&["gc", "--yes"]).code == 0);
    // The next one counts on, and has plain names.
    assert_eq!(scene.run(&["1.2"]).code, 1);
    assert_eq!(scene.show("pleach/task-2/1.2", "work-1.2"), "2");
}

#[test]
fn the_state_folder_of_a_later_version_is_refused() {
    let scene = scene();
    assert_eq!(scene.run(&["all"]).code, 1);
    let database = Connection::open(scene.state().join("pleach.db")).unwrap();
    let known: u32 =
        { database.pragma_query_value(None, "user_version", |row| row.get(0)) }.unwrap();
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    for words in [["status", "1"], ["run", "--yes"]] {
        let answer = pleach(scene.repo.path(), &scene.home(), &words);
        let error = answer.bad(3);
        for word in ["999", &known.to_string(), "update Pleach"] {
            assert!(error.contains(word), "{word}: {error}");
        }
    }
}
