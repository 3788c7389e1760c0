//! Which agents may not work for a while, for all batches of a user.

use rusqlite::{OptionalExtension as _, params};

use super::{Database, DatabaseError, now};

/// How long an agent may not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPause {
    /// Until then, in milliseconds since 1970.
    pub until: u64,
    /// What it said.
    pub because: String,
}

impl Database {
    /// Notes that an agent may not work; the longest pause counts.
    pub fn pause_agent(
        &mut self,
        agent: &str,
        until: u64,
        because: &str,
    ) -> Result<(), DatabaseError> {
        self.write("note that an agent may not work", |transaction| {
            transaction.execute(
                "INSERT INTO agent_pause (agent, until, because) VALUES (?1, ?2, ?3)
                 ON CONFLICT (agent) DO UPDATE SET until = excluded.until, because = excluded.because
                 WHERE excluded.until > until",
                params![agent, until.cast_signed(), because],
            )?;
            Ok(())
        })
    }

    /// How long an agent may not work, if it may not now.
    pub fn agent_pause(&self, agent: &str) -> Result<Option<AgentPause>, DatabaseError> {
        self.read("look up whether an agent may work", |connection| {
            let pause = connection.query_one(
                "SELECT until, because FROM agent_pause WHERE agent = ?1 AND until > ?2",
                params![agent, now().cast_signed()],
                |row| {
                    Ok(AgentPause {
                        until: row.get::<_, i64>(0)?.cast_unsigned(),
                        because: row.get(1)?,
                    })
                },
            );
            Ok(pause.optional()?)
        })
    }
}
