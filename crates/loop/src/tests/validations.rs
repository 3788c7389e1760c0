//! What the tests say of the woven result, and who is left out.

use super::{check, tell};

const TESTS: &str = "validate = \"make test\"";

#[test]
fn a_passed_result_is_proved_with_one_run() {
    let story = check(TESTS, "1, 2", "", "completed: 1 merged, 2 merged");
    assert_eq!(story.script.borrow().judged, ["1 2"]);
}

#[test]
fn the_guilty_task_is_found_and_left_out() {
    for guilty in ["1", "2", "3", "4"] {
        let story = tell(TESTS, "1, 2, 3, 4", &format!("guilty:{guilty}"));
        let expected = ["1", "2", "3", "4"].map(|task| {
            let state = if task == guilty { "invalid" } else { "merged" };
            format!("{task} {state}")
        });
        story.ends(&format!("completed: {}", expected.join(", ")));
    }
}

#[test]
fn two_guilty_tasks_are_both_found() {
    check(
        TESTS,
        "1, 2, 3, 4",
        "guilty:1 guilty:3",
        "completed: 1 invalid, 2 merged, 3 invalid, 4 merged",
    )
    .result("2.txt=by 2 4.txt=by 4");
}

#[test]
fn what_needs_a_guilty_task_goes_with_it() {
    check(
        TESTS,
        "1, 2 1, 3",
        "guilty:1",
        "completed: 1 invalid, 2 blocked, 3 merged",
    );
}

#[test]
fn when_all_are_guilty_nothing_is_merged() {
    check(
        TESTS,
        "1, 2",
        "guilty:1 guilty:2",
        "failed: 1 invalid, 2 invalid",
    );
}

#[test]
fn tests_that_fail_the_batch_leave_nobody_out() {
    let settings = format!("{TESTS}\non_invalid = \"fail\"");
    let story = tell(&settings, "1, 2", "guilty:2");
    assert_eq!(story.batch().status.as_str(), "failed");
}

#[test]
fn a_guilty_task_stops_a_batch_that_failures_stop() {
    let settings = format!("{TESTS}\nstop_on_failure = true");
    let story = tell(&settings, "1, 2", "guilty:2");
    assert_eq!(story.batch().tasks[1].state.as_str(), "invalid");
    assert_eq!(story.batch().status.as_str(), "failed");
}

#[test]
fn without_tests_nothing_is_run() {
    let story = check("", "1", "guilty:1", "completed: 1 merged");
    assert!(story.script.borrow().judged.is_empty());
}
