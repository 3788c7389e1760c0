//! `pleach recover` and `pleach gc`.

use std::path::PathBuf;

use serde_json::Value;

use crate::held::Held;
use crate::pleach;
use crate::scene::Scene;

const TWO: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n";

/// A batch in which 1.1 was merged and 1.2 failed.
fn half_done() -> Held {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "2"]);
    held.tell("1.2", "exit 1");
    drop(held.gate("1.1"));
    assert_eq!(run.end().code, 1);
    held
}

/// The refs of the store below a prefix.
fn refs(held: &Held, prefix: &str) -> Vec<String> {
    let store = store(held);
    let format = "--format=%(refname)";
    let told = held
        .scene
        .repo
        .git_in(&store, &["for-each-ref", format, prefix]);
    told.lines().map(str::to_owned).collect()
}

fn store(held: &Held) -> PathBuf {
    let stores = held.state_folder().join("stores");
    let mut entries = std::fs::read_dir(stores).unwrap();
    entries.next().unwrap().unwrap().path().join("store.git")
}

/// Where the worktree of a task of batch 1 is.
fn tree(held: &Held, segment: &str) -> PathBuf {
    let worktrees = held.state_folder().join("worktrees");
    let project = std::fs::read_dir(worktrees).unwrap().next();
    let project = project.unwrap().unwrap().path();
    project.join(format!("batch-1/task-{segment}"))
}

fn kinds(told: &Value, key: &str) -> Vec<String> {
    let finds = told[key].as_array().unwrap().iter();
    let kinds = finds.map(|find| {
        let word = |name: &str| find[name].as_str().unwrap().to_owned();
        format!("{} {}", word("kind"), word("name"))
    });
    kinds.collect()
}

#[test]
fn what_is_kept_is_listed_and_comes_back_as_branches() {
    let held = half_done();
    let before = held.scene.repo.fingerprint();
    let list = held.pleach(&["recover"]).good();
    assert!(list.contains("batch 1  1.2  attempt 1"), "{list}");
    assert!(
        list.contains("1 file") && list.contains("in pleach/task-1/1.2"),
        "{list}"
    );
    assert!(
        list.contains("1 more is already merged; --all lists it"),
        "{list}"
    );
    let all = held.pleach(&["recover", "--all", "--json"]).json();
    let merged = all["kept"].as_array().unwrap().iter();
    let merged: Vec<_> = merged.filter(|work| work["merged"] == true).collect();
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0]["key"], "1.1");
    let back = held.pleach(&["recover", "1"]).good();
    assert!(back.contains("pleach/recovered-1/1.2"), "{back}");
    assert!(
        !back.contains("1.1"),
        "what is merged needs no bringing back: {back}"
    );
    assert_eq!(
        held.scene.show("pleach/recovered-1/1.2", "half-1.2"),
        "half"
    );
    let named = held.pleach(&["recover", "1", "1.1"]).good();
    assert!(named.contains("pleach/recovered-1/1.1"), "{named}");
    let after = held.scene.repo.fingerprint();
    let without_ours = |text: String| {
        let lines = text
            .lines()
            .filter(|line| !line.contains("pleach/recovered-1"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        without_ours(format!("{after:#?}")),
        without_ours(format!("{before:#?}"))
    );
}

#[test]
fn each_attempt_comes_back_and_a_taken_name_gets_a_number() {
    let held = Held::with("- [ ] 1.1 A\n", "", "echo $PLEACH_ATTEMPT > which");
    let run = held.run(&[]);
    held.tell("1.1", "exit 1");
    assert_eq!(run.end().code, 1);
    let retry = held.begin(&["retry", "1", "1.1"]);
    held.tell("1.1", "exit 1");
    assert_eq!(retry.end().code, 1);
    held.scene.repo.git(&["branch", "pleach/recovered-1/1.1"]);
    let back = held.pleach(&["recover", "1", "1.1", "--json"]).json();
    assert_eq!(back["recovered"][0]["branch"], "pleach/recovered-1/1.1-2");
    assert_eq!(held.scene.show("pleach/recovered-1/1.1-2", "which"), "2");
    let words = ["recover", "1", "1.1", "--attempt", "1", "--json"];
    let back = held.pleach(&words).json();
    assert_eq!(back["recovered"][0]["branch"], "pleach/recovered-1/1.1-3");
    assert_eq!(held.scene.show("pleach/recovered-1/1.1-3", "which"), "1");
    let words = ["recover", "1", "1.1", "--attempt", "3"];
    let none = held.pleach(&words).bad(2);
    assert!(
        none.contains("no work is kept of attempt 3 of task 1.1 of batch 1"),
        "{none}"
    );
}

#[test]
fn what_somebody_did_in_a_worktree_that_stayed_comes_back_too() {
    let held = half_done();
    std::fs::write(tree(&held, "1.2").join("mine"), "by hand\n").unwrap();
    held.pleach(&["recover", "1", "1.2"]).good();
    assert_eq!(held.scene.show("pleach/recovered-1/1.2", "mine"), "by hand");
    assert_eq!(refs(&held, "refs/pleach/keep/batch-1/task-1.2").len(), 2);
    held.pleach(&["recover", "1", "1.2"]).good();
    let kept = refs(&held, "refs/pleach/keep/batch-1/task-1.2");
    assert_eq!(kept.len(), 2, "the same state is kept once: {kept:?}");
}

#[test]
fn the_work_of_an_interrupted_batch_comes_back_and_it_can_still_be_resumed() {
    let held = Held::new("- [ ] 1.1 A\n");
    let run = held.run(&[]);
    let gate = held.gate("1.1");
    run.kill();
    let answer = held.pleach(&["recover", "1"]);
    assert!(answer.err.contains("pleach resume 1"), "{}", answer.err);
    answer.good();
    assert_eq!(
        held.scene.show("pleach/recovered-1/1.1", "half-1.1"),
        "half"
    );
    drop(gate);
    let resumed = held.run(&["--resume", "1"]);
    drop(held.gate("1.1"));
    assert_eq!(resumed.end().code, 0);
    assert_eq!(held.scene.show("pleach/batch-1", "done-1.1"), "done");
}

#[test]
fn clearing_up_shows_first_and_wants_an_answer() {
    let held = half_done();
    let before = refs(&held, "refs");
    let told = held.pleach(&["gc", "--dry-run", "--json"]).json();
    assert_eq!(
        kinds(&told, "wouldRemove"),
        ["worktree 1.2", "branch 1.1", "branch 1.2"]
    );
    let asked = held.pleach(&["gc"]);
    assert!(asked.out.contains("worktree"), "{}", asked.out);
    assert!(asked.bad(3).contains("pass --yes"));
    assert_eq!(refs(&held, "refs"), before);
    assert!(tree(&held, "1.2").is_dir());
}

#[test]
fn clearing_up_takes_worktrees_and_branches_and_leaves_young_work() {
    let held = half_done();
    std::fs::write(tree(&held, "1.2").join("mine"), "by hand\n").unwrap();
    let out = held.pleach(&["gc", "--yes"]).good();
    assert!(out.contains("removed 3 items"), "{out}");
    assert!(!tree(&held, "1.2").exists());
    assert_eq!(refs(&held, "refs/heads/pleach/task-1"), [""; 0]);
    let kept = refs(&held, "refs/pleach/keep/");
    assert_eq!(kept.len(), 3, "{kept:?}");
    held.scene.repo.git_in(&store(&held), &["fsck", "--strict"]);
    held.pleach(&["recover", "1", "1.2"]).good();
    assert_eq!(held.scene.show("pleach/recovered-1/1.2", "mine"), "by hand");
    held.pleach(&["logs", "1", "1.2"]).good();
    let again = held.pleach(&["gc", "--yes"]).good();
    assert!(again.contains("Nothing to remove"), "{again}");
    let retry = held.begin(&["retry", "1", "1.2"]);
    drop(held.gate("1.2"));
    assert_eq!(retry.end().code, 0);
    assert_eq!(held.scene.show("pleach/batch-1", "done-1.1"), "done");
}

#[test]
fn old_work_goes_and_batches_are_counted_on() {
    let held = half_done();
    held.pleach(&["gc", "--yes"]).good();
    let told = held.pleach(&["gc", "--yes", "--keep", "1ms", "--json"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(
        kinds(&told.json(), "removed"),
        [
            "kept_work 1.1, attempt 1",
            "kept_work 1.2, attempt 1",
            "transcripts of its agents"
        ]
    );
    assert_eq!(refs(&held, "refs/pleach/keep/"), [""; 0]);
    let gone = held.pleach(&["logs", "1", "1.2"]).bad(2);
    assert!(gone.contains("pleach gc"), "{gone}");
    let none = held.pleach(&["recover", "1", "1.2"]).bad(2);
    assert!(none.contains("work is kept of"), "{none}");
    assert_eq!(held.scene.show("pleach/task-1/1.2", "half-1.2"), "half");
    let run = held.run(&[]);
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 0);
    assert_eq!(held.states(2), "1.2:merged");
}

#[test]
fn nothing_of_a_batch_that_runs_or_is_interrupted_is_touched() {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "1"]);
    drop(held.gate("1.1"));
    let gate = held.gate("1.2");
    let before = refs(&held, "refs");
    let told = held
        .pleach(&["gc", "--yes", "--keep", "1ms", "--json"])
        .json();
    assert_eq!(kinds(&told, "removed"), [""; 0]);
    let notes = told["notes"].to_string();
    assert!(notes.contains("it is in use"), "{notes}");
    run.kill();
    drop(gate);
    let told = held
        .pleach(&["gc", "--yes", "--keep", "1ms", "--json"])
        .json();
    assert_eq!(kinds(&told, "removed"), [""; 0]);
    assert_eq!(refs(&held, "refs"), before);
    assert!(tree(&held, "1.2").is_dir());
    let resumed = held.run(&["--resume", "1"]);
    drop(held.gate("1.2"));
    assert_eq!(resumed.end().code, 0);
    assert_eq!(held.states(1), "1.1:merged 1.2:merged");
}

#[test]
fn a_worktree_that_can_not_be_kept_stays_and_holds_up_nobody_else() {
    let first = "test $PLEACH_TASK = 1.2 || { mkdir .GIT; echo x > .GIT/x; }";
    let held = Held::with("- [ ] 1.1 A\n- [ ] 1.2 B\n", "", first);
    held.run(&["1.1"]).kill_at(&held.gate("1.1"));
    let run = held.run(&["1.2"]);
    drop(held.gate("1.2"));
    let answer = run.end();
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(held.states(2), "1.2:merged");
    let resumed = held.run(&["--resume", "1"]).end();
    assert_eq!(resumed.code, 1, "{}", resumed.err);
    assert_eq!(held.states(1), "1.1:failed");
    let trees = held.pleach(&["worktrees", "--json"]).json();
    let path = trees["worktrees"][0]["path"].as_str().unwrap();
    let half = std::path::Path::new(path).join("half-1.1");
    assert!(half.exists(), "{trees:#}");
}

#[test]
fn attempts_that_left_the_same_are_told_apart_and_work_without_files_makes_no_branch() {
    let shell = "case $PLEACH_TASK in 3) ;; *) echo same > same;; esac; exit 1";
    let settings = "retries = 1\nretry_pause = \"1ms\"\nkeep_failed = false";
    let scene = Scene::with(settings, "- [ ] 1 A\n- [ ] 2 B\n- [ ] 3 C\n", shell);
    assert_eq!(scene.run(&["all"]).code, 1);
    let here = |words: &[&str]| pleach(scene.repo.path(), &scene.home(), words);
    let shown = || {
        let kept = here(&["recover", "--json"]).json();
        let kept = kept["kept"].as_array().unwrap().iter();
        let mut shown: Vec<String> = kept
            .map(|work| {
                let branch = work["branch"].as_str().unwrap_or("nowhere");
                format!(
                    "{} {} {branch}",
                    work["key"].as_str().unwrap(),
                    work["attempt"]
                )
            })
            .collect();
        shown.sort();
        shown
    };
    let expected = [
        "1 1 nowhere",
        "1 2 pleach/task-1/1",
        "2 1 nowhere",
        "2 2 pleach/task-1/2",
    ];
    assert_eq!(shown(), expected);
    scene.repo.git(&["branch", "pleach/zz", "pleach/task-1/2"]);
    assert_eq!(shown(), expected, "its own branch is the one that is named");
    let subject = scene
        .repo
        .git(&["log", "-1", "--format=%s", "pleach/task-1/2"]);
    assert_eq!(subject, "Task 2, attempt 2 (unfinished)");
}

#[test]
fn an_attempt_whose_files_are_as_before_makes_no_branch() {
    let shell = "git commit -q --allow-empty -m nothing; exit 1";
    let scene = Scene::new("- [ ] 1 A\n", shell);
    assert_eq!(scene.run(&["all"]).code, 1);
    let here = |words: &[&str]| pleach(scene.repo.path(), &scene.home(), words);
    let back = here(&["recover", "1", "--json"]).json();
    assert_eq!(back["recovered"][0]["key"], "1");
    assert_eq!(back["recovered"][0]["branch"], Value::Null);
    let branches = scene.branches();
    assert!(!branches.contains("recovered"), "{branches}");
    let told = here(&["recover", "1"]).good();
    assert!(told.contains("no branch"), "{told}");
}
