//! A person resolves a conflict: a worktree with the conflict in it, and what is made of it.
//!
//! Works in the store and moves nothing of the batch; weaving the result is the loop's duty.

mod conflict_worktree;
mod error;
mod marks;
mod note;

use std::path::PathBuf;

use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Ending, TaskState};
use pleach_git::capture::{CapturedFiles, read_files, same_as_kept};
use pleach_git::git::{CommitId, Store, TreeId, os_str};
use pleach_git::weave::{
    ConflictKind, Content, MarkedMerge, MarkedSide, WeaveFolder, merge_with_marks,
};
use pleach_git::worktree::{StoppedMerge, Worktree};
use pleach_log::database::Database;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::neutral_text::neutral;

use crate::stored_batch::StoredBatch;

pub use conflict_worktree::ConflictWorktree;
pub use error::{LeftMarker, ResolveError};
use note::{NotedFile, ResolutionNote};

const MOST_NAMED: usize = 10;

#[derive(Debug)]
pub struct Resolution<'a> {
    state: &'a StateFolder,
    stored: StoredBatch,
    store: Store,
    task: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedConflict {
    pub path: PathBuf,
    /// The files that do not merge, and in which way; none, if everything merges by now.
    pub files: Vec<(PathBuf, ConflictKind)>,
    pub begun: ResolutionStart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolutionStart {
    Now,
    /// Before; the folder is as it was left.
    Before,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedConflict {
    pub commit: CommitId,
    pub basis: CommitId,
    pub files: Vec<String>,
    /// The changed paths that are no part of it.
    pub left_out: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClearedResolution {
    pub path: PathBuf,
    /// The commit that keeps its last state, if there was something to keep.
    pub kept: Option<CommitId>,
}

impl<'a> Resolution<'a> {
    pub fn find(state: &'a StateFolder, batch: u32, task: &TaskId) -> Result<Self, ResolveError> {
        let database = Database::open(state)?;
        let stored = StoredBatch::load(&database, batch)?;
        let task = stored.position(task)?;
        let (store, batch) = (stored.store(state)?, stored.number);
        Ok(Self {
            state,
            store: store.ok_or(ResolveError::NoStore { batch })?,
            stored,
            task,
        })
    }

    /// Lays the conflict out in a folder, or finds the one where it is.
    pub fn start(&self) -> Result<OpenedConflict, ResolveError> {
        let commit = self.conflicted()?;
        let conflict_worktree = self.conflict_worktree();
        let _lock = conflict_worktree.lock()?;
        if let Some((worktree, note)) = conflict_worktree.open()? {
            self.check_is_same(&worktree, &note, &commit)?;
            return Ok(started(&worktree, note, ResolutionStart::Before));
        }
        // Nobody was told of what is left of a beginning.
        conflict_worktree.clear_away()?;
        let marked = self.merge(&commit)?;
        let worktree = Worktree::create(&self.store, &conflict_worktree.spec(self.tip()?))?;
        let laid_out = self.lay_out(&worktree, &marked, &commit);
        match laid_out {
            Ok(note) => Ok(started(&worktree, note, ResolutionStart::Now)),
            Err(error) => {
                // The first error counts.
                let _ = conflict_worktree.clear_away();
                Err(error)
            }
        }
    }

    /// Makes one commit of what is in the folder, which stays.
    pub fn finish(&self) -> Result<ResolvedConflict, ResolveError> {
        let commit = self.conflicted()?;
        let conflict_worktree = self.conflict_worktree();
        let _lock = conflict_worktree.lock()?;
        let (worktree, note) = conflict_worktree.open()?.ok_or_else(|| self.not_begun())?;
        self.check_is_same(&worktree, &note, &commit)?;
        let leave_out = self.stored.record.attempts.leave_out.iter();
        let leave_out: Vec<PathBuf> = leave_out.map(|path| path.0.clone()).collect();
        let files = read_files(&self.store, &worktree, &leave_out)?;
        self.check_is_resolved(&worktree, &note, &files.tree)?;
        let CapturedFiles {
            tree,
            changed,
            left_out,
        } = files;
        let path = worktree.path().to_owned();
        if changed.is_empty() {
            return Err(ResolveError::Nothing { path });
        }
        let basis = worktree.basis().clone();
        let message = self.message(note.files.iter().map(|file| file.path.clone()));
        let commit = self.store.commit_tree(&tree, &[&basis], &message, None)?;
        let commit = same_as_kept(&self.store, commit, &conflict_worktree.keep_name())?;
        self.store.keep(&commit, &conflict_worktree.keep_name())?;
        Ok(ResolvedConflict {
            commit,
            basis,
            files: changed,
            left_out,
        })
    }

    /// Leaves the task out: what is in the folder is kept, and the folder goes.
    pub fn abort(&self) -> Result<ClearedResolution, ResolveError> {
        let cleared = self.conflict_worktree().clear()?;
        if self.stored.batch.status.is_over() {
            // Not empty while there is another worktree.
            let _ = std::fs::remove_dir(self.conflict_worktree().trees);
        }
        cleared.ok_or_else(|| self.not_begun())
    }

    /// The commit of the task, if it does not merge.
    fn conflicted(&self) -> Result<CommitId, ResolveError> {
        let task = &self.stored.batch.tasks[self.task];
        let found = match &task.state {
            TaskState::Ended(Ending::Conflicted { commit, .. }) => commit.0.parse().ok(),
            _ => None,
        };
        found.ok_or_else(|| ResolveError::NotConflicted {
            batch: self.stored.number,
            task: task.design.id.clone(),
            state: task.state.as_str(),
            begun: self.conflict_worktree().folder().map(|(path, _)| path),
        })
    }

    /// A task that was tried again has another conflict, if any.
    fn check_is_same(
        &self,
        worktree: &Worktree,
        note: &ResolutionNote,
        commit: &CommitId,
    ) -> Result<(), ResolveError> {
        if note.commit == commit.as_str() {
            return Ok(());
        }
        Err(ResolveError::Outdated {
            batch: self.stored.number,
            task: self.id().clone(),
            path: worktree.path().to_owned(),
        })
    }

    /// What the task did, merged into what is woven, as far as it goes.
    fn merge(&self, commit: &CommitId) -> Result<MarkedMerge, ResolveError> {
        let tip = self.tip()?;
        let record = &self.stored.record;
        let title = &record.tasks[self.task].title;
        let (ours, theirs) = (
            record.branches.batch(self.stored.number),
            { &record.branches }.task(self.stored.number, &self.segment(), title),
        );
        let basis = self.merge_base().and_then(|basis| basis.parse().ok());
        let basis: CommitId = basis.ok_or(ResolveError::Unreadable {
            batch: self.stored.number,
        })?;
        let marked = merge_with_marks(
            &WeaveFolder::of_store(&self.store)?,
            &basis,
            MarkedSide {
                name: &ours,
                commit: &tip,
            },
            MarkedSide {
                name: &theirs,
                commit,
            },
        )?;
        Ok(marked)
    }

    fn lay_out(
        &self,
        worktree: &Worktree,
        marked: &MarkedMerge,
        commit: &CommitId,
    ) -> Result<ResolutionNote, ResolveError> {
        let paths = marked.files.iter().map(|file| os_str(&file.path).into());
        let merge = StoppedMerge {
            marked,
            theirs: commit,
            message: &self.message(paths),
        };
        worktree.stop_at_conflict(&self.store, &merge)?;
        let ours = self.stored.record.branches.batch(self.stored.number);
        let files = marked.files.iter();
        let files = files.map(|file| NotedFile::of(&self.store, file, &ours));
        let note = ResolutionNote {
            commit: commit.to_string(),
            files: files.collect::<Result<_, _>>()?,
        };
        self.conflict_worktree().save_note(&note)?;
        Ok(note)
    }

    /// Fails if marks are left, or if nobody decided about a file.
    fn check_is_resolved(
        &self,
        worktree: &Worktree,
        note: &ResolutionNote,
        tree: &TreeId,
    ) -> Result<(), ResolveError> {
        use std::os::unix::ffi::OsStrExt as _;
        let paths = note
            .files
            .iter()
            .map(|file| file.path.as_os_str().as_bytes());
        let paths: Vec<&[u8]> = paths.collect();
        let entries = self.store.entries_at(tree, &paths)?;
        let unmerged = worktree.unmerged_paths(&self.store)?;
        let (mut left, mut undecided) = (Vec::new(), Vec::new());
        for (file, path) in note.files.iter().zip(paths) {
            let entry = entries.iter().find(|entry| entry.path == path);
            let now = entry.map(|entry| Content {
                mode: entry.mode.clone(),
                id: entry.id.clone(),
            });
            let before = left.len();
            if let Some(content) = now.as_ref().filter(|now| now.mode.starts_with("100")) {
                let text = self.store.read_blob(&content.id)?;
                let marks = marks::marks(&text, file.size);
                let marks = marks.filter(|(_, mark)| {
                    let mark = String::from_utf8_lossy(mark);
                    !file.meant.contains(mark.as_ref())
                });
                left.extend(marks.map(|(line, _)| LeftMarker {
                    path: file.path.clone(),
                    line,
                }));
            }
            let is_staged = match &unmerged {
                Some(unmerged) => !unmerged.contains(path),
                None => !worktree.is_merging(),
            };
            let is_untouched = now.is_some() && now == file.marked && !is_staged;
            if is_untouched && left.len() == before {
                undecided.push(file.path.clone());
            }
        }
        if left.is_empty() && undecided.is_empty() {
            return Ok(());
        }
        Err(ResolveError::Unfinished {
            path: worktree.path().to_owned(),
            marks: left,
            undecided,
        })
    }

    /// Where the work began that is not in what is woven; work of earlier batches that only this task builds on is part
    /// of it.
    fn merge_base(&self) -> Option<&str> {
        let (batch, task) = (&self.stored.batch, &self.stored.batch.tasks[self.task]);
        let there = batch.earlier_of(&batch.woven);
        let is_there = |place: &usize| there.contains(place);
        if task.design.earlier.iter().all(is_there) {
            return task.basis.as_ref().map(|basis| basis.0.as_str());
        }
        let base = batch.base.as_ref().map(|base| base.0.as_str());
        Some(base.unwrap_or(&self.stored.record.base))
    }

    fn tip(&self) -> Result<CommitId, ResolveError> {
        let batch = self.stored.number;
        let tip = self.stored.batch.tip.as_ref().map(|tip| tip.0.as_str());
        let base = self.stored.batch.base.as_ref().map(|base| base.0.as_str());
        let tip = tip.or(base).unwrap_or(&self.stored.record.base);
        tip.parse().map_err(|_| ResolveError::Unreadable { batch })
    }

    fn message(&self, paths: impl ExactSizeIterator<Item = PathBuf>) -> String {
        let task = &self.stored.record.tasks[self.task];
        let more = paths.len().saturating_sub(MOST_NAMED);
        let mut files: Vec<String> = paths
            .take(MOST_NAMED)
            .map(|path| path.display().to_string().replace(char::is_control, "?"))
            .collect();
        if more > 0 {
            files.push(format!("and {more} more"));
        }
        format!(
            "Task {}: {}\n\nResolved by hand: {}\n",
            task.id,
            neutral(&task.title),
            neutral(&files.join(", "))
        )
    }

    fn id(&self) -> &TaskId {
        &self.stored.batch.tasks[self.task].design.id
    }

    fn conflict_worktree(&self) -> ConflictWorktree<'_> {
        self.stored
            .conflict_worktree(self.state, &self.store, self.task)
    }

    fn segment(&self) -> String {
        self.stored.segment(self.task)
    }

    fn not_begun(&self) -> ResolveError {
        ResolveError::NotBegun {
            batch: self.stored.number,
            task: self.id().clone(),
        }
    }
}

fn started(worktree: &Worktree, note: ResolutionNote, begun: ResolutionStart) -> OpenedConflict {
    let files = note.files.into_iter();
    OpenedConflict {
        path: worktree.path().to_owned(),
        files: files.map(|file| (file.path, file.kind)).collect(),
        begun,
    }
}
