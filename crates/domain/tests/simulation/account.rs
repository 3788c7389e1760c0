//! The account of one task, kept from its events alone.
//!
//! Knows how a task goes from one state to the next, and nothing of the others.

use pleach_domain::event::TaskEvent;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Now {
    #[default]
    Queued,
    Waiting,
    Pausing,
    AtWork,
    Built,
    Merged,
    Unchanged,
    Conflicted,
    Invalid,
    Failed,
    Blocked,
    Cancelled,
}

impl Now {
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Merged | Self::Unchanged)
    }

    pub(crate) fn is_failure(self) -> bool {
        matches!(self, Self::Conflicted | Self::Invalid | Self::Failed)
    }

    pub(crate) fn is_end(self) -> bool {
        self.is_success() || self.is_failure() || matches!(self, Self::Blocked | Self::Cancelled)
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that holds or not, whatever the others do"
)]
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    pub(crate) now: Now,
    pub(crate) attempts: u32,
    pub(crate) failures: u32,
    /// How many attempts in a row were lost with their machines.
    pub(crate) losses: u32,
    pub(crate) reruns: u32,
    /// Whether its agent changed nothing without a word, and was asked again.
    pub(crate) asked_again: bool,
    pub(crate) on_woven: bool,
    pub(crate) approved: bool,
    /// Whether it ended before a person opened the batch again.
    pub(crate) excused: bool,
    /// What it took, ever and before a person asked for it last.
    pub(crate) tokens: u64,
    pub(crate) tokens_before: u64,
    /// Whether its agent may not work for now.
    pub(crate) limited: bool,
    /// The commit that its work ends in.
    pub(crate) version: String,
}

impl Account {
    pub(crate) fn take(&mut self, event: &TaskEvent) {
        let was = self.now;
        match event {
            TaskEvent::Limited { .. } => self.limited = true,
            TaskEvent::Spent(spent) => self.tokens += spent.tokens,
            TaskEvent::Started { attempt, .. } => self.attempts = *attempt,
            TaskEvent::Approved => self.approved = true,
            TaskEvent::AttemptFailed { .. } => {
                self.failures += 1;
                self.asked_again = false;
            }
            // What begins anew was not asked anything.
            TaskEvent::Interrupted => self.asked_again = false,
            TaskEvent::Lost { .. } => {
                self.asked_again = false;
                self.losses += 1;
                assert!(self.losses < 6, "lost again and again");
            }
            TaskEvent::AskedAgain => {
                assert!(!self.asked_again, "asked again and again");
                self.asked_again = true;
            }
            TaskEvent::Requeued { .. } => {
                self.asked_again = false;
                let first = self.reruns == 0;
                assert!(first || was == Now::AtWork, "done again and again");
                self.reruns += 1;
                self.on_woven = true;
            }
            TaskEvent::Retried => {
                assert!(was.is_end() && !was.is_success(), "it needs no retry");
                self.on_woven |= matches!(was, Now::Conflicted | Now::Invalid);
                (self.failures, self.reruns) = (0, 0);
                self.asked_again = false;
                self.tokens_before = self.tokens;
                (self.approved, self.excused) = (true, false);
            }
            TaskEvent::Built { commit, .. } => self.version.clone_from(&commit.0),
            TaskEvent::Resolved { commit, .. } => {
                assert_eq!(was, Now::Conflicted, "there is nothing to resolve");
                self.version.clone_from(&commit.0);
                // What a person made is not made again by an agent.
                self.reruns += 1;
                self.excused = false;
            }
            // It is news, whenever it was woven.
            TaskEvent::Invalid { .. } | TaskEvent::Conflicted { .. } => self.excused = false,
            _ => {}
        }
        if ends_by_itself(event) {
            self.losses = 0;
        }
        self.limited &= matches!(
            event,
            TaskEvent::Limited { .. } | TaskEvent::Kept { .. } | TaskEvent::Published { .. }
        );
        self.now = after(was, event);
    }
}

/// Whether it says that an attempt was not lost, or that a person wants another one.
fn ends_by_itself(event: &TaskEvent) -> bool {
    matches!(
        event,
        TaskEvent::AttemptFailed { .. }
            | TaskEvent::Limited { .. }
            | TaskEvent::Overloaded { .. }
            | TaskEvent::AskedAgain
            | TaskEvent::Requeued { .. }
            | TaskEvent::Retried
    )
}

/// Where an event leaves a task.
fn after(was: Now, event: &TaskEvent) -> Now {
    match event {
        TaskEvent::Started { .. } => Now::AtWork,
        TaskEvent::Waiting { .. } => Now::Waiting,
        TaskEvent::AttemptFailed { .. }
        | TaskEvent::Limited { .. }
        | TaskEvent::Overloaded { .. } => Now::Pausing,
        TaskEvent::Approved
        | TaskEvent::PauseEnded
        | TaskEvent::Interrupted
        | TaskEvent::Lost { .. }
        | TaskEvent::AskedAgain
        | TaskEvent::Requeued { .. }
        | TaskEvent::Retried => Now::Queued,
        TaskEvent::Built { .. } | TaskEvent::Resolved { .. } => Now::Built,
        TaskEvent::Invalid { .. } => Now::Invalid,
        TaskEvent::Unchanged { .. } => Now::Unchanged,
        TaskEvent::Failed { .. } | TaskEvent::TimedOut => Now::Failed,
        TaskEvent::Conflicted { .. } => Now::Conflicted,
        // What is over stays as it is when another batch tries it again.
        TaskEvent::TakenOver { .. } if was.is_end() => was,
        TaskEvent::Blocked { .. } | TaskEvent::TakenOver { .. } => Now::Blocked,
        TaskEvent::Cancelled => Now::Cancelled,
        TaskEvent::Woven { .. } => Now::Merged,
        TaskEvent::StopRequested
        | TaskEvent::Placed { .. }
        | TaskEvent::Spent(_)
        | TaskEvent::SessionBegan { .. }
        | TaskEvent::Kept { .. }
        | TaskEvent::Published { .. } => was,
    }
}
