//! Which request made which batch, so that one that is repeated makes no second.
//!
//! Compares keys and fingerprints; what a request says is not its business.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::error::{DatabaseError, Stop};
use super::{Database, now};

/// So long a request can be repeated, in milliseconds.
const KEPT: u64 = 7 * 24 * 60 * 60 * 1_000;

const LONGEST: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    pub key: String,
    /// A hash of what it asks for.
    pub fingerprint: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    pub key: Option<RequestKey>,
    /// The revision of the project's execution plan, if the batch executes that.
    pub execution_plan: Option<String>,
}

impl RequestKey {
    /// A key for a request; nothing, if the key is not of 1 to 200 printable characters of ASCII.
    pub fn new(key: &str, request: &str) -> Option<Self> {
        let printable = |byte: u8| (b' '..=b'~').contains(&byte);
        let is_fit = (1..=LONGEST).contains(&key.len()) && key.bytes().all(printable);
        is_fit.then(|| Self {
            key: key.to_owned(),
            fingerprint: pleach_system::text::hash::hash([request]),
        })
    }
}

/// Remembers that a request makes a batch, unless it made one before.
pub(super) fn remember(
    transaction: &Transaction<'_>,
    key: &RequestKey,
    batch: u32,
) -> Result<(), Stop> {
    let at = now();
    let gone = at.saturating_sub(KEPT).cast_signed();
    transaction.execute("DELETE FROM request_key WHERE at < ?1", [gone])?;
    let before = transaction
        .query_row(
            "SELECT batch FROM request_key WHERE key = ?1",
            [&key.key],
            |row| row.get(0),
        )
        .optional()?;
    if let Some(batch) = before {
        return Err(Stop::Known(DatabaseError::RequestKnown { batch }));
    }
    transaction.execute(
        "INSERT INTO request_key (key, fingerprint, batch, at) VALUES (?1, ?2, ?3, ?4)",
        params![key.key, key.fingerprint, batch, at.cast_signed()],
    )?;
    Ok(())
}

impl Database {
    /// The batch that a request of this key made, and the fingerprint of that request.
    pub fn batch_of_key(&self, key: &str) -> Result<Option<(u32, String)>, DatabaseError> {
        let doing = "look up a request";
        let since = now().saturating_sub(KEPT).cast_signed();
        let found = self.connection.query_row(
            "SELECT batch, fingerprint FROM request_key WHERE key = ?1 AND at >= ?2",
            params![key, since],
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        found
            .optional()
            .map_err(|source| DatabaseError::of_sqlite(doing, &self.path, source))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pleach_domain::id::TaskId;

    use super::super::{BatchTask, NewBatch, schema::STEPS};
    use super::*;

    fn create(database: &mut Database, number: u32, key: &RequestKey) -> Result<(), DatabaseError> {
        let task = [BatchTask::Own(TaskId::new(number.to_string()))];
        let new = NewBatch {
            project: "p",
            repository: Path::new("/p"),
            plan: "board",
            record: "{}",
            tasks: &task,
        };
        let provenance = Provenance {
            key: Some(key.clone()),
            execution_plan: None,
        };
        database
            .create_batch_for(number, &new, &provenance, &[])
            .map(drop)
    }

    #[test]
    fn a_request_makes_one_batch_and_nothing_of_a_second() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        let key = RequestKey::new("k", "body").unwrap();
        create(&mut database, 1, &key).unwrap();
        let again = create(&mut database, 2, &key);
        assert!(matches!(
            again,
            Err(DatabaseError::RequestKnown { batch: 1 })
        ));
        assert!(database.load(2).unwrap().is_none());
        let known = database.batch_of_key("k").unwrap();
        assert_eq!(known, Some((1, key.fingerprint)));
        assert_eq!(database.batch_of_key("other").unwrap(), None);
    }

    #[test]
    fn a_key_is_forgotten_after_a_week() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        let key = RequestKey::new("k", "body").unwrap();
        create(&mut database, 1, &key).unwrap();
        let before = now().saturating_sub(KEPT + 1).cast_signed();
        let aged = "UPDATE request_key SET at = ?1";
        database.connection.execute(aged, [before]).unwrap();
        assert_eq!(database.batch_of_key("k").unwrap(), None);
        create(&mut database, 2, &key).unwrap();
        assert_eq!(database.batch_of_key("k").unwrap().unwrap().0, 2);
    }

    #[test]
    fn a_key_is_short_and_printable() {
        assert!(RequestKey::new(&"k".repeat(200), "").is_some());
        for bad in ["", &"k".repeat(201), "a\nb", "ключ", "\u{7f}"] {
            assert_eq!(RequestKey::new(bad, ""), None, "{bad:?}");
        }
    }
}
