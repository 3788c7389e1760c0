//! The steps of a batch that differ where its tasks work in the user's folder: where one starts, how its work is
//! taken in, and how the result is proved.
//!
//! Reads the folder; what the loop does otherwise is the same for all batches.

use std::path::PathBuf;

use pleach_domain::batch::{Proof, WeaveEnding};
use pleach_domain::bisect::Next;
use pleach_domain::event::Doubt;
use pleach_domain::task_state::Commit;

use crate::capture::state_of_folder;
use crate::git::CommitId;
use crate::process::Sweeps;
use crate::run::attempt::{Finished, From, Workshop};
use crate::run::run_loop::Loop;
use crate::run::{RunError, Told};
use crate::worktree::{Worktree, WorktreeError, WorktreeSpec};

/// Notes in the folder of a batch that the setup has run.
const SETUP_DONE: &str = "setup.done";

/// So many files are named, and more are counted.
const MOST_NAMED: usize = 3;

impl Workshop {
    /// The setup to run before an agent: in a folder that all tasks share, only until it has run once.
    pub(in crate::run) fn setup_to_run(&self) -> Option<&String> {
        let setup = self.record.setup.as_ref()?;
        let is_done = self.record.is_in_place() && self.folder.join(SETUP_DONE).exists();
        (!is_done).then_some(setup)
    }

    /// Notes that the setup has run.
    pub(in crate::run) fn note_setup(&self) {
        if self.record.is_in_place() {
            // One that is not noted runs again, which does no harm.
            let _ = std::fs::write(self.folder.join(SETUP_DONE), "");
        }
    }

    /// Finds the place where an attempt worked, as it was left.
    pub(in crate::run) fn find_tree(
        &self,
        spec: &WorktreeSpec,
    ) -> Result<Option<Worktree>, WorktreeError> {
        if !self.record.is_in_place() {
            return Worktree::existing(&self.store, spec);
        }
        let folder = &self.record.folder;
        let found = folder.is_dir().then(|| Worktree::create(&self.store, spec));
        found.transpose()
    }

    /// Which processes are an attempt's: in the user's own folder others are at work as well.
    pub(in crate::run) fn sweeps(&self) -> Sweeps {
        if self.record.is_in_place() {
            Sweeps::Marked
        } else {
            Sweeps::MarkedAndThere
        }
    }

    /// Tells which files were passed over because they are too large or closed.
    pub(in crate::run) fn note_what_is_not_kept(&self, finished: &mut Finished) {
        finished
            .notes
            .extend(not_kept(&self.store.oversized_news()));
    }
}

/// What is said of files that no capture takes.
fn not_kept(files: &[PathBuf]) -> Option<String> {
    let named: Vec<String> = files
        .iter()
        .take(MOST_NAMED)
        .map(|path| path.display().to_string())
        .collect();
    let more = files.len().saturating_sub(named.len());
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let named = named.join(", ");
    (!files.is_empty()).then(|| {
        format!("not kept, because larger than 100 MiB or not readable: {named}{more}; nothing happens to them")
    })
}

impl Loop<'_> {
    /// The folder as it is now; for another attempt at the task that was at work last, as it was before the first.
    pub(in crate::run) fn basis_in_place(&self, task: usize) -> Result<CommitId, RunError> {
        let state = &self.batch.tasks[task];
        if state.attempts > 0 && self.is_as_left(task) {
            let before = state.basis.as_ref();
            if let Some(before) = before.and_then(|basis| basis.0.parse().ok()) {
                return Ok(before);
            }
        }
        let message = "What changed between two tasks\n";
        Ok(state_of_folder(&self.workshop.store, &self.tip, message)?)
    }

    /// Whether nobody else was put to work where a task worked before: worktrees are each task's own.
    pub(in crate::run) fn is_as_left(&self, task: usize) -> bool {
        !self.workshop.record.is_in_place() || self.history.last_started == Some(task)
    }

    /// How a task begins whose basis was just looked for: in a folder that all share, what a limited agent did is
    /// still there.
    pub(in crate::run) fn afresh(&self, task: usize) -> From {
        if self.workshop.record.is_in_place() && self.batch.tasks[task].goes_on {
            From::Limited
        } else {
            From::Scratch
        }
    }

    /// Takes a task's work in: it stands on all that was there.
    pub(in crate::run) fn weave_in_place(
        &mut self,
        commit: &CommitId,
    ) -> Result<WeaveEnding, RunError> {
        self.move_batch_branch(commit)?;
        self.tip = commit.clone();
        Ok(WeaveEnding::Woven(Commit(commit.to_string())))
    }

    /// Tells which files are not kept, once.
    pub(in crate::run) fn tell_what_is_not_kept(&mut self) {
        if let Some(note) = not_kept(&self.workshop.store.oversized_news()) {
            (self.told)(Told::Note(note));
        }
    }

    /// Has the tests run in the folder; red twice, and nobody is looked for, for nothing can be left out there.
    pub(in crate::run) fn prove_in_place(&mut self) -> Result<bool, RunError> {
        let Proof::Searching(searching) = &self.batch.proof else {
            return Ok(false);
        };
        let whole = searching.search.kept().to_vec();
        let under_way = vec![whole.clone(); self.probes.len()];
        match searching.search.next(1, &under_way) {
            Next::Proved => self.take_proof(&whole),
            Next::Run(sets) if sets.is_empty() && !under_way.is_empty() => Ok(false),
            Next::Run(sets) if sets.first() == Some(&whole) => {
                // Whatever is in the folder by now is what they run on.
                let message = "What changed before the tests\n";
                self.tip = state_of_folder(&self.workshop.store, &self.tip, message)?;
                self.probe(whole)
            }
            Next::Run(_) | Next::BaseRed => {
                let because = "the tests fail on what is in the folder; nothing is undone";
                Ok(self.doubt(Doubt::Red, because.to_owned()))
            }
        }
    }
}
