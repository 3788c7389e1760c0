//! Compares what is in a folder with what was there.
//!
//! Changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::own_change::is_own;
use super::tree::{Kind, Tree};
use super::{Entry, LARGEST, copy_path};
use crate::run::Text;

/// Nobody's settings are more files, or lie deeper.
const MOST_FILES: usize = 20_000;
pub(super) const DEEPEST: usize = 12;

/// How a folder is now, and what is known of how it was.
pub(super) struct Before<'b> {
    pub(super) tree: Tree,
    pub(super) home: &'b Path,
    pub(super) worktrees: &'b [PathBuf],
}

/// What became of a file.
pub(super) enum Compared {
    Same,
    /// Its agent noted something in it.
    ItsOwn,
    Changed,
}

impl Before<'_> {
    pub(super) fn compared(
        &self,
        inside: &Path,
        was: Option<&Entry>,
        is: Option<&Kind>,
    ) -> Compared {
        let is_same = match (was, is) {
            // A folder steers nobody; what is in it is looked at by itself.
            (None, None | Some(Kind::Folder)) => true,
            (Some(was), None) => was.kind == Kind::Folder,
            (Some(was), Some(is)) if was.kind == *is => true,
            _ => false,
        };
        if is_same {
            return Compared::Same;
        }
        let copy = |was: &Entry| fs::read(copy_path(self.home, was.copy?)).ok();
        let before = match (was, is) {
            (None, Some(Kind::File(_))) => Some(Vec::new()),
            (Some(was), Some(Kind::File(stamp))) => match was.kind {
                Kind::File(before) if before.mode == stamp.mode => copy(was),
                _ => None,
            },
            _ => None,
        };
        let now = self.tree.read(inside, LARGEST).ok().map(|(bytes, _)| bytes);
        match before.zip(now) {
            Some((before, now)) if was.is_some() && before == now => Compared::Same,
            Some((before, now)) if is_own(inside, &before, &now, self.worktrees) => {
                Compared::ItsOwn
            }
            _ => Compared::Changed,
        }
    }
}

/// What is at a place and beneath; nothing if that is too much.
pub(super) fn found(tree: &Tree, place: &Path, own: &[Text]) -> Option<BTreeMap<PathBuf, Kind>> {
    let mut found = BTreeMap::new();
    let mut ahead = vec![(place.to_owned(), 0)];
    while let Some((inside, depth)) = ahead.pop() {
        if own.iter().any(|own| own.0 == inside) {
            continue;
        }
        let Some(kind) = tree.kind(&inside).ok().flatten() else {
            continue;
        };
        if kind == Kind::Folder {
            if depth == DEEPEST {
                return None;
            }
            let names = tree.names(&inside).ok()?;
            ahead.extend(names.into_iter().map(|name| (inside.join(name), depth + 1)));
        }
        found.insert(inside, kind);
        if found.len() + ahead.len() > MOST_FILES {
            return None;
        }
    }
    Some(found)
}
