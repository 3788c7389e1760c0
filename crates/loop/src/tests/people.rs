//! What people want in mid-batch: cancels in every state, stops, retries.

use super::{check, tell};

#[test]
fn a_running_task_that_is_cancelled_ends_when_its_agent_does() {
    check(
        "",
        "1, 2",
        "1:cancel 1:stopped",
        "completed: 1 cancelled, 2 merged",
    )
    .happened("1", "started; asked to stop; cancelled");
}

#[test]
fn a_queued_task_that_is_cancelled_never_starts() {
    check(
        "max_parallel = 1",
        "1, 2",
        "2:cancel 1:built",
        "completed: 1 merged, 2 cancelled",
    )
    .happened("2", "cancelled");
}

#[test]
fn a_resting_task_that_is_cancelled_is_not_tried_again() {
    check(
        "retries = 9",
        "1, 2",
        "1:failed 1:cancel",
        "completed: 1 cancelled, 2 merged",
    );
}

#[test]
fn a_task_that_finishes_before_it_hears_of_its_cancel_counts() {
    check("", "1", "1:cancel 1:built", "completed: 1 merged")
        .happened("1", "started; asked to stop; built; woven");
}

#[test]
fn a_cancelled_task_that_is_over_stays_as_it_is() {
    check(
        "max_parallel = 1",
        "1, 2",
        "1:built 1:cancel 2:built",
        "completed: 1 merged, 2 merged",
    );
}

#[test]
fn what_needs_a_cancelled_task_is_blocked() {
    check(
        "",
        "1, 2 1, 3",
        "1:cancel 1:stopped",
        "completed: 1 cancelled, 2 blocked, 3 merged",
    );
}

#[test]
fn a_cancelled_batch_keeps_what_is_woven() {
    check(
        "max_parallel = 1",
        "1, 2, 3",
        "1:built cancel 2:stopped",
        "cancelled: 1 merged, 2 cancelled, 3 cancelled",
    )
    .result("1.txt=by 1");
}

#[test]
fn a_cancelled_batch_gives_its_branch_up_where_that_is_wanted() {
    let story = tell("max_parallel = 1", "1, 2", "1:built rollback 2:stopped");
    story.ends("cancelled: 1 merged, 2 cancelled");
    assert!(story.batch().published.is_none() && story.batch().rolled_back);
}

#[test]
fn a_batch_that_is_cancelled_before_anything_ended_has_no_branch() {
    let story = tell("", "1, 2", "cancel 1:stopped 2:stopped");
    story.ends("cancelled: 1 cancelled, 2 cancelled");
    assert!(story.batch().published.is_none());
}

#[test]
fn a_batch_that_is_stopped_finishes_what_runs() {
    check(
        "max_parallel = 1",
        "1, 2",
        "stop 1:built",
        "completed: 1 merged, 2 cancelled",
    );
}

#[test]
fn a_failed_task_that_is_retried_in_mid_batch_gets_all_its_attempts_again() {
    let settings = "retries = 0";
    check(
        settings,
        "1, 2",
        "1:failed 1:retry 1:built",
        "completed: 1 merged, 2 merged",
    )
    .happened("1", "started; failed; retried; started; built; woven");
}

#[test]
fn what_was_blocked_goes_on_when_its_need_is_retried() {
    let expected = "completed: 1 merged, 2 merged, 3 merged";
    check("retries = 0", "1, 2 1, 3", "1:failed 1:retry", expected);
}

#[test]
fn a_queue_that_asks_waits_for_each_approval() {
    let settings = "mode = \"queue\"\nqueue_auto_approve = false";
    check(
        settings,
        "1, 2",
        "1:built approve 2:built",
        "completed: 1 merged, 2 merged",
    )
    .happened("2", "held; approved; started; built; woven");
}

#[test]
fn a_task_of_a_queue_starts_from_all_that_is_woven() {
    let settings = "mode = \"queue\"\nqueue_auto_approve = true";
    check(
        settings,
        "1, 2",
        "1:writes-a 2:writes-a",
        "completed: 1 merged, 2 merged",
    )
    .result("a=by 2");
}
