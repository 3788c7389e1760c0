//! The log of everything that happened, to batches and to none, in one `SQLite` file that all processes share.
//!
//! Stores events and reads them back; whether they make sense is the core's business.

pub mod board;
mod board_event;
mod consent;
mod derive;
mod error;
mod log;
mod pauses;
mod plan_marks;
pub mod projects;
mod push_consent;
mod read;
mod request_keys;
mod schema;
mod submissions;
mod task_ids;
mod trust;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

pub use board_event::BoardEvent;
pub use error::DatabaseError;
pub use log::{LogEntry, Logged};
pub use pauses::AgentPause;
pub use plan_marks::{MarkedTask, PlanMark};
pub use read::{
    BatchFilter, BatchRow, BatchScope, ExecutionRow, LoadedBatch, NotedProcess, ProcessPurpose,
};
pub use request_keys::{Provenance, RequestKey};
pub use submissions::{QueueCounts, SubmittedUnit};

use derive::DerivedBatch;
use error::Stop;
use pleach_system::state_folder::StateFolder;
use read::number_of_next;

/// How long to wait for other writers.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);
/// The log beside the file is taken over at this many pages, which costs two more syncs.
const CHECKPOINT_PAGES: u32 = 2000;
/// What the log beside the file may keep of the disk afterwards.
const KEPT_LOG_BYTES: u32 = 16 << 20;

/// A connection to the database; a thread that needs one opens its own.
#[derive(Debug)]
pub struct Database {
    connection: Connection,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct NewBatch<'a> {
    pub project: &'a str,
    pub repository: &'a Path,
    /// The plan, by a name that is its own within the project.
    pub plan: &'a str,
    /// Everything that is needed to go on with it, as text that only its reader understands.
    pub record: &'a str,
    pub tasks: &'a [BatchTask],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BatchTask {
    /// Of the batch's plan, by its id there.
    Own(TaskId),
    Joined {
        id: TaskId,
        /// Its plan, by its name within the project.
        plan: String,
        key: TaskId,
    },
}

impl BatchTask {
    pub fn id(&self) -> &TaskId {
        match self {
            Self::Own(id) | Self::Joined { id, .. } => id,
        }
    }

    pub fn plan<'t>(&'t self, of_batch: &'t str) -> &'t str {
        match self {
            Self::Own(_) => of_batch,
            Self::Joined { plan, .. } => plan,
        }
    }

    pub fn key(&self) -> &TaskId {
        match self {
            Self::Own(key) | Self::Joined { key, .. } => key,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its number in the log; later ones have higher numbers.
    pub seq: u64,
    pub batch: u32,
    /// What people call that.
    pub number: BatchNumber,
    /// When it was stored, in milliseconds since 1970.
    pub at: u64,
    pub event: Event,
}

impl Database {
    pub fn open(state: &StateFolder) -> Result<Self, DatabaseError> {
        let path = state.database();
        schema::create_private(&path).map_err(|source| DatabaseError::NotWritable {
            doing: "open the database",
            path: path.clone(),
            source: source.into(),
        })?;
        Self::at(&path, schema::STEPS)
    }

    pub fn schema_version(&self) -> usize {
        // Another one would not have opened.
        schema::STEPS.len()
    }

    fn at(path: &Path, steps: &[&str]) -> Result<Self, DatabaseError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match Self::connect(path, steps) {
                // SQLite does not wait for others while it switches a new file to its log.
                Err(error) if error.is_locked() && Instant::now() < deadline => {
                    std::thread::sleep(PAUSE);
                }
                opened => return opened,
            }
        }
    }

    fn connect(path: &Path, steps: &[&str]) -> Result<Self, DatabaseError> {
        let failed = |source| DatabaseError::of_sqlite("open the database", path, source);
        let mut connection = Connection::open(path).map_err(failed)?;
        connection
            .busy_handler(Some(wait_a_little))
            .map_err(failed)?;
        let mode: String = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))
            .map_err(failed)?;
        if mode != "wal" {
            return Err(DatabaseError::NoLog {
                path: path.to_owned(),
            });
        }
        let pragmas = format!(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cell_size_check = ON;
             PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
             PRAGMA journal_size_limit = {KEPT_LOG_BYTES};"
        );
        connection.execute_batch(&pragmas).map_err(failed)?;
        schema::migrate(&mut connection, path, steps)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Makes a batch of that id and takes its tasks; gives the first event of it.
    pub fn create_batch(
        &mut self,
        id: u32,
        new: &NewBatch<'_>,
    ) -> Result<StoredEvent, DatabaseError> {
        self.create_batch_for(id, new, &Provenance::default(), &[])
    }

    /// The same with what it is made for, and with the tasks that other batches lose to it; a request that is repeated
    /// makes one batch, whatever happens in between.
    pub fn create_batch_for(
        &mut self,
        id: u32,
        new: &NewBatch<'_>,
        provenance: &Provenance,
        taken_over: &[(u32, Vec<TaskId>)],
    ) -> Result<StoredEvent, DatabaseError> {
        self.write("create a batch", |transaction| {
            let tasks = serde_json::to_string(new.tasks).expect("ids are plain data");
            let at = now();
            let number = number_of_next(transaction, new.project)?;
            let subject = DerivedBatch {
                id,
                number,
                project: new.project.to_owned(),
                plan: new.plan.to_owned(),
            };
            transaction.execute(
                "INSERT INTO batch (id, project, repository, plan, tasks, record, created_at, number)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    id,
                    new.project,
                    new.repository.as_os_str().as_bytes(),
                    new.plan,
                    tasks,
                    new.record,
                    at.cast_signed(),
                    number.0,
                ],
            )?;
            if let Some(revision) = &provenance.execution_plan {
                let executes = "UPDATE batch SET execution_plan = ?2 WHERE id = ?1";
                transaction.execute(executes, params![id, revision])?;
            }
            if let Some(key) = &provenance.key {
                // Before its tasks are found busy, which they are by the batch that it made.
                request_keys::remember(transaction, key, id)?;
            }
            for (batch, tasks) in taken_over {
                let because = format!("taken over by batch {number}");
                let events: Vec<Event> = tasks
                    .iter()
                    .map(|task| Event::Task {
                        task: task.clone(),
                        event: TaskEvent::TakenOver {
                            because: because.clone(),
                        },
                    })
                    .collect();
                let loser = DerivedBatch::load(transaction, *batch)?;
                store(transaction, &loser, at, &events)?;
            }
            subject.add(transaction, new.tasks)?;
            let created = [Event::Batch(BatchEvent::Created)];
            let mut stored = store(transaction, &subject, at, &created)?;
            Ok(stored.remove(0))
        })
    }

    /// Stores events of one batch, all or none; they are on the disk when this returns.
    pub fn append(
        &mut self,
        batch: u32,
        events: &[Event],
    ) -> Result<Vec<StoredEvent>, DatabaseError> {
        self.write("store an event", |transaction| {
            let subject = DerivedBatch::load(transaction, batch)?;
            store(transaction, &subject, now(), events)
        })
    }

    /// Takes tasks of a batch back that another one has taken over; fails while one of them is in that.
    pub fn claim(&mut self, batch: u32, tasks: &[TaskId]) -> Result<(), DatabaseError> {
        self.write("claim tasks", |transaction| {
            let subject = DerivedBatch::load(transaction, batch)?;
            tasks
                .iter()
                .try_for_each(|task| subject.claim(transaction, task))
        })
    }

    /// Notes a process of a batch, so that whoever goes on with the batch can find it.
    pub fn note_process(
        &mut self,
        batch: u32,
        process: &NotedProcess,
    ) -> Result<(), DatabaseError> {
        self.write("store a process", |transaction| {
            DerivedBatch::load(transaction, batch)?;
            let (task, number) = process.whose.columns();
            transaction.execute(
                "INSERT OR REPLACE INTO process
                 (batch, task, attempt, boot_id, pid, start_time, nonce)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    batch,
                    task,
                    number,
                    process.boot_id,
                    process.pid,
                    process.start_time.cast_signed(),
                    process.nonce,
                ],
            )?;
            Ok(())
        })
    }

    /// Makes the derived tables anew from the log.
    pub fn rebuild(&mut self) -> Result<(), DatabaseError> {
        let path = self.path.clone();
        self.write("rebuild the derived tables", |transaction| {
            // On the way, a task may seem to be in two batches: the log does not say when a batch was made.
            let index: String = transaction.query_one(
                "SELECT sql FROM sqlite_schema WHERE name = 'live_task'",
                [],
                |row| row.get(0),
            )?;
            transaction.execute_batch(
                "DROP INDEX live_task; DELETE FROM batch_task; DELETE FROM batch_state;
                 DELETE FROM proved_tree;",
            )?;
            for (subject, tasks) in read::subjects(transaction)? {
                subject.add(transaction, &tasks)?;
                for event in read::events(transaction, &path, 0, Some(subject.id))? {
                    subject.follow(transaction, &event)?;
                }
            }
            transaction.execute_batch(&index)?;
            Ok(())
        })
    }

    fn write<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Stop>,
    ) -> Result<T, DatabaseError> {
        let behavior = TransactionBehavior::Immediate;
        let failed = |source| DatabaseError::of_sqlite(doing, &self.path, source);
        let transaction = self
            .connection
            .transaction_with_behavior(behavior)
            .map_err(failed)?;
        let made = work(&transaction).map_err(|stop| stop.while_at(doing, &self.path))?;
        transaction.commit().map_err(failed)?;
        Ok(made)
    }
}

/// Stores events of a batch with what follows from them.
fn store(
    transaction: &Transaction<'_>,
    subject: &DerivedBatch,
    at: u64,
    events: &[Event],
) -> Result<Vec<StoredEvent>, Stop> {
    let batch = subject.id;
    let mut insert =
        transaction.prepare("INSERT INTO event (at, batch, event) VALUES (?1, ?2, ?3)")?;
    let mut stored = Vec::with_capacity(events.len());
    for event in events {
        let text = serde_json::to_string(event).expect("events are plain data");
        let seq = insert.insert(params![at.cast_signed(), batch, text])?;
        let event = StoredEvent {
            seq: seq.cast_unsigned(),
            batch,
            number: subject.number,
            at,
            event: event.clone(),
        };
        subject.follow(transaction, &event)?;
        stored.push(event);
    }
    Ok(stored)
}

/// Waits for other writers; the pauses of `SQLite` itself grow to 0.1 s, and who is unlucky waits for seconds.
fn wait_a_little(times: i32) -> bool {
    std::thread::sleep(PAUSE);
    u32::try_from(times).is_ok_and(|times| PAUSE * times < PATIENCE)
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
