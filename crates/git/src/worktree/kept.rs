//! Proof that nothing in a worktree is lost with it.

use std::path::{Path, PathBuf};

use pleach_system::text::neutral_text::neutral;

use super::heads::AgentHeads;
use super::{CaptureError, Worktree};
use crate::git::{CommitId, Store};

/// Proof that everything in a worktree is kept, so that it may go.
#[derive(Debug)]
pub struct KeptProof {
    path: PathBuf,
    commit: Option<CommitId>,
    /// How many branches of the agent's own git folder could not be read.
    unread: usize,
}

impl KeptProof {
    pub(crate) fn keep(
        store: &Store,
        worktree: &Worktree,
        (commit, unread): (Option<CommitId>, usize),
        name: &str,
    ) -> Result<KeptProof, CaptureError> {
        if let Some(commit) = &commit {
            store.keep(commit, name)?;
        }
        let path = worktree.path().to_owned();
        Ok(Self {
            path,
            commit,
            unread,
        })
    }

    /// Keeps what was committed in a worktree whose files are gone.
    pub(crate) fn keep_commits(
        store: &Store,
        worktree: &Worktree,
        name: &str,
    ) -> Result<Self, CaptureError> {
        let heads = AgentHeads::import(store, worktree)?;
        heads.keep_others(store, worktree)?;
        let commit = heads.head.map(|(head, _)| head);
        Self::keep(store, worktree, (commit, heads.unread), name)
    }

    /// The commit that holds the last state, unless that is the basis.
    pub fn commit(&self) -> Option<&CommitId> {
        self.commit.as_ref()
    }

    pub fn into_commit(self) -> Option<CommitId> {
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

/// What the commit of a last state says, by the name that it is kept under: two of them are never the same commit.
pub(crate) fn unfinished(name: &str) -> String {
    let named = name.strip_prefix("batch-").and_then(|name| {
        let (task, which) = name.split_once("/task-")?.1.rsplit_once('/')?;
        Some((task, which.replace('-', " ")))
    });
    match named {
        Some((task, which)) => format!("Task {}, {which} (unfinished)\n", neutral(task)),
        None => "Unfinished work\n".to_owned(),
    }
}

/// Whether that is what the commit of a last state says.
pub(super) fn is_unfinished(message: &str) -> bool {
    let mut lines = message.trim_end().lines();
    let first = lines.next().unwrap_or_default();
    let is_alone = lines.next().is_none();
    is_alone && (first.ends_with(" (unfinished)") || first == "Unfinished work")
}
