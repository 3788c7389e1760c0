//! Coming conflicts: told while the agents are still at work.

use serde_json::{Value, json};

use crate::held::{Held, Running};

const THREE: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C\n";

/// What lets an agent be told several things, one after the other; whoever told it the last one may be about to leave.
const AGAIN: &str = "again() { line=; while [ -z \"$line\" ]; do read line < 'GATES'/$PLEACH_TASK; done; eval \"$line\"; }";

fn held() -> Held {
    Held::with(THREE, "radar = \"100ms\"", AGAIN)
}

/// Pairs with the keys of their tasks.
fn with_keys(held: &Held, mut pairs: Value) -> Value {
    let batch = held.batch(1);
    let tasks = batch["tasks"].as_array().unwrap();
    for pair in pairs.as_array_mut().unwrap() {
        for name in pair["tasks"].as_array_mut().unwrap() {
            let task = tasks.iter().find(|task| task["taskId"] == *name);
            *name = task.unwrap()["key"].clone();
        }
    }
    pairs
}

/// What `status` says is coming.
fn coming(held: &Held) -> Value {
    with_keys(held, held.batch(1)["predictedConflicts"].clone())
}

/// Waits until other conflicts are coming than before.
#[track_caller]
fn predicted(held: &Held, run: &mut Running) -> Value {
    let line = run.line_with("batch:predicted");
    let told: Value = serde_json::from_str(&line).unwrap();
    assert!(told["id"].is_u64(), "it is in the log: {line}");
    with_keys(held, told["data"]["pairs"].clone())
}

#[test]
fn a_coming_conflict_is_shown_on_both_tasks_until_it_is_none_any_more() {
    let held = held();
    let mut run = held.run(&["-j", "3", "--json"]);
    held.tell("1.1", "echo one > README.md; again");
    held.tell("1.2", "echo two > README.md; again");
    held.tell("1.3", "echo three > other.txt; again");
    let pair = json!([{"tasks": ["1.1", "1.2"], "files": ["README.md"]}]);
    assert_eq!(predicted(&held, &mut run), pair);
    assert_eq!(coming(&held), pair);
    let text = held.pleach(&["status"]).good();
    for note in [
        "likely conflict with 1.2 in README.md",
        "likely conflict with 1.1 in README.md",
    ] {
        assert_eq!(text.matches(note).count(), 1, "{text}");
    }
    held.tell("1.2", "git checkout --quiet -- README.md; again");
    assert_eq!(predicted(&held, &mut run), json!([]));
    assert_eq!(coming(&held), json!([]));
    for task in ["1.1", "1.2", "1.3"] {
        held.tell(task, ":");
    }
    assert_eq!(run.end().code, 0);
}

#[test]
fn what_is_woven_counts_and_a_task_that_fails_does_not() {
    let held = held();
    let mut run = held.run(&["-j", "3", "--json"]);
    held.tell("1.1", "echo one > README.md");
    run.line_with("merged");
    held.tell("1.2", "echo two > README.md; again");
    let pair = |other: &str| json!({"tasks": ["1.1", other], "files": ["README.md"]});
    assert_eq!(predicted(&held, &mut run), json!([pair("1.2")]));
    held.tell("1.3", "echo three > README.md; again");
    let both = json!({"tasks": ["1.2", "1.3"], "files": ["README.md"]});
    assert_eq!(
        predicted(&held, &mut run),
        json!([pair("1.2"), pair("1.3"), both])
    );
    held.tell("1.2", "exit 3");
    run.line_with("batch:task:failed");
    assert_eq!(coming(&held), json!([pair("1.3")]), "without another look");
    held.tell("1.3", ":");
    assert_eq!(run.end().code, 1);
    assert_eq!(coming(&held), json!([]));
}

#[test]
fn a_pair_is_told_people_once() {
    let held = held();
    let mut run = held.run(&["-j", "3"]);
    held.tell("1.1", "echo one > README.md; again");
    held.tell("1.2", "echo two > README.md; again");
    let line = run.line_with("warning");
    assert!(
        line.contains("1.1 and 1.2 are likely to conflict in README.md"),
        "{line}"
    );
    held.tell("1.1", "echo one > other.txt; again");
    held.tell("1.2", "echo two > other.txt; again");
    held.tell("1.3", "echo three > other.txt; again");
    let line = run.line_with("warning");
    assert!(
        line.contains("and 1.3 are likely to conflict in other.txt"),
        "{line}"
    );
    for task in ["1.1", "1.2", "1.3"] {
        held.tell(task, ":");
    }
    let rest = run.end().out;
    assert!(
        !rest.contains("1.1 and 1.2 are likely to conflict"),
        "{rest}"
    );
}

#[test]
fn a_radar_that_is_off_says_nothing() {
    let held = Held::with(THREE, "radar = \"off\"", "echo $PLEACH_TASK > README.md");
    let run = held.run(&["-j", "3", "--json"]);
    for task in ["1.1", "1.2", "1.3"] {
        held.tell(task, ":");
    }
    let told = run.end().out;
    assert!(told.contains("batch:task:skipped"), "{told}");
    assert!(!told.contains("batch:predicted"), "{told}");
}
