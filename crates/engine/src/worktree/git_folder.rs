//! The git folder of a worktree: made for whoever works there, and read afterwards without trusting any of it.
//!
//! Runs no git in it: that would do what an agent configured.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::CWD;

use super::trash::{self, delete_later, remove_all};
use super::{LOCK, Worktree, WorktreeError, failed, is_present};
use crate::git::{CommitId, Store};
use crate::plain_file::{self, names, open_folder};

/// A ref, or where a head leads to, is a line.
const LONGEST_REF: u64 = 4096;

/// Lists of packed refs that are longer are not read.
const LONGEST_LIST: u64 = 64 << 20;

/// More refs than any agent makes in earnest.
const MOST_REFS: usize = 1000;

/// So deep names of refs may be nested.
const DEEPEST: usize = 16;

/// Where agents leave work: their branches, and what they set aside.
const LEFT_AT: [&str; 2] = ["refs/heads/", "refs/stash"];

/// The commits that an agent's git folder leads to, as it says; the store may not have them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftCommits {
    /// Where the worktree is.
    pub(crate) head: Option<CommitId>,
    /// Where other branches are, and the stash.
    pub(crate) others: BTreeSet<CommitId>,
}

impl Worktree {
    /// The commits that whoever worked here left in the git folder.
    pub(crate) fn left_commits(&self) -> LeftCommits {
        left_commits(&self.git_folder)
    }

    /// Builds a git folder that is on the worktree's branch at a commit, aside, where nobody looks yet.
    pub(super) fn build_git_folder(
        &self,
        store: &Store,
        commit: &CommitId,
    ) -> Result<PathBuf, WorktreeError> {
        let stage = git_folders(store).join(format!("{}.{}", self.id(), store.sign()?));
        let lent = store.lent_refs()?;
        remove_all(&stage)
            .and_then(|()| fs::create_dir_all(&stage))
            .and_then(|()| store.lend_to(&stage, &self.branch_ref(), commit, &lent))
            .map_err(failed("set up", &stage))?;
        Ok(stage)
    }

    /// Replaces everything that could make git run a program here: for a person who will look around.
    ///
    /// What the agent left in its git folder is kept already, as far as it was work.
    pub(crate) fn make_safe(&self, store: &Store) -> Result<(), WorktreeError> {
        if self.is_in_place() || !is_present(&self.path) {
            return Ok(());
        }
        let head = self.left_commits().head;
        let known = head.filter(|head| store.has_commit(head));
        let head = known.unwrap_or_else(|| self.basis.clone());
        let stage = self.build_git_folder(store, &head)?;
        let index = stage.join("index");
        let read = ["read-tree", head.as_str()];
        store.call().index(&index).args(read).output()?;
        let _lock = store.lock(LOCK)?;
        if is_present(&self.git_folder) {
            delete_later(trash::move_away(store, &self.git_folder)?);
        }
        fs::rename(&stage, &self.git_folder).map_err(failed("set up", &self.git_folder))?;
        self.write_git_file()
            .map_err(failed("write to", &self.path))
    }

    /// Repositories that are in the worktree besides its own, where git would do what they are configured to do.
    pub(crate) fn nested_repositories(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path.clone()];
        while let Some(folder) = folders.pop() {
            let entries: Vec<_> = fs::read_dir(&folder)
                .into_iter()
                .flatten()
                .flatten()
                .collect();
            let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
            let is_bare = has("HEAD") && has("objects") && has("refs");
            if is_bare || has(".git") && folder != self.path {
                found.push(folder);
                continue;
            }
            let inner = entries.iter().filter(|entry| {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                is_folder && entry.file_name() != ".git"
            });
            folders.extend(inner.map(fs::DirEntry::path));
        }
        found
    }
}

/// Where the git folders of worktrees are.
pub(super) fn git_folders(store: &Store) -> PathBuf {
    store.home().join("agents")
}

/// Reads what a git folder leads to; whatever cannot be read leads nowhere.
pub(super) fn left_commits(git_folder: &Path) -> LeftCommits {
    let Ok(folder) = open_folder(CWD, git_folder) else {
        return LeftCommits::default();
    };
    let head = plain_file::open(&folder, "HEAD");
    let head = head.ok().and_then(|file| read_text(file, LONGEST_REF));
    let head = head.unwrap_or_default();
    let mut refs = Vec::new();
    let list = plain_file::open(&folder, "packed-refs");
    if let Some(list) = list.ok().and_then(|file| read_text(file, LONGEST_LIST)) {
        refs.extend(list.lines().filter_map(packed_ref));
    }
    if let Ok(folder) = open_folder(&folder, "refs") {
        // A loose ref counts more than a packed one of the same name, and comes later.
        loose_refs(&folder, "refs", DEEPEST, &mut refs);
    }
    let at = |name: &str| {
        let mut latest = refs.iter().rev();
        let found = latest.find(|(known, _)| known == name);
        found.map(|(_, commit)| commit.clone())
    };
    let head = match head.trim_end().strip_prefix("ref: ") {
        Some(name) => at(name),
        None => head.trim_end().parse().ok(),
    };
    let is_left = |name: &str| LEFT_AT.iter().any(|place| name.starts_with(place));
    let others = refs.iter().filter(|(name, _)| is_left(name));
    let mut others: BTreeSet<CommitId> = others.map(|(_, commit)| commit.clone()).collect();
    if let Some(head) = &head {
        others.remove(head);
    }
    LeftCommits { head, others }
}

fn packed_ref(line: &str) -> Option<(String, CommitId)> {
    let (id, name) = line.split_once(' ')?;
    Some((name.to_owned(), id.parse().ok()?))
}

fn loose_refs(folder: &OwnedFd, above: &str, depth: usize, found: &mut Vec<(String, CommitId)>) {
    for name in names(folder).unwrap_or_default() {
        let Ok(text) = std::str::from_utf8(name.as_bytes()) else {
            continue;
        };
        let full = format!("{above}/{text}");
        if let Ok(inner) = open_folder(folder, &name) {
            if depth > 0 {
                loose_refs(&inner, &full, depth - 1, found);
            }
        } else if let Ok(file) = plain_file::open(folder, &name)
            && found.len() < MOST_REFS
        {
            let commit = read_text(file, LONGEST_REF).and_then(|text| text.trim_end().parse().ok());
            found.extend(commit.map(|commit| (full, commit)));
        }
    }
}

fn read_text(file: File, most: u64) -> Option<String> {
    let mut text = String::new();
    let read: io::Result<usize> = file.take(most).read_to_string(&mut text);
    read.ok().map(|_| text)
}
