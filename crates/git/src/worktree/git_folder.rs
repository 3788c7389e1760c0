//! The git folder of a worktree: made for whoever works there, and read afterwards without trusting any of it.
//!
//! Runs no git in it: that would do what an agent configured.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use pleach_system::files::plain_file::{self, names, open_folder};
use pleach_system::files::removal::remove_all;
use rustix::fd::OwnedFd;
use rustix::fs::CWD;

use super::{Worktree, WorktreeError, failed};
use crate::git::{CommitId, Store};

/// A ref, or where a head leads to, is a line.
const LONGEST_REF: u64 = 4096;

/// Lists of packed refs that are longer are not read.
const LONGEST_LIST: u64 = 64 << 20;

/// More branches than any agent makes in earnest.
const MOST_REFS: usize = 1000;

/// So many files and folders are looked at among refs.
const MOST_LOOSE: usize = 20_000;

/// So deep names of refs may be nested.
const DEEPEST: usize = 16;

/// Where agents leave work: their branches, and what they set aside.
const LEFT_AT: [&str; 2] = ["refs/heads/", "refs/stash"];

/// The commits that an agent's git folder leads to, as it says; the store may not have them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftCommits {
    pub(crate) head: Option<CommitId>,
    /// Where other branches are, and the stash.
    pub(crate) others: BTreeSet<CommitId>,
    /// How many more of these there are.
    pub(crate) beyond: usize,
}

impl Worktree {
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
}

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
    let mut budget = MOST_LOOSE;
    if let Ok(folder) = open_folder(&folder, "refs") {
        // A loose ref counts more than a packed one of the same name, and comes later.
        loose_refs(&folder, "refs", &mut budget, &mut refs);
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
    let others = others.map(|(_, commit)| commit.clone());
    let mut others: BTreeSet<CommitId> = others
        .filter(|commit| Some(commit) != head.as_ref())
        .collect();
    // Where names were left out, there is at least one more.
    let mut beyond = usize::from(budget == 0);
    while others.len() > MOST_REFS {
        others.pop_last();
        beyond += 1;
    }
    LeftCommits {
        head,
        others,
        beyond,
    }
}

fn packed_ref(line: &str) -> Option<(String, CommitId)> {
    let (id, name) = line.split_once(' ')?;
    Some((name.to_owned(), id.parse().ok()?))
}

/// Reads refs that are files, not for ever and not deeper than anybody nests names.
fn loose_refs(
    folder: &OwnedFd,
    above: &str,
    budget: &mut usize,
    found: &mut Vec<(String, CommitId)>,
) {
    for name in names(folder).unwrap_or_default() {
        let Ok(text) = std::str::from_utf8(name.as_bytes()) else {
            continue;
        };
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let full = format!("{above}/{text}");
        if let Ok(inner) = open_folder(folder, &name) {
            if full.split('/').count() <= DEEPEST {
                loose_refs(&inner, &full, budget, found);
            }
        } else if let Ok(file) = plain_file::open(folder, &name) {
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
