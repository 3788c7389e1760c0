//! Trees and files of a store's commits, read in process by whoever judges what they hold.
//!
//! Merges nothing.

use std::rc::Rc;

pub use gix_hash::ObjectId;

use super::objects::{TreeLeaf, WeaveObjects};
use super::{WeaveError, change, read_store, weaving};
use crate::git::{CommitId, Store};

pub struct Reading(WeaveObjects);

#[derive(Debug)]
pub struct ChangedPath {
    pub path: Vec<u8>,
    pub old: Option<TreeItem>,
    pub new: Option<TreeItem>,
}

/// What stands at a path that is no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeItem {
    pub kind: TreeItemKind,
    pub id: ObjectId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeItemKind {
    File,
    /// A symbolic link; its content is where it leads.
    Link,
    Submodule,
}

impl From<TreeLeaf> for TreeItem {
    fn from(leaf: TreeLeaf) -> Self {
        let kind = match leaf.mode {
            mode if mode.is_link() => TreeItemKind::Link,
            mode if mode.is_commit() => TreeItemKind::Submodule,
            _ => TreeItemKind::File,
        };
        Self { kind, id: leaf.id }
    }
}

impl Reading {
    pub fn open(store: &Store) -> Result<Self, WeaveError> {
        read_store(store).map(Self)
    }

    pub fn tree_of(&self, commit: &CommitId) -> Result<ObjectId, WeaveError> {
        Ok(self.0.commit(weaving::object_id(commit))?.tree)
    }

    pub fn words_of(&self, commit: &CommitId) -> Result<Rc<[u8]>, WeaveError> {
        self.0.commit_text(weaving::object_id(commit))
    }

    /// What differs between two trees, in the order of git; `None` is a tree without anything.
    pub fn changes(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Vec<ChangedPath>, WeaveError> {
        let found = change::diff(&self.0, old, Some(new))?;
        let changes = found.changes.into_iter().map(|change| ChangedPath {
            path: change.path.into(),
            old: change.old.map(TreeItem::from),
            new: change.new.map(TreeItem::from),
        });
        Ok(changes.collect())
    }

    pub fn item_at(&self, tree: ObjectId, path: &[u8]) -> Result<Option<TreeItem>, WeaveError> {
        let entry = self.0.entry_at(tree, path)?;
        let entry = entry.filter(|entry| !entry.mode.is_tree());
        Ok(entry.map(|entry| {
            TreeItem::from(TreeLeaf {
                mode: entry.mode,
                id: entry.oid,
            })
        }))
    }

    /// How many bytes a file has; its content is not read.
    pub fn size(&self, file: ObjectId) -> Result<u64, WeaveError> {
        self.0.size(file)
    }

    /// What is in a file, or where a link leads.
    pub fn content(&self, file: ObjectId) -> Result<Rc<[u8]>, WeaveError> {
        self.0.content(file)
    }
}
