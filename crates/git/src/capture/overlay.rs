//! What the commits of an agent changed, and what follows from it for an index.
//!
//! Knows nothing of files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::staging::{Staging, is_at_or_below};
use super::walk::WalkResult;
use crate::git::read::{ChangedEntry, TreeEntry};
use crate::git::{CommitId, GitError};
use crate::index::{EntryLookup, GITLINK, IndexEntry, LINK, RawId};

/// What has to be done to an index, in that order.
#[derive(Default)]
pub(super) struct IndexEdits<'a> {
    pub(super) dropped: Vec<&'a [u8]>,
    pub(super) put: Vec<&'a IndexEntry<'a>>,
    /// Files whose content is to be stored, or that git is to find gone.
    pub(super) stored: Vec<&'a [u8]>,
}

/// What commits of an agent changed: the new entry of each path, if it has one.
pub(super) struct Overlay {
    pub(super) entries: HashMap<Vec<u8>, Option<IndexEntry<'static>>>,
    /// Whether everything that the commits changed is followed.
    is_whole: bool,
}

impl Overlay {
    /// What the agent's own commits changed, as far as it is followed.
    pub(super) fn read_commits(
        staging: &Staging<'_>,
        start: &CommitId,
        basis: &[IndexEntry<'_>],
    ) -> Result<Self, GitError> {
        if start == staging.worktree.basis() {
            return Ok(Self {
                entries: HashMap::new(),
                is_whole: true,
            });
        }
        let mut changes = staging.store.changes(staging.worktree.basis(), start)?;
        let all = changes.len();
        // These are compared with the basis.
        changes.retain(|change| {
            LeftOutPaths::new(staging.leave_out)
                .place(&change.path)
                .is_none()
        });
        let entries = followed(&changes, basis);
        let mut new = changes.iter().filter_map(|change| change.new.as_ref());
        let is_whole = entries.len() == all && !new.any(TreeEntry::is_gitlink);
        Ok(Self { entries, is_whole })
    }

    /// The entries that should be in the worktree now; a link that is new has yet to be judged.
    pub(super) fn applied_to<'b>(&self, basis: &'b [IndexEntry<'b>]) -> Cow<'b, [IndexEntry<'b>]> {
        if self.entries.is_empty() {
            return Cow::Borrowed(basis);
        }
        let links: HashSet<&[u8]> = basis
            .iter()
            .filter(|entry| entry.mode == LINK)
            .map(|entry| &entry.path[..])
            .collect();
        let untouched = basis
            .iter()
            .filter(|entry| !self.entries.contains_key(&entry.path[..]));
        let is_judged =
            |entry: &&IndexEntry<'_>| entry.mode != LINK || links.contains(&entry.path[..]);
        let added = self.entries.values().flatten().filter(is_judged);
        let mut entries: Vec<IndexEntry<'b>> = untouched.chain(added).cloned().collect();
        entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Cow::Owned(entries)
    }

    /// Whether edits do nothing but what the agent's commits did.
    pub(super) fn is_all_of(&self, edits: &IndexEdits<'_>) -> bool {
        let files = self.entries.values().flatten().count();
        let all = (self.entries.len() - files, files, 0);
        let IndexEdits {
            dropped,
            put,
            stored,
        } = edits;
        self.is_whole && all == (dropped.len(), put.len(), stored.len())
    }

    /// Brings an index from the basis to what the agent committed, as far as it is there.
    pub(super) fn edits(&self, lookup: &EntryLookup<'_>, found: &WalkResult) -> IndexEdits<'_> {
        let mut edits = IndexEdits::default();
        for (path, entry) in &self.entries {
            let is_there = lookup.position(path).is_some_and(|at| found.stays[at]);
            match entry {
                Some(entry) if is_there => edits.put.push(entry),
                _ => edits.dropped.push(path),
            }
        }
        edits
    }
}

/// The changes that are followed: submodules stay as the basis has them, and nested repositories are no
/// submodules.
fn followed(
    changes: &[ChangedEntry],
    basis: &[IndexEntry<'_>],
) -> HashMap<Vec<u8>, Option<IndexEntry<'static>>> {
    let submodules: Vec<&[u8]> = basis
        .iter()
        .filter(|entry| entry.mode == GITLINK)
        .map(|entry| &entry.path[..])
        .collect();
    let new = |change: &ChangedEntry| {
        let new = change.new.as_ref()?;
        let mode = u32::from_str_radix(&new.mode, 8).ok()?;
        let id = RawId::parse(&new.id)?;
        (mode != GITLINK).then(|| IndexEntry {
            path: Cow::Owned(change.path.clone()),
            mode,
            id,
            noted: None,
            place: 0,
            is_skipped: false,
        })
    };
    let overlay: HashMap<_, _> = changes
        .iter()
        .map(|change| (change.path.clone(), new(change)))
        .collect();
    let is_replaced = |submodule: &[u8]| {
        let mut files = overlay.iter().filter(|(_, entry)| entry.is_some());
        files.any(|(path, _)| is_at_or_below(path, submodule))
    };
    let stay: Vec<&[u8]> = submodules
        .into_iter()
        .filter(|path| overlay.contains_key(*path) && !is_replaced(path))
        .collect();
    let mut followed = overlay.clone();
    followed.retain(|path, _| !stay.contains(&&path[..]));
    followed
}

pub(super) struct LeftOutPaths<'a> {
    paths: &'a [PathBuf],
    changed: Vec<bool>,
}

impl<'a> LeftOutPaths<'a> {
    pub(super) fn new(paths: &'a [PathBuf]) -> Self {
        Self {
            paths,
            changed: vec![false; paths.len()],
        }
    }

    fn place(&self, path: &[u8]) -> Option<usize> {
        let covers = |top: &PathBuf| is_at_or_below(path, top.as_os_str().as_bytes());
        self.paths.iter().position(covers)
    }

    /// Notes a change, if it is one that is left out.
    pub(super) fn takes(&mut self, path: &[u8]) -> bool {
        let place = self.place(path);
        if let Some(place) = place {
            self.changed[place] = true;
        }
        place.is_some()
    }

    pub(super) fn changed(self) -> Vec<PathBuf> {
        let paths = self.paths.iter().zip(self.changed);
        let changed = paths.filter(|(_, changed)| *changed);
        changed.map(|(path, _)| path.clone()).collect()
    }
}
