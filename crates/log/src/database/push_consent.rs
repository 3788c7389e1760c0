//! Which addresses people have confirmed that projects push to; kept with what projects are trusted with.
//!
//! Addresses are known by hashes: what stands in one may be a secret.

use pleach_system::text::hash::hash;

use super::error::Stop;
use super::{Database, DatabaseError};

/// Stands before the hashes of addresses, which no other fingerprint has.
const PREFIX: &str = "push:";

impl Database {
    /// Whether a person confirmed that a project pushes to an address.
    pub fn is_push_confirmed(&self, project: &str, address: &str) -> Result<bool, DatabaseError> {
        self.is_trusted(project, &fingerprint(address))
    }

    pub fn confirm_push(&mut self, project: &str, address: &str) -> Result<(), DatabaseError> {
        self.remember_trust(project, &fingerprint(address))
    }

    /// Whether a project pushed something before anybody was asked about that.
    ///
    /// Where to was not stored then. Whatever is pushed since has an address that was confirmed first.
    pub fn has_pushed_unasked(&self, project: &str) -> Result<bool, DatabaseError> {
        let read = || -> Result<bool, Stop> {
            let mut confirmed = self.connection.prepare(
                "SELECT 1 FROM trust WHERE project = ?1 AND substr(fingerprint, 1, length(?2)) = ?2",
            )?;
            if confirmed.exists([project, PREFIX])? {
                return Ok(false);
            }
            let mut pushed = self.connection.prepare(
                "SELECT 1 FROM batch JOIN event ON event.batch = batch.id
                 WHERE batch.project = ?1 AND event.event LIKE '{\"kind\":\"pushed\",%'",
            )?;
            Ok(pushed.exists([project])?)
        };
        read().map_err(|stop| stop.while_at("read what was pushed", &self.path))
    }
}

fn fingerprint(address: &str) -> String {
    format!("{PREFIX}{}", hash([address]))
}

#[cfg(test)]
mod tests {
    use pleach_domain::event::{BatchEvent, Event};
    use pleach_domain::task_state::Commit;

    use super::super::schema::STEPS;
    use super::*;

    fn pushed() -> String {
        let event = Event::Batch(BatchEvent::Pushed {
            branch: "pleach/batch-1".to_owned(),
            commit: Commit("c".to_owned()),
        });
        serde_json::to_string(&event).unwrap()
    }

    #[test]
    fn an_address_is_confirmed_for_one_project_and_a_push_of_before_counts_until_then() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        for project in ["old", "new"] {
            let batch =
                "INSERT INTO batch (project, repository, plan, tasks, record, created_at, number)
                VALUES (?1, x'', 'p', '[]', '{}', 0, 1)";
            database.connection.execute(batch, [project]).unwrap();
        }
        let event = "INSERT INTO event (at, batch, event) VALUES (0, 1, ?1)";
        database.connection.execute(event, [pushed()]).unwrap();
        assert!(database.has_pushed_unasked("old").unwrap());
        assert!(!database.has_pushed_unasked("new").unwrap());
        assert!(!database.is_push_confirmed("old", "a").unwrap());
        for project in ["old", "new"] {
            database.confirm_push(project, "a").unwrap();
            assert!(database.is_push_confirmed(project, "a").unwrap());
            assert!(!database.is_push_confirmed(project, "b").unwrap());
            assert!(!database.has_pushed_unasked(project).unwrap());
        }
    }
}
