//! What differs between two trees, path by path.
//!
//! Follows no renames: a renamed file is gone from one path and new at another.

use gix_hash::ObjectId;
use gix_object::bstr::BString;
use gix_object::tree::{Entry, name_order};

use super::WeaveError;
use super::objects::{TreeLeaf, WeaveObjects};

/// As deep as git itself goes by default.
const DEEPEST: usize = 2048;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeChange {
    pub(super) path: BString,
    pub(super) old: Option<TreeLeaf>,
    pub(super) new: Option<TreeLeaf>,
}

impl TreeChange {
    pub(super) fn is_addition(&self) -> bool {
        self.old.is_none()
    }

    pub(super) fn is_removal(&self) -> bool {
        self.new.is_none()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TreeDiff {
    pub(super) changes: Vec<TreeChange>,
    /// Folders that the new tree does not have any more.
    pub(super) gone: Vec<BString>,
}

pub(super) fn diff(
    objects: &WeaveObjects,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
) -> Result<TreeDiff, WeaveError> {
    let mut found = TreeDiff::default();
    let mut walk = TreeWalk {
        objects,
        found: &mut found,
        path: Vec::new(),
        depth: 0,
    };
    walk.folder(old, new)?;
    Ok(found)
}

struct TreeWalk<'a> {
    objects: &'a WeaveObjects,
    found: &'a mut TreeDiff,
    path: Vec<u8>,
    depth: usize,
}

impl TreeWalk<'_> {
    fn folder(&mut self, old: Option<ObjectId>, new: Option<ObjectId>) -> Result<(), WeaveError> {
        if old == new {
            return Ok(());
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(WeaveError::TooDeep);
        }
        self.entries(old, new)?;
        self.depth -= 1;
        Ok(())
    }

    fn entries(&mut self, old: Option<ObjectId>, new: Option<ObjectId>) -> Result<(), WeaveError> {
        if old.is_some() && new.is_none() && !self.path.is_empty() {
            self.found.gone.push(self.path.clone().into());
        }
        let (old, new) = (self.objects.tree(old)?, self.objects.tree(new)?);
        let mut old = old.entries.iter().peekable();
        let mut new = new.entries.iter().peekable();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(one), Some(other)) => name_order(
                    &one.filename,
                    one.mode.is_tree(),
                    &other.filename,
                    other.mode.is_tree(),
                ),
            };
            let before = order.is_le().then(|| old.next()).flatten();
            let after = order.is_ge().then(|| new.next()).flatten();
            self.entry(before, after)?;
        }
    }

    /// Two entries of one name that are both folders or both not, or one of them missing.
    fn entry(&mut self, old: Option<&Entry>, new: Option<&Entry>) -> Result<(), WeaveError> {
        let Some(some) = old.or(new) else {
            return Ok(());
        };
        if old == new {
            return Ok(());
        }
        let length = self.path.len();
        if length > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(&some.filename);
        if some.mode.is_tree() {
            self.folder(old.map(|entry| entry.oid), new.map(|entry| entry.oid))?;
        } else {
            let leaf = |entry: &Entry| TreeLeaf {
                mode: entry.mode,
                id: entry.oid,
            };
            self.found.changes.push(TreeChange {
                path: self.path.clone().into(),
                old: old.map(leaf),
                new: new.map(leaf),
            });
        }
        self.path.truncate(length);
        Ok(())
    }
}
