//! The sign of life of a node, in one block of a fixed length that is written over in place.

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};

use super::sealed::{seal, unseal};

/// Small enough that a write is seen as a whole nearly always; the checksum tells the rest.
const LENGTH: usize = 512;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodePhase {
    /// It is claimed, and waits for what only its owner can say.
    Hearing,
    /// It is claimed, and nothing was done.
    Claimed,
    /// It is under way.
    Working,
    /// The result is there.
    Done,
}

/// How long each log is, by its role.
pub(crate) type LogLengths = BTreeMap<String, u64>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    /// It grows with each beat.
    pub(crate) beat: u64,
    pub(crate) fence: String,
    pub(crate) phase: NodePhase,
    pub(crate) node: String,
    /// What the cluster calls it, where its owner has to know that.
    #[serde(default)]
    pub(crate) job: Option<String>,
    pub(crate) logs: LogLengths,
    /// The number of the last snapshot that is there, if there is one.
    #[serde(default)]
    pub(crate) live: u32,
}

impl Heartbeat {
    pub(super) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = seal(&serde_json::to_string(self)?).into_bytes();
        if line.len() > LENGTH {
            return Err(io::ErrorKind::InvalidData.into());
        }
        line.resize(LENGTH, b' ');
        Ok(line)
    }

    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        serde_json::from_str(unseal(line)?).ok()
    }
}
