//! Queueing systems that run our program on machines of theirs.
//!
//! Knows nothing of tasks: a submission is a folder and a number of units. Decides nothing.

mod command;
mod slurm;
mod subprocess;

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use slurm::Slurm;
pub(crate) use subprocess::Subprocess;

/// A cluster, as far as we need one. It never repeats anything: that is the loop's business.
pub(crate) trait Cluster: Debug + Send {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Gives it a submission. After an error nobody knows whether it was taken.
    fn submit(&self, submission: &Submission) -> Result<(), ClusterError>;

    /// Everything of this installation that it knows of, in one question.
    fn look(&self) -> Result<Vec<SeenUnit>, ClusterError>;

    /// Has our program called on the machine of a unit that runs, with this as its input.
    fn say(&self, unit: &UnitName, call: &NodeCall<'_>) -> Result<(), ClusterError>;

    /// Ends units as far as it saw them when it looked last.
    fn end(&self, units: &[UnitName], how: EndHow) -> Result<(), ClusterError>;
}

/// What is given to a cluster at once.
#[derive(Debug)]
pub(crate) struct Submission {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// They are counted from 1.
    pub(crate) units: u32,
    /// Our own program, where nodes find it.
    pub(crate) program: PathBuf,
    /// How long its programs may take.
    pub(crate) time: Duration,
    /// The machines that it must not be on, as long as there are others.
    pub(crate) avoid: Vec<String>,
}

/// A call of our program on a machine of the cluster.
#[derive(Clone, Copy)]
pub(crate) struct NodeCall<'a> {
    pub(crate) program: &'a Path,
    /// What follows `node-run`.
    pub(crate) words: &'a [&'a str],
    /// It stands in no file and on no command line.
    pub(crate) input: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndHow {
    /// What runs is left alone.
    IfItWaits,
    ForGood,
}

/// A unit, by the name of its submission and its number there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct UnitName {
    pub(crate) submission: String,
    pub(crate) unit: u32,
}

#[derive(Debug)]
pub(crate) struct SeenUnit {
    pub(crate) name: UnitName,
    pub(crate) state: UnitState,
    /// The machine that it is on, or was.
    pub(crate) node: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnitState {
    /// For this reason, if the cluster says one.
    Waiting(Option<String>),
    Running,
    Over(UnitOver),
}

/// How a unit ended, as the cluster says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnitOver {
    /// Through no fault of what it ran, for this reason.
    Lost(String),
    /// Without a result, although its machine is there.
    Failed(String),
    /// By somebody other than us.
    Cancelled,
    OutOfMemory,
    TimedOut,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterError {
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        source: std::io::Error,
    },
    #[error("could not run {program}")]
    NotRun {
        program: String,
        source: std::io::Error,
    },
    #[error("{program} says: {said}")]
    Refused { program: String, said: String },
    #[error("it is not in the queue")]
    NotThere,
    #[error("the path of the share has bytes that are no text")]
    BadPath,
}

impl ClusterError {
    fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}
