//! Which agents may not work for a while, for all batches of a user.

use rusqlite::{OptionalExtension as _, Row, params};

use crate::shell_words::line;

use super::{Database, DatabaseError, now};

/// How long an agent may not work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPause {
    /// The agent's name.
    pub agent: String,
    /// Until then, in milliseconds since 1970.
    pub until: u64,
    /// What it said.
    pub because: String,
}

impl AgentPause {
    /// The command that lifts it.
    pub fn lifted_by(&self) -> String {
        let words = ["pleach", "agents", "resume", &self.agent];
        line(&words.map(str::to_owned))
    }

    fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            agent: row.get(0)?,
            until: row.get::<_, i64>(1)?.cast_unsigned(),
            because: row.get(2)?,
        })
    }
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
                "SELECT agent, until, because FROM agent_pause WHERE agent = ?1 AND until > ?2",
                params![agent, now().cast_signed()],
                AgentPause::of_row,
            );
            Ok(pause.optional()?)
        })
    }

    /// All agents that may not work now, by name.
    pub fn agent_pauses(&self) -> Result<Vec<AgentPause>, DatabaseError> {
        self.read("list agents that may not work", |connection| {
            let mut select = connection.prepare(
                "SELECT agent, until, because FROM agent_pause WHERE until > ?1 ORDER BY agent",
            )?;
            let pauses = select.query_map([now().cast_signed()], AgentPause::of_row)?;
            Ok(pauses.collect::<Result<_, _>>()?)
        })
    }

    /// Lets an agent work again; whether it was paused.
    pub fn resume_agent(&mut self, agent: &str) -> Result<bool, DatabaseError> {
        self.write("let an agent work again", |transaction| {
            let deleted = transaction.execute(
                "DELETE FROM agent_pause WHERE agent = ?1 AND until > ?2",
                params![agent, now().cast_signed()],
            )?;
            Ok(deleted > 0)
        })
    }
}
