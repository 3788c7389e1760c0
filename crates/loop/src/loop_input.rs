//! What the loop of a batch can hear.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use pleach_domain::event::{BatchEvent, PredictedConflict};
use pleach_domain::id::TaskId;
use pleach_engine::run::ControlRequest;
use pleach_log::agent_report::AgentReport;
use pleach_log::database::SubmittedUnit;

use crate::attempt::{Disposal, Finished, ProbeEnded};
use crate::executor::WrapperLaunch;
use crate::landing::job::LandingOutcome;
use crate::radar;

#[derive(Debug)]
pub(crate) enum LoopInput {
    Launched(Box<WrapperLaunch>),
    Finished(Box<Finished>, Sender<Disposal>),
    /// Units that are about to be sent; told how many of them are noted, the first ones first.
    Sending(Vec<SubmittedUnit>, Sender<usize>),
    /// A node has begun with an attempt.
    Placed {
        task: TaskId,
        attempt: u32,
        node: String,
    },
    Said {
        task: TaskId,
        attempt: u32,
        said: AgentReport,
    },
    /// A file that holds what an attempt on a node has made so far.
    Snapshot {
        task: TaskId,
        attempt: u32,
        bundle: PathBuf,
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
    /// Something worth a line.
    Noted(String),
    Foreseen(Vec<PredictedConflict>),
    RadarAsks(Sender<radar::RadarAnswer>),
    /// What somebody outside asks.
    Control(ControlRequest),
}
