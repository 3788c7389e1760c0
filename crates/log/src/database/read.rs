//! Reads batches, their events and what follows from them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::id::{BatchNumber, TaskId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::derive::DerivedBatch;
use super::error::Stop;
use super::{BatchTask, Database, DatabaseError, StoredEvent};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedBatch {
    pub id: u32,
    pub number: BatchNumber,
    pub project: String,
    pub repository: PathBuf,
    /// The plan, by its name within the project.
    pub plan: String,
    pub record: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at: u64,
    pub events: Vec<StoredEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRow {
    pub id: u32,
    pub number: BatchNumber,
    pub project: String,
    pub repository: PathBuf,
    /// The plan, by its name within the project.
    pub plan: String,
    pub status: String,
    /// When it was made, in milliseconds since 1970.
    pub created_at: u64,
    pub ended_at: Option<u64>,
}

/// The batch that executes, or executed, the execution plan of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRow {
    pub batch: u32,
    /// The revision of the plan that it was made for.
    pub revision: String,
    pub is_open: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct BatchFilter<'a> {
    pub project: Option<&'a str>,
    pub among: BatchScope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BatchScope {
    #[default]
    All,
    Open,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProcessPurpose {
    Attempt(TaskId, u32),
    Probe(u32),
}

impl ProcessPurpose {
    /// How it stands in a table: a task and a number.
    pub(super) fn columns(&self) -> (&str, u32) {
        match self {
            Self::Attempt(task, number) => (task.as_str(), *number),
            Self::Probe(number) => (OF_PROBES, *number),
        }
    }

    pub(super) fn of_row(row: &Row<'_>, task: usize, number: usize) -> rusqlite::Result<Self> {
        let (task, number) = (task_in(row, task)?, row.get(number)?);
        Ok(match task.as_str() {
            OF_PROBES => Self::Probe(number),
            _ => Self::Attempt(task, number),
        })
    }
}

/// What stands for the task where a process runs tests; no task has an empty id.
const OF_PROBES: &str = "";

/// A process of a batch, so that nobody mistakes another one for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedProcess {
    pub whose: ProcessPurpose,
    pub boot_id: String,
    pub pid: i32,
    /// When it started, in the kernel's ticks since boot.
    pub start_time: u64,
    /// A word in its environment that no other process has.
    pub nonce: String,
}

impl Database {
    pub fn load(&self, batch: u32) -> Result<Option<LoadedBatch>, DatabaseError> {
        self.read("load a batch", |connection| {
            let found = connection
                .query_row(
                    "SELECT id, project, repository, plan, record, created_at, number
                     FROM batch WHERE id = ?1",
                    [batch],
                    |row| {
                        Ok(LoadedBatch {
                            id: row.get(0)?,
                            project: row.get(1)?,
                            repository: path_in(row, 2)?,
                            plan: row.get(3)?,
                            record: row.get(4)?,
                            created_at: unsigned_in(row, 5)?,
                            number: BatchNumber(row.get(6)?),
                            events: Vec::new(),
                        })
                    },
                )
                .optional()?;
            let Some(mut found) = found else {
                return Ok(None);
            };
            found.events = events(connection, &self.path, 0, Some(batch))?;
            Ok(Some(found))
        })
    }

    /// The batches that pass the filter, newest first.
    pub fn batches(&self, filter: BatchFilter<'_>) -> Result<Vec<BatchRow>, DatabaseError> {
        self.read("list the batches", |connection| {
            let open = match filter.among {
                BatchScope::All => "",
                BatchScope::Open => "AND state.ended_at IS NULL",
            };
            let mut select = connection.prepare(&format!(
                "SELECT id, batch.project, repository, plan, status, created_at, ended_at, number
                 FROM batch JOIN batch_state AS state ON state.batch = batch.id
                 WHERE (?1 IS NULL OR state.project = ?1) {open} ORDER BY id DESC"
            ))?;
            let rows = select.query_map([filter.project], |row| {
                Ok(BatchRow {
                    id: row.get(0)?,
                    project: row.get(1)?,
                    repository: path_in(row, 2)?,
                    plan: row.get(3)?,
                    status: row.get(4)?,
                    created_at: unsigned_in(row, 5)?,
                    ended_at: row.get::<_, Option<i64>>(6)?.map(i64::cast_unsigned),
                    number: BatchNumber(row.get(7)?),
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn batch_numbered(
        &self,
        project: &str,
        number: BatchNumber,
    ) -> Result<Option<u32>, DatabaseError> {
        self.read("find a batch", |connection| {
            let sql = "SELECT id FROM batch WHERE project = ?1 AND number = ?2";
            let found = connection.query_row(sql, params![project, number.0], |row| row.get(0));
            Ok(found.optional()?)
        })
    }

    pub fn number_of(&self, batch: u32) -> Result<Option<BatchNumber>, DatabaseError> {
        self.read("find a batch", |connection| {
            let sql = "SELECT number FROM batch WHERE id = ?1";
            let found = connection.query_row(sql, [batch], |row| row.get(0).map(BatchNumber));
            Ok(found.optional()?)
        })
    }

    /// The number that the next batch of a project gets, unless somebody else takes it first.
    pub fn next_number(&self, project: &str) -> Result<BatchNumber, DatabaseError> {
        self.read("choose a batch number", |connection| {
            number_of_next(connection, project)
        })
    }

    /// The batch that executes the execution plan of a project; if none is open, the last one that did.
    pub fn execution(&self, project: &str) -> Result<Option<ExecutionRow>, DatabaseError> {
        self.read("find the execution of a plan", |connection| {
            let found = connection.query_row(
                "SELECT id, execution_plan, ended_at IS NULL
                 FROM batch JOIN batch_state AS state ON state.batch = batch.id
                 WHERE batch.project = ?1 AND execution_plan IS NOT NULL
                 ORDER BY ended_at IS NOT NULL, id DESC LIMIT 1",
                [project],
                |row| {
                    Ok(ExecutionRow {
                        batch: row.get(0)?,
                        revision: row.get(1)?,
                        is_open: row.get(2)?,
                    })
                },
            );
            Ok(found.optional()?)
        })
    }

    /// The events with higher numbers than `seq`, of one batch or of all, in order.
    pub fn events_after(
        &self,
        seq: u64,
        batch: Option<u32>,
    ) -> Result<Vec<StoredEvent>, DatabaseError> {
        self.read("read the log", |connection| {
            events(connection, &self.path, seq, batch)
        })
    }

    /// The number of the last event, of a batch or of none; 0 if there is none.
    pub fn last_seq(&self) -> Result<u64, DatabaseError> {
        self.read("read the log", |connection| {
            let last = "SELECT coalesce(max(seq), 0) FROM event";
            Ok(connection.query_one(last, [], |row| unsigned_in(row, 0))?)
        })
    }

    pub fn processes(&self, batch: u32) -> Result<Vec<NotedProcess>, DatabaseError> {
        self.read("list the processes", |connection| {
            let mut select = connection.prepare(
                "SELECT task, attempt, boot_id, pid, start_time, nonce
                 FROM process WHERE batch = ?1 ORDER BY rowid",
            )?;
            let rows = select.query_map([batch], |row| {
                Ok(NotedProcess {
                    whose: ProcessPurpose::of_row(row, 0, 1)?,
                    boot_id: row.get(2)?,
                    pid: row.get(3)?,
                    start_time: unsigned_in(row, 4)?,
                    nonce: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// When the tests were last green for a tree of a project, in whichever batch.
    pub fn green_since(
        &self,
        project: &str,
        tree: &str,
        judge: &str,
    ) -> Result<Option<u64>, DatabaseError> {
        self.read("look up a verdict", |connection| {
            let known = "SELECT max(at) FROM proved_tree
                         WHERE project = ?1 AND tree = ?2 AND judge = ?3";
            let at: Option<i64> =
                connection.query_one(known, [project, tree, judge], |row| row.get(0))?;
            Ok(at.map(i64::cast_unsigned))
        })
    }

    /// How long the last attempt took that did its task, for each task of a plan that has one.
    pub fn past_durations(
        &self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<TaskId, Duration>, DatabaseError> {
        self.read("look up how long tasks took", |connection| {
            // SQLite takes the other columns from the row that has the maximum.
            let mut select = connection.prepare(
                "SELECT key, took, max(done_seq) FROM batch_task
                 WHERE project = ?1 AND plan = ?2 AND took IS NOT NULL GROUP BY key",
            )?;
            let rows = select.query_map(params![project, plan], |row| {
                Ok((
                    task_in(row, 0)?,
                    Duration::from_millis(unsigned_in(row, 1)?),
                ))
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The tasks of a plan that are merged in some batch, with the batch; the last batch comes first.
    pub fn merged_tasks(
        &self,
        project: &str,
        plan: &str,
    ) -> Result<Vec<(u32, TaskId)>, DatabaseError> {
        self.read("look up what earlier batches did", |connection| {
            let mut select = connection.prepare(
                "SELECT batch, key FROM batch_task
                 WHERE project = ?1 AND plan = ?2 AND outcome = 'merged' ORDER BY batch DESC",
            )?;
            let rows =
                select.query_map([project, plan], |row| Ok((row.get(0)?, task_in(row, 1)?)))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The tasks of a plan in each batch that had any: by their ids in the batch, those in the plan.
    pub(crate) fn tasks_by_batch(
        &self,
        project: &str,
        plan: &str,
    ) -> Result<HashMap<u32, HashMap<TaskId, TaskId>>, DatabaseError> {
        self.read("look up the tasks of a plan", |connection| {
            let sql = "SELECT batch, task, key FROM batch_task WHERE project = ?1 AND plan = ?2";
            let mut select = connection.prepare(sql)?;
            let mut rows = select.query([project, plan])?;
            let mut found: HashMap<u32, HashMap<TaskId, TaskId>> = HashMap::new();
            while let Some(row) = rows.next()? {
                let of_batch = found.entry(row.get(0)?).or_default();
                of_batch.insert(task_in(row, 1)?, task_in(row, 2)?);
            }
            Ok(found)
        })
    }

    /// Everything that is read in one go belongs to one moment.
    pub(super) fn read<T>(
        &self,
        doing: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Stop>,
    ) -> Result<T, DatabaseError> {
        let transaction = self.connection.unchecked_transaction();
        let transaction =
            transaction.map_err(|source| DatabaseError::of_sqlite(doing, &self.path, source))?;
        work(&transaction).map_err(|stop| stop.while_at(doing, &self.path))
    }
}

pub(super) fn number_of_next(connection: &Connection, project: &str) -> Result<BatchNumber, Stop> {
    let sql = "SELECT coalesce(max(number), 0) + 1 FROM batch WHERE project = ?1";
    let next = connection.query_one(sql, [project], |row| row.get(0));
    Ok(BatchNumber(next?))
}

/// The events after a number, of one batch or of all.
pub(super) fn events(
    connection: &Connection,
    path: &Path,
    after: u64,
    batch: Option<u32>,
) -> Result<Vec<StoredEvent>, Stop> {
    let of_batch = match batch {
        Some(_) => "AND batch = ?2",
        None => "AND batch IS NOT NULL AND ?2 IS NULL",
    };
    let mut select = connection.prepare(&format!(
        "SELECT seq, batch, at, event, number FROM event JOIN batch ON batch.id = event.batch
         WHERE seq > ?1 {of_batch} ORDER BY seq"
    ))?;
    let mut rows = select.query(params![after.cast_signed(), batch])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = unsigned_in(row, 0)?;
        let text = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        let event = serde_json::from_str(text).map_err(|source| DatabaseError::StrangeEvent {
            seq,
            path: path.to_owned(),
            source,
        })?;
        found.push(StoredEvent {
            seq,
            batch: row.get(1)?,
            number: BatchNumber(row.get(4)?),
            at: unsigned_in(row, 2)?,
            event,
        });
    }
    Ok(found)
}

/// All batches with their tasks, oldest first.
pub(super) fn subjects(
    connection: &Connection,
) -> Result<Vec<(DerivedBatch, Vec<BatchTask>)>, Stop> {
    let mut select =
        connection.prepare("SELECT id, project, plan, tasks, number FROM batch ORDER BY id")?;
    let rows = select.query_map([], |row| {
        let subject = DerivedBatch {
            id: row.get(0)?,
            project: row.get(1)?,
            plan: row.get(2)?,
            number: BatchNumber(row.get(4)?),
        };
        let tasks = serde_json::from_str(row.get_ref(3)?.as_str()?).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(3, rusqlite::types::Type::Text, error.into())
        })?;
        Ok((subject, tasks))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn unsigned_in(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

pub(super) fn task_in(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskId> {
    Ok(TaskId::new(row.get_ref(column)?.as_str()?))
}

pub(super) fn path_in(row: &Row<'_>, column: usize) -> rusqlite::Result<PathBuf> {
    row.get(column)
        .map(|bytes| OsString::from_vec(bytes).into())
}
