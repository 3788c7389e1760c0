//! What happened to a batch, in the past tense.
//!
//! Only the loop that owns a batch makes events; everybody else reads them.

mod batch_event;
mod task_event;

use serde::{Deserialize, Serialize};

pub use batch_event::BatchEvent;
pub use task_event::TaskEvent;

use crate::id::TaskId;

/// Why an attempt or a task ended, where its event does not say it.
pub const INTERRUPTED: &str = "the batch was interrupted";
pub const CHANGED_NOTHING: &str = "changed nothing and gave no reason";
pub const TOOK_TOO_LONG: &str = "timed out (task_timeout)";
pub const DOES_NOT_MERGE: &str = "does not merge cleanly";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Event {
    Task {
        task: TaskId,
        #[serde(flatten)]
        event: TaskEvent,
    },
    Batch(BatchEvent),
}

/// What becomes of the batch branch when a batch is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rollback {
    /// It stays with what was woven.
    Keep,
    /// It goes.
    Remove,
}

/// How the weaving of a stage went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum MergeStatus {
    /// What was built is woven.
    Success,
    /// Something was left out.
    Conflicts,
    /// The woven result failed its tests.
    TestFailed,
    /// There was nothing to weave.
    Skipped,
}

/// Two tasks whose work would not merge as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PredictedConflict {
    /// The one that comes first in the batch.
    pub a: TaskId,
    pub b: TaskId,
    pub files: Vec<String>,
}

/// Why a woven result is not proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnprovedReason {
    /// The tests fail without any of the tasks.
    BaseRed,
    /// The tests fail, and nobody shall look for the guilty.
    Red,
    /// The tests could not be run to an end.
    Trouble,
}
