//! What a batch or a task changed, as git shows it.
//!
//! Knows which commits to compare, not how the answer is shown.

use pleach_domain::batch::BatchTask;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, Ending, TaskState};

use crate::git::{GitError, StoreError};
use crate::state_folder::StateFolder;
use crate::stored_batch::{LookupError, StoredBatch};

/// How much is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every changed line.
    Lines,
    /// Which files, and how much; in so many columns.
    Files(usize),
}

/// Whether it is for eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Colours.
    Always,
    /// None.
    Never,
}

/// Why there is no patch.
#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    /// What was named is not there.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The repository cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There is nothing to compare.
    #[error("{what}")]
    Nothing {
        /// Why.
        what: String,
        /// What to do instead.
        hint: String,
    },
    /// What it left was removed.
    #[error("the work of {what} is not there any more")]
    Gone {
        /// Whose.
        what: String,
    },
}

/// The patch of a batch, or of one of its tasks.
pub fn patch(
    state: &StateFolder,
    stored: &StoredBatch,
    task: Option<&TaskId>,
    extent: Extent,
    colour: Colour,
) -> Result<Vec<u8>, PatchError> {
    let (from, to, what) = match task {
        None => batch_ends(stored)?,
        Some(task) => task_ends(stored, task)?,
    };
    let gone = || PatchError::Gone { what: what.clone() };
    let store = stored.store(state)?.ok_or_else(gone)?;
    let names = [&from, &to].map(|end| format!("{}^{{commit}}", end.0));
    if store.look_up(&names)?.contains(&None) {
        return Err(gone());
    }
    let mut call = store
        .call()
        .args(["diff", "--no-ext-diff", "--no-textconv"]);
    call = match colour {
        Colour::Always => call.arg("--color=always"),
        Colour::Never => call.arg("--color=never"),
    };
    if let Extent::Files(width) = extent {
        call = call.arg(format!("--stat={width}"));
    }
    Ok(call.args([&from.0, &to.0, "--"]).output()?)
}

fn batch_ends(stored: &StoredBatch) -> Result<(Commit, Commit, String), PatchError> {
    let batch = &stored.batch;
    let tip = batch.tip.clone();
    let tip = tip.or_else(|| batch.published.as_ref().map(|(_, tip)| tip.clone()));
    let what = format!("batch {}", stored.id);
    match tip {
        Some(tip) => Ok((Commit(stored.record.base.clone()), tip, what)),
        None => Err(PatchError::Nothing {
            what: format!("nothing of {what} is merged"),
            hint: format!("`pleach diff {} TASK` shows what a task did", stored.id),
        }),
    }
}

fn task_ends(stored: &StoredBatch, task: &TaskId) -> Result<(Commit, Commit, String), PatchError> {
    let found = &stored.batch.tasks[stored.position(task)?];
    let what = format!("task {task}");
    if let (Some(basis), Some(commit)) = (&found.basis, work_of(found)) {
        return Ok((basis.clone(), commit.clone(), what));
    }
    let batch = stored.id;
    let state = found.state.as_str().replace('_', " ");
    let hint = match found.state {
        TaskState::Running { .. } | TaskState::Stopping { .. } => {
            format!("`pleach logs {batch} {task} -f` shows what its agent says")
        }
        _ => format!("`pleach status {batch}` shows how far it is"),
    };
    let what = format!("there is no work of {what}: it is {state}");
    Err(PatchError::Nothing { what, hint })
}

/// The commit that holds what a task did, or the last state of its last attempt.
fn work_of(task: &BatchTask) -> Option<&Commit> {
    match &task.state {
        TaskState::Built { commit }
        | TaskState::Ended(Ending::Merged { commit } | Ending::Conflicted { commit, .. }) => {
            Some(commit)
        }
        _ => task.kept.as_ref(),
    }
}
