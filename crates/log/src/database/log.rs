//! Reads the log as a whole: what happened to batches and what happened to none, in the order of its numbers.

use std::path::Path;

use pleach_domain::id::BatchNumber;
use rusqlite::{Connection, Row, params};
use serde::de::DeserializeOwned;

use super::board_event::BoardEvent;
use super::error::Stop;
use super::read::unsigned_in;
use super::{Database, DatabaseError, StoredEvent};

/// Lines are read until they have so many bytes, whatever was asked for.
const ENOUGH_BYTES: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// Its number; later ones have higher numbers, and none is left out.
    pub seq: u64,
    /// When it was stored, in milliseconds since 1970.
    pub at: u64,
    pub project: Option<String>,
    pub batch: Option<u32>,
    pub what: Logged,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Logged {
    Batch(StoredEvent),
    Board(BoardEvent),
}

impl Database {
    /// The lines with higher numbers than `seq`, in order, and not more than `most` of them; fewer if they are long.
    pub fn entries_after(&self, seq: u64, most: usize) -> Result<Vec<LogEntry>, DatabaseError> {
        self.read("read the log", |connection| {
            entries(connection, &self.path, seq, most)
        })
    }

    /// A number that changes whenever another connection stored something.
    pub fn data_version(&self) -> Result<u64, DatabaseError> {
        let version = self
            .connection
            .pragma_query_value(None, "data_version", |row| unsigned_in(row, 0));
        version.map_err(|source| DatabaseError::of_sqlite("read the log", &self.path, source))
    }
}

fn entries(
    connection: &Connection,
    path: &Path,
    after: u64,
    most: usize,
) -> Result<Vec<LogEntry>, Stop> {
    let mut select = connection.prepare(
        "SELECT event.seq, event.at, event.batch, coalesce(event.project, batch.project), event.event,
                batch.number
         FROM event LEFT JOIN batch ON batch.id = event.batch
         WHERE event.seq > ?1 ORDER BY event.seq LIMIT ?2",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = select.query(params![after.cast_signed(), most])?;
    let (mut found, mut bytes) = (Vec::new(), 0);
    while bytes < ENOUGH_BYTES
        && let Some(row) = rows.next()?
    {
        bytes += row.get_ref(4)?.as_str().map_or(0, str::len);
        let (seq, at, batch) = (unsigned_in(row, 0)?, unsigned_in(row, 1)?, row.get(2)?);
        let what = match batch {
            Some(batch) => Logged::Batch(StoredEvent {
                seq,
                batch,
                number: BatchNumber(row.get(5)?),
                at,
                event: event_in(row, path, seq)?,
            }),
            None => Logged::Board(event_in(row, path, seq)?),
        };
        found.push(LogEntry {
            seq,
            at,
            project: row.get(3)?,
            batch,
            what,
        });
    }
    Ok(found)
}

fn event_in<T: DeserializeOwned>(row: &Row<'_>, path: &Path, seq: u64) -> Result<T, Stop> {
    let text = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
    let event = serde_json::from_str(text).map_err(|source| DatabaseError::StrangeEvent {
        seq,
        path: path.to_owned(),
        source,
    })?;
    Ok(event)
}
