//! Branches as tasks make them: one commit that touches a few files of a large project.
//!
//! Knows nothing of odd names, modes or histories.

use std::collections::BTreeSet;

use super::rng::{SeededRng, WORDS};
use super::stream::{Change, Entry, FastImport, Mark, Mode};
use super::{Shares, Tangle};

const FILES_PER_FOLDER: usize = 9;
const DEEPEST: usize = 9;
const HUB_BYTES: usize = 16_000;

/// Writes the base and all branches, and returns the names of the branches.
pub(super) fn write(tangle: &Tangle, shares: &Shares, stream: &mut FastImport) -> Vec<String> {
    let project = Project::new(tangle);
    let files = (0..tangle.files).map(|file| put(&project.paths[file], project.content(file)));
    let base = stream.commit("main", &[], files);
    let mut tasks = Tasks {
        chance: SeededRng::of_one(tangle.seed, usize::MAX),
        edited: Vec::new(),
        project,
        shares,
        base,
    };
    let names: Vec<String> = (0..tangle.branches)
        .map(|n| format!("task-{n:04}"))
        .collect();
    for name in &names {
        tasks.branch(stream, name);
    }
    names
}

fn put(path: &str, content: impl AsRef<[u8]>) -> Change {
    let entry = Entry::new(Mode::File, content);
    Change::Put(path.as_bytes().to_vec(), entry)
}

/// The files of the base, whose contents are made anew whenever they are asked for.
struct Project {
    seed: u64,
    median: usize,
    folders: Vec<String>,
    paths: Vec<String>,
}

impl Project {
    fn new(tangle: &Tangle) -> Self {
        let mut chance = SeededRng::from_seed(tangle.seed);
        let mut folders = vec![String::new()];
        while folders.len() * FILES_PER_FOLDER < tangle.files {
            let parent = chance.pick(&folders);
            if parent.matches('/').count() < DEEPEST {
                let word = chance.clone().pick(&WORDS).to_owned();
                folders.push(format!("{parent}{word}{}/", folders.len()));
            }
            chance.next();
        }
        let mut path = |file: usize| {
            let word = *chance.pick(&WORDS);
            format!("{}{word}_{file}.rs", folders[file / FILES_PER_FOLDER])
        };
        let paths = (0..tangle.files).map(&mut path).collect();
        Self {
            seed: tangle.seed,
            median: tangle.median,
            folders,
            paths,
        }
    }

    /// The file that many branches touch is the first one.
    fn content(&self, file: usize) -> Vec<u8> {
        let mut chance = SeededRng::of_one(self.seed, file);
        let size = if file == 0 {
            HUB_BYTES
        } else {
            chance.size(self.median)
        };
        chance.text(size)
    }
}

/// What has been done so far.
struct Tasks<'a> {
    chance: SeededRng,
    /// Files and lines that branches have edited.
    edited: Vec<(usize, usize)>,
    project: Project,
    shares: &'a Shares,
    base: Mark,
}

impl Tasks<'_> {
    fn branch(&mut self, stream: &mut FastImport, name: &str) {
        let mut touched = BTreeSet::new();
        let mut changes = Vec::new();
        if self.chance.percent(self.shares.conflicts) && !self.edited.is_empty() {
            let (file, line) = *self.chance.pick(&self.edited);
            touched.insert(file);
            changes.push(self.edit(file, line));
        }
        if self.chance.percent(self.shares.hub) && touched.insert(0) {
            changes.push(self.edit_somewhere(0));
        }
        for _ in 0..=self.chance.below(5) {
            let file = self.chance.below(self.project.paths.len());
            if file != 0 && touched.insert(file) {
                self.touch(file, name, &mut changes);
            }
        }
        if changes.is_empty() {
            changes.push(self.edit_somewhere(0));
        }
        stream.commit(name, &[self.base], changes);
    }

    fn touch(&mut self, file: usize, branch: &str, changes: &mut Vec<Change>) {
        let Shares {
            adds,
            renames,
            deletes,
            ..
        } = *self.shares;
        let edits = 100_usize.saturating_sub(adds + renames + deletes);
        let remove = Change::Remove(self.project.paths[file].as_bytes().to_vec());
        match self.chance.weighted(&[edits, adds, renames, deletes]) {
            0 => changes.push(self.edit_somewhere(file)),
            1 => {
                let size = self.chance.size(self.project.median);
                let content = self.chance.text(size);
                changes.push(put(&self.new_path(file, branch), content));
            }
            2 => {
                let mut content = self.project.content(file);
                if self.chance.percent(50) {
                    let line = self.chance.below(count(&content));
                    content = self.replaced(&content, line);
                }
                changes.push(remove);
                changes.push(put(&self.new_path(file, branch), content));
            }
            _ => changes.push(remove),
        }
    }

    fn new_path(&mut self, file: usize, branch: &str) -> String {
        let folder = self.chance.pick(&self.project.folders);
        format!(
            "{folder}{}_{file}_{branch}.rs",
            self.chance.clone().pick(&WORDS)
        )
    }

    fn edit_somewhere(&mut self, file: usize) -> Change {
        let lines = count(&self.project.content(file));
        let line = self.chance.below(lines);
        self.edit(file, line)
    }

    fn edit(&mut self, file: usize, line: usize) -> Change {
        self.edited.push((file, line));
        let content = self.project.content(file);
        let content = self.replaced(&content, line);
        put(&self.project.paths[file], content)
    }

    /// The text with one line replaced by one to three new ones.
    fn replaced(&mut self, text: &[u8], line: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + 200);
        for (index, old) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if index == line {
                for _ in 0..=self.chance.below(3) {
                    self.chance.line(&mut out);
                }
            } else {
                out.extend_from_slice(old);
            }
        }
        out
    }
}

fn count(text: &[u8]) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').count()
}
