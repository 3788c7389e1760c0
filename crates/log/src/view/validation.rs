//! What the tests say of a batch, on every surface.

use pleach_domain::batch::{Batch, LandingResult, Proof};
use pleach_domain::bisect::TestResult;
use pleach_domain::event::UnprovedReason;
use serde::Serialize;
use utoipa::ToSchema;

use pleach_system::text::moment::rfc3339;

/// What the tests say of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationView {
    /// The command; none where none is set.
    pub command: Option<String>,
    pub verdict: Verdict,
    /// The tree that is proved.
    pub tree: Option<String>,
    /// When the tests ran on it, where that was in an earlier batch.
    pub proved_at: Option<String>,
    /// Why there is no proof.
    pub reason: Option<String>,
    /// Whether the tests fail on the base alone.
    pub base_red: bool,
    pub runs: Vec<RunView>,
    /// The trees that the tests both failed and passed on.
    pub flaky: Vec<String>,
    /// Why the result did not land, where it did not.
    pub not_landed: Option<String>,
}

/// What is known of the result.
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

/// A run of the tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// Its number; none where the verdict was remembered.
    pub number: Option<u32>,
    /// The number of its log.
    #[serde(skip)]
    pub log: Option<u32>,
    /// When the tests ran whose verdict was remembered.
    pub proved_at: Option<String>,
    /// How many tasks were woven then.
    pub tasks: usize,
    pub tree: String,
    #[schema(value_type = RunWord)]
    pub run: TestResult,
}

/// How a run of the tests ended.
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
