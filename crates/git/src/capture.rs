//! Turns whatever an agent left in its worktree into one commit.
//!
//! Reads the agent's files and where its head is, and runs nothing that it configured.

mod agent_index;
mod ignored;
mod in_place;
mod large;
mod live;
mod live_bundle;
mod overlay;
mod staging;
mod walk;

use std::path::{Path, PathBuf};

use pleach_system::crash_point::{CrashPoint, crash_point};

use crate::git::{CommitId, GitError, Store, TreeId, nul_separated, parse_id};
use crate::weave;
use crate::worktree::{
    AgentHeads, AgentHistory, CaptureError, KeptProof, Worktree, WorktreeError, unfinished,
};

pub use in_place::{check_out_into, state_of_folder, tree_of_folder};
pub(crate) use live::{LiveSnapshot, look};
pub use live_bundle::LiveBundles;
pub(crate) use staging::TemporaryObjects;

use staging::{Staged, Staging};

#[derive(Debug, Clone)]
pub struct CaptureOptions {
    pub message: String,
    /// Paths in the worktree whose changes are not part of the work.
    pub leave_out: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Captured {
    /// The files are those of the basis.
    Unchanged {
        left_out: Vec<PathBuf>,
        /// How many branches of the agent's own git folder could not be read.
        unread: usize,
    },
    Changed {
        /// The commit that holds it, on top of the basis.
        commit: CommitId,
        /// The paths that differ from the basis.
        files: Vec<String>,
        left_out: Vec<PathBuf>,
        agent_commits: usize,
        history: AgentHistory,
        /// How many branches of the agent's own git folder could not be read.
        unread: usize,
    },
}

/// Captures the work of an agent that has ended, and moves the task's branch to it.
pub fn capture(
    store: &Store,
    worktree: &Worktree,
    options: &CaptureOptions,
) -> Result<Captured, CaptureError> {
    let basis = worktree.basis();
    let heads = AgentHeads::import(store, worktree)?;
    heads.keep_others(store, worktree)?;
    let AgentHeads {
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
            history = AgentHistory::Abandoned;
        }
    }
    let (start, start_tree) = start;
    let staging = Staging::begin(store, worktree, &options.leave_out)?;
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
    crash_point(CrashPoint::CommitMade);
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

#[derive(Debug)]
pub struct CapturedFiles {
    pub tree: TreeId,
    /// The paths that differ from the basis.
    pub changed: Vec<String>,
    pub left_out: Vec<PathBuf>,
}

/// Reads the files of a worktree as [`capture`] would, and moves no branch.
pub fn read_files(
    store: &Store,
    worktree: &Worktree,
    leave_out: &[PathBuf],
) -> Result<CapturedFiles, CaptureError> {
    let AgentHeads {
        head, basis_tree, ..
    } = AgentHeads::import(store, worktree)?;
    let start = head.unwrap_or_else(|| (worktree.basis().clone(), basis_tree.clone()));
    let staged = Staging::begin(store, worktree, leave_out)?;
    let staged = staged.stage((&start.0, &start.1), &basis_tree)?;
    let Staged { tree, left_out, .. } = staged.whole()?;
    Ok(CapturedFiles {
        changed: weave::changed_files(store, &basis_tree, &tree)?,
        tree,
        left_out,
    })
}

/// Makes a commit of the last state of a worktree, whatever it is; `None` if it is the basis.
pub fn snapshot(store: &Store, worktree: &Worktree) -> Result<Option<CommitId>, CaptureError> {
    let heads = AgentHeads::import(store, worktree)?;
    heads.keep_others(store, worktree)?;
    snapshot_at(store, worktree, heads, "Snapshot\n")
}

fn snapshot_at(
    store: &Store,
    worktree: &Worktree,
    heads: AgentHeads,
    message: &str,
) -> Result<Option<CommitId>, CaptureError> {
    let basis = worktree.basis();
    let AgentHeads {
        head, basis_tree, ..
    } = heads;
    let (head, head_tree) = head.unwrap_or_else(|| (basis.clone(), basis_tree.clone()));
    let tree = Staging::begin(store, worktree, &[])?
        .stage((&head, &head_tree), &basis_tree)?
        .tree;
    if tree != head_tree {
        let commit = store.commit_tree(&tree, &[&head], message, None)?;
        return Ok(Some(commit));
    }
    Ok((head != *basis).then_some(head))
}

/// Keeps the last state of a worktree under `refs/pleach/keep/`.
pub fn keep_last_state(
    store: &Store,
    worktree: &Worktree,
    name: &str,
) -> Result<KeptProof, CaptureError> {
    if worktree.path().symlink_metadata().is_err() {
        return KeptProof::keep_commits(store, worktree, name);
    }
    let heads = AgentHeads::import(store, worktree)?;
    heads.keep_others(store, worktree)?;
    let unread = heads.unread;
    let commit = snapshot_at(store, worktree, heads, &unfinished(name))?;
    let commit = commit.map(|commit| same_as_kept(store, commit, name));
    KeptProof::keep(store, worktree, (commit.transpose()?, unread), name)
}

impl Worktree {
    /// Keeps the last state under `refs/pleach/keep/` and removes the worktree then.
    ///
    /// Returns the commit that holds it, unless it is the basis.
    pub fn retire(self, store: &Store, keep_as: &str) -> Result<Option<CommitId>, WorktreeError> {
        let kept = keep_last_state(store, &self, keep_as)?;
        self.remove(store, &kept)?;
        Ok(kept.into_commit())
    }
}

/// A worktree that nobody touched since is kept once, however often that is asked for.
pub fn same_as_kept(store: &Store, commit: CommitId, name: &str) -> Result<CommitId, CaptureError> {
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
) -> Result<Option<KeptProof>, CaptureError> {
    let (commit, left_out, history, unread) = match captured {
        Captured::Unchanged { left_out, unread } => {
            (None, left_out, AgentHistory::Continued, *unread)
        }
        Captured::Changed {
            commit,
            left_out,
            history,
            unread,
            ..
        } => (Some(commit.clone()), left_out, *history, *unread),
    };
    let kept = KeptProof::keep(store, worktree, (commit, unread), name)?;
    let is_whole = left_out.is_empty() && history == AgentHistory::Continued && unread == 0;
    Ok(is_whole.then_some(kept))
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
