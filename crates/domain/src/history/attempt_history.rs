//! What became of one attempt on a task, folded from the events of the task.
//!
//! Knows no other attempt but the one before it, whose session it may go on with.

use serde::Serialize;

use crate::event::{CHANGED_NOTHING, DOES_NOT_MERGE, INTERRUPTED, TOOK_TOO_LONG, TaskEvent};
use crate::work::{Commit, Spent};

/// One run of an agent on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptHistory {
    /// Counted from 1.
    pub number: u32,
    pub basis: Commit,
    /// When it began; where it waited for a machine, when that began with it.
    pub started_at: u64,
    /// The machine that it waited for.
    pub node: Option<String>,
    /// None while its agent works.
    pub ended_at: Option<u64>,
    /// When what it left changed last.
    pub last_at: u64,
    pub outcome: AttemptOutcome,
    pub error: Option<String>,
    pub spent: Spent,
    pub session: Option<String>,
}

/// The outcome of an attempt, or of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptOutcome {
    Running,
    Stopping,
    /// Its work is a commit that is not woven yet.
    Built,
    Limited,
    Overloaded,
    AskedAgain,
    Interrupted,
    Lost,
    NoChanges,
    Merged,
    Conflicted,
    Invalid,
    Failed,
    TimedOut,
    Blocked,
    Cancelled,
}

impl AttemptOutcome {
    fn is_success(self) -> bool {
        matches!(self, Self::Built | Self::Merged | Self::NoChanges)
    }
}

impl AttemptHistory {
    pub(super) fn new(number: u32, basis: &Commit, at: u64, before: Option<&Self>) -> Self {
        Self {
            number,
            basis: basis.clone(),
            started_at: at,
            node: None,
            ended_at: None,
            last_at: at,
            outcome: AttemptOutcome::Running,
            error: None,
            spent: Spent::default(),
            // The same session goes on, and its agent does not say so again.
            session: before
                .filter(|before| before.is_continued())
                .and_then(|before| before.session.clone()),
        }
    }

    fn is_continued(&self) -> bool {
        use AttemptOutcome::{AskedAgain, Limited, Overloaded};
        matches!(self.outcome, Limited | Overloaded | AskedAgain)
    }

    pub(super) fn take_in(&mut self, event: &TaskEvent, at: u64) {
        match event {
            TaskEvent::SessionBegan { session } => self.session = Some(session.clone()),
            TaskEvent::Spent(spent) => self.spent = *spent,
            TaskEvent::Kept { .. } => self.last_at = at,
            TaskEvent::Placed { node, .. } => {
                self.started_at = at;
                self.node = Some(node.clone());
            }
            event => {
                if let Some((outcome, error)) = self.outcome_after(event) {
                    self.outcome = outcome;
                    self.error = error.map(str::to_owned);
                    self.last_at = at;
                    if outcome != AttemptOutcome::Stopping {
                        self.ended_at.get_or_insert(at);
                    }
                }
            }
        }
    }

    /// What an event makes of the attempt, and why it came to that.
    fn outcome_after<'e>(&self, event: &'e TaskEvent) -> Option<(AttemptOutcome, Option<&'e str>)> {
        use AttemptOutcome as Outcome;
        let is_at_work = self.ended_at.is_none();
        Some(match event {
            TaskEvent::StopRequested => (Outcome::Stopping, None),
            TaskEvent::Built { .. } | TaskEvent::Resolved { .. } => (Outcome::Built, None),
            TaskEvent::Unchanged { .. } => (Outcome::NoChanges, None),
            TaskEvent::Woven { .. } => (Outcome::Merged, None),
            TaskEvent::AttemptFailed { error, .. } | TaskEvent::Failed { error } => {
                (Outcome::Failed, Some(error))
            }
            TaskEvent::Limited { error, .. } => (Outcome::Limited, Some(error)),
            TaskEvent::Overloaded { error, .. } => (Outcome::Overloaded, Some(error)),
            TaskEvent::AskedAgain => (Outcome::AskedAgain, Some(CHANGED_NOTHING)),
            TaskEvent::Interrupted => (Outcome::Interrupted, Some(INTERRUPTED)),
            TaskEvent::Lost { because } => (Outcome::Lost, Some(because)),
            TaskEvent::TimedOut => (Outcome::TimedOut, Some(TOOK_TOO_LONG)),
            TaskEvent::Conflicted { .. } => (Outcome::Conflicted, Some(DOES_NOT_MERGE)),
            TaskEvent::Requeued { because } if is_at_work => (Outcome::Failed, Some(because)),
            TaskEvent::Requeued { because } => (Outcome::Conflicted, Some(because)),
            TaskEvent::Invalid { because, .. } => (Outcome::Invalid, Some(because)),
            TaskEvent::Blocked { because } if self.outcome.is_success() => {
                (Outcome::Blocked, Some(because))
            }
            TaskEvent::TakenOver { because } if is_at_work => (Outcome::Interrupted, Some(because)),
            TaskEvent::Cancelled if is_at_work => (Outcome::Cancelled, None),
            // What happens to a task between two attempts says nothing of the one before.
            TaskEvent::Blocked { .. }
            | TaskEvent::TakenOver { .. }
            | TaskEvent::Cancelled
            | TaskEvent::Waiting { .. }
            | TaskEvent::Approved
            | TaskEvent::Started { .. }
            | TaskEvent::Placed { .. }
            | TaskEvent::Kept { .. }
            | TaskEvent::Spent(_)
            | TaskEvent::SessionBegan { .. }
            | TaskEvent::PauseEnded
            | TaskEvent::Retried
            | TaskEvent::Published { .. } => return None,
        })
    }
}
