//! Work of earlier batches that tasks of a batch build on, as it is stored with the batch.
//!
//! Plain data; how it is found and woven is known to those who run batches.

use std::fmt;

use pleach_domain::id::{BatchNumber, TaskId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Work of earlier batches, in the order it is woven.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Earlier {
    /// The batches that did it.
    pub(crate) batches: Vec<EarlierBatch>,
    pub(crate) tasks: Vec<EarlierTask>,
}

/// A batch that did some of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierBatch {
    pub(crate) number: BatchNumber,
    pub(crate) branch: String,
    pub(crate) pr_url: Option<String>,
    /// Its result, and the commit that it was woven onto.
    pub(crate) result: Option<(String, String)>,
}

/// The work of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierTask {
    /// The place of its batch among those.
    pub(crate) batch: usize,
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) commit: String,
    pub(crate) basis: Option<String>,
    /// Whether some chosen task needs it; while the batch is made.
    #[serde(skip)]
    pub(crate) is_needed: bool,
}

/// A batch whose work another one builds on, and that the base lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BuildsOn {
    /// Its number.
    #[schema(value_type = u32)]
    pub batch: BatchNumber,
    /// Its branch in the user's repository.
    pub branch: String,
    /// Its pull request, if it has one.
    pub pr_url: Option<String>,
    /// The tasks whose work it is.
    #[schema(value_type = Vec<String>)]
    pub tasks: Vec<TaskId>,
}

impl fmt::Display for BuildsOn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { batch, branch, .. } = self;
        write!(
            formatter,
            "batch {batch} ({branch}), which is not in the base yet: "
        )?;
        let ids: Vec<&str> = self.tasks.iter().map(TaskId::as_str).collect();
        formatter.write_str(&ids.join(", "))
    }
}

impl Earlier {
    /// The batches that did the work at some places.
    pub(crate) fn told(&self, places: &[usize]) -> Vec<BuildsOn> {
        let batches = self.batches.iter().enumerate();
        let told = batches.map(|(number, batch)| BuildsOn {
            batch: batch.number,
            branch: batch.branch.clone(),
            pr_url: batch.pr_url.clone(),
            tasks: places
                .iter()
                .map(|place| &self.tasks[*place])
                .filter(|task| task.batch == number)
                .map(|task| task.id.clone())
                .collect(),
        });
        told.filter(|told| !told.tasks.is_empty()).collect()
    }

    /// All of them.
    pub(crate) fn told_all(&self) -> Vec<BuildsOn> {
        let all: Vec<usize> = (0..self.tasks.len()).collect();
        self.told(&all)
    }
}
