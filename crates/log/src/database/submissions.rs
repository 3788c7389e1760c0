//! What was given to a cluster: noted before it is sent, so that whoever goes on with a batch finds it there.
//!
//! Knows nothing of clusters.

use rusqlite::params;

use super::derive::DerivedBatch;
use super::read::unsigned_in;
use super::{Database, DatabaseError, ProcessPurpose, now};

/// An attempt or a run of the tests that was given to a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedUnit {
    pub whose: ProcessPurpose,
    /// What tells this sending of it from any other.
    pub fence: String,
    pub cluster: String,
    /// What was sent with it at once, by its name.
    pub submission: String,
    /// Its number there, counted from 1.
    pub unit: u32,
}

/// How often a node began with an attempt, and how often one was lost with its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueCounts {
    pub placed: u64,
    /// How long those waited until then, in milliseconds.
    pub waited: u64,
    pub lost: u64,
}

impl Database {
    /// Notes what is about to be sent, and how many of them: as many as there may be with their cluster at once, over
    /// all batches, and the first ones first. The last sending of an attempt counts.
    pub fn note_units(
        &mut self,
        batch: u32,
        units: &[SubmittedUnit],
        most: usize,
    ) -> Result<usize, DatabaseError> {
        let Some(cluster) = units.first().map(|unit| &unit.cluster) else {
            return Ok(0);
        };
        self.write("store what is given to the cluster", |transaction| {
            DerivedBatch::load(transaction, batch)?;
            let count = "SELECT count(*) FROM submission WHERE cluster = ?1 AND over_at IS NULL";
            let open: u32 = transaction.query_row(count, [cluster], |row| row.get(0))?;
            let room = most.saturating_sub(open as usize).min(units.len());
            let mut insert = transaction.prepare(
                "INSERT OR REPLACE INTO submission
                 (batch, task, attempt, fence, cluster, submission, unit, sent_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?;
            for unit in &units[..room] {
                let (task, number) = unit.whose.columns();
                insert.execute(params![
                    batch,
                    task,
                    number,
                    unit.fence,
                    unit.cluster,
                    unit.submission,
                    unit.unit,
                    now().cast_signed(),
                ])?;
            }
            Ok(room)
        })
    }

    /// Notes that units are over, and nothing of them is believed any more.
    pub fn end_units(&mut self, fences: &[String]) -> Result<(), DatabaseError> {
        self.write("store the end of units", |transaction| {
            let mut end =
                transaction.prepare("UPDATE submission SET over_at = ?2 WHERE fence = ?1")?;
            for fence in fences {
                end.execute(params![fence, now().cast_signed()])?;
            }
            Ok(())
        })
    }

    /// The units of a batch that are not over.
    pub fn open_units(&self, batch: u32) -> Result<Vec<SubmittedUnit>, DatabaseError> {
        self.read("list what the cluster was given", |connection| {
            let mut select = connection.prepare(
                "SELECT task, attempt, fence, cluster, submission, unit
                 FROM submission WHERE batch = ?1 AND over_at IS NULL ORDER BY rowid",
            )?;
            let rows = select.query_map([batch], |row| {
                Ok(SubmittedUnit {
                    whose: ProcessPurpose::of_row(row, 0, 1)?,
                    fence: row.get(2)?,
                    cluster: row.get(3)?,
                    submission: row.get(4)?,
                    unit: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The names of what was given to clusters and is not over, of all batches that are not.
    pub fn live_submissions(&self) -> Result<Vec<String>, DatabaseError> {
        self.read("list what clusters have", |connection| {
            let mut select = connection.prepare(
                "SELECT DISTINCT submission FROM submission JOIN batch_state USING (batch)
                 WHERE over_at IS NULL AND ended_at IS NULL",
            )?;
            let rows = select.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The records of all batches of which a cluster was given anything.
    pub fn records_of_clusters(&self) -> Result<Vec<String>, DatabaseError> {
        self.read("list the batches of clusters", |connection| {
            let sql = "SELECT record FROM batch WHERE id IN (SELECT batch FROM submission)";
            let mut select = connection.prepare(sql)?;
            let rows = select.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// How attempts fared in the queues of clusters, over all batches.
    pub fn queue_counts(&self) -> Result<QueueCounts, DatabaseError> {
        self.read("count what clusters were given", |connection| {
            let select = "SELECT count(placed_at), coalesce(sum(max(0, placed_at - sent_at)), 0), count(lost_at)
                          FROM submission";
            Ok(connection.query_one(select, [], |row| {
                Ok(QueueCounts {
                    placed: unsigned_in(row, 0)?,
                    waited: unsigned_in(row, 1)?,
                    lost: unsigned_in(row, 2)?,
                })
            })?)
        })
    }
}
