//! A batch as its stored events leave it, with its times.

use pleach_domain::batch::{BadEvent, Batch, Design};
use pleach_domain::history::History;

use crate::database::StoredEvent;

#[derive(Debug)]
pub(super) struct Replayed {
    pub(super) batch: Batch,
    pub(super) times: History,
}

impl Replayed {
    pub(super) fn new(design: Design) -> Self {
        Self {
            times: History::new(&design),
            batch: Batch::new(design),
        }
    }

    pub(super) fn follow(&mut self, stored: &StoredEvent) -> Result<(), BadEvent> {
        self.batch.apply(&stored.event)?;
        self.times.take_in(&stored.event, stored.at);
        Ok(())
    }
}
