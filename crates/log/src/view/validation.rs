//! What the tests say of a batch, on every surface.

use pleach_domain::batch::{Batch, LandingResult, Proof};
use pleach_domain::bisect::TestResult;
use pleach_domain::event::UnprovedReason;
use serde::Serialize;
use utoipa::ToSchema;

use pleach_system::text::moment::rfc3339;

/// The test results of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationView {
    /// The test command, if one is set.
    pub command: Option<String>,
    pub verdict: Verdict,
    /// The tree on which the tests passed.
    pub tree: Option<String>,
    /// When the tests ran on it, if that was in an earlier batch.
    pub proved_at: Option<String>,
    /// Why the result is not proved.
    pub reason: Option<String>,
    /// Whether the tests fail on the base alone.
    pub base_red: bool,
    pub runs: Vec<RunView>,
    /// Trees on which the tests both failed and passed.
    pub flaky: Vec<String>,
    /// Why the result did not land, if it did not.
    pub not_landed: Option<String>,
}

/// The verdict on the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    NotConfigured,
    Unknown,
    Running,
    Proved,
    BaseRed,
    Red,
    Trouble,
}

/// A test run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Its number; none if the verdict was already known.
    pub number: Option<u32>,
    /// The number of its log.
    #[serde(skip)]
    pub log: Option<u32>,
    /// When the tests ran, if the verdict was already known.
    pub proved_at: Option<String>,
    /// The number of tasks in the tested result.
    pub tasks: usize,
    pub tree: String,
    #[schema(value_type = RunWord)]
    pub run: TestResult,
}

/// The result of a test run.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum RunWord {
    Green,
    Red,
}

impl ValidationView {
    pub(super) fn of(batch: &Batch, command: Option<String>) -> Self {
        let (verdict, tree, reason) = match &batch.proof {
            _ if command.is_none() => (Verdict::NotConfigured, None, None),
            Proof::Unknown => (Verdict::Unknown, None, None),
            Proof::Searching(_) if batch.status.is_over() => (Verdict::Unknown, None, None),
            Proof::Searching(_) => (Verdict::Running, None, None),
            Proof::Proved { tree } => (Verdict::Proved, Some(tree.clone()), None),
            Proof::Unproved { doubt, because } => {
                let verdict = match doubt {
                    UnprovedReason::BaseRed => Verdict::BaseRed,
                    UnprovedReason::Red => Verdict::Red,
                    UnprovedReason::Trouble => Verdict::Trouble,
                };
                (verdict, None, Some(because.clone()))
            }
        };
        let runs = batch.test_runs.iter().map(|run| RunView {
            number: run.number,
            log: run.log,
            proved_at: run.proved_at.map(rfc3339),
            tasks: run.tasks,
            tree: run.tree.clone(),
            run: run.run,
        });
        Self {
            command,
            verdict,
            tree,
            proved_at: batch.proved_earlier().map(rfc3339),
            reason,
            base_red: batch.is_base_red(),
            runs: runs.collect(),
            flaky: batch.flaky_trees().into_iter().map(str::to_owned).collect(),
            not_landed: match &batch.landed {
                Some(LandingResult::NotLanded { because, .. }) => Some(because.clone()),
                _ => batch
                    .landing_refused()
                    .map(|because| format!("not proved: {because}")),
            },
        }
    }
}
