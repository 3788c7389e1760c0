//! What a person has consented to, project by project.
//!
//! Remembers whole states, not single files; knows nothing of what they mean.

use rusqlite::params;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::Stop;
use super::{Database, DatabaseError, now};

impl Database {
    /// Everything that was consented to in a project, the latest first.
    pub fn consented<T: DeserializeOwned>(&self, project: &str) -> Result<Vec<T>, DatabaseError> {
        let doing = "read what was consented to";
        let read = || -> Result<Vec<T>, Stop> {
            let mut select = self
                .connection
                .prepare("SELECT steering FROM consent WHERE project = ?1 ORDER BY seq DESC")?;
            let rows = select.query_map([project], |row| row.get::<_, String>(0))?;
            let mut all = Vec::new();
            for row in rows {
                // One that a later version wrote is as good as none: it is asked for again.
                all.extend(serde_json::from_str::<T>(&row?).ok());
            }
            Ok(all)
        };
        read().map_err(|stop| stop.while_at(doing, &self.path))
    }

    /// Remembers that a person consented to a state of a project.
    pub fn remember_consent(
        &mut self,
        project: &str,
        fingerprint: &str,
        steering: &impl Serialize,
    ) -> Result<(), DatabaseError> {
        self.write("store a consent", |transaction| {
            let text = serde_json::to_string(steering).expect("it is plain data");
            transaction.execute(
                "INSERT OR REPLACE INTO consent (project, fingerprint, steering, given_at) VALUES (?1, ?2, ?3, ?4)",
                params![project, fingerprint, text, now().cast_signed()],
            )?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::STEPS;
    use super::*;

    #[test]
    fn the_latest_consent_of_a_project_comes_first_and_each_is_known_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        for given in ["one", "two", "one"] {
            database.remember_consent("p", given, &given).unwrap();
        }
        database.remember_consent("other", "two", &"two").unwrap();
        let consented = |project| database.consented::<String>(project).unwrap();
        assert_eq!(consented("p"), ["one", "two"]);
        assert_eq!(consented("other"), ["two"]);
        assert!(consented("none").is_empty());
    }
}
