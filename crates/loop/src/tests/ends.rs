//! How attempts end: failures and retries, limits, conflicts, lost machines, endings of other attempts.

use super::{check, tell};

#[test]
fn what_is_built_is_woven_in_the_order_it_finished() {
    check(
        "",
        "1, 2",
        "2:built 1:built",
        "completed: 1 merged, 2 merged",
    )
    .result("1.txt=by 1 2.txt=by 2");
}

#[test]
fn a_task_starts_from_the_work_of_what_it_needs() {
    let story = check("", "1, 2 1", "", "completed: 1 merged, 2 merged");
    story.result("1.txt=by 1 2.txt=by 2");
    let basis = |at: usize| story.batch().tasks[at].basis.clone();
    assert_ne!(basis(0), basis(1));
}

#[test]
fn a_failed_attempt_is_repeated_until_its_retries_are_spent() {
    check(
        "retries = 1",
        "1",
        "1:failed 1:built",
        "completed: 1 merged",
    )
    .happened("1", "started; tried in vain; rested; started; built; woven");
    check(
        "retries = 1",
        "1, 2",
        "1:failed 1:failed",
        "completed: 1 failed, 2 merged",
    );
}

#[test]
fn nothing_is_merged_when_all_fail() {
    check(
        "retries = 0",
        "1, 2",
        "1:failed 2:failed",
        "failed: 1 failed, 2 failed",
    );
}

#[test]
fn what_no_repetition_mends_is_not_repeated() {
    check(
        "retries = 2",
        "1, 2",
        "1:hopeless",
        "completed: 1 failed, 2 merged",
    )
    .happened("1", "started; failed");
    check(
        "retries = 2",
        "1, 2",
        "1:late",
        "completed: 1 timed_out, 2 merged",
    );
}

#[test]
fn a_failure_blocks_only_what_needs_it() {
    let expected = "completed: 1 failed, 2 blocked, 3 merged";
    check("retries = 0", "1, 2 1, 3", "1:failed", expected).result("3.txt=by 3");
}

#[test]
fn a_failure_stops_everything_where_that_is_the_rule() {
    let settings = "retries = 0\nstop_on_failure = true";
    check(
        settings,
        "1, 2, 3",
        "1:failed 2:stopped 3:stopped",
        "failed: 1 failed, 2 cancelled, 3 cancelled",
    );
    // What finishes before it hears of that counts.
    let story = tell(settings, "1, 2", "1:failed 2:built");
    story.ends("failed: 1 failed, 2 merged");
}

#[test]
fn a_limit_spends_no_attempt() {
    check(
        "retries = 0",
        "1",
        "1:limited 1:limited 1:built",
        "completed: 1 merged",
    )
    .happened(
        "1",
        "started; limited; rested; started; limited; rested; started; built; woven",
    );
}

#[test]
fn an_overload_spends_no_attempt() {
    check(
        "retries = 0",
        "1",
        "1:overloaded 1:built",
        "completed: 1 merged",
    );
}

#[test]
fn an_agent_that_changes_nothing_is_asked_once_more() {
    check("", "1, 2", "1:idle 1:idle", "completed: 1 failed, 2 merged")
        .happened("1", "started; asked again; started; failed");
    check(
        "",
        "1, 2",
        "1:idle 1:same",
        "completed: 1 no_changes, 2 merged",
    );
}

#[test]
fn without_a_place_to_work_the_rest_runs_one_at_a_time() {
    let story = check(
        "max_parallel = 2",
        "1, 2",
        "1:noplace",
        "completed: 1 merged, 2 merged",
    );
    assert!(story.batch().one_at_a_time);
    story.happened("1", "started; requeued; started; built; woven");
}

#[test]
fn a_conflict_is_left_out_and_kept() {
    let expected = "completed: 1 merged, 2 conflicted";
    let story = check("", "1, 2", "1:writes-a 2:writes-a", expected);
    story.result("a=by 1");
    assert!(story.batch().tasks[1].published.is_some());
}

#[test]
fn a_conflict_fails_the_batch_where_that_is_the_rule() {
    let settings = "on_conflict = \"fail\"";
    check(
        settings,
        "1, 2",
        "1:writes-a 2:writes-a",
        "failed: 1 merged, 2 conflicted",
    );
}

#[test]
fn a_conflict_is_done_again_on_the_woven_result() {
    let settings = "on_conflict = \"rerun\"";
    check(
        settings,
        "1, 2",
        "1:writes-a 2:writes-a 2:writes-a",
        "completed: 1 merged, 2 merged",
    )
    .result("a=by 2")
    .happened("2", "started; built; requeued; started; built; woven");
}

#[test]
fn an_ending_of_another_attempt_changes_nothing() {
    // The first attempt was begun by a process that died, and ends after the second one began.
    for word in [
        "built", "failed", "hopeless", "late", "lost", "same", "stopped",
    ] {
        let steps = format!("crash 1:{word}@1 1:writes-b@2");
        check("retries = 0", "1", &steps, "completed: 1 merged")
            .result("b=by 1")
            .happened("1", "started; interrupted; started; built; woven");
    }
}

#[test]
fn what_another_attempt_says_of_its_session_changes_nothing() {
    let story = tell("", "1", "crash 1:says@1");
    assert_eq!(story.batch().tasks[0].session, None);
}

#[test]
fn a_lost_attempt_is_no_failure() {
    let story = check(
        "retries = 0",
        "1",
        "1:lost 1:lost 1:built",
        "completed: 1 merged",
    );
    story.happened("1", "started; lost; started; lost; started; built; woven");
    assert_eq!(story.batch().tasks[0].failures, 0);
}

#[test]
fn the_sixth_loss_in_a_row_fails_the_task() {
    let six = "1:lost ".repeat(6);
    check("", "1, 2", &six, "completed: 1 failed, 2 merged");
}

#[test]
fn no_more_run_at_once_than_there_are_slots() {
    for slots in [1, 2] {
        let story = tell(&format!("max_parallel = {slots}"), "1, 2, 3", "");
        story.ends("completed: 1 merged, 2 merged, 3 merged");
        assert_eq!(story.script.borrow().most_open, slots);
    }
}
