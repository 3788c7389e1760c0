//! What a person trusts projects with, by fingerprints that mean nothing here.

use rusqlite::params;

use super::error::Stop;
use super::{Database, DatabaseError, now};

impl Database {
    pub fn is_trusted(&self, project: &str, fingerprint: &str) -> Result<bool, DatabaseError> {
        let read = || -> Result<bool, Stop> {
            let mut select = self
                .connection
                .prepare("SELECT 1 FROM trust WHERE project = ?1 AND fingerprint = ?2")?;
            Ok(select.exists([project, fingerprint])?)
        };
        read().map_err(|stop| stop.while_at("read what is trusted", &self.path))
    }

    pub fn remember_trust(
        &mut self,
        project: &str,
        fingerprint: &str,
    ) -> Result<(), DatabaseError> {
        self.write("store trust", |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO trust (project, fingerprint, given_at) VALUES (?1, ?2, ?3)",
                params![project, fingerprint, now().cast_signed()],
            )?;
            Ok(())
        })
    }

    /// Forgets whatever a project is trusted with; tells whether there was something.
    pub fn forget_trust(&mut self, project: &str) -> Result<bool, DatabaseError> {
        self.write("revoke trust", |transaction| {
            let gone = transaction.execute("DELETE FROM trust WHERE project = ?1", [project])?;
            Ok(gone > 0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::STEPS;
    use super::*;

    #[test]
    fn a_project_is_trusted_with_exactly_what_it_was_until_that_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        database.remember_trust("p", "a").unwrap();
        database.remember_trust("p", "b").unwrap();
        database.remember_trust("q", "c").unwrap();
        let is = |database: &Database, project: &str, what: &str| {
            database.is_trusted(project, what).unwrap()
        };
        assert!(is(&database, "p", "a") && is(&database, "p", "b") && is(&database, "q", "c"));
        assert!(!is(&database, "p", "c") && !is(&database, "q", "a"));
        assert!(database.forget_trust("p").unwrap());
        assert!(!database.forget_trust("p").unwrap());
        assert!(!is(&database, "p", "a") && is(&database, "q", "c"));
    }
}
