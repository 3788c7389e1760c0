//! What a node is to do, and what came of it.
//!
//! Holds no secret.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::id::BatchNumber;
use pleach_engine::batch_record::AttemptSettings;
use pleach_engine::doctor::{DoctorCheck, NodeNeeds};
use pleach_git::git::{CommitId, LentProject};
use pleach_system::files::stored_path::StoredPath;
use serde::{Deserialize, Serialize};

use super::PROTOCOL;
use super::sealed::{seal, unseal};
use crate::attempt::{Attempt, Finished, Probe, ProbeEnded};
use crate::unit_secrets::SecretsRoute;

/// The orders of a submission: what holds for all units, and each of them.
#[derive(Debug)]
pub(crate) struct Orders {
    pub(crate) head: OrdersHead,
    pub(crate) units: Vec<UnitOrder>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OrdersHead {
    pub(crate) protocol: u32,
    /// Our program, which is needed as long as these orders are there.
    pub(crate) program: StoredPath,
    pub(crate) batch: BatchNumber,
    /// How the project is called in paths.
    pub(crate) project_name: String,
    pub(crate) project: LentProject,
    pub(crate) settings: AttemptSettings,
    /// Variables that hold no secret.
    pub(crate) env: Vec<(String, String)>,
    /// How each unit comes by what is not to stand here.
    pub(crate) secrets: SecretsRoute,
    /// The folder on the node's own disk, which may name a variable of the node.
    #[serde(with = "pleach_system::files::stored_path")]
    pub(crate) scratch: PathBuf,
    pub(crate) pace: NodePace,
    /// What programs on a node may neither write to nor read, such as the user's own checkout.
    pub(crate) closed: Vec<StoredPath>,
    /// A machine whose own disk has less room left does nothing.
    pub(crate) min_free_disk: u64,
}

/// How often a node says and hears something.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct NodePace {
    pub(crate) beat: Duration,
    /// How long it may be out of reach before it ends what it runs.
    pub(crate) lease: Duration,
    /// How often it looks what an agent has made so far.
    pub(crate) snapshot: Duration,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UnitOrder {
    /// Counted from 1.
    pub(crate) unit: u32,
    /// What tells this sending of it from any other.
    pub(crate) fence: String,
    pub(crate) work: NodeWork,
}

/// What a node does: a unit of a batch, or a look at itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum NodeWork {
    Unit(UnitWork),
    Look {
        look: Box<NodeNeeds>,
        /// The names of variables that are sent to it.
        variables: Vec<String>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnitWork {
    Attempt(Box<Attempt>),
    Probe(Box<Probe>),
}

impl UnitWork {
    /// What it begins with.
    pub(crate) fn commits(&self) -> impl Iterator<Item = &CommitId> {
        let (first, kept) = match self {
            Self::Attempt(attempt) => (&attempt.basis, attempt.kept.as_ref()),
            Self::Probe(probe) => (&probe.commit, None),
        };
        std::iter::once(first).chain(kept)
    }
}

impl Orders {
    pub(super) fn text(&self) -> io::Result<String> {
        let mut lines = serde_json::to_string(&self.head)?;
        for unit in &self.units {
            lines.push('\n');
            lines.push_str(&serde_json::to_string(unit)?);
        }
        Ok(seal(&lines))
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = unseal(text)?.lines();
        let head: OrdersHead = serde_json::from_str(lines.next()?).ok()?;
        if head.protocol != PROTOCOL {
            return None;
        }
        let units: Result<Vec<UnitOrder>, _> = lines.map(serde_json::from_str).collect();
        let units = units.ok()?;
        Some(Self { head, units })
    }
}

/// What came of a unit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnitResult {
    pub(crate) fence: String,
    pub(crate) node: String,
    pub(crate) ended: UnitEnding,
    /// Whether a bundle with what it kept lies beside it.
    pub(crate) has_bundle: bool,
    /// Whether its machine was taken from it; why, the queue knows.
    pub(crate) was_evicted: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnitEnding {
    Finished(Box<Finished>),
    Judged(Box<ProbeEnded>),
    /// What a look at the node found.
    Looked(Vec<DoctorCheck>),
    /// This machine cannot do it, for this reason, and nothing of it was begun.
    Unfit(String),
}
