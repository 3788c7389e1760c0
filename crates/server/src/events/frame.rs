//! Entries of the log as finished pieces of a stream.
//!
//! Knows how they look and whom they concern; who hears them is decided elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use pleach_log::database::{Database, DatabaseError, LogEntry, Logged, StoredEvent, now};
use pleach_log::tails::{LiveAttempt, LiveBatch};
use pleach_log::view::{Narrator, board_wire, usd, wire, worktree_id};
use pleach_system::text::moment::rfc3339;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) project: Option<String>,
    pub(super) batch: Option<u32>,
}

impl Filter {
    /// Whether something is wanted; what concerns no project concerns all.
    pub(super) fn passes(&self, project: Option<&str>, batch: Option<u32>) -> bool {
        let wanted = self.project.as_deref();
        (wanted.is_none() || project.is_none() || wanted == project)
            && (self.batch.is_none() || self.batch == batch)
    }
}

/// An entry of the log, ready to be sent.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) seq: u64,
    pub(super) project: Option<Arc<str>>,
    pub(super) batch: Option<u32>,
    pub(super) bytes: Bytes,
}

/// Those who tell of batches, each where its batch stands.
#[derive(Debug, Default)]
pub(super) struct Narrators {
    of: HashMap<u32, Narrator>,
}

impl Narrators {
    /// The entry as a frame; entries come in the order of the log.
    pub(super) fn frame(&mut self, database: &Database, entry: LogEntry) -> Frame {
        let (name, data) = match &entry.what {
            Logged::Board(event) => board_wire(event, entry.project.as_deref(), entry.at),
            Logged::Batch(stored) => self.tell(database, stored),
        };
        Frame {
            seq: entry.seq,
            project: entry.project.map(Arc::from),
            batch: entry.batch,
            bytes: told(Some(entry.seq), name, &data),
        }
    }

    fn tell(&mut self, database: &Database, stored: &StoredEvent) -> (&'static str, Value) {
        let batch = stored.batch;
        let known = self.of.remove(&batch).or_else(|| {
            let loaded = database.load(batch).ok().flatten()?;
            Narrator::before(&loaded, stored.seq).ok()
        });
        let Some(mut narrator) = known else {
            // Less is told of a batch that nobody understands, but it is told.
            return wire(stored);
        };
        let told = narrator.tell(stored);
        if !narrator.is_over() {
            self.of.insert(batch, narrator);
        }
        told
    }
}

pub(super) fn told(seq: Option<u64>, name: &str, data: &Value) -> Bytes {
    let id = seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    format!("{id}event: {name}\ndata: {data}\n\n").into()
}

pub(super) fn log_told(live: &LiveAttempt) -> Bytes {
    let mut data = whose(live);
    data["total"] = json!(live.total);
    told(None, "execution:log", &data)
}

pub(super) fn progress_told(live: &LiveAttempt) -> Bytes {
    let mut data = whose(live);
    data["action"] = json!(live.action);
    data["tokens"] = json!(live.spent.tokens);
    data["costUsd"] = json!(usd(live.spent.micro_usd));
    told(None, "execution:progress", &data)
}

pub(super) fn interrupted_told(live: &LiveBatch) -> Bytes {
    let data = json!({
        "batchId": live.batch,
        "projectId": &*live.project,
        "at": rfc3339(now()),
    });
    told(None, "batch:interrupted", &data)
}

fn whose(live: &LiveAttempt) -> Value {
    json!({
        "batchId": live.batch,
        "projectId": &*live.project,
        "taskId": live.task_id,
        "key": live.task,
        "worktreeId": worktree_id(live.number, &live.segment),
        "attempt": live.attempt,
        "at": rfc3339(now()),
    })
}

/// The next entries after a number, and the number that was reached; one that nobody can read is passed over.
pub(super) fn page(
    database: &Database,
    after: u64,
    most: usize,
) -> Result<(Vec<LogEntry>, u64), DatabaseError> {
    match database.entries_after(after, most) {
        Ok(entries) => {
            let reached = entries.last().map_or(after, |last| last.seq);
            Ok((entries, reached))
        }
        Err(DatabaseError::StrangeEvent { seq, .. }) => {
            let before = usize::try_from(seq - after - 1).unwrap_or(usize::MAX);
            let entries = database.entries_after(after, before)?;
            let reached = match entries.last() {
                // Long ones come in several pages.
                Some(last) if entries.len() < before => last.seq,
                _ => seq,
            };
            Ok((entries, reached))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_lets_through_what_concerns_everybody() {
        let of = |project: Option<&str>, batch| Filter {
            project: project.map(str::to_owned),
            batch,
        };
        assert!(of(None, None).passes(Some("p"), Some(1)));
        assert!(of(Some("p"), None).passes(Some("p"), Some(1)));
        assert!(!of(Some("q"), None).passes(Some("p"), Some(1)));
        assert!(of(Some("q"), None).passes(None, None));
        assert!(of(None, Some(1)).passes(Some("p"), Some(1)));
        assert!(!of(None, Some(1)).passes(None, None));
        assert!(!of(Some("q"), Some(1)).passes(Some("p"), Some(1)));
    }
}
