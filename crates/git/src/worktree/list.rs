//! Lists worktrees from what is noted about them, without running git in any of them.
//!
//! Changes nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::git_folder::{git_folders, left_commits};
use super::record::{self, WorktreeRecord, WorktreeStage};
use super::safe::is_safe;
use super::{Worktree, WorktreeError, is_present};
use crate::git::{CommitId, Store};

/// How the branches of worktrees begin in which people resolve conflicts.
pub const CONFLICT_BRANCHES: &str = "pleach/resolve-";

fn is_for_resolving(branch: &str) -> bool {
    branch.starts_with(CONFLICT_BRANCHES)
}

/// A worktree, or what is left of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    pub path: PathBuf,
    /// The branch that it was made for, if Pleach made it.
    pub branch: Option<String>,
    /// The commit that it is at, as its own git folder says.
    pub head: Option<CommitId>,
    /// The commit that it started from, if Pleach made it.
    pub basis: Option<CommitId>,
    pub state: TreeState,
    /// Whether nothing of an agent's makes git run a program there.
    pub is_safe: bool,
    pub age: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeState {
    /// Files and registration, and the process that made it is at work.
    InUse,
    /// Files and registration, and nobody at work: it may hold work that is kept nowhere else.
    Left,
    /// Files and registration, for a person who resolves a conflict there.
    Resolving,
    /// A process is making it, or was killed while doing so.
    HalfMade,
    /// A process is taking it away, or was killed while doing so; what was in it is kept.
    Going,
    /// Only the registration: somebody took the files away.
    FolderGone,
    /// Only the files: git does not know them any more.
    Unregistered,
}

impl Worktree {
    /// How long it has been there, as far as that is noted.
    pub fn age(&self, store: &Store) -> Option<Duration> {
        let made = record::written(store, &self.id())?;
        SystemTime::now().duration_since(made).ok()
    }
}

/// Everything that is or was a worktree of a store, by path.
pub fn list(store: &Store) -> Result<Vec<ListedWorktree>, WorktreeError> {
    let mut listed = Vec::new();
    for (id, record) in record::names(store)
        .into_iter()
        .filter_map(|id| WorktreeRecord::load(store, &id).map(|record| (id, record)))
    {
        let git_folder = git_folders(store).join(&id);
        listed.push(look(store, &id, record, &git_folder));
    }
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(listed)
}

fn look(store: &Store, id: &str, record: WorktreeRecord, git_folder: &Path) -> ListedWorktree {
    let state = match (record.stage, is_present(&record.path)) {
        (WorktreeStage::Making, _) => TreeState::HalfMade,
        (WorktreeStage::Going, _) => TreeState::Going,
        (WorktreeStage::Made, true) if is_present(git_folder) => match store.is_alive(&record.sign)
        {
            _ if is_for_resolving(&record.branch) => TreeState::Resolving,
            Ok(true) => TreeState::InUse,
            _ => TreeState::Left,
        },
        (WorktreeStage::Made, true) => TreeState::Unregistered,
        (WorktreeStage::Made, false) => TreeState::FolderGone,
    };
    let began = record::written(store, id);
    ListedWorktree {
        // Where people resolve conflicts, no agent was.
        is_safe: state == TreeState::Resolving || is_safe(store, id),
        path: record.path,
        branch: Some(record.branch),
        head: left_commits(git_folder).head,
        basis: Some(record.basis),
        state,
        age: began.and_then(|began| SystemTime::now().duration_since(began).ok()),
    }
}
