//! Where a batch as a whole stands, and which moves are legal.

use crate::event::{BatchEvent, Rollback};
use crate::words::words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStatus {
    Pending,
    Running,
    Cancelling {
        rollback: Rollback,
    },
    /// A rule says that nothing more shall start.
    GivingUp {
        because: String,
    },
    /// All tasks are over; the result is being made.
    Merging,
    Validating,
    Landing,
    /// Something was merged, or nothing needed to be.
    Completed,
    /// Nothing was merged, or a rule was hit.
    Failed {
        error: String,
    },
    Cancelled,
}

words! {
    /// Where a batch stands, in one word.
    pub enum BatchStatusWord {
        Pending = "pending",
        Running = "running",
        Merging = "merging",
        Validating = "validating",
        Landing = "landing",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl BatchStatus {
    pub fn word(&self) -> BatchStatusWord {
        match self {
            Self::Pending => BatchStatusWord::Pending,
            Self::Running | Self::Cancelling { .. } | Self::GivingUp { .. } => {
                BatchStatusWord::Running
            }
            Self::Merging => BatchStatusWord::Merging,
            Self::Validating => BatchStatusWord::Validating,
            Self::Landing => BatchStatusWord::Landing,
            Self::Completed => BatchStatusWord::Completed,
            Self::Failed { .. } => BatchStatusWord::Failed,
            Self::Cancelled => BatchStatusWord::Cancelled,
        }
    }

    pub fn as_str(&self) -> &'static str {
        self.word().as_str()
    }

    pub fn is_over(&self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed { .. } | Self::Cancelled
        )
    }

    pub fn is_stopping(&self) -> bool {
        matches!(self, Self::Cancelling { .. } | Self::GivingUp { .. })
    }

    /// Whether all tasks are over, and the batch is not.
    pub fn is_closing(&self) -> bool {
        matches!(self, Self::Merging | Self::Validating | Self::Landing)
    }

    /// The status after an event, if the event is legal.
    pub fn after(&self, event: &BatchEvent) -> Option<Self> {
        use BatchEvent as Event;
        match (self, event) {
            // These tell of a batch and move nothing.
            (status, Event::Created | Event::Progressed { .. }) => Some(status.clone()),
            (Self::Pending, Event::Started)
            | (
                Self::Running,
                Event::StageStarted { .. }
                | Event::FellBack { .. }
                | Event::ConflictsPredicted { .. }
                | Event::StopRequested,
            ) => Some(Self::Running),
            (
                status,
                Event::Resumed
                | Event::Published { .. }
                | Event::Unpublished
                | Event::Paused { .. }
                | Event::Unpaused
                | Event::SlotsChanged { .. },
            ) if !status.is_over() => Some(status.clone()),
            (status, Event::StageEnded { .. })
                if *status == Self::Running || status.is_stopping() =>
            {
                Some(status.clone())
            }
            (
                Self::Running | Self::GivingUp { .. } | Self::Validating,
                Event::CancelRequested { rollback },
            ) => Some(Self::Cancelling {
                rollback: *rollback,
            }),
            (
                Self::Cancelling {
                    rollback: Rollback::Keep,
                }
                | Self::Completed
                | Self::Failed { .. }
                | Self::Cancelled,
                Event::CancelRequested {
                    rollback: Rollback::Remove,
                },
            ) => Some(Self::Cancelling {
                rollback: Rollback::Remove,
            }),
            (Self::Running, Event::GaveUp { because }) => Some(Self::GivingUp {
                because: because.clone(),
            }),
            (Self::Running, Event::Merging) => Some(Self::Merging),
            (status, Event::Completed { .. }) if status.is_closing() => Some(Self::Completed),
            (status, Event::Failed { error })
                if status.is_closing() || matches!(status, Self::GivingUp { .. }) =>
            {
                Some(Self::Failed {
                    error: error.clone(),
                })
            }
            // All its tasks may have been stopped one by one.
            (Self::Cancelling { .. } | Self::Merging, Event::Cancelled) => Some(Self::Cancelled),
            (status, Event::Reopened) if status.is_over() => Some(Self::Running),
            (status, event) => status.after_proof_or_landing(event),
        }
    }

    fn after_proof_or_landing(&self, event: &BatchEvent) -> Option<Self> {
        use BatchEvent as Event;
        match (self, event) {
            (Self::Running, Event::Validating { stage: Some(_) }) => Some(Self::Running),
            (status, Event::Validating { stage: None }) if status.is_closing() => {
                Some(Self::Validating)
            }
            (
                Self::Running | Self::Validating,
                Event::TestsRan { .. }
                | Event::NoLongerMerges { .. }
                | Event::Proved { .. }
                | Event::NotProved { .. },
            )
            | (Self::Running | Self::Validating | Self::Landing, Event::Rewoven { .. })
            | (
                Self::Landing,
                Event::Pushing { .. }
                | Event::Pushed { .. }
                | Event::Landed { .. }
                | Event::NotLanded { .. },
            ) => Some(self.clone()),
            (Self::Merging | Self::Validating, Event::Landing { .. }) => Some(Self::Landing),
            (status, Event::LandingAsked { .. }) if status.is_over() => Some(Self::Merging),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn every_batch_status_meets_every_event() {
        let mut table = format!("{:<12}", "");
        for event in BatchEvent::one_of_each() {
            write!(table, "{:<15}", event.participle()).unwrap();
        }
        let statuses = [
            ("pending", BatchStatus::Pending),
            ("running", BatchStatus::Running),
            (
                "cancelling",
                BatchStatus::Cancelling {
                    rollback: Rollback::Keep,
                },
            ),
            (
                "giving up",
                BatchStatus::GivingUp {
                    because: "1 failed".into(),
                },
            ),
            ("merging", BatchStatus::Merging),
            ("validating", BatchStatus::Validating),
            ("landing", BatchStatus::Landing),
            ("completed", BatchStatus::Completed),
            (
                "failed",
                BatchStatus::Failed {
                    error: "1 failed".into(),
                },
            ),
            ("cancelled", BatchStatus::Cancelled),
        ];
        for (name, status) in &statuses {
            write!(table, "\n{name:<12}").unwrap();
            for event in BatchEvent::one_of_each() {
                let next = status.after(&event);
                let next = next.and_then(|next| {
                    let known = statuses.iter();
                    let kind = std::mem::discriminant(&next);
                    let mut alike =
                        known.filter(|(_, other)| std::mem::discriminant(other) == kind);
                    alike.next().map(|(name, _)| *name)
                });
                write!(table, "{:<15}", next.unwrap_or("·")).unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }
}
