//! What a unit asks of a cluster, and what the cluster says to that.
//!
//! Plain data; each cluster has words of its own for it.

use std::time::Duration;

use pleach_system::files::stored_path::StoredPath;
use serde::{Deserialize, Serialize};

/// How large a unit is; what it does not say is left to the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitSize {
    pub name: String,
    pub cpus: Option<u32>,
    /// In bytes.
    pub memory: Option<u64>,
    pub gpus: Option<u32>,
    /// The time limit of an attempt, if it has one of its own.
    pub time: Option<Duration>,
    /// Further options for `sbatch`.
    pub slurm: Vec<String>,
}

/// How Slurm is called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlurmSettings {
    /// Where its programs are, if not on the path.
    pub bin: Option<StoredPath>,
    /// Options for `sbatch`, whatever is submitted.
    pub words: Vec<String>,
}

/// What is asked for one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitRequest {
    pub size: UnitSize,
    /// How long its programs may take.
    pub time: Duration,
}

/// What a cluster says before anything is submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSurvey {
    /// So many units may be submitted at once.
    pub most_at_once: usize,
    /// In the order of the requests.
    pub sizes: Vec<SizeSurvey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeSurvey {
    /// The name of the size.
    pub size: String,
    /// What tells the submission from those of other sizes.
    pub options: Vec<String>,
    /// What the cluster says of it; as an error, why it cannot be had.
    pub answer: Result<String, String>,
}
