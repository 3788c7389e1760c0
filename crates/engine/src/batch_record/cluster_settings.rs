//! The cluster that a batch is given to, and what its units ask of it.
//!
//! Stored as part of the batch's record.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::choice::SecretDelivery;
use pleach_domain::id::{BatchNumber, TaskId};
use serde::{Deserialize, Serialize};

use super::BatchRecord;
use crate::cluster::{SlurmSettings, UnitRequest, UnitSize};
use crate::config::DEFAULT_SIZE;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClusterSettings {
    /// The folder that all machines see under the same path.
    #[serde(with = "pleach_system::files::stored_path")]
    pub share: PathBuf,
    /// A folder on the node's own disk, or a variable of the node that names it.
    pub scratch: String,
    /// How often the queue is asked.
    pub look: Duration,
    /// How long a node may be out of reach.
    pub lease: Duration,
    /// How nodes come by what may be secret.
    #[serde(default)]
    pub secrets: SecretDelivery,
    /// How many units the cluster has at once, over all batches.
    pub most: usize,
    pub slurm: SlurmSettings,
    /// The sizes that its tasks and tests choose.
    pub sizes: Vec<UnitSize>,
    /// The size of what runs its tests.
    pub validate_size: String,
}

/// The sizes of a batch's units.
#[derive(Debug, Clone, Default)]
pub struct UnitSizes {
    known: Vec<UnitSize>,
    of_tasks: HashMap<TaskId, String>,
    of_tests: String,
}

impl UnitSizes {
    pub fn of_task(&self, task: &TaskId) -> UnitSize {
        let chosen = self.of_tasks.get(task);
        self.named(chosen.map_or(DEFAULT_SIZE, String::as_str))
    }

    pub fn of_tests(&self) -> UnitSize {
        self.named(&self.of_tests)
    }

    fn named(&self, name: &str) -> UnitSize {
        let known = self.known.iter().find(|size| size.name == name);
        known.cloned().unwrap_or_else(|| UnitSize {
            name: name.to_owned(),
            ..UnitSize::default()
        })
    }
}

impl BatchRecord {
    /// What each unit asks of the cluster.
    pub fn unit_sizes(&self) -> UnitSizes {
        let tasks = self.tasks.iter();
        let chosen = tasks.filter_map(|task| Some((task.id.clone(), task.size.clone()?)));
        let cluster = self.cluster.as_ref();
        UnitSizes {
            known: cluster.map_or_else(Vec::new, |cluster| cluster.sizes.clone()),
            of_tasks: chosen.collect(),
            of_tests: cluster.map_or_else(String::new, |cluster| cluster.validate_size.clone()),
        }
    }

    /// What is asked for units of each size.
    pub(crate) fn unit_requests(&self) -> Vec<UnitRequest> {
        let sizes = self.cluster.iter().flat_map(|cluster| &cluster.sizes);
        let request = |size: &UnitSize| UnitRequest {
            time: self.attempts.for_size(size).unit_time(),
            size: size.clone(),
        };
        sizes.map(request).collect()
    }
}

impl ClusterSettings {
    /// Where the worktree of a task is on a node, if nobody is in its way there.
    pub fn tree_on_node(&self, project: &str, batch: BatchNumber, segment: &str) -> String {
        let user = rustix::process::getuid().as_raw();
        let scratch = &self.scratch;
        format!("{scratch}/pleach-{user}/trees/{project}/batch-{batch}/task-{segment}")
    }
}
