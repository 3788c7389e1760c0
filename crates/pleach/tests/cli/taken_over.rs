//! Tasks of a batch that nobody runs: a new run may take them, and whoever resumes the batch leaves them out.

use crate::held::Held;

const TWO: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n";

/// A batch of both tasks whose process was killed while the first was at work.
fn interrupted(settings: &str) -> Held {
    let held = Held::with(TWO, settings, "");
    let run = held.run(&["-j", "1"]);
    run.kill_at(&held.gate("1.1"));
    held
}

#[test]
fn a_new_run_takes_a_task_and_resuming_leaves_it_out() {
    let held = interrupted("");
    let run = held.run(&["1.1"]);
    drop(held.gate("1.1"));
    assert_eq!(run.end().code, 0);
    assert_eq!(held.states(2), "1.1:merged");
    assert_eq!(held.states(1), "1.1:blocked 1.2:queued");
    let resumed = held.begin(&["resume", "1"]);
    drop(held.gate("1.2"));
    assert_eq!(resumed.end().code, 1);
    assert_eq!(held.states(1), "1.1:blocked 1.2:merged");
    assert_eq!(held.scene.plan(), TWO.replace("[ ]", "[x]"));
    let store = format!("--git-dir={}", held.scene.store().display());
    let kept = held
        .scene
        .repo
        .git(&[&store, "for-each-ref", "refs/pleach/keep/"]);
    assert!(kept.contains("batch-1") || kept.contains("/1/"), "{kept}");
}

#[test]
fn a_task_that_runs_elsewhere_is_neither_resumed_nor_retried() {
    let held = interrupted("");
    let run = held.run(&["1.1"]);
    let at_work = held.gate("1.1");
    let resumed = held.begin(&["resume", "1"]);
    drop(held.gate("1.2"));
    assert_eq!(resumed.end().code, 1);
    assert_eq!(held.states(1), "1.1:blocked 1.2:merged");
    let error = held.pleach(&["retry", "1", "1.1"]).bad(2);
    assert!(error.contains("task 1.1 is in batch 2"), "{error}");
    drop(at_work);
    assert_eq!(run.end().code, 0);
}

#[test]
fn a_task_that_runs_elsewhere_is_not_retried_while_its_old_batch_runs() {
    let held = interrupted("");
    let run = held.run(&["1.1"]);
    let at_work = held.gate("1.1");
    let resumed = held.begin(&["resume", "1"]);
    let last = held.gate("1.2");
    let error = held.pleach(&["retry", "1", "1.1"]).bad(2);
    assert!(error.contains("task 1.1 is in batch 2"), "{error}");
    drop((at_work, last));
    assert_eq!((run.end().code, resumed.end().code), (0, 1));
}

#[test]
fn what_an_interrupted_batch_has_done_stays_there() {
    let held = Held::with(TWO, "validate = \"true\"", "");
    let run = held.run(&["-j", "1"]);
    drop(held.gate("1.1"));
    run.kill_at(&held.gate("1.2"));
    let error = held.pleach(&["run", "--yes", "1.1"]).bad(2);
    assert!(error.contains("1.1"), "{error}");
    let run = held.run(&["all"]);
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 0);
    assert_eq!(held.states(2), "1.2:merged");
    held.begin(&["resume", "1"]).end();
    assert_eq!(held.states(1), "1.1:merged 1.2:blocked");
}

#[test]
fn of_several_runs_and_a_resumption_at_once_one_gets_the_task() {
    let held = Held::new("- [ ] 1.1 A\n");
    held.run(&[]).kill_at(&held.gate("1.1"));
    let words: [&[&str]; 4] = [
        &["run", "--yes", "1.1"],
        &["resume", "1"],
        &["run", "--yes", "1.1"],
        &["resume", "1"],
    ];
    let all = words.map(|words| held.begin(words));
    let at_work = held.gate("1.1");
    let batches = || held.pleach(&["status", "--all", "--json"]).json()["batches"].clone();
    let is_running = |batch: &&serde_json::Value| {
        let tasks = batch["tasks"].as_array().unwrap();
        tasks[0]["state"] == "running" && batch["interrupted"] == false
    };
    let running = batches();
    let running = running.as_array().unwrap().iter().filter(is_running);
    assert_eq!(running.count(), 1);
    drop(at_work);
    let codes = all.map(|one| one.end().code);
    let successes = codes.iter().filter(|code| **code == 0).count();
    assert_eq!(successes, 1, "{codes:?}");
    let done = batches();
    let merged = |batch: &&serde_json::Value| batch["tasks"][0]["state"] == "merged";
    assert_eq!(done.as_array().unwrap().iter().filter(merged).count(), 1);
}
