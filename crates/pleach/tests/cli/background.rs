//! What goes on in the background although there is more to it than a fresh run with plain words.

use crate::held::Held;

const TWO: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n";

/// A batch of one task whose process was killed.
fn interrupted() -> Held {
    let held = Held::new(TWO);
    let run = held.run(&["1.1"]);
    run.kill_at(&held.gate("1.1"));
    held
}

#[test]
fn what_is_chosen_behind_two_dashes_is_chosen_in_the_background_too() {
    let held = Held::new(TWO);
    let words = ["run", "--autonomous", "--detach", "--", "1.2"];
    let answer = held.pleach(&words).good();
    assert!(
        answer.contains("batch 1 is running in the background"),
        "{answer}"
    );
    let watch = held.begin(&["status", "1", "--watch"]);
    drop(held.gate("1.2"));
    assert_eq!(watch.end().code, 0);
    assert_eq!(held.states(1), "1.2:merged");
}

#[test]
fn an_interrupted_batch_goes_on_in_the_background_if_it_is_told_to() {
    let held = interrupted();
    let answer = held.pleach(&["run", "--resume", "--detach"]).good();
    assert!(
        answer.starts_with("batch 1 is running in the background"),
        "{answer}"
    );
    let gate = held.gate("1.1");
    assert_eq!(held.states(1), "1.1:running");
    let watch = held.begin(&["status", "1", "--watch"]);
    drop(gate);
    assert_eq!(watch.end().code, 0);
    assert_eq!(held.states(1), "1.1:merged");
}

#[test]
fn a_new_run_leaves_an_interrupted_batch_alone_and_says_so() {
    let held = interrupted();
    let run = held.run(&["1.2"]);
    drop(held.gate("1.2"));
    let answer = run.end();
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.err.contains("`pleach resume 1`"), "{}", answer.err);
    assert_eq!(held.states(2), "1.2:merged");
    assert_eq!(held.states(1), "1.1:running");
    let resumed = held.begin(&["resume"]);
    drop(held.gate("1.1"));
    assert_eq!(resumed.end().code, 0);
    assert_eq!(held.states(1), "1.1:merged");
}

#[test]
fn what_keeps_a_run_in_the_background_from_beginning_is_told_in_the_foreground() {
    let held = Held::new(TWO);
    let run = held.run(&["1.1"]);
    let gate = held.gate("1.1");
    let words = ["run", "1.1", "--yes", "--detach"];
    let error = held.pleach(&words).bad(2);
    assert!(error.contains("task 1.1 is in batch 1"), "{error}");
    assert!(error.contains("hint: wait until the batch"), "{error}");
    drop(gate);
    assert_eq!(run.end().code, 0);
}
