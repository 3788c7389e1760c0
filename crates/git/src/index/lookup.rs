//! The entries of an index, found by folder and name.

use std::collections::HashMap;

use super::IndexEntry;

pub(crate) struct EntryLookup<'a> {
    pub(crate) entries: &'a [IndexEntry<'a>],
    /// The names and places of the entries right in each folder, by name.
    pub(crate) folders: HashMap<&'a [u8], Vec<(&'a [u8], usize)>>,
}

impl<'a> EntryLookup<'a> {
    /// Takes entries that are sorted by path.
    pub(crate) fn new(entries: &'a [IndexEntry<'a>]) -> Self {
        let mut folders: HashMap<&[u8], Vec<(&[u8], usize)>> = HashMap::new();
        folders.insert(b"", Vec::new());
        let mut at = 0;
        while let Some(first) = entries.get(at) {
            let folder = folder_of(&first.path);
            let beside = folders.entry(folder).or_default();
            while let Some(entry) = entries.get(at).filter(|e| folder_of(&e.path) == folder) {
                beside.push((name_of(&entry.path), at));
                at += 1;
            }
            // Once a folder is known, those above it are as well.
            let mut above = folder_of(folder);
            while !folders.contains_key(above) {
                folders.insert(above, Vec::new());
                above = folder_of(above);
            }
        }
        Self { entries, folders }
    }

    pub(crate) fn position(&self, path: &[u8]) -> Option<usize> {
        among(self.folders.get(folder_of(path))?, name_of(path))
    }

    /// The names and places of the entries right in a folder, if anything is expected below it.
    pub(crate) fn folder(&self, path: &[u8]) -> Option<&[(&'a [u8], usize)]> {
        self.folders.get(path).map(Vec::as_slice)
    }
}

/// The place of the entry of that name, among those of a folder.
pub(crate) fn among(beside: &[(&[u8], usize)], name: &[u8]) -> Option<usize> {
    let found = beside.binary_search_by(|(known, _)| (*known).cmp(name));
    Some(beside[found.ok()?].1)
}

/// The folder that a path is in; the top has no name.
pub(crate) fn folder_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    &path[..slash.unwrap_or_default()]
}

fn name_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    &path[slash.map_or(0, |slash| slash + 1)..]
}
