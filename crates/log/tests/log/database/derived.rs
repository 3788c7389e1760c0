//! What follows from the log: who has a task, where batches stand, how long tasks took.

use std::path::Path;
use std::time::Duration;

use pleach_domain::bisect::TestResult;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;
use pleach_log::database::{BatchFilter, BatchScope, BatchTask, Database, DatabaseError, NewBatch};
use rusqlite::Connection;

use super::{BEGUN, COMPLETED, Home, MERGING, REOPENED, create, of_task, started};

fn retried(task: &str) -> Event {
    of_task(task, TaskEvent::Retried)
}

fn built(task: &str) -> Event {
    let commit = Commit("c".into());
    let files = vec!["a".into()];
    of_task(task, TaskEvent::Built { commit, files })
}

#[track_caller]
fn check_busy<T: std::fmt::Debug>(answer: Result<T, DatabaseError>, task: &str, batch: u32) {
    match answer.unwrap_err() {
        DatabaseError::TaskBusy {
            task: busy,
            batch: in_batch,
        } => {
            assert_eq!((busy.as_str(), in_batch.0), (task, batch));
        }
        error => panic!("{error}"),
    }
}

#[test]
fn a_task_is_in_one_batch_until_that_is_over() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1 2").unwrap();
    check_busy(create(&mut database, "p", "3 2"), "2", first);
    let other = create(&mut database, "q", "1 2").unwrap();
    assert_eq!(other, first + 1, "a refused batch took a number");
    for (number, ending) in (1..).zip([
        vec![MERGING, COMPLETED],
        vec![Event::Batch(BatchEvent::Cancelled)],
        vec![Event::Batch(BatchEvent::Failed { error: "e".into() })],
    ]) {
        let batch = create(&mut database, "r", "1").unwrap();
        database.append(batch, &[BEGUN]).unwrap();
        check_busy(create(&mut database, "r", "1"), "1", number);
        database.append(batch, &ending).unwrap();
    }
    create(&mut database, "r", "1").unwrap();
}

#[test]
fn a_task_that_was_taken_over_is_free_and_comes_back_when_it_is_free_again() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1 2").unwrap();
    let lost = TaskEvent::TakenOver {
        because: "another batch has it".into(),
    };
    database
        .append(first, &[BEGUN, of_task("1", lost)])
        .unwrap();
    let second = create(&mut database, "p", "1").unwrap();
    check_busy(create(&mut database, "p", "2"), "2", first);
    let one = [TaskId::new("1")];
    check_busy(database.claim(first, &one), "1", second);
    database.rebuild().unwrap();
    check_busy(database.claim(first, &one), "1", second);
    database
        .append(second, &[BEGUN, MERGING, COMPLETED])
        .unwrap();
    database.claim(first, &one).unwrap();
    check_busy(create(&mut database, "p", "1"), "1", first);
}

#[test]
fn a_task_that_is_tried_again_must_be_free() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1 2").unwrap();
    database
        .append(first, &[BEGUN, MERGING, COMPLETED])
        .unwrap();
    let second = create(&mut database, "p", "1").unwrap();
    check_busy(
        database.append(first, &[REOPENED, retried("1")]),
        "1",
        second,
    );
    database.append(first, &[REOPENED, retried("2")]).unwrap();
    check_busy(create(&mut database, "p", "2"), "2", first);
    check_busy(database.append(first, &[retried("1")]), "1", second);
    let over = [MERGING, COMPLETED];
    database.append(second, &over).unwrap();
    database.append(first, &[retried("1")]).unwrap();
    check_busy(create(&mut database, "p", "1"), "1", first);
}

/// What the tests say of a tree; without a number it is remembered.
fn judged(run: TestResult, number: Option<u32>) -> Event {
    Event::Batch(BatchEvent::TestsRan {
        tasks: Vec::new(),
        tree: "t".into(),
        judge: "cargo test".into(),
        run,
        number,
        log: number,
        took: 5,
        proved_at: None,
    })
}

#[test]
fn a_green_tree_is_known_in_its_project_until_the_tests_fail_on_it() {
    let home = Home::new();
    let mut database = home.open();
    let batch = create(&mut database, "p", "1").unwrap();
    let other = create(&mut database, "q", "1").unwrap();
    let is_green = |database: &Database, project: &str| {
        let since = database.green_since(project, "t", "cargo test").unwrap();
        since.is_some()
    };
    let green = judged(TestResult::Passed, Some(1));
    database.append(batch, &[BEGUN, green.clone()]).unwrap();
    assert!(is_green(&database, "p") && !is_green(&database, "q"));
    assert_eq!(database.green_since("p", "t", "make test").unwrap(), None);
    database
        .append(batch, &[judged(TestResult::Failed, Some(2))])
        .unwrap();
    database.append(other, &[BEGUN, green]).unwrap();
    assert!(!is_green(&database, "p") && is_green(&database, "q"));
    // Whoever remembers a verdict says nothing new.
    database
        .append(batch, &[judged(TestResult::Passed, None)])
        .unwrap();
    assert!(!is_green(&database, "p"));
    database.rebuild().unwrap();
    assert!(!is_green(&database, "p") && is_green(&database, "q"));
}

/// A batch of the task 1 of `TODO.md` and of the task 1 of the board.
fn create_mixed(database: &mut Database, number: u32) -> Result<u32, DatabaseError> {
    let tasks = [
        BatchTask::Own(TaskId::new("1")),
        BatchTask::Joined {
            id: TaskId::new("board-1"),
            plan: "board".to_owned(),
            key: TaskId::new("1"),
        },
    ];
    let new = NewBatch {
        project: "p",
        repository: Path::new("/somewhere/project"),
        plan: "TODO.md",
        record: "{}",
        tasks: &tasks,
    };
    database.create_batch(number, &new).map(|_| number)
}

#[test]
fn each_task_of_a_mixed_batch_is_busy_in_its_own_plan() {
    let home = Home::new();
    let mut database = home.open();
    let first = create_mixed(&mut database, 1).unwrap();
    check_busy(create(&mut database, "p", "1"), "1", first);
    check_busy(create_mixed(&mut database, 2), "1", first);
    create(&mut database, "p", "board-1").unwrap();
    let lost = TaskEvent::TakenOver {
        because: "another batch has it".into(),
    };
    let began = [BEGUN, started("1", 1), started("board-1", 1)];
    database.append(first, &began).unwrap();
    database
        .append(first, &[of_task("1", lost), built("board-1")])
        .unwrap();
    let rows = derived_rows(&home);
    database.rebuild().unwrap();
    assert_eq!(derived_rows(&home), rows);
    check_busy(create_mixed(&mut database, 3), "board-1", first);
    let second = create(&mut database, "p", "1").unwrap();
    check_busy(database.append(first, &[retried("1")]), "1", second);
    let took = |plan: &str| {
        let past = database.past_durations("p", plan).unwrap();
        past.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(took("board"), [TaskId::new("1")]);
    assert_eq!(took("TODO.md"), []);
}

#[test]
fn lists_are_newest_first_and_filtered() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1").unwrap();
    let second = create(&mut database, "q", "1").unwrap();
    let third = create(&mut database, "p", "2").unwrap();
    database
        .append(first, &[BEGUN, MERGING, COMPLETED])
        .unwrap();
    database.append(third, &[BEGUN]).unwrap();
    let told = |database: &Database, project, among| -> Vec<(u32, String, bool)> {
        let rows = database.batches(BatchFilter { project, among }).unwrap();
        rows.into_iter()
            .map(|row| (row.id, row.status, row.ended_at.is_some()))
            .collect()
    };
    let row = |id, status: &str, over| (id, status.to_owned(), over);
    let (one, two) = (row(first, "completed", true), row(second, "pending", false));
    let three = row(third, "running", false);
    assert_eq!(
        told(&database, None, BatchScope::All),
        [three.clone(), two.clone(), one.clone()]
    );
    assert_eq!(
        told(&database, Some("p"), BatchScope::All),
        [three.clone(), one]
    );
    assert_eq!(
        told(&database, None, BatchScope::Open),
        [three.clone(), two]
    );
    assert_eq!(told(&database, Some("p"), BatchScope::Open), [three]);
    database.append(first, &[REOPENED]).unwrap();
    assert_eq!(told(&database, Some("p"), BatchScope::Open).len(), 2);
}

/// Moves the times of all events, so that tests need not wait.
fn set_times(home: &Home, times: &[(u64, u64)]) {
    let connection = Connection::open(home.state().database()).unwrap();
    for (seq, at) in times {
        let set = format!("UPDATE event SET at = {at} WHERE seq = {seq}");
        assert_eq!(connection.execute(&set, []).unwrap(), 1);
    }
}

#[test]
fn past_durations_are_those_of_the_last_attempt_that_did_it_without_the_wait_for_a_machine() {
    let home = Home::new();
    let mut database = home.open();
    let placed = TaskEvent::Placed {
        attempt: 2,
        node: "n7".into(),
    };
    let failed = TaskEvent::AttemptFailed {
        error: "e".into(),
        pause: 0,
    };
    let events = [
        started("1", 1),
        of_task("1", failed),
        started("1", 2),
        of_task("1", placed),
        built("1"),
        started("2", 1),
        of_task("2", TaskEvent::Unchanged { reason: None }),
        started("3", 1),
        of_task("3", TaskEvent::Failed { error: "e".into() }),
    ];
    let first = create(&mut database, "p", "1 2 3").unwrap();
    database.append(first, &events).unwrap();
    database.append(first, &[COMPLETED]).unwrap();
    let second = create(&mut database, "p", "2").unwrap();
    database
        .append(second, &[started("2", 1), built("2"), started("2", 2)])
        .unwrap();
    let times = [
        50, 100, 200, 300, 1000, 4500, 0, 9000, 0, 9000, 9000, 9500, 20_000, 27_000, 30_000,
    ];
    let times: Vec<(u64, u64)> = (1..).zip(times).collect();
    set_times(&home, &times);
    database.rebuild().unwrap();
    let mut past: Vec<(TaskId, Duration)> = database
        .past_durations("p", "TODO.md")
        .unwrap()
        .into_iter()
        .collect();
    past.sort();
    assert_eq!(
        past,
        [
            (TaskId::new("1"), Duration::from_millis(3500)),
            (TaskId::new("2"), Duration::from_secs(7)),
        ]
    );
    assert!(database.past_durations("p", "OTHER.md").unwrap().is_empty());
    assert!(database.past_durations("q", "TODO.md").unwrap().is_empty());
}

/// All rows of the derived tables, as text.
fn derived_rows(home: &Home) -> Vec<String> {
    let connection = Connection::open(home.state().database()).unwrap();
    let mut all = Vec::new();
    for table in ["batch_state", "batch_task"] {
        let mut select = connection
            .prepare(&format!("SELECT * FROM {table} ORDER BY 1, 4"))
            .unwrap();
        let columns = select.column_count();
        let mut rows = select.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let row: Vec<_> = (0..columns).map(|at| row.get_ref(at).unwrap()).collect();
            all.push(format!("{table} {row:?}"));
        }
    }
    all
}

#[test]
fn derived_tables_made_anew_are_those_that_were_kept() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1 2 3").unwrap();
    let begin = [BEGUN, started("1", 1), started("2", 1), built("1")];
    database.append(first, &begin).unwrap();
    database.append(first, &[MERGING, COMPLETED]).unwrap();
    let second = create(&mut database, "p", "1 3").unwrap();
    database.append(second, &[BEGUN]).unwrap();
    database
        .append(second, &[Event::Batch(BatchEvent::Cancelled)])
        .unwrap();
    let again = [REOPENED, retried("1"), started("1", 2)];
    database.append(first, &again).unwrap();
    create(&mut database, "p", "3").unwrap();
    let on_cluster = NewBatch {
        project: "p",
        repository: Path::new("/somewhere/project"),
        plan: "TODO.md",
        record: "{\"cluster\":{}}",
        tasks: &["4", "5"].map(|id| BatchTask::Own(TaskId::new(id))),
    };
    let there = 9;
    database.create_batch(there, &on_cluster).unwrap();
    let node = "n7".to_owned();
    let placed = of_task("5", TaskEvent::Placed { attempt: 1, node });
    let begin = [BEGUN, started("4", 1), started("5", 1), placed];
    database.append(there, &begin).unwrap();
    let status = |task: &str| {
        let connection = Connection::open(home.state().database()).unwrap();
        let select = "SELECT status FROM batch_task WHERE batch = ?1 AND task = ?2";
        connection
            .query_one(select, (there, task), |row| row.get::<_, String>(0))
            .unwrap()
    };
    assert_eq!([status("4"), status("5")], ["queued", "running"]);
    let kept = derived_rows(&home);
    assert_eq!(kept.len(), 4 + 8);
    let connection = Connection::open(home.state().database()).unwrap();
    connection
        .execute_batch("UPDATE batch_state SET status = 'x'; DELETE FROM batch_task;")
        .unwrap();
    assert_ne!(derived_rows(&home), kept);
    database.rebuild().unwrap();
    assert_eq!(derived_rows(&home), kept);
    check_busy(create(&mut database, "p", "1"), "1", first);
}
