//! Lists worktrees from what is noted about them, without running git in any of them.
//!
//! Changes nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::record::{self, Record, Stage};
use super::{Worktree, WorktreeError, head_name, is_present};
use crate::git::{CommitId, Store, os_str};
use crate::plain_file;
use crate::resolve::is_for_resolving;

/// A worktree, or what is left of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Where its files are or were.
    pub path: PathBuf,
    /// The branch that it was made for, if Pleach made it.
    pub branch: Option<String>,
    /// The commit that it is at.
    pub head: Option<CommitId>,
    /// The commit that it started from, if Pleach made it.
    pub basis: Option<CommitId>,
    /// What is there of it.
    pub state: TreeState,
    /// How long it has been there.
    pub age: Option<Duration>,
}

/// What is there of a worktree.
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
    pub(crate) fn age(&self, store: &Store) -> Option<Duration> {
        let made = record::written(store, &self.id())?;
        SystemTime::now().duration_since(made).ok()
    }
}

/// Everything that is or was a worktree of a store, by path.
pub fn list(store: &Store) -> Result<Vec<Listed>, WorktreeError> {
    let admins = store.git_dir().join("worktrees");
    let registered = fs::read_dir(&admins).into_iter().flatten().flatten();
    let registered = registered.filter_map(|entry| entry.file_name().into_string().ok());
    let ids: BTreeSet<String> = registered.chain(record::names(store)).collect();
    let mut listed = Vec::new();
    let mut heads = Vec::new();
    for id in &ids {
        let admin = admins.join(id);
        if let Some(found) = look(store, id, &admin) {
            heads.push(format!(
                "{}^{{commit}}",
                head_name(&admin).unwrap_or_default()
            ));
            listed.push(found);
        }
    }
    for (found, head) in listed.iter_mut().zip(store.look_up(&heads)?) {
        found.head = head.and_then(|head| head.parse().ok());
    }
    listed.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(listed)
}

fn look(store: &Store, id: &str, admin: &Path) -> Option<Listed> {
    let record = Record::load(store, id);
    let path = match &record {
        Some(record) => record.path.clone(),
        None => noted_path(admin)?,
    };
    let state = match (
        record.as_ref().map(|record| record.stage),
        is_present(&path),
    ) {
        (Some(Stage::Making), _) => TreeState::HalfMade,
        (Some(Stage::Going), _) => TreeState::Going,
        (_, true) if is_present(admin) => {
            let owner = record.as_ref().map(|record| record.sign.as_str());
            let branch = record.as_ref().map(|record| record.branch.as_str());
            match owner.map(|sign| store.is_alive(sign)) {
                _ if branch.is_some_and(is_for_resolving) => TreeState::Resolving,
                Some(Ok(true)) => TreeState::InUse,
                _ => TreeState::Left,
            }
        }
        (_, true) => TreeState::Unregistered,
        (_, false) => TreeState::FolderGone,
    };
    let created = || admin.metadata().and_then(|meta| meta.modified()).ok();
    let began = record::written(store, id).or_else(created);
    Some(Listed {
        path,
        branch: record.as_ref().map(|record| record.branch.clone()),
        head: None,
        basis: record.map(|record| record.basis),
        state,
        age: began.and_then(|began| SystemTime::now().duration_since(began).ok()),
    })
}

/// Where git says that the files are.
fn noted_path(admin: &Path) -> Option<PathBuf> {
    let noted = plain_file::read(&admin.join("gitdir")).ok()?;
    let noted = noted.strip_suffix(b"\n").unwrap_or(&noted);
    let git_file = Path::new(os_str(noted));
    let folder = git_file.parent()?;
    (!folder.as_os_str().as_bytes().is_empty()).then(|| folder.to_owned())
}
