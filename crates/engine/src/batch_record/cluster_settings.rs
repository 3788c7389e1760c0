//! The cluster that a batch is given to.
//!
//! Stored as part of the batch's record.

use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::choice::SecretDelivery;
use serde::{Deserialize, Serialize};

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
}
