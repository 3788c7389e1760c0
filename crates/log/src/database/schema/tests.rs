//! Databases of earlier versions, and of later ones.

use std::os::unix::fs::PermissionsExt as _;

use pleach_domain::event::{BatchEvent, Event};
use pleach_domain::id::{BatchNumber, TaskId};

use super::super::{BatchFilter, BatchTask, BoardEvent, Database, NewBatch};
use super::*;

const NEXT: &str = "ALTER TABLE batch ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'";

fn next_steps() -> Vec<&'static str> {
    STEPS.iter().copied().chain([NEXT]).collect()
}

/// A database as an earlier version left it: two projects with three batches.
fn left_by(path: &Path, steps: &[&str]) {
    let database = Database::at(path, steps).unwrap();
    let text = |event| serde_json::to_string(&Event::Batch(event)).unwrap();
    let (created, started) = (text(BatchEvent::Created), text(BatchEvent::Started));
    let rows = [
        (1, "p", "completed"),
        (2, "q", "failed"),
        (3, "p", "running"),
    ];
    let is_numbered = steps.iter().any(|step| step.contains("ADD COLUMN number"));
    for (id, project, status) in rows {
        let (column, number) = if is_numbered {
            (", number", format!(", {id}"))
        } else {
            ("", String::new())
        };
        let ended = if status == "running" { "NULL" } else { "7" };
        let sql = format!(
            "INSERT INTO batch (id, project, repository, plan, tasks, record, created_at{column})
             VALUES ({id}, '{project}', CAST('/p' AS BLOB), 'TODO.md', '[\"{id}\"]', '{{}}', 5{number});
             INSERT INTO batch_state (batch, project, status, ended_at)
             VALUES ({id}, '{project}', '{status}', {ended});
             INSERT INTO event (at, batch, event)
             VALUES (5, {id}, '{created}'), (6, {id}, '{started}');"
        );
        database.connection.execute_batch(&sql).unwrap();
    }
}

fn new_batch(database: &mut Database, id: u32, project: &str) -> u32 {
    let new = NewBatch {
        project,
        repository: Path::new("/p"),
        plan: "TODO.md",
        record: "{}",
        tasks: &[BatchTask::Own(TaskId::new(format!("new {id}")))],
    };
    database.create_batch(id, &new).unwrap().number.0
}

#[test]
fn batches_of_every_earlier_version_keep_their_numbers_and_new_ones_count_on() {
    let numbered = |step: &&str| step.contains("ADD COLUMN number");
    let before = STEPS.iter().position(numbered).unwrap();
    for version in 1..=before {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pleach.db");
        left_by(&path, &STEPS[..version]);
        let mut later = Database::at(&path, STEPS).unwrap();
        let rows = later.batches(BatchFilter::default()).unwrap();
        let shown: Vec<_> = { rows.iter() }
            .map(|row| {
                (
                    row.id,
                    row.number.0,
                    row.project.as_str(),
                    row.status.as_str(),
                )
            })
            .collect();
        let kept = [
            (3, 3, "p", "running"),
            (2, 2, "q", "failed"),
            (1, 1, "p", "completed"),
        ];
        assert_eq!(shown, kept, "{version}");
        assert_eq!(later.load(2).unwrap().unwrap().events.len(), 2);
        // The ids go on over all projects, the numbers within each.
        assert_eq!(new_batch(&mut later, 4, "p"), 4);
        assert_eq!(new_batch(&mut later, 5, "q"), 3);
        assert_eq!(new_batch(&mut later, 6, "r"), 1);
        assert_eq!(later.batch_numbered("q", BatchNumber(3)).unwrap(), Some(5));
        assert_eq!(later.batch_numbered("q", BatchNumber(1)).unwrap(), None);
        let copy = Connection::open(copy_path(&path, STEPS.len())).unwrap();
        let count: u32 =
            { copy.query_one("SELECT count(*) FROM batch", [], |row| row.get(0)) }.unwrap();
        assert_eq!(count, 3, "{version}");
    }
}

fn with_a_batch(path: &Path) -> Database {
    let mut database = Database::at(path, STEPS).unwrap();
    let new = NewBatch {
        project: "p",
        repository: Path::new("/p"),
        plan: "TODO.md",
        record: "{}",
        tasks: &[BatchTask::Own(TaskId::new("1"))],
    };
    let batch = 1;
    database.create_batch(batch, &new).unwrap();
    let begun = Event::Batch(BatchEvent::Started);
    database.append(batch, &[begun]).unwrap();
    database
}

fn colours(path: &Path) -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open(path)?;
    let mut select = connection.prepare("SELECT colour FROM batch")?;
    let rows = select.query_map([], |row| row.get(0))?;
    rows.collect()
}

#[test]
fn rows_of_an_earlier_version_are_copied_and_brought_along() {
    let folder = tempfile::tempdir().unwrap();
    // The log beside the file still holds everything, and the name is no UTF-8.
    let path = folder
        .path()
        .join(std::ffi::OsStr::from_bytes(b"pleach\xff.db"));
    let earlier = with_a_batch(&path);
    let later = Database::at(&path, &next_steps()).unwrap();
    assert_eq!(later.load(1).unwrap(), earlier.load(1).unwrap());
    assert_eq!(colours(&path).unwrap(), ["green"]);
    let copy = copy_path(&path, STEPS.len() + 1);
    let mode = fs::metadata(&copy).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(colours(&copy).is_err());
    let copied = Database::at(&copy, STEPS).unwrap();
    assert_eq!(copied.load(1).unwrap(), earlier.load(1).unwrap());
}

#[test]
fn what_was_stored_before_there_were_consents_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pleach.db");
    left_by(&path, &STEPS[..2]);
    let mut later = Database::at(&path, STEPS).unwrap();
    assert!(later.consented::<String>("p").unwrap().is_empty());
    later.remember_consent("p", "1", &"given").unwrap();
    assert_eq!(later.consented::<String>("p").unwrap(), ["given"]);
    assert!(copy_path(&path, STEPS.len()).exists());
}

#[test]
fn tasks_of_batches_of_an_earlier_version_stay_in_their_plan() {
    let has_key = |step: &&str| step.contains("batch_task ADD COLUMN key");
    let before = STEPS.iter().position(has_key).unwrap();
    for version in 1..=before {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pleach.db");
        left_by(&path, &STEPS[..version]);
        let earlier = Connection::open(&path).unwrap();
        let running = "INSERT INTO batch_task (batch, project, plan, task, live, took, done_seq)
             VALUES (1, 'p', 'TODO.md', '1', 0, 9, 1), (3, 'p', 'TODO.md', '3', 1, NULL, NULL)";
        earlier.execute_batch(running).unwrap();
        drop(earlier);
        let mut later = Database::at(&path, STEPS).unwrap();
        let past = later.past_durations("p", "TODO.md").unwrap();
        assert!(past.contains_key("1"), "{version}");
        let new = |task: &str| BatchTask::Own(TaskId::new(task));
        let again = NewBatch {
            project: "p",
            repository: Path::new("/p"),
            plan: "TODO.md",
            record: "{}",
            tasks: &[new("1"), new("3")],
        };
        let busy = later.create_batch(4, &again).unwrap_err();
        assert!(
            matches!(&busy, DatabaseError::TaskBusy { task, .. } if task.as_str() == "3"),
            "{version}: {busy}"
        );
        let by_batch = later.tasks_by_batch("p", "TODO.md").unwrap();
        assert_eq!(by_batch[&3].get("3"), Some(&TaskId::new("3")));
    }
}

#[test]
fn what_was_stored_before_there_was_a_board_keeps_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pleach.db");
    left_by(&path, &STEPS[..3]);
    let mut later = Database::at(&path, STEPS).unwrap();
    let last = later.last_seq().unwrap();
    let gone = BoardEvent::TaskDeleted { task: "t".into() };
    assert_eq!(later.note_board_event(None, &gone).unwrap(), last + 1);
    let began = Event::Batch(BatchEvent::Resumed);
    assert_eq!(later.append(1, &[began]).unwrap()[0].seq, last + 2);
    let projects: Vec<_> = later.entries_after(0, 9).unwrap();
    let projects: Vec<_> = projects
        .iter()
        .map(|entry| entry.project.as_deref())
        .collect();
    assert_eq!(projects.first(), Some(&Some("p")));
    assert_eq!(projects[projects.len() - 2..], [None, Some("p")]);
}

#[test]
fn processes_that_migrate_at_once_migrate_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pleach.db");
    drop(with_a_batch(&path));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| Database::at(&path, &next_steps()).unwrap());
        }
    });
    assert_eq!(colours(&path).unwrap(), ["green"]);
    assert!(colours(&copy_path(&path, STEPS.len() + 1)).is_err());
}

#[test]
fn a_step_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pleach.db");
    drop(with_a_batch(&path));
    let mut steps = next_steps();
    steps.push("CREATE TABLE batch (id)");
    Database::at(&path, &steps).unwrap_err();
    assert!(colours(&path).is_err());
    let database = Database::at(&path, STEPS).unwrap();
    assert_eq!(database.load(1).unwrap().unwrap().events.len(), 2);
}

/// What a power cut takes cannot be tried here, so what `SQLite` promises is asked for.
#[test]
fn what_is_committed_survives_a_power_cut() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
    let pragma = |name: &str| -> String {
        let connection = &database.connection;
        let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
        let value = connection.pragma_query_value(None, name, value).unwrap();
        format!("{value:?}")
    };
    assert_eq!(pragma("synchronous"), "Integer(2)");
    assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
}

#[test]
fn nothing_is_copied_where_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pleach.db");
    drop(Database::at(&path, STEPS).unwrap());
    drop(Database::at(&path, &next_steps()).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
