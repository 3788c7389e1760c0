//! What the loop of a batch tells, what it can hear, and how another thread stops it.

use std::sync::mpsc::Sender;

use pleach_domain::batch::Spent;
use pleach_domain::event::{BatchEvent, PredictedConflict, Rollback};
use pleach_domain::id::TaskId;
use pleach_log::agent_report::AgentReport;
use pleach_log::database::StoredEvent;
use pleach_log::ownership::{BatchLock, Door, KeylessClient, OwnershipError, Reply, Request};

use super::executor::WrapperLaunch;
use super::radar;
use crate::attempt::{Disposal, Finished, ProbeEnded};
use crate::landing::job::LandingOutcome;

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

#[derive(Debug)]
pub(super) enum LoopInput {
    Launched(Box<WrapperLaunch>),
    Finished(Box<Finished>, Sender<Disposal>),
    Said {
        task: TaskId,
        attempt: u32,
        said: AgentReport,
    },
    Cleared {
        task: TaskId,
        notes: Vec<String>,
    },
    Judged(Box<ProbeEnded>),
    /// A step of a push, which goes on when that is stored.
    PushStep {
        event: BatchEvent,
        stored: Sender<()>,
    },
    LandingEnded(Box<LandingOutcome>),
    /// What is left of landing starts no program.
    LandingOnlyAsks,
    Noted(String),
    Foreseen(Vec<PredictedConflict>),
    RadarAsks(Sender<radar::RadarAnswer>),
    Asked(Request, Reply),
    Cancel(Rollback),
    StopAtOnce,
    Leave,
}

/// Lets another thread stop a batch.
#[derive(Debug, Clone)]
pub struct Controls {
    pub(super) inbox: Sender<LoopInput>,
}

impl Controls {
    pub(super) fn open_door(&self, lock: &BatchLock) -> Result<Door, OwnershipError> {
        let (hears, notes) = (self.inbox.clone(), self.inbox.clone());
        Door::open(
            lock,
            move |request, reply| {
                // A loop that is over answers nobody, and the asker finds the door shut.
                let _ = hears.send(LoopInput::Asked(request, reply));
            },
            move |KeylessClient { pid }| {
                let _ = notes.send(LoopInput::Noted(format!(
                    "refused a request of process {pid} without this batch's key"
                )));
            },
        )
    }

    /// Asks what runs to stop; all work is kept.
    pub fn cancel(&self) {
        // A loop that is over hears nothing and needs nothing.
        let _ = self.inbox.send(LoopInput::Cancel(Rollback::Keep));
    }

    /// Asks what runs to stop and keeps all work, for another process to go on with the batch.
    pub fn leave(&self) {
        let _ = self.inbox.send(LoopInput::Leave);
    }

    /// The same without waiting for what runs.
    pub fn leave_at_once(&self) {
        self.leave();
        let _ = self.inbox.send(LoopInput::StopAtOnce);
    }

    /// Stops what runs without waiting; all work is kept.
    pub fn cancel_at_once(&self) {
        self.cancel();
        let _ = self.inbox.send(LoopInput::StopAtOnce);
    }
}
