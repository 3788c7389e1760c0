//! The tasks of boards as rows, and the one transaction in which they change and everybody hears of it.
//!
//! Knows columns and keys; what may be changed, and what follows, is decided in `board`.

use std::collections::HashMap;
use std::path::Path;

use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task::{Priority, TaskStatus};
use pleach_formats::Identity;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::board_event::{self, BoardEvent};
use super::error::Stop;
use super::read::{self, path_in, task_in, unsigned_in};
use super::{Database, DatabaseError, LoadedBatch};
use pleach_domain::task_state::TaskOutcome;
use pleach_domain::task_status_word::TaskStatusWord;

/// A task of a project, on its board or mirrored from a plan file.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    pub id: String,
    pub project: String,
    /// The path of the plan file, or `PlanOrigin::BOARD`.
    pub plan: String,
    pub key: String,
    pub title: String,
    pub details: String,
    pub status: TaskStatus,
    pub phase: Option<u32>,
    /// Keys of the same plan.
    pub depends_on: Vec<String>,
    pub files: Vec<String>,
    pub priority: Priority,
    pub labels: Vec<String>,
    /// The name of the size that it wants of a cluster's node.
    pub size: Option<String>,
    pub position: f64,
    pub line: Option<u32>,
    pub identity: Identity,
    /// What its file said last of what people may change here as well.
    pub said: Option<FileFields>,
    pub created_at: u64,
    pub updated_at: u64,
    /// The last entry of the log when a person said how far it is; 0 if nobody did.
    pub marked_seq: u64,
}

/// What a plan file says that the board may say otherwise; whoever spoke last is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFields {
    pub priority: Priority,
    pub labels: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InBatch {
    pub batch: u32,
    pub task: TaskId,
    pub number: BatchNumber,
    /// Where it stands; none where only its history tells.
    pub status: Option<TaskStatusWord>,
    pub outcome: Option<TaskOutcome>,
    /// The last entry of the log that moved it.
    pub told_seq: u64,
    pub created_at: u64,
}

/// A batch that has a task and is not over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    pub batch: u32,
    pub number: BatchNumber,
    pub task: TaskId,
}

/// The tables of boards at one moment.
#[derive(Debug, Clone, Copy)]
pub struct BoardTables<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    pub(super) path: &'t Path,
}

const COLUMNS: &str =
    "id, project, plan, key, title, details, status, phase, depends_on, files, priority,
     labels, position, line, identity, said, created_at, updated_at, marked_seq, size";

/// The other columns are those of the row with the highest batch.
const LAST_BATCH: &str =
    "SELECT key, max(batch), status, outcome, told_seq, created_at, number, task
     FROM batch_task JOIN batch ON id = batch
     WHERE batch_task.project = ?1 AND batch_task.plan = ?2";

impl Database {
    /// Changes the boards, all or nothing: an error of any kind leaves everything as it was.
    pub fn change_boards<T, E: From<DatabaseError>>(
        &mut self,
        work: impl FnOnce(BoardTables<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |source| DatabaseError::of_sqlite("change a board", &self.path, source);
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior);
        let transaction = transaction.map_err(failed)?;
        let made = work(BoardTables {
            transaction: &transaction,
            path: &self.path,
        })?;
        transaction.commit().map_err(failed)?;
        Ok(made)
    }

    /// Looks at the boards as they are at one moment.
    pub fn look_at_boards<T, E: From<DatabaseError>>(
        &self,
        work: impl FnOnce(BoardTables<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |source| DatabaseError::of_sqlite("read a board", &self.path, source);
        let transaction = self.connection.unchecked_transaction().map_err(failed)?;
        work(BoardTables {
            transaction: &transaction,
            path: &self.path,
        })
    }

    /// What programs know the tasks of a plan by, by their keys; those that are on no board are not among them.
    pub fn task_ids(
        &self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<TaskId, String>, DatabaseError> {
        let ids = self.look_at_boards(|tables| tables.ids(project, plan));
        let ids = ids.map(|ids: HashMap<String, String>| ids.into_iter());
        ids.map(|ids| ids.map(|(key, id)| (TaskId::new(key), id)).collect())
    }
}

impl BoardTables<'_> {
    /// Everything of a project, in the order of its board.
    pub fn tasks(self, project: &str) -> Result<Vec<TaskRow>, DatabaseError> {
        let sql =
            format!("SELECT {COLUMNS} FROM board_task WHERE project = ?1 ORDER BY position, rowid");
        self.ask("list tasks", |connection| {
            let mut select = connection.prepare(&sql)?;
            let rows = select.query_map([project], task_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The tasks of one plan of a project, in the order of the board.
    pub fn tasks_of(self, project: &str, plan: &str) -> Result<Vec<TaskRow>, DatabaseError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM board_task WHERE project = ?1 AND plan = ?2
             ORDER BY position, rowid"
        );
        self.ask("list tasks", |connection| {
            let mut select = connection.prepare(&sql)?;
            let rows = select.query_map([project, plan], task_row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn task(self, id: &str) -> Result<Option<TaskRow>, DatabaseError> {
        let sql = format!("SELECT {COLUMNS} FROM board_task WHERE id = ?1");
        self.ask("find a task", |connection| {
            Ok(connection.query_row(&sql, [id], task_row).optional()?)
        })
    }

    pub fn insert(self, row: &TaskRow) -> Result<(), DatabaseError> {
        let sql = format!(
            "INSERT INTO board_task ({COLUMNS}) VALUES
             (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)"
        );
        self.put("add a task", &sql, row)
    }

    pub fn update(self, row: &TaskRow) -> Result<(), DatabaseError> {
        let sql = "UPDATE board_task SET project = ?2, plan = ?3, key = ?4, title = ?5, details = ?6,
             status = ?7, phase = ?8, depends_on = ?9, files = ?10, priority = ?11, labels = ?12,
             position = ?13, line = ?14, identity = ?15, said = ?16, created_at = ?17, updated_at = ?18,
             marked_seq = ?19, size = ?20
             WHERE id = ?1";
        self.put("change a task", sql, row)
    }

    fn put(self, doing: &'static str, sql: &str, row: &TaskRow) -> Result<(), DatabaseError> {
        self.ask(doing, |connection| {
            connection.execute(
                sql,
                params![
                    row.id,
                    row.project,
                    row.plan,
                    row.key,
                    row.title,
                    row.details,
                    row.status.as_str(),
                    row.phase,
                    text(&row.depends_on),
                    text(&row.files),
                    text(&row.priority),
                    text(&row.labels),
                    row.position,
                    row.line,
                    text(&row.identity),
                    text(&row.said),
                    row.created_at.cast_signed(),
                    row.updated_at.cast_signed(),
                    row.marked_seq.cast_signed(),
                    row.size,
                ],
            )?;
            Ok(())
        })
    }

    pub fn delete(self, id: &str) -> Result<(), DatabaseError> {
        self.ask("delete a task", |connection| {
            connection.execute("DELETE FROM board_task WHERE id = ?1", [id])?;
            Ok(())
        })
    }

    /// Frees the key of a task that gets another one, so that two can change theirs with each other.
    pub fn park_key(self, id: &str) -> Result<(), DatabaseError> {
        self.ask("change a task", |connection| {
            let parked = format!("\u{1}{id}");
            connection.execute(
                "UPDATE board_task SET key = ?2 WHERE id = ?1",
                [id, &parked],
            )?;
            Ok(())
        })
    }

    /// The next number that no task of a project's board ever had.
    pub fn new_key(self, project: &str) -> Result<String, DatabaseError> {
        loop {
            let key = self.ask("choose a task id", |connection| {
                let next = "UPDATE project SET next_key = next_key + 1 WHERE id = ?1
                            RETURNING next_key - 1";
                let number: i64 = connection.query_row(next, [project], |row| row.get(0))?;
                Ok(number.to_string())
            })?;
            if !self.was_used(project, &key)? {
                return Ok(key);
            }
        }
    }

    /// Whether a task of a project's board has or had that key.
    pub fn was_used(self, project: &str, key: &str) -> Result<bool, DatabaseError> {
        self.ask("choose a task id", |connection| {
            let used = "SELECT EXISTS (SELECT 1 FROM used_key WHERE project = ?1 AND key = ?2)";
            Ok(connection.query_row(used, [project, key], |row| row.get(0))?)
        })
    }

    /// The tasks of a plan that are in a batch which is not over, and that batch.
    pub fn holders(
        self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<TaskId, Holder>, DatabaseError> {
        self.ask("look up batches of tasks", |connection| {
            let sql = "SELECT key, batch, number, task FROM batch_task AS task
                       JOIN batch ON batch.id = task.batch
                       WHERE task.project = ?1 AND task.plan = ?2 AND live";
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([project, plan], |row| {
                let holder = Holder {
                    batch: row.get(1)?,
                    number: BatchNumber(row.get(2)?),
                    task: task_in(row, 3)?,
                };
                Ok((task_in(row, 0)?, holder))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The batches that a task of a plan was in, newest first, with its id in each.
    pub fn batches_of(
        self,
        project: &str,
        plan: &str,
        key: &str,
    ) -> Result<Vec<(u32, TaskId)>, DatabaseError> {
        self.ask("look up batches of a task", |connection| {
            let sql = "SELECT batch, task FROM batch_task
                       WHERE project = ?1 AND plan = ?2 AND key = ?3 ORDER BY batch DESC";
            let mut select = connection.prepare(sql)?;
            let row = |row: &Row<'_>| Ok((row.get(0)?, task_in(row, 1)?));
            let rows = select.query_map([project, plan, key], row)?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The last batch that each task of a plan was in, and where it stands there.
    pub fn last_batches(
        self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<String, InBatch>, DatabaseError> {
        self.ask("look up batches of tasks", |connection| {
            let sql = format!("{LAST_BATCH} GROUP BY key");
            let mut select = connection.prepare(&sql)?;
            let rows =
                select.query_map([project, plan], |row| Ok((row.get(0)?, in_batch(row)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn last_batch(
        self,
        project: &str,
        plan: &str,
        key: &str,
    ) -> Result<Option<InBatch>, DatabaseError> {
        self.ask("look up batches of tasks", |connection| {
            let sql = format!("{LAST_BATCH} AND key = ?3 GROUP BY key");
            let found = connection.query_row(&sql, [project, plan, key], in_batch);
            Ok(found.optional()?)
        })
    }

    pub fn ids(self, project: &str, plan: &str) -> Result<HashMap<String, String>, DatabaseError> {
        self.ask("list tasks", |connection| {
            let sql = "SELECT key, id FROM board_task WHERE project = ?1 AND plan = ?2";
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([project, plan], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn id_of(
        self,
        project: &str,
        plan: &str,
        key: &str,
    ) -> Result<Option<String>, DatabaseError> {
        self.ask("find a task", |connection| {
            let sql = "SELECT id FROM board_task WHERE project = ?1 AND plan = ?2 AND key = ?3";
            let found = connection.query_row(sql, [project, plan, key], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    /// The number of the last entry of the log; 0 if there is none.
    pub fn last_seq(self) -> Result<u64, DatabaseError> {
        self.ask("look up the last event", |connection| {
            let last = "SELECT coalesce(max(seq), 0) FROM event";
            Ok(connection.query_row(last, [], |row| unsigned_in(row, 0))?)
        })
    }

    pub fn batch(self, id: u32) -> Result<LoadedBatch, DatabaseError> {
        self.ask("load a batch", |connection| {
            let sql = "SELECT project, repository, plan, record, created_at, number FROM batch
                       WHERE id = ?1";
            let mut found = connection.query_row(sql, [id], |row| {
                Ok(LoadedBatch {
                    id,
                    number: BatchNumber(row.get(5)?),
                    project: row.get(0)?,
                    repository: path_in(row, 1)?,
                    plan: row.get(2)?,
                    record: row.get(3)?,
                    created_at: unsigned_in(row, 4)?,
                    events: Vec::new(),
                })
            })?;
            found.events = read::events(connection, self.path, 0, Some(id))?;
            Ok(found)
        })
    }

    /// Tells everybody, in the transaction that does what is told.
    pub fn note(self, project: &str, event: &BoardEvent) -> Result<(), DatabaseError> {
        let noted = board_event::note(self.transaction, Some(project), event);
        noted
            .map(drop)
            .map_err(|stop| stop.while_at("store an event", self.path))
    }

    pub(super) fn ask<T>(
        self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Stop>,
    ) -> Result<T, DatabaseError> {
        work(self.transaction).map_err(|stop| stop.while_at(doing, self.path))
    }
}

fn in_batch(row: &Row<'_>) -> rusqlite::Result<InBatch> {
    Ok(InBatch {
        batch: row.get(1)?,
        status: word_in(row, 2)?,
        outcome: word_in(row, 3)?,
        told_seq: unsigned_in(row, 4)?,
        created_at: unsigned_in(row, 5)?,
        number: BatchNumber(row.get(6)?),
        task: task_in(row, 7)?,
    })
}

fn task_row(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    let status: String = row.get(6)?;
    Ok(TaskRow {
        id: row.get(0)?,
        project: row.get(1)?,
        plan: row.get(2)?,
        key: row.get(3)?,
        title: row.get(4)?,
        details: row.get(5)?,
        status: value_of(6, &format!("\"{status}\""))?,
        phase: row.get(7)?,
        depends_on: value_in(row, 8)?,
        files: value_in(row, 9)?,
        priority: value_in(row, 10)?,
        labels: value_in(row, 11)?,
        position: row.get(12)?,
        line: row.get(13)?,
        identity: value_in(row, 14)?,
        said: value_in(row, 15)?,
        created_at: unsigned_in(row, 16)?,
        updated_at: unsigned_in(row, 17)?,
        marked_seq: unsigned_in(row, 18)?,
        size: row.get(19)?,
    })
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is plain data")
}

fn value_in<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    value_of(column, row.get_ref(column)?.as_str()?)
}

fn word_in<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    let word: Option<String> = row.get(column)?;
    let word = word.map(|word| value_of(column, &format!("\"{word}\"")));
    word.transpose()
}

fn value_of<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let kind = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, kind, error.into())
    })
}
