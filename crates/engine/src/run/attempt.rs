//! One attempt of an agent on a task: worktree, agent, capture, and the worktree away again.
//!
//! Knows nothing of other tasks; runs on a thread of its own.

use std::ffi::OsString;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pleach_domain::batch::AttemptEnding;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::Commit;

use crate::agent::Agent;
use crate::capture::{
    CaptureOptions, Captured, History, Kept, capture, keep_captured, keep_last_state,
};
use crate::causes::with_causes;
use crate::git::{CommitId, RefsSnapshot, Store};
use crate::process::{self, Cancel, Ending, ProcessSpec};
use crate::worktree::{Worktree, WorktreeSpec};

/// What all attempts of a batch share.
#[derive(Debug)]
pub(super) struct Workshop {
    pub(super) store: Store,
    /// Where refs that no agent may move were when the batch began.
    pub(super) refs: RefsSnapshot,
    pub(super) agent: Arc<dyn Agent>,
    /// Where prompts and logs go.
    pub(super) folder: PathBuf,
    /// The number of the batch.
    pub(super) number: u32,
    pub(super) timeout: Duration,
    pub(super) grace: Duration,
    /// The plan's paths in the repository.
    pub(super) leave_out: Vec<PathBuf>,
    pub(super) cancel: Cancel,
}

/// What is to be tried.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) task: TaskId,
    pub(super) title: String,
    pub(super) segment: String,
    pub(super) path: PathBuf,
    pub(super) branch: String,
    pub(super) basis: CommitId,
    pub(super) prompt: String,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) task: TaskId,
    pub(super) ending: AttemptEnding,
    pub(super) files: Vec<String>,
    /// The last state of the worktree, where it was not taken as the task's work.
    pub(super) kept: Option<CommitId>,
    pub(super) notes: Vec<String>,
}

impl Workshop {
    /// Carries an attempt out; a bug in doing so is a failure of this task only.
    pub(super) fn carry_out_safely(&self, attempt: &Attempt) -> Finished {
        let mut finished = Finished {
            task: attempt.task.clone(),
            ending: AttemptEnding::Failed("Pleach has a bug: the attempt broke off".to_owned()),
            files: Vec::new(),
            kept: None,
            notes: Vec::new(),
        };
        let carried_out = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.carry_out(attempt, &mut finished)
        }));
        if let Ok(ending) = carried_out {
            finished.ending = ending.unwrap_or_else(AttemptEnding::Failed);
        }
        finished
    }

    fn carry_out(
        &self,
        attempt: &Attempt,
        finished: &mut Finished,
    ) -> Result<AttemptEnding, String> {
        let spec = WorktreeSpec {
            path: attempt.path.clone(),
            branch: attempt.branch.clone(),
            basis: attempt.basis.clone(),
        };
        let worktree = Worktree::create(&self.store, &spec)
            .map_err(|error| explain("its worktree could not be made", &error))?;
        let ran = self.run_agent(attempt, &worktree);
        let succeeded = matches!(ran, Ok(Ending::Exited(0)));
        let (taken, kept) = if succeeded {
            match self.take(attempt, &worktree, finished) {
                Ok((ending, kept)) => (Ok(ending), kept),
                Err(reason) => (Err(reason), None),
            }
        } else {
            (Err(String::new()), None)
        };
        let kept = kept.or_else(|| self.keep_last_state(attempt, &worktree, finished));
        if let Some(kept) = kept {
            if let Err(error) = worktree.remove(&self.store, &kept) {
                finished
                    .notes
                    .push(explain("its worktree could not be removed", &error));
            }
        } else {
            self.note_what_is_left(attempt, finished);
        }
        self.mend_what_is_shared(finished);
        match ran? {
            Ending::Exited(0) => taken,
            Ending::Exited(code) => Err(format!("the agent exited with {code}")),
            Ending::Signalled(signal) => Err(format!("the agent was ended by signal {signal}")),
            Ending::TimedOut => Ok(AttemptEnding::TimedOut),
            Ending::Cancelled => Ok(AttemptEnding::Stopped),
        }
    }

    fn run_agent(&self, attempt: &Attempt, worktree: &Worktree) -> Result<Ending, String> {
        let prompt_file = self
            .folder
            .join(format!("task-{}.prompt.md", attempt.segment));
        write_private(&prompt_file, &attempt.prompt)
            .map_err(|error| explain("its prompt could not be written", &error))?;
        let above = worktree.path().parent().unwrap_or(Path::new("/"));
        let said: [(&str, OsString); 4] = [
            ("PLEACH_TASK", attempt.task.as_str().into()),
            ("PLEACH_BATCH", self.number.to_string().into()),
            ("PLEACH_WORKTREE", worktree.path().into()),
            // A worktree that loses its `.git` must not be taken for part of a repository above it.
            ("GIT_CEILING_DIRECTORIES", above.into()),
        ];
        let spec = ProcessSpec {
            argv: self.agent.argv(&prompt_file),
            cwd: worktree.path().to_owned(),
            env: self.agent.environment(self.store.identity(), &said),
            stdin_file: Some(prompt_file),
            log: self.folder.join(format!("task-{}.log", attempt.segment)),
            timeout: self.timeout,
            grace: self.grace,
        };
        process::run(&spec, &self.cancel)
            .map_err(|error| explain("the agent could not be run", &error))
    }

    /// Makes the task's commit of what the agent did, and keeps it; proves so if that is all there is.
    fn take(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> Result<(AttemptEnding, Option<Kept>), String> {
        let options = CaptureOptions {
            message: format!("Task {}: {}\n", attempt.task, attempt.title),
            leave_out: self.leave_out.clone(),
        };
        let captured = capture(&self.store, worktree, &options)
            .map_err(|error| explain("its work could not be taken", &error))?;
        let kept = keep_captured(&self.store, worktree, &captured, &self.keep_name(attempt))
            .map_err(|error| explain("its work could not be kept", &error))?;
        let (ending, left_out) = match captured {
            Captured::Unchanged { left_out } => (AttemptEnding::Unchanged, left_out),
            Captured::Changed {
                commit,
                files,
                left_out,
                history,
                ..
            } => {
                finished.files = files;
                if history == History::Abandoned {
                    finished.notes.push(
                        "the agent left the history it was given; its files were taken as one commit, and its own \
                         commits are kept"
                            .to_owned(),
                    );
                }
                (AttemptEnding::Built(Commit(commit.to_string())), left_out)
            }
        };
        for path in left_out {
            finished.notes.push(format!(
                "the agent's change of {} is left out: it is the plan",
                path.display()
            ));
        }
        Ok((ending, kept))
    }

    /// Keeps whatever is in the worktree, and proves it, so that it may go then.
    fn keep_last_state(
        &self,
        attempt: &Attempt,
        worktree: &Worktree,
        finished: &mut Finished,
    ) -> Option<Kept> {
        match keep_last_state(&self.store, worktree, &self.keep_name(attempt)) {
            Ok(kept) => {
                finished.kept = kept.commit().cloned();
                Some(kept)
            }
            Err(error) => {
                let note = explain("its last state could not be kept", &error);
                finished.notes.push(note);
                None
            }
        }
    }

    /// Tells where the work is when the worktree could not be read.
    fn note_what_is_left(&self, attempt: &Attempt, finished: &mut Finished) {
        if attempt.path.exists() {
            let path = attempt.path.display();
            let note =
                format!("its worktree stays at {path}, because it could not be kept otherwise");
            finished.notes.push(note);
            return;
        }
        // What the agent committed before its folder went is on its branch.
        let committed = self
            .store
            .ref_commit(&format!("refs/heads/{}", attempt.branch));
        finished.kept = committed
            .ok()
            .flatten()
            .filter(|commit| *commit != attempt.basis);
    }

    /// Puts back what agents share; whichever agent changed it, the next one to end tells.
    fn mend_what_is_shared(&self, finished: &mut Finished) {
        match self.store.mend() {
            Ok(mended) => finished
                .notes
                .extend(mended.iter().map(ToString::to_string)),
            Err(error) => finished
                .notes
                .push(explain("what agents share could not be looked at", &error)),
        }
        match self.store.restore_refs(&self.refs) {
            Ok(moved) => finished.notes.extend(moved.iter().map(ToString::to_string)),
            Err(error) => finished.notes.push(explain(
                "the refs of the store could not be looked at",
                &error,
            )),
        }
    }

    fn keep_name(&self, attempt: &Attempt) -> String {
        format!("batch-{}/task-{}/attempt-1", self.number, attempt.segment)
    }
}

fn explain(what: &str, error: &dyn std::error::Error) -> String {
    format!("{what}: {}", with_causes(error))
}

fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())
}
