//! What became of a batch.
//!
//! Facts only; how they are printed is the terminal's business.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pleach_domain::batch::{BatchStatus, LandingResult, Proof, Spent};
use pleach_domain::id::{BatchNumber, TaskId};
use pleach_domain::task_state::Ending;
use pleach_git::git::CommitId;
use pleach_log::earlier::BuildsOn;

use crate::plan_to_run::{PlanOrigin, TaskHome};

#[derive(Debug)]
pub struct Summary {
    pub number: BatchNumber,
    pub id: u32,
    /// The plan that its tasks are of, where they do not say otherwise.
    pub plan: PlanOrigin,
    pub status: BatchStatus,
    pub base: CommitId,
    pub tip: CommitId,
    /// Whether these are of a result that was proved before the base moved, and what is woven now is not proved.
    pub is_of_lost_proof: bool,
    /// The branch in the user's repository, if anything was woven.
    pub branch: Option<String>,
    pub ticked: Vec<TickedTask>,
    pub tasks: Vec<TaskReport>,
    pub test_command: Option<String>,
    pub proof: Proof,
    pub test_runs: usize,
    /// When they ran on what is proved, where that was before, in milliseconds since 1970.
    pub proved_earlier: Option<u64>,
    /// How many trees they both failed and passed on.
    pub flaky: usize,
    pub pushed: Option<String>,
    pub landed: Option<LandingResult>,
    pub landed_in: Option<String>,
    pub landing_was_stopped: bool,
    pub pr_url: Option<String>,
    pub time: Duration,
    /// The folder that its tasks worked in, if that is the user's own.
    pub folder: Option<PathBuf>,
    /// The batches that it builds on and that are not in the base.
    pub builds_on: Vec<BuildsOn>,
}

impl Summary {
    /// Its tasks of the plan in that file, by their ids there.
    pub fn keys_of(&self, file: &Path) -> impl Iterator<Item = &TaskId> {
        let of_file = move |plan: &PlanOrigin| plan.path() == Some(file);
        self.tasks.iter().filter_map(move |task| match &task.home {
            Some(home) => of_file(&home.plan).then_some(&home.key),
            None => of_file(&self.plan).then_some(&task.id),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TickedTask {
    pub file: PathBuf,
    pub task: TaskId,
    pub line: u32,
}

#[derive(Debug)]
pub struct TaskReport {
    pub id: TaskId,
    pub home: Option<TaskHome>,
    pub task_id: String,
    pub title: String,
    /// How it ended; every task of an ended batch has.
    pub ending: Option<Ending>,
    pub time: Option<Duration>,
    pub attempts: u32,
    pub spent: Spent,
    pub files: Vec<String>,
    /// The branch in the user's repository that holds its work, if it was left out.
    pub branch: Option<String>,
}
