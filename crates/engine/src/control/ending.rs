//! Ends a whole batch: lets it finish what runs, cancels it, or takes back what it made.

use pleach_domain::batch::Message;
use pleach_domain::event::Rollback;
use pleach_domain::id::BatchNumber;
use pleach_log::ownership::Request;

use super::{Control, ControlError, ControlOutcome, OwnerReply, TRIES, refused};
use crate::stored_batch::StoredBatch;

impl Control<'_> {
    /// Has nothing new started; done at once, while what runs is finished.
    pub fn stop(&self) -> Result<ControlOutcome, ControlError> {
        for _ in 0..TRIES {
            let stored = self.load()?;
            if stored.batch.status.is_over() {
                return Err(self.over(&stored, "batch_over"));
            }
            if let OwnerReply::Done = self.ask(&Request::Stop)? {
                return Ok(ControlOutcome::Done {
                    message: stopped(self.number()),
                });
            }
            if let Some(prepared) = self.take_up(Message::Stop)? {
                return Ok(ControlOutcome::Run(prepared));
            }
        }
        Err(self.slippery())
    }

    /// Stops the whole batch; done when it is over.
    pub fn cancel(&self, rollback: Rollback) -> Result<ControlOutcome, ControlError> {
        let stored = self.load()?;
        if stored.batch.status.is_over() {
            return self.cancel_ended(&stored, rollback);
        }
        if stored.is_in_place() && rollback == Rollback::Remove {
            let message = format!(
                "batch {} runs in {}: changes there cannot be rolled back",
                self.number(),
                stored.folder().display()
            );
            let hint = format!(
                "`pleach cancel {0}` cancels it, `pleach diff {0}` shows its changes",
                self.number()
            );
            return Err(refused("ran_in_place", message, hint));
        }
        for _ in 0..TRIES {
            let request = Request::Cancel {
                task: None,
                rollback,
            };
            match self.ask(&request)? {
                OwnerReply::Done => return Ok(self.ended(&self.load()?)),
                OwnerReply::Nothing => {}
            }
            let stored = self.load()?;
            if stored.batch.status.is_over() {
                return Ok(self.ended(&stored));
            }
            if let Some(prepared) = self.take_up(Message::Cancel(rollback))? {
                return Ok(ControlOutcome::Run(prepared));
            }
        }
        Err(self.slippery())
    }

    /// Takes the result of a batch that is over back, where nobody else has it.
    fn cancel_ended(
        &self,
        stored: &StoredBatch,
        rollback: Rollback,
    ) -> Result<ControlOutcome, ControlError> {
        let can = stored.batch.can_roll_back() && !stored.is_in_place();
        if can && rollback == Rollback::Remove {
            let taken = self.take_up(Message::Cancel(rollback))?;
            return taken
                .map(ControlOutcome::Run)
                .ok_or_else(|| self.slippery());
        }
        let mut error = self.over(stored, "batch_over");
        if let (true, ControlError::Refused { hint, .. }) = (can, &mut error) {
            *hint = format!(
                "`pleach cancel {} --rollback` removes its branch",
                self.number()
            );
        }
        Err(error)
    }

    fn ended(&self, stored: &StoredBatch) -> ControlOutcome {
        ControlOutcome::Done {
            message: cancelled(self.number(), stored.batch.status.as_str()),
        }
    }
}

pub fn stopped(batch: BatchNumber) -> String {
    format!("batch {batch} is stopping: running tasks finish, no others start")
}

pub fn cancelled(batch: BatchNumber, status: &str) -> String {
    match status {
        "cancelled" => format!("batch {batch} is cancelled; its work is kept"),
        other => format!("batch {batch} finished before it could be cancelled: {other}"),
    }
}
