//! Queues, waves and stages: who goes before whom, beyond what is needed.

use crate::story::{check, tell};

#[test]
fn a_queue_goes_in_plan_order_each_on_the_result_of_those_before() {
    check("queue", "1 ~30\n2 ~480\n3 !high", "", "start 1");
    check("queue", "1\n2", "go", "");
    check("queue", "1\n2", "go 1:built", "weave 1");
    tell("queue", "1\n2", "go 1:built 1:woven")
        .todo("start 2")
        .basis("2", "1");
    check("queue", "1 < 2\n2\n3", "", "start 2");
}

#[test]
fn a_task_of_a_queue_is_tried_again_before_the_next_is_thought_of() {
    check("queue", "1\n2", "go 1:failed", "");
    check("queue", "1\n2", "go 1:limited", "");
    check("queue", "1\n2", "go 1:failed 1:rested", "start 1");
    check("queue retries=0", "1\n2", "go 1:failed", "start 2");
}

#[test]
fn a_person_lets_each_task_of_a_queue_start_but_the_first() {
    check("approval", "1\n2\n3", "", "start 1");
    check("approval", "1\n2\n3", "approve", "start 1");
    check("approval", "1\n2\n3", "go 1:same", "ask 2");
    tell("approval", "1\n2\n3", "go 1:same go")
        .stands("running: 1 no_changes, 2 waiting, 3 queued")
        .todo("");
    check("approval", "1\n2\n3", "go 1:same go approve", "start 2");
    check("approval", "1\n2\n3", "go 1:same go approve go", "");
    check("approval", "1\n2\n3", "go 1:same go 2:cancel", "ask 3");
    check("approval", "1\n2", "go 1:failed 1:rested", "start 1");
    check("approval", "1\n2", "go 1:interrupted", "start 1");
    tell("approval", "1\n2", "go 1:same go cancel")
        .stands("running: 1 no_changes, 2 cancelled")
        .todo("finish cancelled");
}

#[test]
fn waves_wait_for_each_other_only_where_asked() {
    let plan = "1\n2\n3 < 1";
    check("9", plan, "go 1:same", "start 3");
    check("9 waves", plan, "", "note stage started 0");
    check("9 waves", plan, "go 1:same", "");
    check(
        "9 waves",
        plan,
        "go 1:same 2:same",
        "note stage ended 0 well Skipped; note stage started 1",
    );
    check("9 waves", plan, "go 1:same 2:built", "weave 2");
    tell("9 waves retries=0", plan, "go 1:built 1:woven 2:failed go")
        .follows("stage ended 0 badly Success; stage started 1; 3 started");
    tell("9 waves", plan, "go 1:built 1:woven 2:built 2:woven").basis("3", "1 2");
    // A wave whose tasks can never start is not begun.
    tell("9 waves retries=0", "1\n2 < 1", "go 1:failed go").follows(
        "2 blocked; stage ended 0 badly Skipped; merging; failed because nothing was merged",
    );
}

const STAGED: &str = "1\n2\n3\n4\nstage a: 1 2\nstage b alone: 3 4";

#[test]
fn a_stage_waits_for_the_one_before_and_may_run_one_at_a_time() {
    tell("9", STAGED, "go")
        .follows("stage started 0; 1 started; 2 started")
        .todo("");
    let first = "go 1:built 2:built 1:woven 2:woven";
    tell("9", STAGED, &format!("{first} go"))
        .follows("stage ended 0 well Success; stage started 1; 3 started")
        .basis("3", "1 2");
    tell("9", STAGED, &format!("{first} go 3:built 3:woven"))
        .todo("start 4")
        .basis("4", "1 2 3");
    tell(
        "9",
        STAGED,
        &format!("{first} go 3:built 3:woven go 4:same go"),
    )
    .follows("stage ended 1 well Success; merging; completed");
}

#[test]
fn a_stage_that_failed_keeps_the_later_ones_from_starting() {
    tell("9 retries=0", STAGED, "go 1:failed 2:built 2:woven")
        .todo("block 3 because stage a failed; block 4 because stage a failed");
    tell("9 retries=0", STAGED, "go 1:failed 2:built 2:woven go").follows(
        "3 blocked; 4 blocked; stage ended 0 badly Success; merging; failed because stage a failed",
    );
}

#[test]
fn a_task_that_a_person_took_out_is_nobodys_failure() {
    tell("9", STAGED, "go 1:same 2:cancel 2:stopped go")
        .follows("stage ended 0 well Skipped; stage started 1; 3 started");
    tell("9", "1\n2\nstage a: 1\nstage b: 2", "1:cancel go").follows("stage started 1; 2 started");
}

#[test]
fn stages_that_failed_elsewhere_do_not_hold_up_the_ones_before() {
    // 9 is in no stage; that it fails ends stage c before stage b began.
    let plan = "1\n2\n3 < 9\n9\nstage a: 1\nstage b: 2\nstage c: 3";
    tell("9 retries=0", plan, "go 9:failed go 1:same go")
        .follows("stage ended 0 well Skipped; stage started 1; 2 started");
}

#[test]
fn a_collision_in_a_stage_is_done_again_one_at_a_time_and_once() {
    let plan = "1\n2\n3\n4\n5\nstage a: 1 2 3 4\nstage b: 5";
    let collided = "go 1:built 2:built 1:woven 2:conflict";
    tell("2", plan, collided)
        .follows("2 requeued; fallen back in 0")
        .todo("start 3")
        .basis("3", "1");
    let second = "go 1:built 2:built 3:built 1:woven 2:conflict 3:conflict";
    tell("3", plan, second)
        .follows("3 requeued")
        .todo("start 4");
    let alone = "go 4:same go 2:built 2:woven go 3:built 3:woven go";
    tell("3", plan, &format!("{second} {alone}"))
        .follows("stage ended 0 well Success; stage started 1; 5 started");
    let again = "go 4:same go 2:built 2:conflict go 3:built 3:woven go";
    tell("3", plan, &format!("{second} {again}")).follows(
        "5 blocked; stage ended 0 badly Conflicts; merging; failed because stage a failed",
    );
    tell("2 no-fallback", plan, collided).follows("2 conflicted");
    tell("2 rerun", plan, collided).follows("2 requeued");
    tell("2 fail", plan, collided).follows("2 conflicted");
    tell("2 waves", "1\n2", collided).follows("2 conflicted");
}
