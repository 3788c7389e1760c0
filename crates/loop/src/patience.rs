//! Writes to the database also where it is busy or the disk is full for a while.

use std::time::{Duration, Instant};

use pleach_domain::event::Event;
use pleach_log::database::{Database, DatabaseError, StoredEvent};

use super::run_loop::Loop;
use super::{LoopNotice, RunError};

/// How long a full disk is waited for; after that the batch stops where it is, and can be taken up again.
const PATIENCE: Duration = Duration::from_mins(1);

const LONGEST: Duration = Duration::from_secs(5);

impl Loop<'_> {
    pub(super) fn store_patiently(
        &mut self,
        events: &[Event],
    ) -> Result<Vec<StoredEvent>, RunError> {
        let id = self.batch_id;
        self.patiently(|database| database.append(id, events))
    }

    /// Writes to the database; tries again for a while, because everything else waits for it.
    pub(super) fn patiently<T>(
        &mut self,
        mut write: impl FnMut(&mut Database) -> Result<T, DatabaseError>,
    ) -> Result<T, RunError> {
        let deadline = Instant::now() + PATIENCE;
        let mut pause = Duration::from_millis(100);
        loop {
            let error = match write(&mut self.database) {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            if Instant::now() + pause > deadline || !error.may_pass() {
                return Err(error.into());
            }
            let why = pleach_system::text::causes::with_causes(&error);
            (self.told)(LoopNotice::Note(format!("{why}; retrying")));
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST);
        }
    }
}
