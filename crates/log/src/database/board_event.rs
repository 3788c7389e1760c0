//! What happens to no batch: tasks on the board, projects and settings, numbered in the same log.
//!
//! Stores what it is given; who changes tasks and settings, and how they are shown, is decided elsewhere.

use rusqlite::{Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Stop;
use super::{Database, DatabaseError, now};

/// Something that happened to no batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoardEvent {
    TaskCreated {
        task: String,
        shown: Value,
    },
    TaskUpdated {
        task: String,
        shown: Value,
    },
    TaskDeleted {
        task: String,
    },
    /// A project was added, renamed, cloned or hidden, or has other plan files.
    ProjectUpdated {},
    SettingsUpdated {
        settings: Value,
    },
}

/// Stores an event of no batch within a transaction that does what the event tells; gives its number.
pub(super) fn note(
    transaction: &Transaction<'_>,
    project: Option<&str>,
    event: &BoardEvent,
) -> Result<u64, Stop> {
    let text = serde_json::to_string(event).expect("events are plain data");
    let seq = transaction
        .prepare("INSERT INTO event (at, project, event) VALUES (?1, ?2, ?3)")?
        .insert(params![now().cast_signed(), project, text])?;
    Ok(seq.cast_unsigned())
}

impl Database {
    /// Stores an event of no batch; it is on the disk when this returns its number.
    pub fn note_board_event(
        &mut self,
        project: Option<&str>,
        event: &BoardEvent,
    ) -> Result<u64, DatabaseError> {
        self.write("store an event", |transaction| {
            note(transaction, project, event)
        })
    }
}
