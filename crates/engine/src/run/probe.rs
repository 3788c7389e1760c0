//! One run of the tests for a batch, on a thread of its own.
//!
//! Knows nothing of why that commit is judged.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use pleach_domain::id::TaskId;

use super::Heard;
use super::attempt::{Launched, Line, Workshop};
use crate::database::Whose;
use crate::git::{CommitId, TreeId};
use crate::process::ProcessIdentity;
use crate::step::{Step, reached};
use crate::validate::{RunEnding, TestBench, TestPlace};
use crate::worktree::WorktreeError;

/// What is to be judged.
#[derive(Debug)]
pub(super) struct Probe {
    /// Counted from 1 within the batch, in the order in which they begin; people see another number.
    pub(super) number: u32,
    pub(super) tasks: Vec<TaskId>,
    pub(super) commit: CommitId,
    pub(super) tree: TreeId,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct ProbeEnded {
    pub(super) number: u32,
    pub(super) tasks: Vec<TaskId>,
    pub(super) tree: TreeId,
    pub(super) ending: RunEnding,
    /// How long it took, in milliseconds.
    pub(super) took: u64,
    pub(super) notes: Vec<String>,
}

impl ProbeEnded {
    /// The end of a run that the system had no thread for.
    pub(super) fn never_began(probe: &Probe) -> impl FnOnce(&std::io::Error) -> Self + use<> {
        let (number, tasks, tree) = (probe.number, probe.tasks.clone(), probe.tree.clone());
        move |error| Self {
            number,
            tasks,
            tree,
            ending: RunEnding::Trouble(format!("there is no room for it: {error}")),
            took: 0,
            notes: Vec::new(),
        }
    }
}

/// The folder of what a run said, within that of the batch, by the number of its log.
pub fn probe_folder(batch: &Path, log: u32) -> PathBuf {
    batch.join("validation").join(format!("run-{log}"))
}

/// The highest number of a log that there is.
pub fn last_probe_log(batch: &Path) -> Option<u32> {
    let folders = std::fs::read_dir(batch.join("validation")).ok()?;
    let numbers = folders.flatten().filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("run-")?.parse().ok()
    });
    numbers.max()
}

impl Workshop {
    /// Judges a commit and tells the loop.
    pub(super) fn judge(&self, probe: Probe, line: &Line) {
        let began = crate::database::now();
        let mut notes = Vec::new();
        let note = |process: &ProcessIdentity| note_probe(probe.number, process, line);
        // A bug in doing so is no verdict.
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let Some(bench) = self.test_bench() else {
                return RunEnding::Trouble("no test command is set".to_owned());
            };
            let place = self.test_place(probe.number);
            bench.run(&probe.commit, &place, &line.cancel, &note, &mut notes)
        }));
        let bug = |_| RunEnding::Trouble("Pleach has a bug: the run broke off".to_owned());
        let ended = ProbeEnded {
            number: probe.number,
            ending: ran.unwrap_or_else(bug),
            tasks: probe.tasks,
            tree: probe.tree,
            took: crate::database::now().saturating_sub(began),
            notes,
        };
        reached(Step::TestsRun);
        // Nobody listens only when the loop failed.
        let _ = line.loop_.send(Heard::Judged(Box::new(ended)));
    }

    fn test_bench(&self) -> Option<TestBench<'_>> {
        Some(TestBench {
            store: &self.store,
            state: &self.state,
            included: &self.included,
            wrapper: &self.wrapper,
            tests: self.tests.as_ref()?,
            hide: &self.secrets,
            grace: self.record.grace,
        })
    }

    /// Where a run takes place.
    pub(super) fn test_place(&self, number: u32) -> TestPlace {
        TestPlace {
            tree: self.trees().join(format!("validate-{number}")),
            branch: format!("{}{number}", self.test_branches()),
            folder: probe_folder(&self.folder, number),
            said: vec![("PLEACH_BATCH", self.number.to_string().into())],
        }
    }

    /// The start of the branches that runs have in the store.
    pub(super) fn test_branches(&self) -> String {
        format!("pleach/validate-{}/", self.number)
    }

    /// Takes away what an earlier process left of a run.
    pub(super) fn clear_run(&self, number: u32, commit: &CommitId) -> Result<(), WorktreeError> {
        match self.test_bench() {
            Some(bench) => bench.clear(commit, &self.test_place(number)),
            None => Ok(()),
        }
    }
}

/// The wrapper counts only once it is noted: whoever comes after us must be able to end it.
fn note_probe(number: u32, process: &ProcessIdentity, line: &Line) -> bool {
    let (go, gone_ahead) = channel();
    let launched = Launched {
        whose: Whose::Probe(number),
        process: process.clone(),
        go,
    };
    let _ = line.loop_.send(Heard::Launched(Box::new(launched)));
    gone_ahead.recv().is_ok()
}
