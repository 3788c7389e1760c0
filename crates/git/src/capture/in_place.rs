//! Captures a folder of the user's that is no worktree: what the last capture noted spares reading most files.
//!
//! Changes nothing in the folder, not even who may read a file; what cannot or should not be copied is noted.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Access, access};

use super::staging::{PristineIndex, Staged, Staging, read_index};
use super::walk::UnreadablePolicy;
use super::{CaptureError, is_plain_file};
use crate::git::{CommitId, GitError, Store, TreeId, os_str, parse_id};
use crate::index::{Index, RawId};
use crate::worktree::Worktree;

/// Larger files are not copied: few people write them, and every change would be another copy.
const LARGEST: u64 = 100 << 20;

/// So often a folder is read that changes meanwhile.
const TRIES: usize = 3;

/// Keeps the tree that the noted index speaks of.
const STATE: &str = "refs/pleach/folder";

/// The commit that holds what is in the folder of a store now: the given one if it does, else a new one on top of it.
pub fn state_of_folder(
    store: &Store,
    on: &CommitId,
    message: &str,
) -> Result<CommitId, CaptureError> {
    let tree = tree_of_folder(store)?;
    if tree == crate::weave::tree_of(store, on)? {
        return Ok(on.clone());
    }
    Ok(store.commit_tree(&tree, &[on], message, None)?)
}

pub fn tree_of_folder(store: &Store) -> Result<TreeId, CaptureError> {
    store.adopt_excludes()?;
    let nothing = store.nothing()?;
    let folder = store.plain_folder().unwrap_or(store.home()).to_owned();
    let place = Worktree::in_place(store, folder, String::new(), nothing);
    Ok(Staging::begin(store, &place, &[])?.stage_in_place()?.tree)
}

impl UnreadablePolicy {
    /// How to go about the files of a worktree that nobody else is in, or of a folder of the user's.
    pub(super) fn in_a(worktree: &Worktree) -> Self {
        if worktree.is_in_place() {
            Self::Skip
        } else {
            Self::MakeReadable
        }
    }
}

impl Staging<'_> {
    /// Stages the files as they are; what was left out silently stays so.
    pub(super) fn stage_in_place(&self) -> Result<Staged, CaptureError> {
        for _ in 1..TRIES {
            match self.try_to_stage() {
                // The user may be at work there, and git does not like what changes under its hands.
                Err(CaptureError::Git(GitError::Failed { .. })) => {}
                staged => return staged,
            }
        }
        self.try_to_stage()
    }

    fn try_to_stage(&self) -> Result<Staged, CaptureError> {
        // By the clock of the store: whatever changes from now on is read again next time.
        let began = self.scratch.path().metadata().and_then(|at| at.modified());
        let (mut bytes, mut written) = read_index(self.worktree.pristine_index());
        let known = Index::parse(&bytes, self.id_size()).and_then(|index| index.tree);
        let tree = if let Some(tree) = known {
            tree.to_string()
        } else {
            self.call().args(["read-tree", "--empty"]).output()?;
            (bytes, written) = read_index(&self.index());
            let empty = self.call().arg("write-tree").output()?;
            parse_id::<TreeId>("write-tree", &empty)?.to_string()
        };
        let garbled = || GitError::Garbled {
            what: "read-tree".into(),
            printed: "an index of another format".into(),
        };
        let tree: TreeId = tree.parse().map_err(|_| garbled())?;
        let index = Index::parse(&bytes, self.id_size()).ok_or_else(garbled)?;
        let pristine = PristineIndex {
            bytes: &bytes,
            index,
            written,
        };
        let start = (self.worktree.basis(), &tree);
        let staged = self.stage_from(&pristine, start, &tree, |_, _| None)?;
        if staged.tree != tree || known.is_none() {
            self.note_index(&staged.tree, began.unwrap_or(UNIX_EPOCH))?;
        }
        Ok(Staged {
            left_out: Vec::new(),
            ..staged
        })
    }

    /// Leaves the private index for the next capture.
    fn note_index(&self, tree: &TreeId, seen: SystemTime) -> Result<(), CaptureError> {
        let (bytes, _) = read_index(&self.index());
        let root = RawId::parse(tree.as_str());
        let index = Index::parse(&bytes, self.id_size());
        if index.and_then(|index| index.tree) != root {
            // Without it everything is read again, no more.
            return Ok(());
        }
        let update = ["update-ref", "--no-deref", STATE, tree.as_str()];
        self.store.call().args(update).output()?;
        let place = self.worktree.pristine_index();
        let note = || {
            fs::create_dir_all(place.parent().unwrap_or(place))?;
            let file = fs::File::options().write(true).open(self.index())?;
            file.set_modified(seen)?;
            fs::rename(self.index(), place)
        };
        note().map_err(|source| CaptureError::Io {
            path: place.to_owned(),
            source,
        })
    }

    /// Whether a file of the user's is not copied, because it is too large or may not be read.
    pub(super) fn passes_over(&self, path: &[u8]) -> bool {
        if !self.worktree.is_in_place() {
            return false;
        }
        let place = self.worktree.path().join(os_str(path));
        let is_large = place
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_file() && meta.len() > LARGEST);
        let is_closed = is_plain_file(&place) && access(&place, Access::READ_OK).is_err();
        if is_large || is_closed {
            self.store.note_oversized(vec![os_str(path).into()]);
        }
        is_large || is_closed
    }
}

pub fn check_out_into(store: &Store, commit: &CommitId, folder: &Path) -> Result<(), CaptureError> {
    let scratch = store.scratch()?;
    store
        .call()
        .work_tree(folder)
        .writing(folder)
        .index(&scratch.path().join("index"))
        .args(["read-tree", "-m", "-u", commit.as_str()])
        .output()?;
    Ok(())
}
