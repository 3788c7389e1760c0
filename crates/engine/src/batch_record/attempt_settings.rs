//! What an attempt on a task, or a run of the tests, needs to know of its batch.
//!
//! Stored as part of the batch's record, with the same names as ever.

use std::time::Duration;

use pleach_system::files::stored_path::StoredPath;
use pleach_system::sandbox::SandboxPolicy;
use serde::{Deserialize, Serialize};

use crate::agent::ChosenAgent;
use crate::cluster::UnitSize;
use crate::config::{Settings, USUAL_LIMIT_WAIT};

/// How the tasks of a batch are tried, and how its result is tested.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttemptSettings {
    pub agent: ChosenAgent,
    pub timeout: Duration,
    pub stall: Duration,
    #[serde(default = "usual_limit_wait")]
    pub limit_wait: Duration,
    /// How long an agent may take to stop.
    pub grace: Duration,
    /// A command that is run once in each worktree.
    pub setup: Option<String>,
    /// The paths that come along when a worktree is used again.
    #[serde(default)]
    pub cache: Vec<String>,
    /// The plan's paths in the repository, whose changes by agents are no part of their work.
    pub leave_out: Vec<StoredPath>,
    #[serde(default)]
    pub validate: Option<String>,
    #[serde(default)]
    pub validate_timeout: Duration,
    /// Names of variables that it gets besides the usual ones.
    #[serde(default)]
    pub validate_env: Vec<String>,
    #[serde(default)]
    pub sandbox: SandboxPolicy,
}

/// For batches that were made before there was a limit to it.
fn usual_limit_wait() -> Duration {
    USUAL_LIMIT_WAIT
}

impl AttemptSettings {
    /// The same for units of a size, which may have a time limit of its own.
    #[must_use]
    pub fn for_size(&self, size: &UnitSize) -> Self {
        Self {
            timeout: size.time.unwrap_or(self.timeout),
            ..self.clone()
        }
    }

    /// How long a unit may take; the setup may take as long as what comes after it.
    pub fn unit_time(&self) -> Duration {
        self.timeout.max(self.validate_timeout) * 2 + self.grace
    }

    /// As settings say it, with the sandbox that is usual.
    pub fn of(settings: &Settings, agent: ChosenAgent, grace: Duration) -> Self {
        Self {
            agent,
            timeout: settings.task_timeout,
            stall: settings.stall_timeout,
            limit_wait: settings.limit_wait,
            grace,
            setup: settings.setup.clone(),
            cache: settings.cache.clone(),
            leave_out: Vec::new(),
            validate: settings.validate.clone(),
            validate_timeout: settings.validate_timeout,
            validate_env: settings.validate_env.clone(),
            sandbox: SandboxPolicy::default(),
        }
    }

    /// The names of variables that programs get besides the usual ones.
    pub fn passed_on(&self) -> Vec<String> {
        let mut names = self.agent.passed_on();
        names.extend(self.validate_env.iter().cloned());
        names
    }
}
