//! Queueing systems that run our program on machines of theirs.
//!
//! Knows nothing of tasks: a submission is a folder and a number of units. Decides nothing.

mod command;
mod size;
mod slurm;
mod subprocess;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use pleach_system::stand_in::has_stand_in;

pub use size::{ClusterSurvey, SizeSurvey, SlurmSettings, UnitRequest, UnitSize};
pub use slurm::{Slurm, was_killed_for_memory};
pub use subprocess::Subprocess;

/// A cluster, as far as we need one. It never repeats anything: that is the loop's business.
pub trait Cluster: Debug + Send {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// What it takes at once, and whether each of these can be had there.
    fn survey(&self, requests: &[UnitRequest]) -> Result<ClusterSurvey, ClusterError>;

    /// Gives it a submission. After an error nobody knows whether it was taken.
    fn submit(&self, submission: &Submission) -> Result<(), ClusterError>;

    /// Everything of this installation that it knows of, in one question.
    fn look(&self) -> Result<Vec<SeenUnit>, ClusterError>;

    /// Has our program called on the machine of a unit that runs, by the job that the unit says it is.
    fn say(&self, job: Option<&str>, call: &NodeCall<'_>) -> Result<(), ClusterError>;

    /// Ends units as far as it saw them when it looked last.
    fn end(&self, units: &[UnitName], how: EndHow) -> Result<(), ClusterError>;
}

/// What is given to a cluster at once.
#[derive(Debug)]
pub struct Submission {
    pub name: String,
    pub folder: PathBuf,
    /// They are counted from 1.
    pub units: u32,
    /// Our own program, where nodes find it.
    pub program: PathBuf,
    /// What is asked for each of them.
    pub request: UnitRequest,
    /// The machines that it must not be on, as long as there are others.
    pub avoid: Vec<String>,
}

/// A call of our program on a machine of the cluster.
#[derive(Clone, Copy)]
pub struct NodeCall<'a> {
    pub program: &'a Path,
    /// What follows `node-run`.
    pub words: &'a [&'a str],
    /// It stands in no file and on no command line.
    pub input: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndHow {
    /// What runs is left alone.
    IfItWaits,
    ForGood,
}

/// A unit, by the name of its submission and its number there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UnitName {
    pub submission: String,
    pub unit: u32,
}

#[derive(Debug)]
pub struct SeenUnit {
    pub name: UnitName,
    /// What the cluster calls it, if people can ask for it by that.
    pub job: Option<String>,
    pub state: UnitState,
    /// The machine that it is on, or was.
    pub node: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitState {
    /// For this reason, if the cluster says one.
    Waiting(Option<String>),
    Running,
    Over(UnitOver),
}

/// How a unit ended, as the cluster says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitOver {
    /// Through no fault of what it ran, for this reason.
    Lost(String),
    /// Without a result, although its machine is there.
    Failed(String),
    /// By itself.
    Ended,
    /// By somebody other than us.
    Cancelled,
    OutOfMemory,
    TimedOut,
}

#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
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
    #[error("it does not say what job it is")]
    NoJob,
    #[error("the path of the share has bytes that are no text")]
    BadPath,
}

/// The cluster that is called so, for submissions in a folder whose name tells them from those of others.
pub fn cluster_of(settings: &SlurmSettings, home: &Path) -> Box<dyn Cluster> {
    if has_stand_in() {
        let home = home.to_owned();
        return Box::new(Subprocess { home });
    }
    let name = home.file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    Box::new(Slurm::new(settings.clone(), name))
}

impl ClusterError {
    fn io(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}
