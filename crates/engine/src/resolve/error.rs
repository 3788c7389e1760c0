//! Why a conflict cannot be resolved now.

use std::path::PathBuf;

use pleach_domain::id::{BatchNumber, TaskId};
use pleach_git::git::{GitError, StoreError};
use pleach_git::weave::WeaveError;
use pleach_git::worktree::CaptureError;
use pleach_git::worktree::WorktreeError;
use pleach_log::database::DatabaseError;
use pleach_system::text::shell_words::quoted;

use crate::stored_batch::LookupError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftMarker {
    pub path: PathBuf,
    /// Its line, counted from 1.
    pub line: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error("task {task} of batch {batch} has no conflict: it is {}", state.replace('_', " "))]
    NotConflicted {
        batch: BatchNumber,
        task: TaskId,
        state: &'static str,
        /// The folder of a resolution that was begun when it had one.
        begun: Option<PathBuf>,
    },
    #[error("task {task} of batch {batch} is not being resolved")]
    NotBegun { batch: BatchNumber, task: TaskId },
    /// The task was tried again since.
    #[error("the conflict of task {task} of batch {batch} has changed since {} was created", path.display())]
    Outdated {
        batch: BatchNumber,
        task: TaskId,
        path: PathBuf,
    },
    #[error("{}", unfinished(marks, undecided))]
    Unfinished {
        path: PathBuf,
        marks: Vec<LeftMarker>,
        undecided: Vec<PathBuf>,
    },
    /// The files are those of the batch.
    #[error("nothing in {} differs from what is already woven", path.display())]
    Nothing { path: PathBuf },
    #[error("the work of batch {batch} no longer exists")]
    NoStore { batch: BatchNumber },
    #[error("could not read the record of batch {batch}")]
    Unreadable { batch: BatchNumber },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Weave(Box<WeaveError>),
    #[error(transparent)]
    Worktree(Box<WorktreeError>),
    #[error(transparent)]
    Capture(Box<CaptureError>),
}

impl From<DatabaseError> for ResolveError {
    fn from(error: DatabaseError) -> Self {
        Self::Lookup(error.into())
    }
}

impl From<WeaveError> for ResolveError {
    fn from(error: WeaveError) -> Self {
        Self::Weave(Box::new(error))
    }
}

impl From<WorktreeError> for ResolveError {
    fn from(error: WorktreeError) -> Self {
        Self::Worktree(Box::new(error))
    }
}

impl From<CaptureError> for ResolveError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(Box::new(error))
    }
}

fn unfinished(marks: &[LeftMarker], undecided: &[PathBuf]) -> String {
    let mut parts = Vec::new();
    if !marks.is_empty() {
        let places = marks
            .iter()
            .map(|mark| format!("{}:{}", mark.path.display(), mark.line));
        parts.push(format!("unresolved conflict markers in {}", list(places)));
    }
    if !undecided.is_empty() {
        let files = undecided.iter().map(|file| file.display().to_string());
        parts.push(format!("not resolved: {}", list(files)));
    }
    parts.join("; ")
}

/// More would fill the screen.
const MOST_TOLD: usize = 10;

fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MOST_TOLD);
    let told: Vec<String> = items.take(MOST_TOLD).collect();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", told.join(", "))
}

impl ResolveError {
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotConflicted { .. } => "not_conflicted",
            Self::NotBegun { .. } => "not_begun",
            Self::Outdated { .. } => "other_conflict",
            Self::Unfinished { .. } => "unresolved",
            Self::Nothing { .. } => "nothing_resolved",
            _ => "resolve",
        }
    }

    /// What to do about it, for a batch and a task as commands name them.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Lookup(error) => return error.hint(),
            Self::NotConflicted {
                batch,
                task,
                begun: Some(path),
                ..
            } => format!(
                "`pleach resolve {batch} {} --abort` keeps the files of {} and removes it",
                quoted(task.as_str()),
                path.display()
            ),
            Self::NotConflicted { batch, .. } => {
                format!("`pleach status {batch}` shows which tasks conflict")
            }
            Self::NotBegun { batch, task } => {
                let task = quoted(task.as_str());
                format!("`pleach resolve {batch} {task}` creates a worktree with the conflict")
            }
            Self::Outdated { batch, task, .. } => format!(
                "`pleach resolve {batch} {} --abort` saves the work and removes the worktree; then start again",
                quoted(task.as_str())
            ),
            Self::Unfinished {
                marks, undecided, ..
            } if marks.is_empty() => match undecided.first() {
                Some(file) => format!(
                    "in that worktree, `git add {0}` keeps the file as it is, `git rm {0}` removes it",
                    quoted(&file.to_string_lossy())
                ),
                None => return None,
            },
            Self::Unfinished { path, .. } => {
                format!("resolve the conflict markers in {}", path.display())
            }
            Self::Nothing { .. } => "`--abort` leaves the task out".to_owned(),
            _ => return None,
        })
    }
}
