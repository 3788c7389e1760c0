//! Batches: what is scheduled, and what follows from what is heard.

use pleach_domain::batch::{AttemptEnding, Batch, BatchStatus, Message, WeaveEnding};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::Rules;
use pleach_domain::id::TaskId;
use pleach_domain::schedule::{Action, schedule};
use pleach_domain::task_state::Commit;

use crate::{graph, plan};

/// A batch of all open tasks of a plan, begun.
pub(crate) fn batch(text: &str) -> Batch {
    let plan = plan(text);
    let graph = graph(&plan);
    let open: Vec<usize> = (0..plan.tasks.len())
        .filter(|at| !plan.tasks[*at].status.is_settled())
        .collect();
    let mut batch = Batch::of(&graph, &open, Rules::default());
    batch.apply(&Event::Batch(BatchEvent::Started)).unwrap();
    batch
}

/// Plays a word to a task: `built`, `woven`, `conflict`, `failed`, `same`, `stopped`, `late`.
fn play(batch: &mut Batch, task: &str, word: &str) {
    let id = TaskId::new(task);
    let commit = || Commit(format!("commit of {task}"));
    let message = match word {
        "started" => {
            let event = TaskEvent::Started { attempt: 1 };
            return batch.apply(&Event::Task { task: id, event }).unwrap();
        }
        "built" => Message::AttemptEnded(id, AttemptEnding::Built(commit())),
        "same" => Message::AttemptEnded(id, AttemptEnding::Unchanged),
        "failed" => Message::AttemptEnded(id, AttemptEnding::Failed("exit 1".into())),
        "late" => Message::AttemptEnded(id, AttemptEnding::TimedOut),
        "stopped" => Message::AttemptEnded(id, AttemptEnding::Stopped),
        "woven" => Message::WeaveEnded(id, WeaveEnding::Woven(commit())),
        "conflict" => Message::WeaveEnded(
            id,
            WeaveEnding::Conflict {
                files: vec!["a.rs".into()],
                with: vec![],
            },
        ),
        "unweavable" => Message::WeaveEnded(id, WeaveEnding::Failed("no disk".into())),
        "cancel" => Message::Cancel,
        other => panic!("{other:?} means nothing here"),
    };
    for event in batch.decide(message) {
        batch.apply(&event).unwrap();
    }
}

/// The actions, blocks applied on the way, as words.
fn actions(batch: &mut Batch, slots: usize) -> String {
    let mut words = Vec::new();
    for action in schedule(batch, slots) {
        let id = |task: usize| batch.tasks[task].id.clone();
        words.push(match action {
            Action::Block { task, because } => format!("block {} because {because}", id(task)),
            Action::Weave(task) => format!("weave {}", id(task)),
            Action::Stop(task) => format!("stop {}", id(task)),
            Action::Start(task) => format!("start {}", id(task)),
            Action::End(event) => format!("end {}", event.participle()),
        });
    }
    words.join("; ")
}

/// A story is words of `task:word`; the last line is what is to be done then.
#[track_caller]
fn check(slots: usize, plan: &str, story: &str, expected: &str) {
    let mut batch = batch(plan);
    for step in story.split_whitespace() {
        let (task, word) = step.split_once(':').unwrap_or(("", step));
        play(&mut batch, task, word);
    }
    assert_eq!(actions(&mut batch, slots), expected);
}

#[test]
fn ready_tasks_start_as_slots_allow() {
    check(2, "1\n2\n3", "", "start 1; start 2");
    check(
        2,
        "1\n2\n3",
        "1:started 2:started 1:built",
        "weave 1; start 3",
    );
    check(9, "1\n2 < 1", "", "start 1");
}

#[test]
fn the_longest_remaining_path_starts_first_then_priority_then_plan_order() {
    check(2, "1\n2\n3 < 2\n4 < 3", "", "start 2; start 1");
    check(1, "1 ~30\n2 ~480", "", "start 2");
    check(1, "1\n2 !high", "", "start 2");
}

#[test]
fn a_dependent_starts_only_when_what_it_needs_is_woven() {
    check(9, "1\n2 < 1", "1:started 1:built", "weave 1");
    check(9, "1\n2 < 1", "1:started 1:built 1:woven", "start 2");
    check(9, "1\n2 < 1", "1:started 1:same", "start 2");
}

#[test]
fn a_failure_blocks_only_its_dependents() {
    check(
        9,
        "1\n2 < 1\n3",
        "1:started 1:failed",
        "block 2 because it needs 1, which is failed; start 3",
    );
    check(
        9,
        "1\n2 < 1",
        "1:started 1:late",
        "block 2 because it needs 1, which is timed_out",
    );
    check(
        9,
        "1\n2 < 1",
        "1:started 1:built 1:conflict",
        "block 2 because it needs 1, which is conflicted",
    );
}

#[test]
fn a_task_that_merely_comes_after_another_starts_when_that_one_ended_anyhow() {
    check(9, "1 @ a.rs\n2 @ a.rs", "1:started", "");
    check(9, "1 @ a.rs\n2 @ a.rs", "1:started 1:failed", "start 2");
}

#[test]
fn branches_are_woven_in_the_order_they_finished() {
    let story = "1:started 2:started 3:started 3:built 1:built";
    check(3, "1\n2\n3", story, "weave 3");
    check(3, "1\n2\n3", &format!("{story} 3:woven"), "weave 1");
}

#[test]
fn a_phase_opens_at_four_of_five() {
    let text = "1.1 p1\n1.2 p1\n1.3 p1\n1.4 p1\n1.5 p1\n2.1 p2";
    let most =
        "1.1:started 1.2:started 1.3:started 1.4:started 1.5:started 1.1:same 1.2:same 1.3:same";
    check(9, text, most, "");
    check(9, text, &format!("{most} 1.4:same"), "start 2.1");
}

#[test]
fn phases_give_way_when_nothing_else_can_move() {
    check(9, "1.1 p1 < 2.1\n2.1 p2\n3.1 p3", "", "start 2.1");
}

#[test]
fn a_batch_ends_by_what_became_of_its_tasks() {
    check(9, "1", "1:started 1:built 1:woven", "end completed");
    check(9, "1", "1:started 1:same", "end completed");
    check(9, "1", "1:started 1:failed", "end failed");
    check(
        9,
        "1\n2",
        "1:started 2:started 1:same 2:failed",
        "end failed",
    );
    check(
        9,
        "1\n2",
        "1:started 2:started 1:built 1:woven 2:failed",
        "end completed",
    );
}

#[test]
fn a_cancelled_batch_stops_what_runs_and_keeps_what_is_built() {
    check(
        2,
        "1\n2\n3",
        "1:started 2:started 1:built cancel",
        "weave 1; stop 2",
    );
    check(2, "1\n2", "1:started cancel 1:stopped", "end cancelled");
    let mut batch = batch("1");
    play(&mut batch, "", "cancel");
    assert_eq!(batch.status, BatchStatus::Cancelling);
    assert_eq!(batch.decide(Message::Cancel), []);
}

#[test]
fn the_basis_holds_what_was_waited_for_and_nothing_else() {
    let mut batch = batch("1\n2 < 1\n3\n4 < 2\n5 @ f\n6 @ f\n7 @ f");
    for step in [
        "1:started",
        "3:started",
        "5:started",
        "3:built",
        "3:woven",
        "1:built",
        "1:woven",
        "2:started",
        "2:built",
        "2:woven",
        "5:built",
        "5:woven",
        "6:started",
        "6:failed",
    ] {
        let (task, word) = step.split_once(':').unwrap();
        play(&mut batch, task, word);
    }
    let basis = |task: &str| {
        let position = batch.position(&TaskId::new(task)).unwrap();
        let woven = batch.basis_of(position);
        woven
            .iter()
            .map(|at| batch.tasks[*at].id.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(basis("4"), "1 2");
    assert_eq!(basis("3"), "");
    assert_eq!(basis("7"), "5");
}

#[test]
fn events_that_do_not_fit_are_refused() {
    let mut batch = batch("1");
    let stranger = Event::Task {
        task: TaskId::new("9"),
        event: TaskEvent::Unchanged,
    };
    assert_eq!(
        batch.apply(&stranger).unwrap_err().to_string(),
        "task 9 is not in the batch"
    );
    let early = Event::Task {
        task: TaskId::new("1"),
        event: TaskEvent::Unchanged,
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
