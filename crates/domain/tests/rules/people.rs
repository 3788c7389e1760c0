//! What people ask of a batch: stop a task, stop it all, try again; and what a crash leaves.

use pleach_domain::batch::{BatchStatus, Message};
use pleach_domain::event::Rollback;
use pleach_domain::standing::TaskAction;

use crate::story::{check, tell};

#[test]
fn a_task_can_be_stopped_until_its_work_is_done() {
    tell("1", "1\n2 < 1", "1:cancel")
        .follows("1 cancelled")
        .todo("block 2 because needs 1, which was cancelled");
    tell("1", "1", "go 1:cancel")
        .follows("1 asked to stop")
        .stands("running: 1 stopping")
        .todo("stop 1");
    for ending in [
        "stopped",
        "failed",
        "late",
        "limited",
        "noplace",
        "interrupted",
        "hopeless",
    ] {
        tell("2", "1", &format!("go 1:cancel 1:{ending}")).follows("1 cancelled");
    }
    tell("1", "1", "go 1:cancel 1:built")
        .follows("1 built")
        .todo("weave 1");
    tell("1", "1", "go 1:cancel 1:same").follows("1 left unchanged");
    tell("1", "1", "go 1:cancel 1:cancel").follows("");
    tell("1", "1", "go 1:failed 1:cancel").follows("1 cancelled");
    tell("1", "1", "go 1:limited 1:cancel").follows("1 cancelled");
    tell("approval", "1\n2", "go 1:same go 2:cancel").follows("2 cancelled");
    tell("1", "1", "go 1:built 1:cancel")
        .follows("")
        .todo("weave 1");
    tell("1", "1", "go 1:same 1:cancel").follows("");
}

#[test]
fn a_cancelled_batch_stops_what_runs_and_keeps_what_is_built() {
    tell("2", "1\n2\n3", "go 1:built cancel")
        .follows("asked to stop; 2 asked to stop; 3 cancelled")
        .todo("stop 2; weave 1");
    tell("2", "1\n2\n3", "go 1:built cancel 1:conflict").follows("1 conflicted");
    tell("2", "1\n2\n3", "go 1:built cancel 1:woven 2:stopped")
        .stands("running: 1 merged, 2 cancelled, 3 cancelled")
        .todo("finish cancelled");
    tell("2", "1\n2", "go 1:failed 2:limited cancel").stands("running: 1 cancelled, 2 cancelled");
    tell("2", "1", "cancel cancel").follows("");
    for story in ["go rollback", "go cancel rollback", "go rollback cancel"] {
        let status = tell("2", "1", story).batch.status;
        let rollback = Rollback::Remove;
        assert_eq!(status, BatchStatus::Cancelling { rollback }, "{story}");
    }
}

#[test]
fn the_result_of_a_batch_that_is_over_is_taken_back_unless_others_have_it() {
    let over = "go 1:built 1:woven go";
    tell("2", "1", &format!("{over} rollback"))
        .follows("asked to stop")
        .todo("finish cancelled");
    tell("2", "1", &format!("{over} cancel")).follows("");
    tell("2", "1", &format!("{over} rollback go rollback")).follows("");
    tell("2", "1", "go 1:same go rollback").follows("");
    for there in ["pushed landed", "pushed not-landed"] {
        tell("2 push", "1", &format!("{over} {there} go rollback")).follows("");
    }
    let landed = format!("{over} into go landed go");
    tell("2", "1", &format!("{landed} rollback")).follows("");
    tell(
        "2",
        "1",
        &format!("{landed} into go not-landed go rollback"),
    )
    .follows("");
}

#[test]
fn a_stopped_batch_finishes_what_runs_and_starts_nothing_new() {
    tell("2", "1\n2\n3\n4 < 2", "go stop")
        .follows("asked to finish")
        .todo("cancel 3; cancel 4");
    let finished = "go stop go 1:built 1:woven 2:same go";
    tell("2", "1\n2\n3\n4 < 2", finished)
        .stands("completed: 1 merged, 2 no_changes, 3 cancelled, 4 cancelled")
        .follows("merging; completed");
    // What would have to start again does not.
    tell("2", "1\n2", "go 1:built 1:woven stop 2:failed go")
        .stands("completed: 1 merged, 2 cancelled");
    tell("approval", "1\n2", "go 1:built 1:woven go stop go")
        .stands("completed: 1 merged, 2 cancelled");
    tell("2", "1\n2", "stop go").follows("1 cancelled; 2 cancelled; merging; cancelled");
    tell("2", "1\n2", "go stop stop").follows("");
    tell("1 retries=0", "1\n2", "go 1:hopeless stop 1:retry").follows("");
    tell("2", "1", "go cancel stop").follows("");
    let staged = "1\n2\n3\nstage a: 1 2\nstage b: 3";
    tell("2", staged, "go stop go 1:built 1:woven 2:same go")
        .stands("completed: 1 merged, 2 no_changes, 3 cancelled");
}

#[test]
fn a_task_that_another_batch_takes_does_not_change_how_this_one_ends() {
    tell("2", "1", "go 1:taken").stands("running: 1 blocked");
    tell("2 retries=0", "1", "go 1:failed 1:taken").stands("running: 1 failed");
    // It was stopped in time, and what was done of it has landed.
    let staged = "1\n2\nstage a: 1\nstage b: 2";
    let landed = "go stop go 1:built 1:woven go landed";
    tell("2 push", staged, &format!("{landed} 2:taken go"))
        .stands("completed: 1 merged, 2 cancelled");
    // The base moved, and what had been merged does not merge there.
    let moved = "go 1:built 1:woven 2:cancel 2:stopped go 1:moved";
    tell("2 push", "1\n2", &format!("{moved} 1:taken 2:taken go"))
        .stands("failed: 1 conflicted, 2 cancelled");
    // Nothing of this one had got anywhere.
    let stopped = "go 2:cancel 2:stopped 1:taken go";
    tell("2 push", "1\n2", stopped).stands("cancelled: 1 blocked, 2 cancelled");
}

#[test]
fn a_batch_whose_tasks_were_all_cancelled_is_cancelled() {
    let ends = |plan: &str, story: &str, expected: &str| {
        tell("2 retries=0", plan, &format!("{story} go")).follows(expected);
    };
    ends("1", "go 1:cancel 1:stopped", "merging; cancelled");
    ends("1\n2", "1:cancel 2:cancel", "merging; cancelled");
    ends("1\n2 < 1", "1:cancel", "2 blocked; merging; cancelled");
    let failed = "merging; failed because nothing was merged";
    ends("1\n2", "go 1:cancel 1:stopped 2:failed", failed);
    ends("1\n2", "go 1:cancel 1:stopped 2:same", failed);
    ends(
        "1\n2",
        "go 1:cancel 1:stopped 2:built 2:woven",
        "merging; completed",
    );
    // Nothing landed, and all of it can be tried again.
    tell("2", "1", "go 1:cancel 1:stopped go 1:retry").follows("reopened; 1 retried");
}

#[test]
fn stages_end_also_when_their_batch_is_stopped() {
    tell(
        "2",
        "1\n2\nstage a: 1\nstage b: 2",
        "go cancel 1:stopped go",
    )
    .follows("stage ended 0 well Skipped; cancelled");
}

#[test]
fn a_batch_that_is_giving_up_can_still_be_cancelled() {
    tell("2 stop retries=0", "1\n2", "go 1:failed go cancel")
        .follows("asked to stop")
        .todo("stop 2");
    tell(
        "2 stop retries=0",
        "1\n2",
        "go 1:failed go cancel 2:stopped",
    )
    .todo("finish cancelled");
}

#[test]
fn nothing_is_asked_of_a_batch_that_ended() {
    for step in [
        "cancel",
        "1:cancel",
        "approve",
        "1:rested",
        "1:woven",
        "1:built",
        "1:refused",
    ] {
        tell("2", "1", &format!("go 1:built 1:woven go {step}")).follows("");
    }
    tell("2", "1", "go 1:built 1:woven go 1:retry").follows("");
}

#[test]
fn what_nobody_consents_to_is_blocked() {
    tell("2", "1\n2 < 1", "1:refused")
        .follows("1 blocked")
        .todo("block 2 because needs 1, which is blocked");
    tell("2", "1", "go 1:refused").follows("");
}

#[test]
fn a_task_tried_again_takes_along_what_was_blocked_because_of_it() {
    let plan = "1\n2 < 1\n3 < 2\n4";
    tell("9 retries=0", plan, "go 1:failed go 1:retry")
        .follows("1 retried; 2 retried; 3 retried")
        .todo("start 1");
    tell(
        "9 retries=0",
        plan,
        "go 1:failed go 4:built 4:woven go 1:retry",
    )
    .follows("reopened; 1 retried; 2 retried; 3 retried")
    .stands("running: 1 queued, 2 queued, 3 queued, 4 merged")
    .todo("start 1");
    tell("9 retries=0", plan, "go 1:failed go 4:retry").follows("");
    tell(
        "9 retries=1",
        "1",
        "go 1:failed 1:rested go 1:failed 1:retry go 1:failed",
    )
    .follows("1 tried in vain");
    tell("9", "1", "go cancel 1:retry").follows("");
    tell("9 retries=0", "1", "go 1:failed 1:cancel 1:retry").follows("1 retried");
}

#[test]
fn a_conflicted_task_tried_again_starts_on_the_woven_result() {
    let story = "go 1:built 2:built 1:woven 2:conflict go";
    tell("9", "1\n2\n3 < 2", &format!("{story} 2:retry"))
        .follows("reopened; 2 retried; 3 retried")
        .todo("start 2")
        .basis("2", "1");
}

#[test]
fn later_stages_come_back_with_a_task_tried_again() {
    let plan = "1\n2\nstage a: 1\nstage b: 2";
    tell("9 retries=0", plan, "go 1:failed go 1:retry go").follows("stage started 0; 1 started");
    tell("9 retries=0", plan, "go 1:failed go 1:retry go 1:same go")
        .follows("stage ended 0 well Skipped; stage started 1; 2 started");
}

#[test]
fn a_stage_that_is_under_way_is_not_begun_again() {
    let plan = "1\n2\nstage a: 1 2";
    tell("9 retries=0", plan, "go 1:failed 1:retry go").follows("1 started");
}

#[test]
fn old_failures_do_not_stop_a_batch_that_was_opened_again() {
    let plan = "1\n2\n3";
    let story = "go 1:failed go 2:stopped go 2:retry";
    tell("2 stop retries=0", plan, story).todo("start 2");
    tell(
        "2 stop retries=0",
        plan,
        &format!("{story} go 2:built 2:woven go"),
    )
    .follows("merging; failed because task 1 failed, and stop_on_failure is set");
    tell(
        "2 stop retries=0",
        plan,
        &format!("{story} go 2:failed go 1,2:retry"),
    )
    .follows("reopened; 1 retried; 2 retried");
}

#[test]
fn an_attempt_that_a_crash_ended_is_made_again_and_spends_nothing() {
    let thrice = "go 1:interrupted ".repeat(3);
    tell("1 retries=0", "1", &thrice)
        .stands("running: 1 queued")
        .todo("start 1");
    let attempts = tell("1 retries=0", "1", &format!("{thrice} go"))
        .batch
        .tasks[0]
        .attempts;
    assert_eq!(attempts, 4);
    tell("1", "1", "go 1:cancel 1:interrupted").follows("1 cancelled");
}

#[test]
fn what_comes_too_late_changes_nothing() {
    for late in [
        "1:built",
        "1:failed",
        "1:limited",
        "1:woven",
        "1:conflict",
        "1:unweavable",
        "9:built",
        "9:woven",
        "9:cancel",
    ] {
        tell("1", "1\n2", &format!("go 1:same {late}")).follows("");
    }
    check("1", "1", "go 1:rested", "");
}

#[test]
fn a_task_waits_for_consent_and_with_it_all_that_wait_for_the_same() {
    let both = "go 1:unsure";
    tell("2", "1", both).stands("running: 1 running");
    let waiting = "1:unsure 2:unsure";
    tell("2", "1\n2\n3", waiting)
        .stands("running: 1 waiting, 2 waiting, 3 queued")
        .todo("start 3");
    tell("2", "1\n2\n3", &format!("{waiting} approve"))
        .follows("1 approved; 2 approved")
        .todo("start 1; start 2");
    // A queue does not go past it.
    tell("queue", "1\n2", "1:unsure").todo("");
}

#[test]
fn what_can_be_asked_of_a_task_is_what_its_batch_takes() {
    let stories = [
        "",
        "go",
        "go 1:built",
        "go 1:hopeless",
        "go 1:hopeless go",
        "go 1:hopeless stop",
        "go 1:hopeless cancel",
        "go 1:same",
        "go 1:built 1:woven go 2:hopeless go",
        "go 1:cancel",
        "go 1:cancel 1:stopped go",
    ];
    for story in stories {
        let batch = tell("1 retries=0", "1\n2", story).batch;
        for (position, task) in batch.tasks.iter().enumerate() {
            let id = || task.design.id.clone();
            let can = batch.can(position);
            let is_taken = |message| !batch.decide(message).is_empty();
            let retries = is_taken(Message::Retry(vec![id()]));
            let told = can.contains(&TaskAction::Retry);
            assert_eq!(told, retries, "{story}: {}", id());
            let cancels = is_taken(Message::CancelTask(id()));
            let told = can.contains(&TaskAction::Cancel);
            assert!(told || !cancels, "{story}: {}", id());
            assert_eq!(told, task.state.ending().is_none(), "{story}: {}", id());
        }
    }
}
