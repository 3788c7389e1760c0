//! Follows steering links and imports within a commit's tree to the files that agents read by them.
//!
//! Knows the tree only: nothing of a working tree, and nothing of what a person consented to.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use super::imports::imports;
use super::names::{is_steering, reads_imports};
use crate::git::{BlobId, CommitId, GitError, Objects, parse_id};

/// So many links one after the other are followed, as by the kernel.
const MOST_LINKS: usize = 40;

/// So many imports one after the other are followed, as by agents.
const DEEPEST_IMPORT: usize = 5;

/// The longest target of a link.
const LONGEST_TARGET: usize = 4096;

/// The longest text that is searched for imports.
const LONGEST_TEXT: usize = 1 << 20;

/// What contents mean, by their ids; it holds for every commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Where links lead; `None` where that is no path.
    targets: HashMap<BlobId, Option<Vec<u8>>>,
    /// What texts import; `None` for one that is too long to be searched.
    imports: HashMap<BlobId, Option<Vec<String>>>,
}

/// The files of a commit that steer.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// By path.
    pub(super) files: BTreeMap<Vec<u8>, TreeFile>,
    /// What leads to a file whose name does not say that it steers.
    pub(super) led_to: BTreeMap<Vec<u8>, By>,
    /// Links, and where they lead.
    pub(super) links: BTreeMap<Vec<u8>, String>,
    /// Of which it cannot be said what agents read by them, and why.
    pub(super) unseen: BTreeMap<Vec<u8>, String>,
}

/// A commit's files by their paths.
struct Tree {
    entries: BTreeMap<Vec<u8>, TreeFile>,
}

/// A file of a commit.
#[derive(Debug, Clone)]
pub(super) struct TreeFile {
    pub(super) blob: BlobId,
    pub(super) is_link: bool,
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
enum Lead {
    File(Vec<u8>),
    Folder(Vec<u8>),
    Nowhere,
}

/// A text that is to be searched for imports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Text {
    path: Vec<u8>,
    /// The folder that its imports are relative to.
    folder: Vec<u8>,
    depth: usize,
}

/// The steering files of a commit, with all that they lead to.
pub(super) fn follow(
    objects: &impl Objects,
    commit: &CommitId,
    known: &mut Arc<Known>,
) -> Result<Followed, GitError> {
    let mut entries = BTreeMap::new();
    for entry in objects.entries(commit)? {
        if !entry.is_gitlink() {
            let file = TreeFile {
                blob: parse_id("ls-tree", entry.id.as_bytes())?,
                is_link: entry.mode == "120000",
            };
            entries.insert(entry.path, file);
        }
    }
    let tree = Tree { entries };
    let mut walk = Walk::new(&tree, known);
    let steers = |path: &&Vec<u8>| is_steering(&String::from_utf8_lossy(path));
    let seeds: Vec<&Vec<u8>> = tree.entries.keys().filter(steers).collect();
    let needs_links = |path: &&Vec<u8>| tree.entries[*path].is_link || reads_imports(path);
    if seeds.iter().any(needs_links) {
        walk.read_links(objects)?;
    }
    // All of them first: what is one by its own name needs nobody to lead to it.
    for path in &seeds {
        walk.take(path, None);
    }
    for path in seeds {
        walk.visit(path, 0, None);
    }
    while !walk.texts.is_empty() {
        walk.read_texts(objects)?;
    }
    Ok(walk.found)
}

struct Walk<'a> {
    tree: &'a Tree,
    known: &'a mut Arc<Known>,
    found: Followed,
    /// Links that were followed, by whether what they lead to is searched for imports.
    followed: BTreeSet<(Vec<u8>, bool)>,
    /// Texts that are still to be searched.
    texts: BTreeSet<Text>,
    searched: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

impl<'a> Walk<'a> {
    fn new(tree: &'a Tree, known: &'a mut Arc<Known>) -> Self {
        Self {
            tree,
            known,
            found: Followed::default(),
            followed: BTreeSet::new(),
            texts: BTreeSet::new(),
            searched: BTreeSet::new(),
        }
    }

    /// Takes in a file, and what it leads to if it is a link; `by` is who led to it.
    fn visit(&mut self, path: &[u8], depth: usize, by: Option<&By>) {
        let Some(file) = self.tree.entries.get(path) else {
            return;
        };
        self.take(path, by);
        let is_searched = by.is_some_and(|by| by.is_searched) || reads_imports(path);
        if file.is_link {
            if self.followed.insert((path.to_vec(), is_searched)) {
                self.follow_link(path, depth, is_searched);
            }
        } else if is_searched && depth < DEEPEST_IMPORT {
            let folders = [
                Some(folder_of(path)),
                by.and_then(|by| by.folder.as_deref()),
                // Commands of agents are read from where the agent was started.
                Some(&b""[..]),
            ];
            for folder in folders.into_iter().flatten() {
                let folder = folder.to_vec();
                let path = path.to_vec();
                if self.searched.insert((path.clone(), folder.clone())) {
                    self.texts.insert(Text {
                        path,
                        folder,
                        depth,
                    });
                }
            }
        }
    }

    fn take(&mut self, path: &[u8], by: Option<&By>) {
        let Some(file) = self.tree.entries.get(path) else {
            return;
        };
        let is_new = self.found.files.insert(path.to_vec(), file.clone());
        if let (None, Some(by)) = (is_new, by) {
            self.found.led_to.insert(path.to_vec(), by.clone());
        }
    }

    fn follow_link(&mut self, path: &[u8], depth: usize, is_searched: bool) {
        let words = format!("{} leads to it", shown(path));
        if let Some(target) = self.target(path).map(shown) {
            self.found.links.insert(path.to_vec(), target);
        }
        let (lead, passed) = self.lead(b"", path);
        let mut by = By {
            words,
            folder: None,
            is_searched,
            is_folder: false,
        };
        for link in passed {
            self.take(&link, Some(&by));
        }
        match lead {
            Lead::File(target) => {
                by.folder = Some(folder_of(path).to_vec());
                self.visit(&target, depth, Some(&by));
            }
            Lead::Folder(folder) => {
                by.is_searched = false;
                by.is_folder = true;
                for inside in self.tree.inside(&folder) {
                    self.visit(&inside, depth, Some(&by));
                }
            }
            Lead::Nowhere => {
                let target = self.target(path).map(shown);
                let target = target.unwrap_or_else(|| "something that is no path".to_owned());
                let why = format!("leads to {target}, which is not in the repository");
                self.found.unseen.insert(path.to_vec(), why);
            }
        }
    }

    /// Searches the texts that wait for it, which are all equally deep.
    fn read_texts(&mut self, objects: &impl Objects) -> Result<(), GitError> {
        let texts = std::mem::take(&mut self.texts);
        let blob = |text: &Text| self.tree.entries[&text.path].blob.clone();
        let mut wanted: Vec<BlobId> = texts.iter().map(blob).collect();
        wanted.retain(|id| !self.known.imports.contains_key(id));
        wanted.sort();
        wanted.dedup();
        if !wanted.is_empty() {
            let read = objects.read_blobs(&wanted, LONGEST_TEXT)?.into_iter();
            let read = read.map(|(id, text)| {
                let text = text.map(|text| imports(&String::from_utf8_lossy(&text)));
                (id, text)
            });
            Arc::make_mut(self.known).imports.extend(read);
        }
        for text in texts {
            self.follow_imports(&text);
        }
        Ok(())
    }

    fn follow_imports(&mut self, text: &Text) {
        let blob = &self.tree.entries[&text.path].blob;
        let Some(Some(imported)) = self.known.imports.get(blob).cloned() else {
            let why = "is too long to be searched for imports".to_owned();
            self.found.unseen.insert(text.path.clone(), why);
            return;
        };
        let by = By {
            words: format!("{} imports it", shown(&text.path)),
            folder: None,
            is_searched: true,
            is_folder: false,
        };
        for path in imported {
            let (lead, passed) = self.lead(&text.folder, path.as_bytes());
            let Lead::File(target) = lead else { continue };
            for link in passed {
                self.take(&link, Some(&by));
            }
            self.visit(&target, text.depth + 1, Some(&by));
        }
    }

    /// Reads where all links of the tree lead.
    fn read_links(&mut self, objects: &impl Objects) -> Result<(), GitError> {
        let links = self.tree.entries.values().filter(|file| file.is_link);
        let unknown = links.filter(|file| !self.known.targets.contains_key(&file.blob));
        let mut wanted: Vec<BlobId> = unknown.map(|file| file.blob.clone()).collect();
        wanted.sort();
        wanted.dedup();
        if !wanted.is_empty() {
            let read = objects.read_blobs(&wanted, LONGEST_TARGET)?;
            Arc::make_mut(self.known).targets.extend(read);
        }
        Ok(())
    }

    fn target(&self, path: &[u8]) -> Option<&[u8]> {
        let file = self.tree.entries.get(path).filter(|file| file.is_link)?;
        self.known.targets.get(&file.blob)?.as_deref()
    }

    /// Where a path leads that begins in a folder of the tree, and the links on the way.
    fn lead(&self, folder: &[u8], path: &[u8]) -> (Lead, Vec<Vec<u8>>) {
        let mut passed = Vec::new();
        let lead = self.walk(folder, path, &mut passed);
        (lead.unwrap_or(Lead::Nowhere), passed)
    }

    fn walk(&self, folder: &[u8], path: &[u8], passed: &mut Vec<Vec<u8>>) -> Option<Lead> {
        let mut at: Vec<&[u8]> = parts(folder).collect();
        if path.starts_with(b"/") {
            return None;
        }
        let mut ahead: VecDeque<&[u8]> = parts(path).collect();
        while let Some(part) = ahead.pop_front() {
            if part == b".." {
                at.pop()?;
                continue;
            }
            at.push(part);
            let here = at.join(&b'/');
            match self.tree.entries.get(&here) {
                Some(file) if file.is_link => {
                    let target = self.target(&here)?;
                    if passed.len() >= MOST_LINKS || target.starts_with(b"/") {
                        return None;
                    }
                    passed.push(here);
                    at.pop();
                    for part in parts(target).rev() {
                        ahead.push_front(part);
                    }
                }
                Some(_) => return ahead.is_empty().then_some(Lead::File(here)),
                None if self.tree.has_folder(&here) => {}
                None => return None,
            }
        }
        Some(Lead::Folder(at.join(&b'/')))
    }
}

/// What leads to a file.
#[derive(Debug, Clone)]
pub(super) struct By {
    /// In words.
    pub(super) words: String,
    /// Whether it is a link to the folder that the file is in.
    pub(super) is_folder: bool,
    /// The folder of a link to it.
    folder: Option<Vec<u8>>,
    /// Whether what it leads to is searched for imports, whatever its name is.
    is_searched: bool,
}

impl Tree {
    /// All files in a folder and in those below it.
    fn inside(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let begin = if folder.is_empty() {
            Vec::new()
        } else {
            [folder, b"/"].concat()
        };
        let from = self.entries.range(begin.clone()..);
        from.map(|(path, _)| path)
            .take_while(|path| path.starts_with(&begin))
            .cloned()
            .collect()
    }

    fn has_folder(&self, folder: &[u8]) -> bool {
        let begin = [folder, b"/"].concat();
        let first = self.entries.range(begin.clone()..).next();
        first.is_some_and(|(path, _)| path.starts_with(&begin))
    }
}

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let parts = path.split(|byte| *byte == b'/');
    parts.filter(|part| !part.is_empty() && *part != b".")
}

fn folder_of(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/');
    &path[..end.unwrap_or(0)]
}

/// A path as text that no other path gives.
pub(super) fn shown(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) if !text.contains('\\') => text.to_owned(),
        _ => path.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests;
