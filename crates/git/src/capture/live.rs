//! Looks at a worktree in which an agent is at work, again and again, and leaves no trace there.
//!
//! A look costs a walk; files are read only when something is not as it was at the last one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::CaptureError;
use super::staging::{Staging, TemporaryObjects};
use super::walk::{self, LooseFile, LooseKind, UnreadablePolicy, WalkResult};
use crate::git::{CommitId, Store, TreeId, os_str};
use crate::index::{EntryLookup, FileStamp};
use crate::weave;
use crate::worktree::Worktree;

#[derive(Debug)]
pub(crate) struct LiveSnapshot {
    tree: TreeId,
    /// By what it is known again; nothing, where a later change might not show.
    sight: Option<LiveStamp>,
    /// New folders that are not ignored, so that one has to look into them.
    folders: BTreeSet<Vec<u8>>,
    has_read: bool,
}

impl LiveSnapshot {
    /// All files as one tree, those that are in no commit included.
    pub(crate) fn tree(&self) -> &TreeId {
        &self.tree
    }

    pub(crate) fn has_read(&self) -> bool {
        self.has_read
    }
}

/// Looks at the files of a worktree; nothing of it goes to the store if there is another place for it.
pub(crate) fn look(
    store: &Store,
    worktree: &Worktree,
    leave_out: &[PathBuf],
    aside: Option<TemporaryObjects<'_>>,
    before: Option<&LiveSnapshot>,
) -> Result<LiveSnapshot, CaptureError> {
    // Taken before the walk, so that what changes during it is younger and is looked at again.
    let now = SystemTime::now();
    // What the agent committed meanwhile is in its files as well, and in the store only when it has ended.
    let basis_tree = weave::tree_of(store, worktree.basis())?;
    let (start, start_tree) = (worktree.basis().clone(), basis_tree.clone());
    let mut staging = Staging::begin(store, worktree, leave_out)?;
    staging.manners = UnreadablePolicy::AssumeUnchanged;
    staging.aside = aside;
    let nowhere = BTreeSet::new();
    let folders = before.map_or(&nowhere, |before| &before.folders);
    let mut sight = None;
    let staged = staging.stage_unless((&start, &start_tree), &basis_tree, |lookup, found| {
        let now = LiveStamp::take(worktree, &start, lookup, found, folders);
        let before = before.filter(|before| before.sight.as_ref() == Some(&now));
        sight = Some(now);
        before.map(|before| before.tree.clone())
    })?;
    let is_known = before.is_some_and(|before| before.sight == sight && sight.is_some());
    let folders = if is_known {
        folders.clone()
    } else {
        staged.folders.into_iter().collect()
    };
    // Nobody looked into folders that turned up only now.
    let is_whole = before.map_or(&nowhere, |before| &before.folders) == &folders;
    let sight = sight.filter(|sight| is_whole && sight.is_settled(now));
    Ok(LiveSnapshot {
        tree: staged.tree,
        sight,
        folders,
        has_read: !is_known,
    })
}

/// Everything that the tree of a worktree depends on, without any content.
#[derive(Debug, PartialEq, Eq)]
struct LiveStamp {
    start: CommitId,
    /// The agent's own index, which names files that it added.
    index: Option<FileStamp>,
    /// What is not as it was checked out.
    things: BTreeMap<Vec<u8>, PathState>,
}

#[derive(Debug, PartialEq, Eq)]
enum PathState {
    Gone,
    Folder,
    Other(FileStamp),
}

impl LiveStamp {
    fn take(
        worktree: &Worktree,
        start: &CommitId,
        lookup: &EntryLookup<'_>,
        found: &WalkResult,
        folders: &BTreeSet<Vec<u8>>,
    ) -> Self {
        let root = worktree.path();
        let gone = found.stays.iter().enumerate();
        let gone = gone.filter(|(_, stays)| !**stays).map(|(at, _)| at);
        let read = found.doubtful.iter().chain(&found.changed).copied();
        let mut things: BTreeMap<Vec<u8>, PathState> = gone
            .chain(read)
            .map(|at| lookup.entries[at].path.to_vec())
            .map(|path| (path.clone(), thing(root, &path)))
            .collect();
        let mut level = found.loose.clone();
        while let Some(LooseFile { path, kind }) = level.pop() {
            if kind != LooseKind::Folder {
                let thing = thing(root, &path);
                things.insert(path, thing);
                continue;
            }
            if folders.contains(&path) {
                // A folder that vanishes is seen next time.
                level.extend(
                    walk::children(root, &path, UnreadablePolicy::AssumeUnchanged)
                        .unwrap_or_default(),
                );
            }
            things.insert(path, PathState::Folder);
        }
        Self {
            start: start.clone(),
            index: noted(&worktree.git_folder().join("index")),
            things,
        }
    }

    /// Whether any change after a moment shows.
    fn is_settled(&self, moment: SystemTime) -> bool {
        let things = self.things.values().filter_map(|thing| match thing {
            PathState::Other(noted) => Some(noted),
            PathState::Gone | PathState::Folder => None,
        });
        things
            .chain(&self.index)
            .all(|noted| noted.is_settled(moment))
    }
}

fn thing(root: &Path, path: &[u8]) -> PathState {
    noted(&root.join(os_str(path))).map_or(PathState::Gone, PathState::Other)
}

fn noted(path: &Path) -> Option<FileStamp> {
    let file = rustix::fs::lstat(path).ok()?;
    Some(FileStamp::of(&file))
}
