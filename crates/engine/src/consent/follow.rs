//! Follows steering links, imports and the words of settings within a commit's tree to the files that agents read by them.
//!
//! Knows the tree only: nothing of a working tree, and nothing of what a person consented to.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use pleach_git::git::{BlobId, CommitId, GitError, ObjectSource, parse_id};

use super::imports::imports;
use super::names::{ReferenceStyle, Role, is_steering};
use super::references::{Pattern, Reference, references};

/// So many links one after the other are followed, as by the kernel.
const MOST_LINKS: usize = 40;

/// So many imports one after the other are followed, as by agents.
const DEEPEST_IMPORT: usize = 5;

const LONGEST_TARGET: usize = 4096;

/// The longest text that is searched for imports.
const LONGEST_TEXT: usize = 1 << 20;

/// So many patterns of a text are compared with all files.
const MOST_PATTERNS: usize = 32;

/// What contents mean, by their ids; it holds for every commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReferenceCache {
    /// Where links lead; `None` where that is no path.
    targets: HashMap<BlobId, Option<Vec<u8>>>,
    /// What texts refer to; `None` for one that is too long to be searched.
    references: HashMap<(BlobId, ReferenceStyle), Option<Vec<Reference>>>,
}

#[derive(Debug, Default)]
pub(super) struct SteeringSearch {
    pub(super) files: BTreeMap<Vec<u8>, TreeFile>,
    /// What leads to a file whose name does not say that it steers.
    pub(super) led_to: BTreeMap<Vec<u8>, ReferenceSource>,
    pub(super) links: BTreeMap<Vec<u8>, String>,
    /// Of which it cannot be said what agents read by them, and why.
    pub(super) unseen: BTreeMap<Vec<u8>, String>,
}

struct CommitFiles {
    entries: BTreeMap<Vec<u8>, TreeFile>,
}

#[derive(Debug, Clone)]
pub(super) struct TreeFile {
    pub(super) blob: BlobId,
    pub(super) is_link: bool,
    pub(super) is_executable: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum PathTarget {
    File(Vec<u8>),
    Folder(Vec<u8>),
    Nowhere,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SearchedText {
    path: Vec<u8>,
    reading: ReferenceStyle,
    /// The folder that what it refers to is relative to.
    folder: Vec<u8>,
    depth: usize,
}

/// The steering files of a commit, with all that they lead to.
pub(super) fn follow(
    objects: &impl ObjectSource,
    commit: &CommitId,
    known: &mut Arc<ReferenceCache>,
) -> Result<SteeringSearch, GitError> {
    let mut entries = BTreeMap::new();
    for entry in objects.entries(commit)? {
        if !entry.is_gitlink() {
            let file = TreeFile {
                blob: parse_id("ls-tree", entry.id.as_bytes())?,
                is_link: entry.mode == "120000",
                is_executable: entry.mode == "100755",
            };
            entries.insert(entry.path, file);
        }
    }
    let tree = CommitFiles { entries };
    let mut walk = ReferenceWalk::new(&tree, known);
    let steers = |path: &&Vec<u8>| is_steering(&String::from_utf8_lossy(path));
    let seeds: Vec<&Vec<u8>> = tree.entries.keys().filter(steers).collect();
    let needs_links =
        |path: &&Vec<u8>| tree.entries[*path].is_link || ReferenceStyle::of_file(path).is_some();
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

struct ReferenceWalk<'a> {
    tree: &'a CommitFiles,
    known: &'a mut Arc<ReferenceCache>,
    found: SteeringSearch,
    /// Links that were followed, by how what they lead to is searched.
    followed: BTreeSet<(Vec<u8>, Option<ReferenceStyle>)>,
    texts: BTreeSet<SearchedText>,
    searched: BTreeSet<(Vec<u8>, ReferenceStyle, Vec<u8>)>,
}

impl<'a> ReferenceWalk<'a> {
    fn new(tree: &'a CommitFiles, known: &'a mut Arc<ReferenceCache>) -> Self {
        Self {
            tree,
            known,
            found: SteeringSearch::default(),
            followed: BTreeSet::new(),
            texts: BTreeSet::new(),
            searched: BTreeSet::new(),
        }
    }

    /// Takes in a file, and what it leads to if it is a link; `by` is who led to it.
    fn visit(&mut self, path: &[u8], depth: usize, by: Option<&ReferenceSource>) {
        let Some(file) = self.tree.entries.get(path) else {
            return;
        };
        self.take(path, by);
        let reading = match by {
            // What is only named is run or read, and names nothing further unless it is a text.
            Some(by) if by.is_named => by.reading.or_else(|| {
                ReferenceStyle::of_file(path).filter(|reading| *reading == ReferenceStyle::Imports)
            }),
            Some(by) => by.reading.or_else(|| ReferenceStyle::of_file(path)),
            None => ReferenceStyle::of_file(path),
        };
        if file.is_link {
            if self.followed.insert((path.to_vec(), reading)) {
                self.follow_link(path, depth, reading, by);
            }
        } else if let Some(reading) = reading
            && depth < DEEPEST_IMPORT
        {
            self.search_later(path, reading, depth, by);
        }
    }

    fn search_later(
        &mut self,
        path: &[u8],
        reading: ReferenceStyle,
        depth: usize,
        by: Option<&ReferenceSource>,
    ) {
        let folders = [
            Some(folder_of(path)),
            by.and_then(|by| by.folder.as_deref()),
            // Commands of agents are read from where the agent was started, and hooks run in the project's folder.
            Some(&b""[..]),
            (reading == ReferenceStyle::References).then(|| folder_of(folder_of(path))),
        ];
        for folder in folders.into_iter().flatten() {
            let text = SearchedText {
                path: path.to_vec(),
                reading,
                folder: folder.to_vec(),
                depth,
            };
            let key = (text.path.clone(), reading, text.folder.clone());
            if self.searched.insert(key) {
                self.texts.insert(text);
            }
        }
    }

    fn take(&mut self, path: &[u8], by: Option<&ReferenceSource>) {
        let Some(file) = self.tree.entries.get(path) else {
            return;
        };
        let is_new = self.found.files.insert(path.to_vec(), file.clone());
        if let (None, Some(by)) = (is_new, by) {
            self.found.led_to.insert(path.to_vec(), by.clone());
        }
    }

    fn follow_link(
        &mut self,
        path: &[u8],
        depth: usize,
        reading: Option<ReferenceStyle>,
        led_by: Option<&ReferenceSource>,
    ) {
        let words = format!("{} links to it", shown(path));
        if let Some(target) = self.target(path).map(shown) {
            self.found.links.insert(path.to_vec(), target);
        }
        let (lead, passed) = self.lead(b"", path);
        let mut by = ReferenceSource {
            words,
            folder: None,
            reading,
            is_folder: false,
            is_named: led_by.is_some_and(|by| by.is_named),
            role: led_by.map_or(Role::Instructions, |by| by.role),
        };
        for link in passed {
            self.take(&link, Some(&by));
        }
        match lead {
            PathTarget::File(target) => {
                by.folder = Some(folder_of(path).to_vec());
                self.visit(&target, depth, Some(&by));
            }
            PathTarget::Folder(folder) => {
                by.reading = None;
                by.is_folder = true;
                for inside in self.tree.inside(&folder) {
                    self.visit(&inside, depth, Some(&by));
                }
            }
            PathTarget::Nowhere => {
                let target = self.target(path).map(shown);
                let target = target.unwrap_or_else(|| "something that is not a path".to_owned());
                let why = format!("links to {target}, which is outside the repository");
                self.found.unseen.insert(path.to_vec(), why);
            }
        }
    }

    /// Searches the texts that wait for it, which are all equally deep.
    fn read_texts(&mut self, objects: &impl ObjectSource) -> Result<(), GitError> {
        let texts = std::mem::take(&mut self.texts);
        let key = |text: &SearchedText| (self.tree.entries[&text.path].blob.clone(), text.reading);
        let mut wanted: Vec<(BlobId, ReferenceStyle)> = texts.iter().map(key).collect();
        wanted.retain(|key| !self.known.references.contains_key(key));
        wanted.sort();
        wanted.dedup();
        if !wanted.is_empty() {
            let mut ids: Vec<BlobId> = wanted.iter().map(|(id, _)| id.clone()).collect();
            ids.dedup();
            let texts = objects.read_blobs(&ids, LONGEST_TEXT)?;
            let read = wanted.into_iter().map(|(id, reading)| {
                let text = texts.get(&id).and_then(Option::as_ref);
                let found = text.map(|text| found_in(&String::from_utf8_lossy(text), reading));
                ((id, reading), found)
            });
            Arc::make_mut(self.known).references.extend(read);
        }
        for text in texts {
            self.follow_text(&text);
        }
        Ok(())
    }

    fn follow_text(&mut self, text: &SearchedText) {
        let key = (self.tree.entries[&text.path].blob.clone(), text.reading);
        let Some(Some(found)) = self.known.references.get(&key).cloned() else {
            let why = "is too long to search for files that it names".to_owned();
            self.found.unseen.insert(text.path.clone(), why);
            return;
        };
        let is_pattern = |found: &&Reference| matches!(found, Reference::Pattern(_));
        if found.iter().filter(is_pattern).count() > MOST_PATTERNS {
            let why = "has too many patterns to search".to_owned();
            self.found.unseen.insert(text.path.clone(), why);
        }
        let mut patterns_left = MOST_PATTERNS;
        for reference in found {
            match reference {
                Reference::Path(path) => self.follow_path(text, path.as_bytes()),
                Reference::Pattern(pattern) if patterns_left > 0 => {
                    patterns_left -= 1;
                    self.follow_pattern(text, &pattern);
                }
                Reference::Pattern(_) => {}
            }
        }
    }

    fn follow_path(&mut self, text: &SearchedText, path: &[u8]) {
        let (lead, passed) = self.lead(&text.folder, path);
        let by = ReferenceSource::text(text, path);
        if let PathTarget::File(target) = lead {
            for link in passed {
                self.take(&link, Some(&by));
            }
            self.visit(&target, text.depth + 1, Some(&by));
            return;
        }
        for link in passed {
            // Agents read what it leads to, outside of the repository.
            if self.lead(b"", &link).0 == PathTarget::Nowhere {
                self.visit(&link, text.depth + 1, Some(&by));
            }
        }
    }

    fn follow_pattern(&mut self, text: &SearchedText, pattern: &str) {
        let mut whole = text.folder.clone();
        if !whole.is_empty() {
            whole.push(b'/');
        }
        whole.extend(pattern.bytes());
        let pattern = Pattern::new(&whole);
        let by = ReferenceSource {
            reading: Some(ReferenceStyle::Imports),
            role: Role::Instructions,
            ..ReferenceSource::text(text, &whole)
        };
        for path in self.tree.starting_with(&pattern.start) {
            if pattern.matches(&path) {
                self.visit(&path, text.depth + 1, Some(&by));
            }
        }
    }

    fn read_links(&mut self, objects: &impl ObjectSource) -> Result<(), GitError> {
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
    fn lead(&self, folder: &[u8], path: &[u8]) -> (PathTarget, Vec<Vec<u8>>) {
        let mut passed = Vec::new();
        let lead = self.walk(folder, path, &mut passed);
        (lead.unwrap_or(PathTarget::Nowhere), passed)
    }

    fn walk(&self, folder: &[u8], path: &[u8], passed: &mut Vec<Vec<u8>>) -> Option<PathTarget> {
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
                    let is_last = passed.len() >= MOST_LINKS || target.starts_with(b"/");
                    passed.push(here);
                    if is_last {
                        return None;
                    }
                    at.pop();
                    for part in parts(target).rev() {
                        ahead.push_front(part);
                    }
                }
                Some(_) => return ahead.is_empty().then_some(PathTarget::File(here)),
                None if self.tree.has_folder(&here) => {}
                None => return None,
            }
        }
        Some(PathTarget::Folder(at.join(&b'/')))
    }
}

#[derive(Debug, Clone)]
pub(super) struct ReferenceSource {
    pub(super) words: String,
    /// Whether it is a link to the folder that the file is in.
    pub(super) is_folder: bool,
    folder: Option<Vec<u8>>,
    /// How what it leads to is searched, whatever its name is.
    reading: Option<ReferenceStyle>,
    /// Whether settings name the file, as they name programs.
    is_named: bool,
    /// What the file does if its name does not say so.
    pub(super) role: Role,
}

impl ReferenceSource {
    fn text(text: &SearchedText, path: &[u8]) -> Self {
        let from = shown(&text.path);
        let is_named = text.reading == ReferenceStyle::References;
        let is_text = ReferenceStyle::of_file(path) == Some(ReferenceStyle::Imports);
        Self {
            words: if is_named {
                format!("{from} names it")
            } else {
                format!("{from} imports it")
            },
            is_folder: false,
            folder: None,
            reading: (!is_named).then_some(ReferenceStyle::Imports),
            is_named,
            role: if is_named && !is_text {
                Role::Hooks
            } else {
                Role::Instructions
            },
        }
    }
}

fn found_in(text: &str, reading: ReferenceStyle) -> Vec<Reference> {
    match reading {
        ReferenceStyle::Imports => imports(text).into_iter().map(Reference::Path).collect(),
        ReferenceStyle::References => references(text),
    }
}

impl CommitFiles {
    /// All files in a folder and in those below it.
    fn inside(&self, folder: &[u8]) -> Vec<Vec<u8>> {
        let begin = if folder.is_empty() {
            Vec::new()
        } else {
            [folder, b"/"].concat()
        };
        self.starting_with(&begin)
    }

    fn starting_with(&self, begin: &[u8]) -> Vec<Vec<u8>> {
        let from = self.entries.range(begin.to_vec()..);
        from.map(|(path, _)| path)
            .take_while(|path| path.starts_with(begin))
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
