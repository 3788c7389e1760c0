//! What a batch knows of one of its tasks, and how events add to that.

use super::{Spent, TaskDesign};
use crate::event::TaskEvent;
use crate::task_state::{Commit, Ending, TaskState};

#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact that holds or not, whatever the others do"
)]
#[derive(Debug, Clone, PartialEq)]
pub struct BatchTask {
    pub design: TaskDesign,
    pub state: TaskState,
    pub attempts: u32,
    /// How many of them failed since a person last asked for it.
    pub failures: u32,
    /// How many attempts in a row were lost with the machine that ran them.
    pub losses: u32,
    /// How often its agent was limited or overloaded, since a person last asked for it.
    pub limits: u32,
    /// How long it was to wait for that in all, in milliseconds.
    pub(super) waited: u64,
    /// How many attempts were no fault of its own.
    pub(super) excused_attempts: u32,
    /// Whether its agent was limited or overloaded in mid-work, and goes on in the same worktree.
    pub goes_on: bool,
    /// Whether its agent changed nothing, did not say why, and is asked once more.
    pub asked_again: bool,
    /// The session that its agent worked in last, if it has one.
    pub session: Option<String>,
    pub spent_in_session: Spent,
    pub spent: Spent,
    /// What they had taken when a person last asked for it.
    pub(super) spent_before: Spent,
    /// How many attempts of the batch had begun with its last one.
    pub(super) started_as: u32,
    /// How often it was sent back to be done on the woven result.
    pub reruns: u32,
    /// Whether it starts from everything that is woven.
    pub on_woven: bool,
    pub approved: bool,
    /// Whether it ended before a person opened the batch again.
    pub excused: bool,
    /// The machine that its last attempt got, where it waited for one.
    pub node: Option<String>,
    /// The commit that its last attempt started from.
    pub basis: Option<Commit>,
    /// The last state of an attempt that was not taken as its work.
    pub kept: Option<Commit>,
    pub files: Vec<String>,
    /// Whether what is woven of it was part of a result that is proved.
    pub proved: bool,
    /// Whether it counted as done, which it may have ceased to.
    pub was_done: bool,
    pub is_elsewhere: bool,
    /// The branch in the user's repository for what was left out of it, and the commit that was put there.
    pub published: Option<(String, Commit)>,
}

impl BatchTask {
    /// How many attempts began that count as one: those that a limit or an overload ended do not.
    pub fn spent_attempts(&self) -> u32 {
        self.attempts.saturating_sub(self.excused_attempts)
    }

    pub(super) fn new(design: &TaskDesign) -> Self {
        Self {
            design: design.clone(),
            state: TaskState::Queued,
            attempts: 0,
            failures: 0,
            losses: 0,
            limits: 0,
            waited: 0,
            excused_attempts: 0,
            goes_on: false,
            asked_again: false,
            session: None,
            spent_in_session: Spent::default(),
            spent: Spent::default(),
            spent_before: Spent::default(),
            started_as: 0,
            reruns: 0,
            on_woven: false,
            approved: false,
            excused: false,
            node: None,
            basis: None,
            kept: None,
            files: Vec::new(),
            proved: false,
            was_done: false,
            is_elsewhere: false,
            published: None,
        }
    }

    /// Notes what an event says, besides the move that it is.
    pub(super) fn take_in(&mut self, event: &TaskEvent) {
        match event {
            TaskEvent::Approved => self.approved = true,
            TaskEvent::Started { attempt, basis } => {
                self.attempts = *attempt;
                self.basis = Some(basis.clone());
                self.begin();
            }
            TaskEvent::Placed { node, .. } => self.node = Some(node.clone()),
            TaskEvent::Lost { .. } => self.losses += 1,
            TaskEvent::Kept { commit } => self.kept = Some(commit.clone()),
            TaskEvent::Built { files, .. } => self.files.clone_from(files),
            TaskEvent::AttemptFailed { .. } => {
                self.failures += 1;
                self.losses = 0;
            }
            TaskEvent::Limited { pause, .. } | TaskEvent::Overloaded { pause, .. } => {
                self.be_put_off(*pause);
            }
            TaskEvent::AskedAgain => {
                self.losses = 0;
                self.asked_again = true;
                self.goes_on = true;
            }
            TaskEvent::Spent(spent) => {
                self.spent += *spent;
                self.spent_in_session += *spent;
            }
            TaskEvent::SessionBegan { session } => self.speak_in(session),
            TaskEvent::Requeued { .. } => {
                self.losses = 0;
                self.reruns += 1;
                self.on_woven = true;
                self.asked_again = false;
            }
            TaskEvent::TakenOver { .. } => self.is_elsewhere = true,
            TaskEvent::Blocked { .. } | TaskEvent::Invalid { .. } => {
                // What goes out again, or does not go in, is kept like everything else.
                self.kept = self.state.commit().cloned().or(self.kept.take());
                // It is news, also of what was woven before a person opened the batch again.
                self.excused = false;
            }
            TaskEvent::Conflicted { .. } => self.excused = false,
            TaskEvent::Resolved { basis, files, .. } => {
                self.basis = Some(basis.clone());
                self.files.clone_from(files);
                self.excused = false;
                // What a person made is not made again by an agent.
                self.reruns += 1;
            }
            TaskEvent::Retried => self.begin_again(),
            TaskEvent::Published { branch, commit } => {
                self.published = Some((branch.clone(), commit.clone()));
            }
            TaskEvent::Waiting { .. }
            | TaskEvent::StopRequested
            | TaskEvent::Unchanged { .. }
            | TaskEvent::PauseEnded
            | TaskEvent::Interrupted
            | TaskEvent::Failed { .. }
            | TaskEvent::TimedOut
            | TaskEvent::Woven { .. }
            | TaskEvent::Cancelled => {}
        }
    }

    /// Its agent may not work for so long, and goes on then.
    fn be_put_off(&mut self, pause: u64) {
        self.losses = 0;
        self.limits += 1;
        self.waited = self.waited.saturating_add(pause);
        self.excused_attempts += 1;
        self.goes_on = true;
    }

    /// A person wants it tried again: what it failed for before does not count.
    fn begin_again(&mut self) {
        self.on_woven |= matches!(
            self.state,
            TaskState::Ended(Ending::Conflicted { .. } | Ending::Invalid { .. })
        );
        self.is_elsewhere = false;
        self.failures = 0;
        self.losses = 0;
        self.spent_before = self.spent;
        self.goes_on = false;
        self.asked_again = false;
        self.limits = 0;
        self.waited = 0;
        self.reruns = 0;
        self.approved = true;
        self.excused = false;
    }

    fn begin(&mut self) {
        // What begins anew is no part of what was said before.
        if !std::mem::take(&mut self.goes_on) {
            self.asked_again = false;
            self.session = None;
            self.spent_in_session = Spent::default();
        }
        self.node = None;
        self.kept = None;
        self.files.clear();
        self.was_done = false;
    }

    fn speak_in(&mut self, session: &str) {
        if self.session.as_deref() != Some(session) {
            self.spent_in_session = Spent::default();
        }
        self.session = Some(session.to_owned());
    }
}
