//! Batches: what is scheduled, and what follows from what is heard.

use pleach_domain::batch::{Barriers, BatchSettings, Design};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::{Order, OrderRules};
use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_domain::task_state::Commit;

use crate::story::{check, tell};
use crate::{graph, plan, sequence};

#[test]
fn ready_tasks_start_as_slots_allow() {
    check("2 retries=0", "1\n2\n3", "", "start 1; start 2");
    check(
        "2 retries=0",
        "1\n2\n3",
        "1:started 2:started 1:built",
        "weave 1",
    );
    check("9 retries=0", "1\n2 < 1", "", "start 1");
}

#[test]
fn the_longest_remaining_path_starts_first_then_priority_then_plan_order() {
    check("2 retries=0", "1\n2\n3 < 2\n4 < 3", "", "start 2; start 1");
    check("1 retries=0", "1 ~30\n2 ~480", "", "start 2");
    check("1 retries=0", "1\n2 !high", "", "start 2");
}

#[test]
fn a_slot_is_left_for_a_longer_path_that_waits_for_the_weaving() {
    let plan = "1\n2\n3 < 2\n4 < 3";
    check("1 retries=0", plan, "2:started 2:built", "weave 2");
    check("1 retries=0", plan, "2:started 2:built 2:woven", "start 3");
}

#[test]
fn a_dependent_starts_only_when_what_it_needs_is_woven() {
    check("9 retries=0", "1\n2 < 1", "1:started 1:built", "weave 1");
    check(
        "9 retries=0",
        "1\n2 < 1",
        "1:started 1:built 1:woven",
        "start 2",
    );
    check("9 retries=0", "1\n2 < 1", "1:started 1:same", "start 2");
}

#[test]
fn a_failure_blocks_only_its_dependents() {
    check(
        "9 retries=0",
        "1\n2 < 1\n3",
        "1:started 1:failed",
        "block 2 because needs 1, which failed",
    );
    check(
        "9 retries=0",
        "1\n2 < 1",
        "1:started 1:late",
        "block 2 because needs 1, which timed out",
    );
    check(
        "9 retries=0",
        "1\n2 < 1",
        "1:started 1:built 1:conflict",
        "block 2 because needs 1, which conflicted",
    );
}

#[test]
fn a_task_that_merely_comes_after_another_starts_when_that_one_ended_anyhow() {
    check("9 retries=0", "1 @ a.rs\n2 @ a.rs", "1:started", "");
    check(
        "9 retries=0",
        "1 @ a.rs\n2 @ a.rs",
        "1:started 1:failed",
        "start 2",
    );
}

#[test]
fn branches_are_woven_in_the_order_they_finished() {
    let story = "1:started 2:started 3:started 3:built 1:built";
    check("3 retries=0", "1\n2\n3", story, "weave 3");
    check(
        "3 retries=0",
        "1\n2\n3",
        &format!("{story} 3:woven"),
        "weave 1",
    );
}

#[test]
fn a_phase_opens_at_four_of_five() {
    let text = "1.1 p1\n1.2 p1\n1.3 p1\n1.4 p1\n1.5 p1\n2.1 p2";
    let most =
        "1.1:started 1.2:started 1.3:started 1.4:started 1.5:started 1.1:same 1.2:same 1.3:same";
    check("9 retries=0", text, most, "");
    check(
        "9 retries=0",
        text,
        &format!("{most} 1.4:same"),
        "start 2.1",
    );
}

#[test]
fn a_phase_that_ends_below_the_threshold_blocks_those_behind_it() {
    let text = "1.1 p1\n1.2 p1\n2.1 p2\n2.2 p2 < 1.2\n3.1 p3\nx";
    let short = "phase 1 has only 0 of 2 tasks done, below 80 %";
    tell("9 retries=0", text, "go 1.1:failed").todo("");
    check(
        "9 retries=0",
        text,
        "go 1.1:failed 1.2:failed",
        &format!(
            "block 2.1 because {short}; block 2.2 because needs 1.2, which failed; block 3.1 because {short}"
        ),
    );
    // A person who takes tasks out has decided.
    check(
        "9 retries=0",
        text,
        "1.1:cancel 1.2:cancel",
        "block 2.2 because needs 1.2, which was cancelled",
    );
    tell("9 retries=0", text, "go 1.1:failed 1.2:failed go 1.1:retry")
        .follows("1.1 retried; 2.1 retried; 3.1 retried");
}

#[test]
fn tasks_of_the_plan_that_are_not_in_the_batch_count_for_their_phase() {
    let plan = plan("1.1 p1 done\n1.2 p1\n1.3 p1\n2.1 p2");
    let design = Design::new(
        &graph(&plan),
        &[1, 3],
        OrderRules::default(),
        Barriers::Stages,
        BatchSettings::default(),
    );
    let others: Vec<(u32, TaskStatus)> = design.others.iter().map(|(p, s)| (p.0, *s)).collect();
    assert_eq!(
        others,
        [(1, TaskStatus::Completed), (1, TaskStatus::Pending)]
    );
}

#[test]
fn what_follows_in_a_note_needs_what_is_before_it() {
    let mut plan = plan("1\n2\n3 done\n4");
    sequence(&mut plan, "1-4", &["1", "2", "3", "4"]);
    sequence(&mut plan, "1-2", &["1", "2"]);
    plan.sequences[0].reason.clear();
    let graph = graph(&plan);
    let order = Order::new(&graph, &[true; 4], OrderRules::default());
    assert_eq!(
        order.ordered.len(),
        2,
        "each pair once: {:?}",
        order.ordered
    );
    assert_eq!(order.ordered[0].because, "1-2 are sequential: one file");
    assert_eq!(graph.needs(1).collect::<Vec<_>>(), [0]);
    assert_eq!(graph.needs(3).collect::<Vec<_>>(), [1]);
    assert_eq!(
        graph.missing_needs(&[3])[0].message,
        "task 4 needs 2, which is not done and not selected"
    );
    let design = Design::new(
        &graph,
        &[0, 1, 3],
        OrderRules::default(),
        Barriers::Stages,
        BatchSettings::default(),
    );
    assert_eq!(design.tasks[1].needs, [0]);
    assert!(design.tasks[1].after.is_empty());
}

#[test]
fn phases_give_way_when_nothing_else_can_move() {
    check(
        "9 retries=0",
        "1.1 p1 < 2.1\n2.1 p2\n3.1 p3",
        "",
        "start 2.1",
    );
}

#[test]
fn a_batch_ends_by_what_became_of_its_tasks() {
    let ends = |plan: &str, story: &str, expected: &str| {
        let story = format!("{story} go");
        tell("9 retries=0", plan, &story).follows(&format!("merging; {expected}"));
    };
    ends("1", "1:started 1:built 1:woven", "completed");
    ends("1", "1:started 1:same", "completed");
    let failed = "failed because nothing was merged";
    ends("1", "1:started 1:failed", failed);
    ends("1", "1:started 1:built 1:unweavable", failed);
    ends("1\n2", "go 1:same 2:failed", failed);
    ends("1\n2", "go 1:built 1:woven 2:failed", "completed");
    check("9", "1", "go 1:same", "note merging");
}

#[test]
fn a_batch_of_nothing_is_complete() {
    tell("9", "1 done", "go").follows("merging; completed");
}

#[test]
fn the_basis_holds_what_was_waited_for_and_nothing_else() {
    let story = "go 3:built 3:woven 1:built 1:woven go 2:built 2:woven 5:built 5:woven go 6:failed";
    tell(
        "9 retries=0",
        "1\n2 < 1\n3\n4 < 2\n5 @ f\n6 @ f\n7 @ f",
        story,
    )
    .basis("4", "1 2")
    .basis("3", "")
    .basis("7", "5");
    tell(
        "9",
        "1.1 p1\n1.2 p1\n2.1 p2\n2.2 p2 < 1.2",
        "go 1.1:built 1.1:woven 1.2:built 1.2:woven",
    )
    .basis("2.1", "1.1 1.2")
    .basis("2.2", "1.2");
}

#[test]
fn naming_where_work_is_kept_changes_no_order() {
    let mut story = tell("2", "1\n2", "go 2:built 1:built");
    for task in ["1", "2"] {
        let event = TaskEvent::Published {
            branch: "pleach/x".into(),
            commit: Commit("c".into()),
        };
        let task = TaskId::new(task);
        story.batch.apply(&Event::Task { task, event }).unwrap();
    }
    story.todo("weave 2");
}

#[test]
fn events_that_do_not_fit_are_refused() {
    let mut batch = tell("9", "1", "").batch;
    let stranger = Event::Task {
        task: TaskId::new("9"),
        event: TaskEvent::Unchanged { reason: None },
    };
    assert_eq!(
        batch.apply(&stranger).unwrap_err().to_string(),
        "task 9 is not in the batch"
    );
    let early = Event::Task {
        task: TaskId::new("1"),
        event: TaskEvent::Unchanged { reason: None },
    };
    assert_eq!(
        batch.apply(&early).unwrap_err().to_string(),
        "task 1: a task that is queued cannot be left unchanged"
    );
    let again = batch.apply(&Event::Batch(BatchEvent::Started)).unwrap_err();
    assert_eq!(
        again.to_string(),
        "a batch that is running cannot be started"
    );
}
