//! Compares what is in a folder with what was there.
//!
//! Changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::own_change::is_own;
use super::tree::{AgentFolder, FileKind};
use super::{LARGEST, SettingsEntry, copy_path};
use crate::files::stored_path::StoredPath;

/// What is looked at of one place: so many files, and folders as deep as this.
pub(super) const MOST_FILES: usize = 20_000;
pub(super) const DEEPEST: usize = 40;

/// Stands for anything in a name.
const STAR: char = '*';

pub(super) struct FolderComparison<'b> {
    pub(super) tree: AgentFolder,
    pub(super) home: &'b Path,
    pub(super) worktrees: &'b [PathBuf],
}

pub(super) enum FileComparison {
    Same,
    /// Its agent noted something in it.
    ItsOwn,
    Changed,
}

impl FolderComparison<'_> {
    pub(super) fn compared(
        &self,
        inside: &Path,
        was: Option<&SettingsEntry>,
        is: Option<&FileKind>,
    ) -> FileComparison {
        let is_same = match (was, is) {
            // A folder steers nobody; what is in it is looked at by itself.
            (None, None | Some(FileKind::Folder)) => true,
            (Some(was), None) => was.kind == FileKind::Folder,
            (Some(was), Some(is)) if was.kind == *is => true,
            _ => false,
        };
        if is_same {
            return FileComparison::Same;
        }
        let copy = |was: &SettingsEntry| fs::read(copy_path(self.home, was.copy?)).ok();
        let before = match (was, is) {
            (None, Some(FileKind::File(_))) => Some(Vec::new()),
            (Some(was), Some(FileKind::File(stamp))) => match was.kind {
                FileKind::File(before) if before.mode == stamp.mode => copy(was),
                _ => None,
            },
            _ => None,
        };
        let now = self.tree.read(inside, LARGEST).ok().map(|(bytes, _)| bytes);
        match before.zip(now) {
            Some((before, now)) if was.is_some() && before == now => FileComparison::Same,
            Some((before, now)) if is_own(inside, &before, &now, self.worktrees) => {
                FileComparison::ItsOwn
            }
            _ => FileComparison::Changed,
        }
    }
}

/// What is at a place and beneath.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    pub(super) kinds: BTreeMap<PathBuf, FileKind>,
    pub(super) is_cut: bool,
}

/// Looks at a place and beneath, as far as it is worth.
pub(super) fn found(tree: &AgentFolder, place: &Path, own: &[StoredPath]) -> FoundFiles {
    let mut found = FoundFiles::default();
    let mut ahead = vec![(place.to_owned(), 0)];
    while let Some((inside, depth)) = ahead.pop() {
        if own.iter().any(|own| own.0 == inside) {
            continue;
        }
        let Some(kind) = tree.kind(&inside).ok().flatten() else {
            continue;
        };
        if found.kinds.len() == MOST_FILES {
            found.is_cut = true;
            break;
        }
        if kind == FileKind::Folder {
            match tree.names(&inside) {
                Ok(names) if depth == DEEPEST => found.is_cut |= !names.is_empty(),
                Ok(names) => {
                    let names = names.into_iter().rev();
                    ahead.extend(names.map(|name| (inside.join(name), depth + 1)));
                }
                // It has gone meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) => found.is_cut = true,
            }
        }
        found.kinds.insert(inside, kind);
    }
    found
}

/// The places that a name with stars stands for now.
pub(super) fn matching(tree: &AgentFolder, place: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in place {
        let Some(pattern) = part.to_str().filter(|part| part.contains(STAR)) else {
            found = found.into_iter().map(|above| above.join(part)).collect();
            continue;
        };
        let names = |above: PathBuf| {
            let names = tree.names(&above).unwrap_or_default().into_iter();
            let names = names.filter(|name| is_like(&name.to_string_lossy(), pattern));
            names.map(move |name| above.join(name)).collect::<Vec<_>>()
        };
        found = found.into_iter().flat_map(names).collect();
    }
    found
}

fn is_like(name: &str, pattern: &str) -> bool {
    match pattern.split_once(STAR) {
        None => name == pattern,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let mut ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.any(|at| is_like(&name[at..], rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_in_a_name() {
        for (name, pattern, expected) in [
            ("a", "*", true),
            ("statusline.sh", "statusline*", true),
            ("my.zcompdump-5.9", "*zcompdump*", true),
            ("x.zsh", "*.zsh", true),
            ("x.zsh.old", "*.zsh", false),
            ("é", "*a", false),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }
}
