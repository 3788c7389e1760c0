//! Trees and files of a store's commits, read in process by whoever judges what they hold.
//!
//! Merges nothing.

use std::rc::Rc;

pub use gix_hash::ObjectId;

use super::objects::{Leaf, Objects};
use super::{WeaveError, change, read_store, weaving};
use crate::git::{CommitId, Store};

/// The objects of a store, for reading.
pub struct Reading(Objects);

/// A path that differs between two trees.
#[derive(Debug)]
pub struct Changed {
    pub path: Vec<u8>,
    pub old: Option<Item>,
    pub new: Option<Item>,
}

/// What stands at a path that is no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    pub id: ObjectId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    File,
    /// A symbolic link; its content is where it leads.
    Link,
    /// A commit of another repository.
    Submodule,
}

impl From<Leaf> for Item {
    fn from(leaf: Leaf) -> Self {
        let kind = match leaf.mode {
            mode if mode.is_link() => ItemKind::Link,
            mode if mode.is_commit() => ItemKind::Submodule,
            _ => ItemKind::File,
        };
        Self { kind, id: leaf.id }
    }
}

impl Reading {
    pub fn of(store: &Store) -> Result<Self, WeaveError> {
        read_store(store).map(Self)
    }

    pub fn tree_of(&self, commit: &CommitId) -> Result<ObjectId, WeaveError> {
        Ok(self.0.commit(weaving::object_id(commit))?.tree)
    }

    /// A commit as it is stored.
    pub fn words_of(&self, commit: &CommitId) -> Result<Rc<[u8]>, WeaveError> {
        self.0.commit_text(weaving::object_id(commit))
    }

    /// What differs between two trees, in the order of git; `None` is a tree without anything.
    pub fn changes(
        &self,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Vec<Changed>, WeaveError> {
        let found = change::diff(&self.0, old, Some(new))?;
        let changes = found.changes.into_iter().map(|change| Changed {
            path: change.path.into(),
            old: change.old.map(Item::from),
            new: change.new.map(Item::from),
        });
        Ok(changes.collect())
    }

    /// What a tree has at a path, if that is no folder.
    pub fn item_at(&self, tree: ObjectId, path: &[u8]) -> Result<Option<Item>, WeaveError> {
        let entry = self.0.entry_at(tree, path)?;
        let entry = entry.filter(|entry| !entry.mode.is_tree());
        Ok(entry.map(|entry| {
            Item::from(Leaf {
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
