//! `pleach approve`, `cancel` and `retry`, from another process than the one that runs the batch.

use serde_json::Value;

use crate::command;
use crate::held::Held;

const TWO: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n";

#[test]
fn a_cancelled_batch_is_over_when_the_answer_comes_and_its_work_is_kept() {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "1"]);
    let _gate = held.gate("1.1");
    let answer = held.pleach(&["cancel", "1"]);
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (0, "batch 1 is cancelled; its work is kept\n")
    );
    assert_eq!(held.states(1), "1.1:cancelled 1.2:cancelled");
    assert_eq!(run.end().code, 130);
    assert_eq!(held.scene.show("pleach/task-1/1.1", "half-1.1"), "half");
    assert_eq!(held.scene.plan(), TWO);
    let again = held.pleach(&["cancel", "1"]).bad(2);
    assert!(
        again.contains("batch 1 is already finished: cancelled"),
        "{again}"
    );
}

#[test]
fn a_cancelled_task_is_over_when_the_answer_comes_and_the_others_go_on() {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "2"]);
    let (first, second) = (held.gate("1.1"), held.gate("1.2"));
    let answer = held.pleach(&["cancel", "1", "1.1", "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let told = answer.json();
    assert_eq!(told["message"], "task 1.1 is cancelled; its work is kept");
    assert_eq!(told["batch"]["tasks"][0]["status"], "cancelled");
    assert_eq!(held.states(1), "1.1:cancelled 1.2:running");
    let again = held.pleach(&["cancel", "1", "1.1"]).bad(2);
    assert!(
        again.contains("task 1.1 is already finished: cancelled"),
        "{again}"
    );
    let unknown = held.pleach(&["cancel", "1", "1.9"]).bad(2);
    assert!(unknown.contains("its tasks are 1.1, 1.2"), "{unknown}");
    drop((first, second));
    assert_eq!(run.end().code, 1);
    assert_eq!(held.states(1), "1.1:cancelled 1.2:merged");
}

#[test]
fn a_rollback_takes_the_branch_of_the_batch_away_and_nothing_else() {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "1"]);
    drop(held.gate("1.1"));
    let gate = held.gate("1.2");
    held.pleach(&["cancel", "1", "--rollback"]).good();
    assert_eq!(run.end().code, 130);
    let branches =
        held.scene
            .repo
            .git(&["branch", "--list", "pleach/*", "--format=%(refname:short)"]);
    assert_eq!(branches, "pleach/task-1/1.2");
    assert_eq!(held.scene.plan(), TWO, "what nobody has is not done");
    drop(gate);
    let again = held.begin(&["retry", "1"]);
    drop(held.gate("1.2"));
    assert_eq!(again.end().code, 0);
    assert_eq!(held.scene.show("pleach/batch-1", "done-1.1"), "done");
    assert_eq!(held.scene.plan(), TWO.replace("[ ]", "[x]"));
}

#[test]
fn a_rollback_of_a_batch_that_is_over_takes_its_branch_away() {
    let held = Held::with(TWO, "land = \"none\"", "");
    let run = held.run(&["-j", "2"]);
    drop((held.gate("1.1"), held.gate("1.2")));
    assert_eq!(run.end().code, 0);
    let over = held.pleach(&["cancel", "1"]).bad(2);
    assert!(over.contains("pleach cancel 1 --rollback"), "{over}");
    let before = held.batch(1);
    assert_eq!(
        (&before["batchBranch"], &before["hasBranch"]),
        (&"pleach/batch-1".into(), &true.into())
    );
    held.pleach(&["cancel", "1", "--rollback"]).good();
    let branches = held.scene.repo.git(&["branch", "--list", "pleach/*"]);
    assert_eq!(branches, "");
    assert_eq!(held.scene.plan(), TWO, "what nobody has is not done");
    let after = held.batch(1);
    assert_eq!(
        (&after["status"], &after["hasBranch"]),
        (&"cancelled".into(), &false.into())
    );
    held.pleach(&["cancel", "1", "--rollback"]).bad(2);
}

#[test]
fn a_stopped_batch_finishes_what_runs_and_cancels_the_rest() {
    let held = Held::with(
        "- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C\n",
        "land = \"none\"",
        "",
    );
    let nothing = held.pleach(&["stop"]).bad(2);
    assert!(nothing.contains("no batch is running here"), "{nothing}");
    let run = held.run(&["-j", "1"]);
    let gate = held.gate("1.1");
    let begun = held.batch(1);
    assert_eq!(begun["batchBranch"], "pleach/batch-1");
    assert_eq!(begun["tasks"][0]["branch"], "pleach/task-1/1.1");
    let said = held.pleach(&["stop"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(held.pleach(&["stop", "1"]).code, 0, "twice is once");
    drop(gate);
    assert_eq!(run.end().code, 1);
    assert_eq!(held.states(1), "1.1:merged 1.2:cancelled 1.3:cancelled");
    assert_eq!(held.batch(1)["status"], "completed");
    assert_eq!(held.scene.show("pleach/batch-1", "done-1.1"), "done");
    let over = held.pleach(&["stop", "1"]).bad(2);
    assert!(over.contains("batch 1 is already finished"), "{over}");
    let begun = held.batch(1);
    assert_eq!(begun["tasks"][0]["branch"], "pleach/task-1/1.1");
}

#[test]
fn a_queue_goes_on_when_it_is_approved() {
    let held = Held::new(TWO);
    let mut run = held.run(&["--mode", "queue", "--json"]);
    let first = run.line_with("batch:task:started");
    assert!(first.contains("\"1.1\""), "{first}");
    let nothing = held.pleach(&["approve", "1"]).bad(2);
    assert!(
        nothing.contains("no task of this batch is waiting"),
        "{nothing}"
    );
    drop(held.gate("1.1"));
    run.line_with("batch:task:waiting");
    let status = held.pleach(&["status"]).good();
    assert!(status.contains("pleach approve 1"), "{status}");
    let answer = held.pleach(&["approve", "1"]).good();
    assert_eq!(answer, "task 1.2 of batch 1 is approved\n");
    drop(held.gate("1.2"));
    assert_eq!(run.end().code, 0);
    let over = held.pleach(&["approve", "1", "--json"]);
    assert_eq!(over.code, 2);
    assert_eq!(over.json()["error"]["code"], "nothing_waiting");
}

#[test]
fn who_names_a_batch_that_is_not_there_is_told_so() {
    let held = Held::new(TWO);
    for words in [
        &["approve", "7"][..],
        &["cancel", "7"],
        &["retry", "7", "1.1"],
        &["logs", "7", "1.1"],
        &["diff", "7"],
        &["status", "7"],
        &["recover", "7"],
    ] {
        let error = held.pleach(words).bad(2);
        assert!(error.contains("batch 7 not found"), "{words:?}: {error}");
        assert!(error.contains("pleach status --all"), "{words:?}: {error}");
    }
}

#[test]
fn an_interrupted_batch_is_shown_as_such_and_ended_by_whoever_cancels_it() {
    let held = Held::new(TWO);
    let run = held.run(&["-j", "1"]);
    let gate = held.gate("1.1");
    run.kill();
    let status = held.pleach(&["status"]).good();
    assert!(status.contains("Batch 1 interrupted"), "{status}");
    assert!(status.contains("pleach resume 1"), "{status}");
    let approve = held.pleach(&["approve", "1"]).bad(2);
    assert!(approve.contains("pleach resume 1"), "{approve}");
    let task = held.pleach(&["cancel", "1", "1.1"]).bad(2);
    assert!(task.contains("no task is running"), "{task}");
    let answer = held.pleach(&["cancel", "1"]);
    assert_eq!(answer.out, "batch 1 is cancelled; its work is kept\n");
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(held.states(1), "1.1:cancelled 1.2:cancelled");
    assert_eq!(held.batch(1)["status"], "cancelled");
    assert_eq!(held.scene.show("pleach/task-1/1.1", "half-1.1"), "half");
    drop(gate);
}

#[test]
fn a_batch_that_never_began_can_be_ended_too() {
    let held = Held::new(TWO);
    let mut run = command(
        held.scene.repo.path(),
        &held.scene.home(),
        &["run", "--yes"],
    );
    run.env("PLEACH_DIE_AT", "BatchStored");
    assert_eq!(run.output().unwrap().status.code(), None);
    held.pleach(&["cancel", "1"]).good();
    assert_eq!(held.states(1), "1.1:cancelled 1.2:cancelled");
    assert_eq!(held.batch(1)["status"], "cancelled");
}

#[test]
fn an_owner_that_dies_while_it_is_asked_leaves_the_rest_to_who_asked() {
    let held = Held::with("- [ ] 1.1 A\n", "", "trap '' TERM");
    let mut run = held.run(&[]);
    let gate = held.gate("1.1");
    let cancel = held.begin(&["cancel", "1"]);
    run.line_with("stopping");
    run.kill();
    let answer = cancel.end();
    assert_eq!(
        (answer.code, answer.out.as_str()),
        (0, "batch 1 is cancelled; its work is kept\n"),
        "{}",
        answer.err
    );
    assert_eq!(held.states(1), "1.1:cancelled");
    drop(gate);
}

#[test]
fn what_failed_is_tried_again_where_its_batch_runs() {
    let held = Held::new(TWO);
    let mut run = held.run(&["-j", "2"]);
    let second = held.gate("1.2");
    held.tell("1.1", "exit 1");
    run.line_with("failed");
    let running = held.pleach(&["retry", "1", "1.2"]).bad(2);
    assert!(running.contains("is still running"), "{running}");
    let answer = held.pleach(&["retry", "1", "1.1"]).good();
    assert_eq!(answer, "task 1.1 is queued again\n");
    drop(held.gate("1.1"));
    drop(second);
    assert_eq!(run.end().code, 0);
    assert_eq!(held.states(1), "1.1:merged 1.2:merged");
}

#[test]
fn a_batch_that_is_over_is_opened_again_and_runs_here() {
    let held = Held::new("- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C\n");
    let run = held.run(&["-j", "2"]);
    held.tell("1.1", "echo half > half; exit 1");
    drop(held.gate("1.3"));
    assert_eq!(run.end().code, 1);
    assert_eq!(held.states(1), "1.1:failed 1.2:blocked 1.3:merged");
    let left_out = "pleach/task-1/1.1";
    assert_eq!(held.scene.show(left_out, "half"), "half");
    let merged = held.pleach(&["retry", "1", "1.3"]).bad(2);
    assert!(merged.contains("task 1.3 is merged"), "{merged}");
    let retry = held.begin(&["retry", "1", "1.1", "--json"]);
    drop(held.gate("1.1"));
    drop(held.gate("1.2"));
    let answer = retry.end();
    assert_eq!(answer.code, 0, "{}", answer.err);
    let last = answer.out.lines().last().unwrap();
    let summary: Value = serde_json::from_str(last).unwrap();
    assert_eq!(summary["event"], "batch:summary");
    assert_eq!(summary["data"]["status"], "completed");
    assert_eq!(held.states(1), "1.1:merged 1.2:merged 1.3:merged");
    for task in ["1.1", "1.2", "1.3"] {
        assert_eq!(
            held.scene.show("pleach/batch-1", &format!("done-{task}")),
            "done"
        );
    }
    let branches = held.scene.repo.git(&["branch", "--list", left_out]);
    assert_eq!(
        branches, "",
        "what is merged by now is not left out any more"
    );
    let nothing = held.pleach(&["retry", "1"]).bad(2);
    assert!(nothing.contains("has no task to retry"), "{nothing}");
}

#[test]
fn a_retry_goes_on_in_the_background_if_it_is_told_to() {
    let held = Held::new("- [ ] 1.1 A\n");
    let run = held.run(&[]);
    held.tell("1.1", "exit 1");
    assert_eq!(run.end().code, 1);
    let answer = held.pleach(&["retry", "1", "--detach"]).good();
    assert!(
        answer.starts_with("batch 1 is running in the background"),
        "{answer}"
    );
    let watch = held.begin(&["status", "1", "--watch"]);
    drop(held.gate("1.1"));
    assert_eq!(watch.end().code, 0);
    assert_eq!(held.states(1), "1.1:merged");
}
