//! One run of the tests for a batch.
//!
//! Knows nothing of why that commit is judged.

use pleach_domain::id::TaskId;
use pleach_system::crash_point::{CrashPoint, crash_point};
use serde::{Deserialize, Serialize};

use super::AttemptContext;
use pleach_engine::validate::{RunEnding, TestBench, TestPlace, Tests};
use pleach_engine::worktree_programs::AttemptObserver;
use pleach_git::git::{CommitId, TreeId};
use pleach_git::worktree::WorktreeError;
use pleach_log::batch_paths::probe_folder;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Probe {
    /// Counted from 1 within the batch, in the order in which they begin; people see another number.
    pub(crate) number: u32,
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) commit: CommitId,
    pub(crate) tree: TreeId,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProbeEnded {
    pub(crate) number: u32,
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) tree: TreeId,
    pub(crate) ending: RunEnding,
    /// How long it took, in milliseconds.
    pub(crate) took: u64,
    pub(crate) notes: Vec<String>,
    /// The fence of the unit that it was, on a cluster.
    #[serde(skip)]
    pub(crate) fence: Option<String>,
}

impl ProbeEnded {
    pub(crate) fn new(probe: &Probe, ending: RunEnding) -> Self {
        Self {
            number: probe.number,
            tasks: probe.tasks.clone(),
            tree: probe.tree.clone(),
            ending,
            took: 0,
            notes: Vec::new(),
            fence: None,
        }
    }
}

impl AttemptContext {
    pub(crate) fn judge(&self, probe: &Probe, observer: &dyn AttemptObserver) -> ProbeEnded {
        let began = pleach_log::database::now();
        let bug = "bug in Pleach: the test run ended unexpectedly".to_owned();
        let mut ended = ProbeEnded::new(probe, RunEnding::Trouble(bug));
        // A bug in doing so is no verdict.
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let Some(tests) = self.tests() else {
                return RunEnding::Trouble("no test command is set".to_owned());
            };
            let place = self.test_place(probe.number);
            let bench = self.test_bench(&tests);
            bench.run(&probe.commit, &place, observer, &mut ended.notes)
        }));
        if let Ok(ending) = ran {
            ended.ending = ending;
        }
        ended.took = pleach_log::database::now().saturating_sub(began);
        crash_point(CrashPoint::TestsRun);
        ended
    }

    fn test_bench<'a>(&'a self, tests: &'a Tests) -> TestBench<'a> {
        let host = self.program_host();
        TestBench { host, tests }
    }

    pub(crate) fn test_place(&self, number: u32) -> TestPlace {
        TestPlace {
            tree: self.trees.join(format!("validate-{number}")),
            branch: format!("{}{number}", self.test_branches()),
            folder: probe_folder(&self.folder, number),
            said: [("PLEACH_BATCH", self.number.to_string().into())]
                .into_iter()
                .chain(self.said_node())
                .collect(),
        }
    }

    /// The start of the branches that runs have in the store.
    pub(crate) fn test_branches(&self) -> String {
        format!("pleach/validate-{}/", self.number)
    }

    /// Takes away what an earlier process left of a run.
    pub(crate) fn clear_run(&self, number: u32, commit: &CommitId) -> Result<(), WorktreeError> {
        let Some(tests) = self.tests() else {
            return Ok(());
        };
        let place = self.test_place(number);
        self.test_bench(&tests).clear(commit, &place)
    }
}
