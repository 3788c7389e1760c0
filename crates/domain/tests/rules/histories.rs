//! When things happened, folded from events.

use pleach_domain::batch::{Barriers, BatchSettings, Design, Spent};
use pleach_domain::choice::Where;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::graph::OrderRules;
use pleach_domain::history::{AttemptHistory, History};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;

use crate::{graph, plan};

fn history(events: Vec<(u64, Event)>) -> History {
    history_of(Where::Local, events)
}

fn history_of(place: Where, events: Vec<(u64, Event)>) -> History {
    let plan = plan("1\n2");
    let settings = BatchSettings::default();
    let design = Design::new(
        &graph(&plan),
        &[0, 1],
        OrderRules::default(),
        Barriers::Stages,
        settings,
    );
    let mut history = History::new(&design, place);
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
    let lost = |because: &str| {
        let because = because.to_owned();
        of_task(TaskEvent::Lost { because })
    };
    let events = vec![
        (0, Event::Batch(BatchEvent::Started)),
        (1_000, started(1)),
        (2_000, lost("n6 went down")),
        (3_000, started(2)),
        (61_000, placed(2)),
        (63_000, lost("n7 went down")),
        (64_000, started(3)),
        (70_000, placed(3)),
    ];
    let waits = history_of(Where::Slurm, events[..4].to_vec());
    assert_eq!(waits.tasks[0].worked_until(50_000), 0);
    assert_eq!(waits.tasks[0].started_at, None);
    let waited = history_of(Where::Slurm, events);
    let task = &waited.tasks[0];
    assert_eq!(task.worked, 2_000);
    assert_eq!(task.worked_until(73_000), 5_000);
    assert_eq!(task.started_at, Some(61_000));
    assert_eq!(task.last_error, None);
    let attempts = task.attempts.iter();
    let attempts: Vec<_> = attempts
        .map(|attempt| (attempt.started_at, attempt.node.as_deref()))
        .collect();
    let node = Some("n7");
    assert_eq!(attempts, [(1_000, None), (61_000, node), (70_000, node)]);
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

/// What became of the attempts on task 1: number, outcome, error, session, and when it ended.
fn attempts(events: Vec<(u64, TaskEvent)>) -> Vec<String> {
    let events = events.into_iter().map(|(at, event)| (at, of_task(event)));
    let told = history(events.collect());
    let of_task = told.of_task(&TaskId::new("1")).unwrap();
    let line = |attempt: &AttemptHistory| {
        let (number, outcome) = (attempt.number, attempt.outcome);
        let error = attempt.error.as_deref().unwrap_or("-");
        let session = attempt.session.as_deref().unwrap_or("-");
        let ended = attempt.ended_at.map_or("-".into(), |at| at.to_string());
        format!("{number} {outcome:?} {error} {session} {ended}")
    };
    of_task.attempts.iter().map(line).collect()
}

fn begin(attempt: u32) -> TaskEvent {
    let basis = Commit("base".into());
    TaskEvent::Started { attempt, basis }
}

fn work() -> TaskEvent {
    TaskEvent::Built {
        commit: Commit("work".into()),
        files: Vec::new(),
    }
}

#[test]
fn an_attempt_after_a_limit_goes_on_in_the_session_and_one_after_a_failure_does_not() {
    let limited = |error: &str| TaskEvent::Limited {
        error: error.into(),
        pause: 1,
    };
    let failed = |error: &str| TaskEvent::AttemptFailed {
        error: error.into(),
        pause: 1,
    };
    let told = attempts(vec![
        (1, begin(1)),
        (
            2,
            TaskEvent::SessionBegan {
                session: "s".into(),
            },
        ),
        (3, limited("no more today")),
        (4, TaskEvent::PauseEnded),
        (5, begin(2)),
        (6, failed("exit 1")),
        (7, begin(3)),
        (8, TaskEvent::StopRequested),
    ]);
    assert_eq!(
        told,
        [
            "1 Limited no more today s 3",
            "2 Failed exit 1 s 6",
            "3 Stopping - - -",
        ]
    );
}

#[test]
fn what_happens_to_a_task_between_two_attempts_is_no_ending_of_the_one_before() {
    let blocked = || TaskEvent::Blocked {
        because: "needs 2".into(),
    };
    let failed = || TaskEvent::Failed {
        error: "exit 1".into(),
    };
    let told = attempts(vec![
        (1, begin(1)),
        (2, failed()),
        (3, TaskEvent::Retried),
        (4, TaskEvent::Cancelled),
        (5, blocked()),
    ]);
    assert_eq!(told, ["1 Failed exit 1 - 2"]);
    let told = attempts(vec![(1, begin(1)), (2, work()), (3, blocked())]);
    assert_eq!(told, ["1 Blocked needs 2 - 2"]);
}

#[test]
fn work_that_is_done_again_did_not_merge_and_an_attempt_that_could_not_start_failed() {
    let again = |because: &str| TaskEvent::Requeued {
        because: because.into(),
    };
    let told = attempts(vec![
        (1, begin(1)),
        (2, again("no worktree")),
        (3, begin(2)),
        (4, work()),
        (9, again("collides with 2")),
    ]);
    assert_eq!(
        told,
        [
            "1 Failed no worktree - 2",
            "2 Conflicted collides with 2 - 4"
        ]
    );
}
