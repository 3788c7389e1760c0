//! Keeps the tables that follow from the log: where batches stand, which tasks are taken, how long they took.
//!
//! Knows no history but the event at hand; the same code runs live and when the tables are made anew.

use pleach_domain::bisect::TestResult;
use pleach_domain::event::{BatchEvent, Event, TaskEvent};
use pleach_domain::id::{BatchNumber, TaskId};
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

use super::error::{DatabaseError, Stop};
use super::{BatchTask, StoredEvent};
use pleach_domain::task_state::TaskOutcome;
use pleach_domain::task_status_word::TaskStatusWord;

/// A batch, as far as derived rows need to know it.
#[derive(Debug)]
pub(super) struct DerivedBatch {
    pub(super) id: u32,
    pub(super) number: BatchNumber,
    pub(super) project: String,
    pub(super) plan: String,
}

impl DerivedBatch {
    pub(super) fn load(connection: &Connection, id: u32) -> Result<Self, Stop> {
        let found = connection
            .query_row(
                "SELECT project, plan, number FROM batch WHERE id = ?1",
                [id],
                |row| {
                    Ok(Self {
                        id,
                        project: row.get(0)?,
                        plan: row.get(1)?,
                        number: BatchNumber(row.get(2)?),
                    })
                },
            )
            .optional()?;
        found.ok_or(Stop::Known(DatabaseError::NoBatch(id)))
    }

    pub(super) fn add(&self, connection: &Connection, tasks: &[BatchTask]) -> Result<(), Stop> {
        connection.execute(
            "INSERT INTO batch_state (batch, project, status, is_elsewhere)
             SELECT id, project, 'pending',
                 CASE WHEN json_valid(record) THEN record ->> '$.cluster' IS NOT NULL ELSE 0 END
             FROM batch WHERE id = ?1",
            [self.id],
        )?;
        let mut insert = connection.prepare(
            "INSERT INTO batch_task (batch, project, plan, task, key, live)
             VALUES (?1, ?2, ?3, ?4, ?5, 1)",
        )?;
        for task in tasks {
            let (id, plan, key) = (task.id(), task.plan(&self.plan), task.key());
            let row = params![self.id, self.project, plan, id.as_str(), key.as_str()];
            if let Err(error) = insert.execute(row) {
                return Err(self.busy_or(connection, id, (plan, key.as_str()), error));
            }
        }
        Ok(())
    }

    /// Makes a task live again, unless another batch has it.
    pub(super) fn claim(&self, connection: &Connection, task: &TaskId) -> Result<(), Stop> {
        let claimed = connection.execute(
            "UPDATE batch_task SET live = 1 WHERE batch = ?1 AND task = ?2",
            params![self.id, task.as_str()],
        );
        let Err(error) = claimed else {
            return Ok(());
        };
        let home = "SELECT plan, key FROM batch_task WHERE batch = ?1 AND task = ?2";
        let (plan, key): (String, String) =
            connection.query_one(home, params![self.id, task.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        Err(self.busy_or(connection, task, (&plan, &key), error))
    }

    /// Brings the rows up to date with one event.
    pub(super) fn follow(&self, connection: &Connection, stored: &StoredEvent) -> Result<(), Stop> {
        match &stored.event {
            Event::Task { task, event } => self.follow_task(connection, stored, task, event),
            Event::Batch(event) => {
                self.remember(connection, stored.at, event)?;
                Ok(self.follow_batch(connection, stored.at, event)?)
            }
        }
    }

    fn follow_task(
        &self,
        connection: &Connection,
        stored: &StoredEvent,
        task: &TaskId,
        event: &TaskEvent,
    ) -> Result<(), Stop> {
        let (at, seq) = (stored.at.cast_signed(), stored.seq.cast_signed());
        let name = task.as_str();
        match event {
            TaskEvent::Started { .. } => self.begin(connection, task, at)?,
            TaskEvent::Placed { attempt, .. } => {
                let set = "UPDATE submission SET placed_at = ?4
                           WHERE batch = ?1 AND task = ?2 AND attempt = ?3";
                connection.execute(set, params![self.id, name, attempt, at])?;
                // Waiting for a machine is not work.
                self.begin(connection, task, at)?
            }
            TaskEvent::Lost { .. } => connection.execute(
                "UPDATE submission SET lost_at = ?3 WHERE batch = ?1 AND task = ?2 AND attempt =
                     (SELECT max(attempt) FROM submission WHERE batch = ?1 AND task = ?2)",
                params![self.id, name, at],
            )?,
            TaskEvent::Built { .. } | TaskEvent::Unchanged { .. } => connection.execute(
                "UPDATE batch_task SET took = max(0, ?3 - started_at), done_seq = ?4
                 WHERE batch = ?1 AND task = ?2",
                params![self.id, name, at, seq],
            )?,
            TaskEvent::Retried | TaskEvent::Resolved { .. } => {
                self.claim(connection, task)?;
                0
            }
            TaskEvent::TakenOver { .. } => connection.execute(
                "UPDATE batch_task SET live = 0, told_seq = ?3, outcome = coalesce(outcome, 'blocked'),
                     status = CASE WHEN outcome IS NULL THEN 'skipped' ELSE status END
                 WHERE batch = ?1 AND task = ?2",
                params![self.id, name, seq],
            )?,
            TaskEvent::Waiting { .. }
            | TaskEvent::Approved
            | TaskEvent::StopRequested
            | TaskEvent::Kept { .. }
            | TaskEvent::AskedAgain
            | TaskEvent::AttemptFailed { .. }
            | TaskEvent::Limited { .. }
            | TaskEvent::Overloaded { .. }
            | TaskEvent::Spent(_)
            | TaskEvent::SessionBegan { .. }
            | TaskEvent::PauseEnded
            | TaskEvent::Interrupted
            | TaskEvent::Requeued { .. }
            | TaskEvent::Failed { .. }
            | TaskEvent::TimedOut
            | TaskEvent::Woven { .. }
            | TaskEvent::Conflicted { .. }
            | TaskEvent::Invalid { .. }
            | TaskEvent::Blocked { .. }
            | TaskEvent::Cancelled
            | TaskEvent::Published { .. } => 0,
        };
        self.stand(connection, seq, task, event)
    }

    /// Notes where an event leaves a task.
    fn stand(
        &self,
        connection: &Connection,
        seq: i64,
        task: &TaskId,
        event: &TaskEvent,
    ) -> Result<(), Stop> {
        if let Some((status, outcome)) = TaskStatusWord::after(event) {
            let waits =
                matches!(event, TaskEvent::Started { .. }) && self.is_elsewhere(connection)?;
            let status = if waits {
                TaskStatusWord::Queued
            } else {
                status
            };
            connection.execute(
                "UPDATE batch_task SET status = ?3, outcome = ?4, told_seq = ?5
                 WHERE batch = ?1 AND task = ?2",
                params![
                    self.id,
                    task.as_str(),
                    status.as_str(),
                    outcome.map(TaskOutcome::as_str),
                    seq
                ],
            )?;
        }
        Ok(())
    }

    /// Notes when an attempt began to work, as far as is known.
    fn begin(&self, connection: &Connection, task: &TaskId, at: i64) -> rusqlite::Result<usize> {
        connection.execute(
            "UPDATE batch_task SET started_at = ?3 WHERE batch = ?1 AND task = ?2",
            params![self.id, task.as_str(), at],
        )
    }

    /// Whether its attempts wait for a machine before they run.
    fn is_elsewhere(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let select = "SELECT is_elsewhere FROM batch_state WHERE batch = ?1";
        let mut select = connection.prepare(select)?;
        select.query_one([self.id], |row| row.get(0))
    }

    fn follow_batch(
        &self,
        connection: &Connection,
        at: u64,
        event: &BatchEvent,
    ) -> rusqlite::Result<()> {
        let (status, is_over) = match event {
            BatchEvent::Started | BatchEvent::Reopened => ("running", false),
            BatchEvent::Merging | BatchEvent::LandingAsked { .. } => ("merging", false),
            BatchEvent::Validating { stage: None } => ("validating", false),
            BatchEvent::Landing { .. } => ("landing", false),
            BatchEvent::Completed { .. } => ("completed", true),
            BatchEvent::Failed { .. } => ("failed", true),
            BatchEvent::Cancelled => ("cancelled", true),
            _ => return Ok(()),
        };
        let ended_at = is_over.then_some(at.cast_signed());
        connection.execute(
            "UPDATE batch_state SET status = ?2, ended_at = ?3 WHERE batch = ?1",
            params![self.id, status, ended_at],
        )?;
        if is_over {
            connection.execute("UPDATE batch_task SET live = 0 WHERE batch = ?1", [self.id])?;
        }
        Ok(())
    }

    /// Tells which batch has the task, if that is why it could not become live.
    fn busy_or(
        &self,
        connection: &Connection,
        task: &TaskId,
        (plan, key): (&str, &str),
        error: rusqlite::Error,
    ) -> Stop {
        if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
            return error.into();
        }
        let owner = connection.query_row(
            "SELECT batch.number FROM batch_task JOIN batch ON batch.id = batch_task.batch
             WHERE batch_task.project = ?1 AND batch_task.plan = ?2 AND key = ?3 AND live AND batch.id != ?4",
            params![self.project, plan, key, self.id],
            |row| row.get(0).map(BatchNumber),
        );
        match owner {
            Ok(batch) => Stop::Known(DatabaseError::TaskBusy {
                task: task.clone(),
                batch,
            }),
            Err(_) => error.into(),
        }
    }

    /// A tree that the tests are green for stays so until they fail on it; a verdict that was remembered is no news.
    fn remember(
        &self,
        connection: &Connection,
        at: u64,
        event: &BatchEvent,
    ) -> rusqlite::Result<()> {
        let BatchEvent::TestsRan {
            tree,
            judge,
            run,
            number: Some(_),
            ..
        } = event
        else {
            return Ok(());
        };
        match run {
            TestResult::Passed => connection.execute(
                "INSERT OR REPLACE INTO proved_tree (project, tree, judge, at)
                 VALUES (?1, ?2, ?3, ?4)",
                params![self.project, tree, judge, at.cast_signed()],
            )?,
            TestResult::Failed => connection.execute(
                "DELETE FROM proved_tree WHERE project = ?1 AND tree = ?2 AND judge = ?3",
                params![self.project, tree, judge],
            )?,
        };
        Ok(())
    }
}
