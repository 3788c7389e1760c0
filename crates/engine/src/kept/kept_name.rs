//! Whose work a ref under `refs/pleach/keep/` is, by its name.

use pleach_domain::id::BatchNumber;

use super::KeptOrigin;
use crate::stored_batch::StoredBatch;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeptName<'a> {
    pub(super) batch: BatchNumber,
    segment: &'a str,
    /// None for what stood on the branch of a task, and for what a person made of a conflict.
    attempt: Option<u32>,
    by_hand: bool,
}

impl<'a> KeptName<'a> {
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        if let Some(rest) = name.strip_prefix("pleach/task-") {
            let (batch, segment) = rest.split_once('/')?;
            return Some(Self {
                batch: batch.parse().ok()?,
                segment,
                attempt: None,
                by_hand: false,
            });
        }
        let (batch, rest) = name.strip_prefix("batch-")?.split_once("/task-")?;
        if let Some((segment, _)) = rest.split_once("/resolve") {
            return Some(Self {
                batch: batch.parse().ok()?,
                segment,
                attempt: None,
                by_hand: true,
            });
        }
        let (segment, attempt) = rest.split_once("/attempt-")?;
        // A second state of the same attempt has a number behind that.
        let attempt = attempt.split('-').next()?;
        Some(Self {
            batch: batch.parse().ok()?,
            segment,
            attempt: Some(attempt.parse().ok()?),
            by_hand: false,
        })
    }

    pub(super) fn position(&self, stored: &StoredBatch) -> Option<usize> {
        let numbered = || {
            let (segment, number) = self.segment.rsplit_once('-')?;
            number.parse::<u32>().ok()?;
            stored.task_of_segment(segment)
        };
        stored.task_of_segment(self.segment).or_else(numbered)
    }

    pub(super) fn attempt(&self, stored: &StoredBatch, position: usize) -> Option<u32> {
        self.attempt
            .or(Some(stored.batch.tasks[position].attempts).filter(|last| *last > 0))
    }

    pub(super) fn origin(&self, stored: &StoredBatch, position: usize) -> KeptOrigin {
        let attempt = self.attempt(stored, position).filter(|_| !self.by_hand);
        let facts = attempt.and_then(|attempt| stored.attempt(position, attempt));
        KeptOrigin {
            batch: self.batch,
            batch_id: stored.id,
            task: stored.batch.tasks[position].design.id.clone(),
            attempt: self.attempt,
            by_hand: self.by_hand,
            basis: facts.and_then(|facts| facts.basis.0.parse().ok()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_kept_work_say_whose_it_is() {
        let meant = |batch, segment, attempt| {
            Some(KeptName {
                batch: BatchNumber(batch),
                segment,
                attempt,
                by_hand: false,
            })
        };
        let by_hand = |batch, segment| {
            Some(KeptName {
                batch: BatchNumber(batch),
                segment,
                attempt: None,
                by_hand: true,
            })
        };
        for (name, expected) in [
            ("batch-3/task-1-2e1/attempt-2", meant(3, "1-2e1", Some(2))),
            ("batch-3/task-1-2e1/attempt-2-4", meant(3, "1-2e1", Some(2))),
            ("pleach/task-12/1-2e1-2", meant(12, "1-2e1-2", None)),
            ("batch-3/task-1-2e1/resolve", by_hand(3, "1-2e1")),
            ("batch-3/task-1-2e1/resolve-2", by_hand(3, "1-2e1")),
            ("moved/refs-2fheads", None),
            ("batch-x/task-1/attempt-1", None),
        ] {
            assert_eq!(KeptName::parse(name), expected, "{name}");
        }
    }
}
