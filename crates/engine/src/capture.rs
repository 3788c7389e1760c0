//! Turns whatever an agent left in its worktree into one commit.
//!
//! Reads the agent's files and where its head is, and runs nothing that it configured.

mod chosen;
mod heads;
mod ignored;
mod in_place;
mod index;
mod large;
mod live;
mod overlay;
mod staging;
mod walk;

use std::io;
use std::path::{Path, PathBuf};

use crate::git::{CommitId, GitError, Store, StoreError, TreeId, nul_separated, parse_id};
use crate::neutral_text::neutral;
use crate::step::{Step, reached};
use crate::weave::{self, WeaveError};
use crate::worktree::Worktree;

pub(crate) use heads::committed;
pub(crate) use in_place::{check_out_into, state_of_folder, tree_of_folder};
pub(crate) use live::{Seen, look};
pub(crate) use staging::Aside;

use heads::Heads;
pub(crate) use index::{GITLINK, Index, Likeness};
use staging::{Staged, Staging};
pub(crate) use walk::{Lookup, among};

/// Why the work could not be captured; the worktree is as it was.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The folder with the work is gone, or is no folder any more.
    #[error("could not capture the work: {} is not a folder any more", path.display())]
    Gone {
        /// Where the worktree was.
        path: PathBuf,
    },
    /// Files could not be read.
    #[error("could not read {}", path.display())]
    Io {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something is in the place of a file that git has no room for.
    #[error("could not capture the work: {} is a pipe, a socket or a device now", path.display())]
    Special {
        /// Where the file was.
        path: PathBuf,
    },
    /// Git refuses a name, because some system would take it for its own folder.
    #[error("could not capture the work: git takes no file named {}", path.display())]
    Name {
        /// The file.
        path: PathBuf,
    },
    /// A file that Git LFS keeps was changed.
    #[error(
        "could not capture the work: {} belongs to Git LFS, and its content cannot be stored",
        path.display()
    )]
    LargeFile {
        /// The file.
        path: PathBuf,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Objects could not be read.
    #[error(transparent)]
    Objects(Box<WeaveError>),
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<WeaveError> for CaptureError {
    fn from(error: WeaveError) -> Self {
        Self::Objects(Box::new(error))
    }
}

/// How a task's work is to be captured.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// The message of the commit, where one has to be made.
    pub message: String,
    /// Paths in the worktree whose changes are not part of the work.
    pub leave_out: Vec<PathBuf>,
}

/// What an agent left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// The files are those of the basis.
    Unchanged {
        /// The changed paths that were left out.
        left_out: Vec<PathBuf>,
        /// How many branches of the agent's own git folder could not be read.
        unread: usize,
    },
    /// There is work.
    Changed {
        /// The commit that holds it, on top of the basis.
        commit: CommitId,
        /// The paths that differ from the basis.
        files: Vec<String>,
        /// The changed paths that were left out.
        left_out: Vec<PathBuf>,
        /// How many commits the agent made itself.
        agent_commits: usize,
        /// What became of the history that the task started from.
        history: History,
        /// How many branches of the agent's own git folder could not be read.
        unread: usize,
    },
}

/// Whether an agent worked on top of what it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// It did.
    Continued,
    /// It left or rewrote it; its files were taken as they are and its own commits are kept.
    Abandoned,
    /// It made commits that are damaged; its files were taken as they are.
    Damaged,
}

/// Captures the work of an agent that has ended, and moves the task's branch to it.
pub fn capture(
    store: &Store,
    worktree: &Worktree,
    options: &CaptureOptions,
) -> Result<Captured, CaptureError> {
    let basis = worktree.basis();
    let heads = Heads::of(store, worktree)?;
    heads.keep_others(store, worktree)?;
    let Heads {
        head,
        basis_tree,
        branch,
        mut history,
        unread,
        ..
    } = heads;
    let mut start = (basis.clone(), basis_tree.clone());
    let mut agent_commits = 0;
    if let Some(head) = head {
        let (lost, made) = store.count_apart(basis, &head.0)?;
        if lost == 0 {
            (start, agent_commits) = (head, made);
        } else {
            // A history that was rewritten is not taken over, and not lost either.
            store.keep(&head.0, worktree.branch())?;
            history = History::Abandoned;
        }
    }
    let (start, start_tree) = start;
    let staging = Staging::of(store, worktree, &options.leave_out)?;
    let staged = staging.stage((&start, &start_tree), &basis_tree)?;
    let Staged { tree, left_out, .. } = staged.whole()?;
    if tree == basis_tree {
        return Ok(Captured::Unchanged { left_out, unread });
    }
    let captured = captured_before(store, branch.as_ref(), &start, &tree)?;
    let commit = match captured {
        _ if tree == start_tree => start,
        Some(commit) => commit,
        None => store.commit_tree(&tree, &[&start], &options.message, None)?,
    };
    reached(Step::CommitMade);
    move_branch(store, worktree, branch.as_ref(), &commit)?;
    Ok(Captured::Changed {
        files: weave::changed_files(store, &basis_tree, &tree)?,
        commit,
        left_out,
        agent_commits,
        history,
        unread,
    })
}

/// The commit that an earlier capture of the same files made, whose process may have died since.
fn captured_before(
    store: &Store,
    branch: Option<&CommitId>,
    start: &CommitId,
    tree: &TreeId,
) -> Result<Option<CommitId>, GitError> {
    let Some(branch) = branch.filter(|branch| *branch != start) else {
        return Ok(None);
    };
    let found = store.look_up(&[format!("{branch}^"), format!("{branch}^{{tree}}")])?;
    let is_same = found == [Some(start.to_string()), Some(tree.to_string())];
    Ok(is_same.then(|| branch.clone()))
}

/// The files of a worktree, as one tree.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) tree: TreeId,
    /// The paths that differ from the basis.
    pub(crate) changed: Vec<String>,
    /// The changed paths that were left out.
    pub(crate) left_out: Vec<PathBuf>,
}

/// Reads the files of a worktree as [`capture`] would, and moves no branch.
pub(crate) fn read_files(
    store: &Store,
    worktree: &Worktree,
    leave_out: &[PathBuf],
) -> Result<Files, CaptureError> {
    let Heads {
        head, basis_tree, ..
    } = Heads::of(store, worktree)?;
    let start = head.unwrap_or_else(|| (worktree.basis().clone(), basis_tree.clone()));
    let staged = Staging::of(store, worktree, leave_out)?;
    let staged = staged.stage((&start.0, &start.1), &basis_tree)?;
    let Staged { tree, left_out, .. } = staged.whole()?;
    Ok(Files {
        changed: weave::changed_files(store, &basis_tree, &tree)?,
        tree,
        left_out,
    })
}

/// Makes a commit of the last state of a worktree, whatever it is; `None` if it is the basis.
pub fn snapshot(store: &Store, worktree: &Worktree) -> Result<Option<CommitId>, CaptureError> {
    let heads = Heads::of(store, worktree)?;
    heads.keep_others(store, worktree)?;
    snapshot_at(store, worktree, heads, "Snapshot\n")
}

fn snapshot_at(
    store: &Store,
    worktree: &Worktree,
    heads: Heads,
    message: &str,
) -> Result<Option<CommitId>, CaptureError> {
    let basis = worktree.basis();
    let Heads {
        head, basis_tree, ..
    } = heads;
    let (head, head_tree) = head.unwrap_or_else(|| (basis.clone(), basis_tree.clone()));
    let tree = Staging::of(store, worktree, &[])?
        .stage((&head, &head_tree), &basis_tree)?
        .tree;
    if tree != head_tree {
        let commit = store.commit_tree(&tree, &[&head], message, None)?;
        return Ok(Some(commit));
    }
    Ok((head != *basis).then_some(head))
}

/// Proof that everything in a worktree is kept, so that it may go.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    commit: Option<CommitId>,
    /// How many branches of the agent's own git folder could not be read.
    unread: usize,
}

impl Kept {
    /// The commit that holds the last state, unless that is the basis.
    pub fn commit(&self) -> Option<&CommitId> {
        self.commit.as_ref()
    }

    pub(crate) fn into_commit(self) -> Option<CommitId> {
        self.commit
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the agent's own git folder holds nothing either that is not kept.
    pub(crate) fn has_all_commits(&self) -> bool {
        self.unread == 0
    }
}

/// Keeps the last state of a worktree under `refs/pleach/keep/`.
pub fn keep_last_state(
    store: &Store,
    worktree: &Worktree,
    name: &str,
) -> Result<Kept, CaptureError> {
    let heads = Heads::of(store, worktree)?;
    heads.keep_others(store, worktree)?;
    let unread = heads.unread;
    let is_there = worktree.path().symlink_metadata().is_ok();
    let commit = if is_there {
        let commit = snapshot_at(store, worktree, heads, &unfinished(name))?;
        commit
            .map(|commit| same_as_kept(store, commit, name))
            .transpose()?
    } else {
        // Where it was is all that is left of it.
        heads.head.map(|(head, _)| head)
    };
    keep(store, worktree, (commit, unread), name)
}

/// What the commit of a last state says, by the name that it is kept under: two of them are never the same commit.
fn unfinished(name: &str) -> String {
    let named = name.strip_prefix("batch-").and_then(|name| {
        let (task, which) = name.split_once("/task-")?.1.rsplit_once('/')?;
        Some((task, which.replace('-', " ")))
    });
    match named {
        Some((task, which)) => format!("Task {}, {which} (unfinished)\n", neutral(task)),
        None => "Unfinished work\n".to_owned(),
    }
}

/// A worktree that nobody touched since is kept once, however often that is asked for.
pub(crate) fn same_as_kept(
    store: &Store,
    commit: CommitId,
    name: &str,
) -> Result<CommitId, CaptureError> {
    let name = format!("refs/pleach/keep/{name}");
    let facts = "--format=%(tree) %(parent)%00%(objectname)%00";
    let numbered = format!("{name}-*");
    let list = ["for-each-ref", facts, &name, &numbered];
    let printed = store.call().args(list).output()?;
    let show = ["log", "-1", "--format=%T %P", commit.as_str()];
    let ours = store.call().args(show).output()?;
    let mut fields = nul_separated(&printed).map(<[u8]>::trim_ascii);
    while let (Some(theirs), Some(there)) = (fields.next(), fields.next()) {
        if theirs == ours.trim_ascii() {
            return Ok(parse_id("for-each-ref", there)?);
        }
    }
    Ok(commit)
}

/// Keeps what was captured; `None` if there is more in the worktree than that.
pub fn keep_captured(
    store: &Store,
    worktree: &Worktree,
    captured: &Captured,
    name: &str,
) -> Result<Option<Kept>, CaptureError> {
    let (commit, left_out, history, unread) = match captured {
        Captured::Unchanged { left_out, unread } => (None, left_out, History::Continued, *unread),
        Captured::Changed {
            commit,
            left_out,
            history,
            unread,
            ..
        } => (Some(commit.clone()), left_out, *history, *unread),
    };
    let kept = keep(store, worktree, (commit, unread), name)?;
    let is_whole = left_out.is_empty() && history == History::Continued && unread == 0;
    Ok(is_whole.then_some(kept))
}

fn keep(
    store: &Store,
    worktree: &Worktree,
    (commit, unread): (Option<CommitId>, usize),
    name: &str,
) -> Result<Kept, CaptureError> {
    if let Some(commit) = &commit {
        store.keep(commit, name)?;
    }
    let path = worktree.path().to_owned();
    Ok(Kept {
        path,
        commit,
        unread,
    })
}

fn move_branch(
    store: &Store,
    worktree: &Worktree,
    seen: Option<&CommitId>,
    commit: &CommitId,
) -> Result<(), CaptureError> {
    if seen == Some(commit) {
        return Ok(());
    }
    if let Some(seen) = seen
        && seen != worktree.basis()
        && !store.is_ancestor(seen, commit)?
    {
        store.keep(seen, worktree.branch())?;
    }
    store.clear_lock_of(&worktree.branch_ref())?;
    Ok(store.swap_ref(&worktree.branch_ref(), commit, seen)?)
}

/// Whether it can be read without waiting for anybody, as a pipe could not.
fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}
