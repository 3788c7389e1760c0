//! When things happened, folded from events.

use pleach_domain::batch::{Barriers, BatchSettings, Design, Spent};
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::OrderRules;
use pleach_domain::history::History;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;

use crate::{graph, plan};

fn history(events: Vec<(u64, Event)>) -> History {
    let plan = plan("1\n2");
    let settings = BatchSettings::default();
    let design = Design::new(
        &graph(&plan),
        &[0, 1],
        OrderRules::default(),
        Barriers::Stages,
        settings,
    );
    let mut history = History::new(&design);
    for (at, event) in events {
        history.take_in(&event, at);
    }
    history
}

fn of_task(event: TaskEvent) -> Event {
    let task = TaskId::new("1");
    Event::Task { task, event }
}

fn started(attempt: u32) -> Event {
    let basis = Commit("base".into());
    of_task(TaskEvent::Started { attempt, basis })
}

fn built() -> Event {
    of_task(TaskEvent::Built {
        commit: Commit("work".into()),
        files: Vec::new(),
    })
}

#[test]
fn an_attempt_goes_on_when_its_agent_names_its_session_spends_or_is_asked_to_stop() {
    let session = "s1".to_owned();
    let told = history(vec![
        (0, Event::Batch(BatchEvent::Started)),
        (1_000, started(1)),
        (1_500, of_task(TaskEvent::SessionBegan { session })),
        (2_000, of_task(TaskEvent::Spent(Spent::default()))),
        (3_000, of_task(TaskEvent::StopRequested)),
        (6_000, built()),
    ]);
    assert_eq!(told.tasks[0].worked, 5_000);
    assert_eq!(told.tasks[0].at_work_since, None);
    assert_eq!(told.last_started, Some(0));
}

fn placed(attempt: u32) -> Event {
    let node = "n7".to_owned();
    of_task(TaskEvent::Placed { attempt, node })
}

#[test]
fn waiting_for_a_machine_is_not_work() {
    let because = "n7 went down".to_owned();
    let waited = history(vec![
        (0, Event::Batch(BatchEvent::Started)),
        (1_000, started(1)),
        (61_000, placed(1)),
        (63_000, of_task(TaskEvent::Lost { because })),
        (64_000, started(2)),
        (70_000, placed(2)),
    ]);
    let task = &waited.tasks[0];
    assert_eq!(task.worked, 2_000);
    assert_eq!(task.worked_until(73_000), 5_000);
    assert_eq!(task.started_at, Some(1_000));
    assert_eq!(task.last_error, None);
}

#[test]
fn a_lost_attempt_says_why_it_was_lost() {
    let because = "n7 went down".to_owned();
    let told = history(vec![
        (1_000, started(1)),
        (2_000, of_task(TaskEvent::Lost { because })),
    ]);
    assert_eq!(told.tasks[0].last_error.as_deref(), Some("n7 went down"));
    assert_eq!(told.tasks[0].worked, 1_000);
    assert_eq!(told.tasks[0].ended_at, None);
}

#[test]
fn what_a_dead_process_left_counts_up_to_its_last_sign() {
    let told = history(vec![
        (0, Event::Batch(BatchEvent::Started)),
        (1_000, started(1)),
        (4_000, of_task(TaskEvent::Spent(Spent::default()))),
        (90_000, Event::Batch(BatchEvent::Resumed)),
        (90_500, of_task(TaskEvent::Interrupted)),
        (91_000, started(2)),
        (92_000, built()),
    ]);
    assert_eq!(told.tasks[0].worked, 4_000);
    assert_eq!(told.time.so_far(), 6_000);
    assert_eq!(told.tasks[0].started_at, Some(1_000));
}
