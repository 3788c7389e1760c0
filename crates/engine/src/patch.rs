//! What a batch or a task changed, as git shows it.
//!
//! Knows which commits to compare, not how the answer is shown.

use pleach_domain::batch::BatchTask;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, Ending, TaskState};
use pleach_git::git::{Call, GitError, OutputStart, StoreError};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::shell_words::quoted;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::stored_batch::{LookupError, StoredBatch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchExtent {
    /// Every changed line.
    Lines,
    /// Which files, and how much; in so many columns.
    Files(usize),
    /// The same for programs: lines added and removed, and the path, ended by a NUL.
    Numbers,
}

/// How to treat lines that differ only in white space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Whitespace {
    /// They count as changed.
    #[default]
    Show,
    /// They count as unchanged.
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchOptions {
    pub extent: PatchExtent,
    pub colour: Colour,
    pub whitespace: Whitespace,
}

/// A patch for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownPatch {
    /// The patch, cut off if it is too long.
    pub patch: String,
    /// Whether something was cut off.
    pub truncated: bool,
    /// The changed files, cut off if there are too many.
    pub files: Vec<ChangedFile>,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// The number of added lines; none for a binary file.
    pub added: Option<u64>,
    /// The number of removed lines.
    pub removed: Option<u64>,
}

/// The patch of a batch or of one of its tasks, with at most so many bytes of it.
pub fn shown_patch(
    state: &StateFolder,
    stored: &StoredBatch,
    task: Option<&TaskId>,
    whitespace: Whitespace,
    most: usize,
) -> Result<ShownPatch, PatchError> {
    let part = |extent, end| {
        let taste = PatchOptions {
            extent,
            colour: Colour::Never,
            whitespace,
        };
        let diff = diff(state, stored, task, taste)?;
        Ok::<_, PatchError>(without_rest(diff.beginning(most)?, end))
    };
    let (numbers, files_missing) = part(PatchExtent::Numbers, 0)?;
    let (text, lines_missing) = part(PatchExtent::Lines, b'\n')?;
    Ok(ShownPatch {
        patch: String::from_utf8_lossy(&text).into_owned(),
        truncated: files_missing || lines_missing,
        files: changed_files(&numbers),
    })
}

/// What git printed up to the last whole line, and whether there is more.
fn without_rest(beginning: OutputStart, end: u8) -> (Vec<u8>, bool) {
    let OutputStart { mut bytes, is_cut } = beginning;
    if is_cut {
        let last = bytes.iter().rposition(|byte| *byte == end);
        bytes.truncate(last.map_or(0, |last| last + 1));
    }
    (bytes, is_cut)
}

/// Reads what git counted; of a file that moved, its new place.
fn changed_files(numbers: &[u8]) -> Vec<ChangedFile> {
    let mut fields = numbers.split(|byte| *byte == 0);
    let mut files = Vec::new();
    while let Some(field) = fields.next() {
        let text = String::from_utf8_lossy(field);
        let mut parts = text.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let path = if path.is_empty() {
            // The place it left comes first.
            fields.next();
            let to = fields.next().unwrap_or_default();
            String::from_utf8_lossy(to).into_owned()
        } else {
            path.to_owned()
        };
        files.push(ChangedFile {
            path,
            added: added.parse().ok(),
            removed: removed.parse().ok(),
        });
    }
    files
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    Always,
    Never,
}

#[derive(Debug, thiserror::Error)]
pub enum PatchError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{what}")]
    Nothing { what: String, hint: String },
    #[error("the work of {what} no longer exists")]
    Gone { what: String },
}

pub fn patch(
    state: &StateFolder,
    stored: &StoredBatch,
    task: Option<&TaskId>,
    taste: PatchOptions,
) -> Result<Vec<u8>, PatchError> {
    Ok(diff(state, stored, task, taste)?.output()?)
}

fn diff(
    state: &StateFolder,
    stored: &StoredBatch,
    task: Option<&TaskId>,
    taste: PatchOptions,
) -> Result<Call, PatchError> {
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
    call = match taste.colour {
        Colour::Always => call.arg("--color=always"),
        Colour::Never => call.arg("--color=never"),
    };
    call = match taste.whitespace {
        Whitespace::Show => call,
        Whitespace::Ignore => call.arg("--ignore-all-space"),
    };
    call = match taste.extent {
        PatchExtent::Lines => call,
        PatchExtent::Files(width) => call.arg(format!("--stat={width}")),
        PatchExtent::Numbers => call.args(["--numstat", "-z"]),
    };
    Ok(call.args([&from.0, &to.0, "--"]))
}

fn batch_ends(stored: &StoredBatch) -> Result<(Commit, Commit, String), PatchError> {
    let batch = &stored.batch;
    let tip = batch.tip.clone();
    let tip = tip.or_else(|| batch.published.as_ref().map(|(_, tip)| tip.clone()));
    let what = format!("batch {}", stored.number);
    match tip {
        Some(tip) => Ok((Commit(stored.record.base.clone()), tip, what)),
        None => Err(PatchError::Nothing {
            what: format!("nothing of {what} is merged"),
            hint: format!(
                "`pleach diff {} TASK` shows the work of a task",
                stored.number
            ),
        }),
    }
}

fn task_ends(stored: &StoredBatch, task: &TaskId) -> Result<(Commit, Commit, String), PatchError> {
    let found = &stored.batch.tasks[stored.position(task)?];
    let what = format!("task {task}");
    if let (Some(basis), Some(commit)) = (&found.basis, work_of(found)) {
        return Ok((basis.clone(), commit.clone(), what));
    }
    let batch = stored.number;
    let state = found.state.as_str().replace('_', " ");
    let hint = match found.state {
        TaskState::Running { .. } | TaskState::Stopping { .. } => {
            let task = quoted(task.as_str());
            format!("`pleach logs {batch} {task} -f` shows its agent's output")
        }
        _ => format!("`pleach status {batch}` shows its state"),
    };
    let what = format!("{what} has no work yet: it is {state}");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_by_their_new_place_and_without_lines_where_there_are_none() {
        let numbers = b"3\t1\tsrc/a b.rs\0-\t-\tpicture.png\x000\t0\t\0old.rs\0new.rs\0";
        let files = changed_files(numbers).into_iter();
        let told: Vec<_> = files
            .map(|file| (file.path, file.added, file.removed))
            .collect();
        let expected = [
            ("src/a b.rs".to_owned(), Some(3), Some(1)),
            ("picture.png".to_owned(), None, None),
            ("new.rs".to_owned(), Some(0), Some(0)),
        ];
        assert_eq!(told, expected);
    }
}
