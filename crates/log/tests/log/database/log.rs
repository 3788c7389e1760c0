//! What is stored comes back as it was, in order.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_log::database::{
    BoardEvent, DatabaseError, Logged, NewBatch, NotedProcess, ProcessPurpose,
};

use super::{BEGUN, COMPLETED, CREATED, Home, MERGING, create, of_task, started, tasks};

#[test]
fn every_event_comes_back_as_it_was() {
    let home = Home::new();
    let mut database = home.open();
    let batch = create(&mut database, "p", "1 2").unwrap();
    let batch_events = BatchEvent::one_of_each().into_iter().map(Event::Batch);
    let task_events = TaskEvent::one_of_each()
        .into_iter()
        .map(|event| of_task("1", event));
    let events: Vec<Event> = batch_events.chain(task_events).collect();
    let stored = database.append(batch, &events).unwrap();
    let written: Vec<Event> = stored.iter().map(|stored| stored.event.clone()).collect();
    assert_eq!(written, events);
    drop(database);
    let loaded = home.open().load(batch).unwrap().unwrap();
    assert_eq!(loaded.events[0].event, CREATED);
    assert_eq!(loaded.events[1..], stored);
}

#[test]
fn a_batch_comes_back_as_it_was() {
    let home = Home::new();
    let new = NewBatch {
        project: "p-1",
        repository: Path::new(OsStr::from_bytes(b"/no/utf-8/\xff")),
        plan: "docs/TODO.md",
        record: "{\"settings\": {\"é\\u0000\": [1]}}",
        tasks: &tasks("1 2.1 é"),
    };
    let batch = 1;
    let created = home.open().create_batch(batch, &new).unwrap();
    let loaded = home.open().load(batch).unwrap().unwrap();
    assert_eq!(loaded.id, batch);
    assert_eq!(loaded.project, new.project);
    assert_eq!(loaded.repository, new.repository);
    assert_eq!(loaded.plan, new.plan);
    assert_eq!(loaded.record, new.record);
    assert_eq!(created.event, CREATED);
    assert_eq!(created.at, loaded.created_at);
    assert_eq!(loaded.events, [created]);
    assert!(loaded.created_at > 1_600_000_000_000);
    assert_eq!(home.open().load(batch + 1).unwrap(), None);
}

#[test]
fn numbers_increase_over_all_batches() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1").unwrap();
    let second = create(&mut database, "q", "1").unwrap();
    let mut stored = database.append(first, &[BEGUN, started("1", 1)]).unwrap();
    stored.extend(database.append(second, &[BEGUN]).unwrap());
    stored.extend(database.append(first, &[MERGING]).unwrap());
    let numbers: Vec<u64> = stored.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, [3, 4, 5, 6], "making the two is 1 and 2");
    assert_eq!(database.events_after(2, None).unwrap(), stored);
    assert_eq!(database.events_after(4, None).unwrap(), stored[2..]);
    assert_eq!(
        database.events_after(3, Some(first)).unwrap(),
        [stored[1].clone(), stored[3].clone()]
    );
    assert_eq!(database.events_after(6, None).unwrap(), []);
}

#[test]
fn what_happens_to_no_batch_is_in_the_same_log_and_in_no_batch() {
    let home = Home::new();
    let mut database = home.open();
    let batch = create(&mut database, "p", "1").unwrap();
    database.append(batch, &[BEGUN]).unwrap();
    let before = database.last_seq().unwrap();
    let shown = serde_json::json!({"id": "t1", "title": "é\n"});
    let events = [
        BoardEvent::TaskCreated {
            task: "t1".into(),
            shown: shown.clone(),
        },
        BoardEvent::TaskUpdated {
            task: "t1".into(),
            shown,
        },
        BoardEvent::TaskDeleted { task: "t1".into() },
        BoardEvent::SettingsUpdated {
            settings: serde_json::json!({"maxBatchSize": 3}),
        },
    ];
    for (event, expected) in events.iter().zip(before + 1..) {
        let project = matches!(event, BoardEvent::TaskCreated { .. }).then_some("q");
        let seq = database.note_board_event(project, event).unwrap();
        assert_eq!(seq, expected);
    }
    let stored = database.append(batch, &[MERGING]).unwrap();
    assert_eq!(database.last_seq().unwrap(), before + 5);
    let after = database.entries_after(before, 100).unwrap();
    let what: Vec<_> = after.iter().map(|entry| entry.what.clone()).collect();
    let board = events.into_iter().map(Logged::Board);
    let expected: Vec<_> = board.chain([Logged::Batch(stored[0].clone())]).collect();
    assert_eq!(what, expected);
    let whose = |entry: &pleach_log::database::LogEntry| (entry.project.clone(), entry.batch);
    assert_eq!(whose(&after[0]), (Some("q".into()), None));
    assert_eq!(whose(&after[1]), (None, None));
    assert_eq!(whose(&after[4]), (Some("p".into()), Some(batch)));
    assert_eq!(database.entries_after(before, 2).unwrap(), after[..2]);
    assert_eq!(database.events_after(before, None).unwrap(), stored);
    assert_eq!(database.events_after(before, Some(batch)).unwrap(), stored);
    let loaded = database.load(batch).unwrap();
    database.rebuild().unwrap();
    assert_eq!(database.load(batch).unwrap(), loaded);
}

#[test]
fn long_lines_come_a_few_at_a_time_and_none_is_left_out() {
    let home = Home::new();
    let mut database = home.open();
    let long = BoardEvent::TaskCreated {
        task: "t".into(),
        shown: serde_json::json!("x".repeat(300_000)),
    };
    for _ in 0..10 {
        database.note_board_event(None, &long).unwrap();
    }
    let mut numbers = Vec::new();
    loop {
        let after = numbers.last().copied().unwrap_or(0);
        let page = database.entries_after(after, 1_000).unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 4, "{}", page.len());
        numbers.extend(page.iter().map(|entry| entry.seq));
    }
    assert_eq!(numbers, (1..=10).collect::<Vec<u64>>());
}

#[test]
fn others_notice_that_something_was_stored() {
    let home = Home::new();
    let (mut one, other) = (home.open(), home.open());
    let before = other.data_version().unwrap();
    assert_eq!(other.data_version().unwrap(), before);
    let gone = BoardEvent::TaskDeleted { task: "t".into() };
    one.note_board_event(None, &gone).unwrap();
    assert_ne!(other.data_version().unwrap(), before);
}

#[test]
fn events_that_are_refused_leave_nothing_behind() {
    let home = Home::new();
    let mut database = home.open();
    let first = create(&mut database, "p", "1").unwrap();
    database
        .append(first, &[BEGUN, MERGING, COMPLETED])
        .unwrap();
    create(&mut database, "p", "1").unwrap();
    let again = [super::REOPENED, of_task("1", TaskEvent::Retried)];
    let error = database.append(first, &again).unwrap_err();
    assert!(matches!(error, DatabaseError::TaskBusy { .. }), "{error}");
    assert_eq!(database.events_after(5, None).unwrap(), []);
    let error = database.append(99, &[BEGUN]).unwrap_err();
    assert!(matches!(error, DatabaseError::NoBatch(99)), "{error}");
    let next = database.append(first, &[BEGUN]).unwrap();
    assert_eq!(next[0].seq, 6, "a number of nothing");
}

#[test]
fn processes_are_noted_once_an_attempt() {
    let home = Home::new();
    let mut database = home.open();
    let batch = create(&mut database, "p", "1 2").unwrap();
    let process = |task: &str, pid| NotedProcess {
        whose: ProcessPurpose::Attempt(TaskId::new(task), 1),
        boot_id: "0f0f".into(),
        pid,
        start_time: u64::from(u32::MAX) + 5,
        nonce: "n0".into(),
    };
    for noted in [process("1", 10), process("2", 11), process("1", 12)] {
        database.note_process(batch, &noted).unwrap();
    }
    let second = NotedProcess {
        whose: ProcessPurpose::Attempt(TaskId::new("2"), 2),
        ..process("2", 13)
    };
    let of_tests = NotedProcess {
        whose: ProcessPurpose::Probe(1),
        ..process("1", 14)
    };
    for noted in [&second, &of_tests] {
        database.note_process(batch, noted).unwrap();
    }
    let noted = home.open().processes(batch).unwrap();
    assert_eq!(
        noted,
        [process("2", 11), process("1", 12), second, of_tests]
    );
    assert_eq!(database.processes(batch + 1).unwrap(), []);
    let error = database.note_process(99, &process("1", 1)).unwrap_err();
    assert!(matches!(error, DatabaseError::NoBatch(99)), "{error}");
}

#[test]
fn only_its_owner_may_read_it() {
    let home = Home::new();
    let mut database = home.open();
    create(&mut database, "p", "1").unwrap();
    for name in ["pleach.db", "pleach.db-wal", "pleach.db-shm"] {
        let mode = fs::metadata(home.path().join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn closing_leaves_one_file() {
    let home = Home::new();
    let (mut one, other) = (home.open(), home.open());
    let batch = create(&mut one, "p", "1").unwrap();
    drop(one);
    assert!(other.load(batch).unwrap().is_some());
    drop(other);
    let names: Vec<_> = fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["pleach.db"]);
}
