//! What the loop of a batch tells, and what others ask of it while it runs.

use std::sync::mpsc::Sender;

use pleach_domain::batch::Spent;
use pleach_domain::event::Rollback;
use pleach_domain::id::TaskId;
use pleach_log::database::StoredEvent;
use pleach_log::ownership::{BatchLock, Door, KeylessClient, OwnershipError, Reply, Request};
use pleach_system::secrets::Hider;

#[derive(Debug)]
pub enum LoopNotice<'a> {
    Event(&'a StoredEvent),
    /// Something that is no event and worth a line.
    Note(String),
    /// What an agent is doing right now; told a few times a second at most, and not stored.
    Progress(&'a Progress),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    pub task: TaskId,
    /// Which attempt this is, counted from 1.
    pub attempt: u32,
    /// The last thing it said that it does, on one line.
    pub action: Option<String>,
    pub spent: Spent,
}

impl LoopNotice<'_> {
    /// The same without secrets; an event has none any more.
    #[must_use]
    pub fn hidden(self, hider: &Hider) -> Self {
        match self {
            Self::Note(note) => Self::Note(hider.hidden(note)),
            other => other,
        }
    }
}

/// What is asked of a batch from outside its loop; asked before that begins, it is heard first.
#[derive(Debug)]
pub enum ControlRequest {
    Asked(Request, Reply),
    Noted(String),
    Cancel(Rollback),
    StopAtOnce,
    Leave,
}

/// Lets another thread stop a batch.
#[derive(Debug, Clone)]
pub struct Controls {
    pub(super) ask: Sender<ControlRequest>,
}

impl Controls {
    pub fn open_door(&self, lock: &BatchLock) -> Result<Door, OwnershipError> {
        let (hears, notes) = (self.ask.clone(), self.ask.clone());
        Door::open(
            lock,
            move |request, reply| {
                // A loop that is over answers nobody, and the asker finds the door shut.
                let _ = hears.send(ControlRequest::Asked(request, reply));
            },
            move |KeylessClient { pid }| {
                let _ = notes.send(ControlRequest::Noted(format!(
                    "refused a request of process {pid} without this batch's key"
                )));
            },
        )
    }

    /// Asks what runs to stop; all work is kept.
    pub fn cancel(&self) {
        // A loop that is over hears nothing and needs nothing.
        let _ = self.ask.send(ControlRequest::Cancel(Rollback::Keep));
    }

    /// Asks what runs to stop and keeps all work, for another process to go on with the batch.
    pub fn leave(&self) {
        let _ = self.ask.send(ControlRequest::Leave);
    }

    /// The same without waiting for what runs.
    pub fn leave_at_once(&self) {
        self.leave();
        let _ = self.ask.send(ControlRequest::StopAtOnce);
    }

    /// Stops what runs without waiting; all work is kept.
    pub fn cancel_at_once(&self) {
        self.cancel();
        let _ = self.ask.send(ControlRequest::StopAtOnce);
    }
}
