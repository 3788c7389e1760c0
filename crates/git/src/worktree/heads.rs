//! Where an agent started and what it committed, brought into the store.
//!
//! Asks no git of the agent's, and knows nothing of its files.

use std::collections::HashSet;

use pleach_system::files::plain_file;

use super::{CaptureError, LeftCommits, Worktree};
use crate::git::{CommitId, GitError, Store, TreeId};
use crate::weave;

/// A ref is a line.
const LONGEST_REF: u64 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentHistory {
    Continued,
    /// It left or rewrote it; its files were taken as they are and its own commits are kept.
    Abandoned,
    /// It made commits that are damaged; its files were taken as they are.
    Damaged,
}

pub struct AgentHeads {
    /// The commit that the worktree is at and its tree, if it is not at the basis.
    pub(crate) head: Option<(CommitId, TreeId)>,
    pub(crate) basis_tree: TreeId,
    /// The commit that the task's branch is at in the store, where only captures move it.
    pub(crate) branch: Option<CommitId>,
    /// Whether the commits that the worktree is at were taken.
    pub(crate) history: AgentHistory,
    /// How many commits that branches or the stash were at the store did not take.
    pub(crate) unread: usize,
    /// What else the agent committed, on other branches or as a stash.
    others: Vec<CommitId>,
}

impl AgentHeads {
    /// Brings what the agent committed into the store, checked, without asking the agent's git.
    pub(crate) fn import(store: &Store, worktree: &Worktree) -> Result<Self, CaptureError> {
        let basis = worktree.basis();
        let LeftCommits {
            head,
            others,
            beyond,
        } = worktree.left_commits();
        let head = head.filter(|head| head != basis);
        let others = others.into_iter().filter(|other| other != basis);
        // What matters most comes first.
        let mut taken: Vec<CommitId> = head.iter().cloned().chain(others).collect();
        let refused = match &taken[..] {
            [] => Vec::new(),
            all => store.import(worktree.git_folder(), all, basis)?,
        };
        taken.retain(|commit| !refused.contains(commit));
        let mut heads = Self {
            head: None,
            basis_tree: weave::tree_of(store, basis)?,
            branch: branch_commit(store, worktree)?,
            history: AgentHistory::Continued,
            unread: refused.len() + beyond,
            others: taken,
        };
        match head {
            Some(head) if refused.contains(&head) => heads.history = AgentHistory::Damaged,
            Some(head) => {
                heads.others.retain(|other| *other != head);
                let tree = store.tree_of(&head)?;
                heads.head = Some((head, tree));
            }
            None => {}
        }
        Ok(heads)
    }

    /// Keeps what the agent committed beside what it is at.
    pub(crate) fn keep_others(
        &self,
        store: &Store,
        worktree: &Worktree,
    ) -> Result<(), CaptureError> {
        if self.others.is_empty() {
            return Ok(());
        }
        let head = self.head.iter().map(|(head, _)| head);
        let known = head.chain([worktree.basis()]);
        let known = known.map(|known| format!("^{known}\n"));
        let others = self.others.iter().map(|other| format!("{other}\n"));
        let lines: String = others.chain(known).collect();
        let list = store.call().args(["rev-list", "--stdin"]);
        let printed = list.stdin(lines).output()?;
        let printed = String::from_utf8_lossy(&printed);
        let unknown: HashSet<&str> = printed.lines().collect();
        let others = self.others.iter();
        let others = others.filter(|other| unknown.contains(other.as_str()));
        let others: Vec<CommitId> = others.cloned().collect();
        Ok(store.keep_all(&others, worktree.branch())?)
    }
}

/// Where the branch of a worktree is in the store; a plain file tells without a process.
fn branch_commit(store: &Store, worktree: &Worktree) -> Result<Option<CommitId>, GitError> {
    let name = worktree.branch_ref();
    let file = store.git_dir().join(&name);
    let read = plain_file::read(&file, LONGEST_REF).unwrap_or_default();
    match String::from_utf8_lossy(&read).trim_end().parse().ok() {
        Some(commit) => Ok(Some(commit)),
        None => store.ref_commit(&name),
    }
}

/// What an agent committed since its basis, kept in the store; nothing if that cannot be read.
pub fn committed(store: &Store, worktree: &Worktree, name: &str) -> Option<CommitId> {
    let heads = AgentHeads::import(store, worktree).ok()?;
    let (head, _) = heads.head?;
    // Nothing else leads to it.
    store.keep(&head, name).ok()?;
    Some(head)
}
