//! Which agents may not work for a while, for all batches of a user.
//!
//! Whoever reads a pause says how long one may last: what another project, or an agent of it, calls a limit binds nobody
//! for longer than that.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, Row, params};

use pleach_system::text::shell_words::line;

use super::{Database, DatabaseError, now};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentPause {
    pub agent: String,
    /// Until then, in milliseconds since 1970.
    pub until: u64,
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
    /// Notes that an agent may not work; the longest pause counts, of which one that was noted before lasts as long
    /// as it does for this reader.
    pub fn pause_agent(
        &mut self,
        agent: &str,
        until: u64,
        because: &str,
        longest: Duration,
    ) -> Result<(), DatabaseError> {
        self.write("store that an agent is paused", |transaction| {
            transaction.execute(
                "INSERT INTO agent_pause (agent, until, because, noted_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (agent) DO UPDATE SET until = excluded.until, because = excluded.because,
                 noted_at = excluded.noted_at
                 WHERE excluded.until > min(until, noted_at + ?5)",
                params![agent, until.cast_signed(), because, now().cast_signed(), milliseconds(longest)],
            )?;
            Ok(())
        })
    }

    /// How long an agent may not work, if it may not now.
    pub fn agent_pause(
        &self,
        agent: &str,
        longest: Duration,
    ) -> Result<Option<AgentPause>, DatabaseError> {
        self.read("look up whether an agent is paused", |connection| {
            let pause = connection.query_one(
                "SELECT agent, min(until, noted_at + ?1), because FROM agent_pause
                 WHERE agent = ?2 AND min(until, noted_at + ?1) > ?3",
                params![milliseconds(longest), agent, now().cast_signed()],
                AgentPause::of_row,
            );
            Ok(pause.optional()?)
        })
    }

    /// All agents that may not work now, by name.
    pub fn agent_pauses(&self, longest: Duration) -> Result<Vec<AgentPause>, DatabaseError> {
        self.read("list paused agents", |connection| {
            let mut select = connection.prepare(
                "SELECT agent, min(until, noted_at + ?1), because FROM agent_pause
                 WHERE min(until, noted_at + ?1) > ?2 ORDER BY agent",
            )?;
            let bounds = params![milliseconds(longest), now().cast_signed()];
            let pauses = select.query_map(bounds, AgentPause::of_row)?;
            Ok(pauses.collect::<Result<_, _>>()?)
        })
    }

    /// Lets an agent work again; whether it was paused.
    pub fn resume_agent(&mut self, agent: &str) -> Result<bool, DatabaseError> {
        self.write("resume an agent", |transaction| {
            let deleted = transaction.execute(
                "DELETE FROM agent_pause WHERE agent = ?1 AND until > ?2",
                params![agent, now().cast_signed()],
            )?;
            Ok(deleted > 0)
        })
    }
}

/// Less than a clock of this century and such a pause together need.
fn milliseconds(pause: Duration) -> i64 {
    i64::try_from(pause.as_millis()).map_or(i64::MAX / 2, |pause| pause.min(i64::MAX / 2))
}

#[cfg(test)]
mod tests {
    use super::super::schema::STEPS;
    use super::*;

    const SIX_HOURS: Duration = Duration::from_hours(6);
    const A_WEEK: Duration = Duration::from_hours(7 * 24);

    /// A database, and that some agent was paused so long ago.
    fn paused(ago: Duration, until: u64) -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let mut database = Database::at(&folder.path().join("pleach.db"), STEPS).unwrap();
        database.pause_agent("a", until, "old", A_WEEK).unwrap();
        let ago = now().cast_signed() - milliseconds(ago);
        let noted = database.write("age a pause", |transaction| {
            Ok(transaction.execute("UPDATE agent_pause SET noted_at = ?1", [ago])?)
        });
        assert_eq!(noted.unwrap(), 1);
        (folder, database)
    }

    fn in_hours(hours: u64) -> u64 {
        now() + hours * 3_600_000
    }

    #[test]
    fn a_pause_lasts_no_longer_than_its_reader_waits() {
        let (_folder, database) = paused(Duration::from_hours(5), in_hours(600_000));
        let here = database.agent_pause("a", SIX_HOURS).unwrap().unwrap();
        assert!(here.until <= in_hours(1), "{here:?}");
        assert_eq!(database.agent_pauses(SIX_HOURS).unwrap(), [here]);
        let there = database.agent_pause("a", A_WEEK).unwrap().unwrap();
        assert!(there.until > in_hours(6 * 24), "{there:?}");
        let short = Duration::from_hours(5);
        assert_eq!(database.agent_pause("a", short).unwrap(), None);
        assert_eq!(database.agent_pauses(short).unwrap(), []);
    }

    #[test]
    fn a_new_pause_takes_the_place_of_one_that_is_over_for_who_notes_it() {
        let (_folder, mut database) = paused(Duration::from_hours(7), in_hours(600_000));
        let until = in_hours(2);
        database.pause_agent("a", until, "new", SIX_HOURS).unwrap();
        let pause = database.agent_pause("a", SIX_HOURS).unwrap().unwrap();
        assert_eq!((pause.until, pause.because.as_str()), (until, "new"));
        let sooner = in_hours(1);
        database
            .pause_agent("a", sooner, "sooner", SIX_HOURS)
            .unwrap();
        let pause = database.agent_pause("a", SIX_HOURS).unwrap().unwrap();
        assert_eq!(pause.until, until, "the longest counts");
    }

    #[test]
    fn a_pause_of_an_earlier_version_lasts_as_long_as_one_that_is_noted_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pleach.db");
        let mut steps = STEPS.iter();
        let without = steps.position(|step| step.contains("agent_pause ADD COLUMN noted_at"));
        let without = without.unwrap();
        let mut earlier = Database::at(&path, &STEPS[..without]).unwrap();
        let row = "INSERT INTO agent_pause (agent, until, because) VALUES ('a', 9999999999999, '')";
        let noted = earlier.write("pause an agent", |write| Ok(write.execute(row, [])?));
        assert_eq!(noted.unwrap(), 1);
        drop(earlier);
        let database = Database::at(&path, STEPS).unwrap();
        let pause = database.agent_pause("a", SIX_HOURS).unwrap().unwrap();
        assert!(pause.until <= in_hours(6), "{pause:?}");
    }
}
