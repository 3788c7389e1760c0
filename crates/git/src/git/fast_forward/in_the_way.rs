//! Which files of a checkout keep it from moving: those that would change and hold something that is not committed.
//!
//! Judges as git does, and before it: git notes down where it was even when it refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{FastForward, FastForwardError};
use crate::git::read::text;
use crate::git::{CommitId, GitError, nul_separated, os_str};

/// What the way changes at a path, in the words of git: mode and id, none where nothing is.
struct PathStep<'p> {
    old: Option<(&'p str, &'p str)>,
    new: Option<(&'p str, &'p str)>,
}

type PathSteps<'p> = BTreeMap<&'p [u8], PathStep<'p>>;

impl FastForward<'_> {
    pub(super) fn check_files(
        &self,
        folder: &Path,
        tip: &CommitId,
    ) -> Result<(), FastForwardError> {
        let diff = ["diff-tree", "-r", "-z", "--raw", "--no-renames"];
        let ends = [tip.as_str(), self.to.as_str()];
        let printed = self.call(folder).args(diff).args(ends).output()?;
        let steps = read_steps(&printed).ok_or_else(|| garbled("diff-tree"))?;
        let status = [
            "status",
            "--porcelain=v2",
            "-z",
            "--no-renames",
            "--untracked-files=no",
            "--ignore-submodules=dirty",
        ];
        let call = self.with_filters(self.call(folder));
        let printed = call.args(status).output()?;
        let mut dirty = BTreeSet::new();
        let mut files = BTreeSet::new();
        for record in nul_separated(&printed) {
            let change = LocalChange::read(record).ok_or_else(|| garbled("status"))?;
            dirty.insert(change.path);
            if change.is_unmerged {
                return Err(self.in_progress("an unresolved merge conflict", folder));
            }
            let step = steps.get(change.path);
            if step.is_some_and(|step| change.is_in_the_way_of(step, folder)) {
                files.insert(change.path.to_vec());
            }
        }
        for (path, step) in &steps {
            if step.old.is_none() && step.new.is_some() && !dirty.contains(path) {
                find_untracked(folder, path, &steps, &mut files);
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        Err(FastForwardError::InTheWay {
            files: files.iter().map(|file| text(file)).collect(),
            folder: folder.to_owned(),
        })
    }
}

fn garbled(what: &str) -> FastForwardError {
    let (what, printed) = (what.to_owned(), String::new());
    GitError::Garbled { what, printed }.into()
}

fn read_steps(printed: &[u8]) -> Option<PathSteps<'_>> {
    let mut records = nul_separated(printed);
    let mut steps = PathSteps::new();
    while let Some(head) = records.next() {
        let path = records.next()?;
        let head = std::str::from_utf8(head).ok()?.strip_prefix(':')?;
        let mut fields = head.split(' ');
        let (old_mode, new_mode) = (fields.next()?, fields.next()?);
        let (old_id, new_id) = (fields.next()?, fields.next()?);
        let entry = |mode: &'_ str| mode != "000000";
        let step = PathStep {
            old: entry(old_mode).then_some((old_mode, old_id)),
            new: entry(new_mode).then_some((new_mode, new_id)),
        };
        steps.insert(path, step);
    }
    Some(steps)
}

/// A tracked path that is not as the last commit has it.
struct LocalChange<'p> {
    path: &'p [u8],
    /// How the index differs from the commit, and the files from the index; a dot where they do not.
    staged: u8,
    edited: u8,
    is_submodule: bool,
    is_unmerged: bool,
    index: Option<(&'p str, &'p str)>,
}

impl<'p> LocalChange<'p> {
    fn read(record: &'p [u8]) -> Option<Self> {
        let is_unmerged = record.first() == Some(&b'u');
        let before_path = if is_unmerged { 10 } else { 8 };
        let mut fields = record.splitn(before_path + 1, |byte| *byte == b' ');
        let mut field = || std::str::from_utf8(fields.next()?).ok();
        let (_kind, sides, submodule) = (field()?, field()?, field()?);
        let (_head_mode, index_mode, _mode) = (field()?, field()?, field()?);
        let (_head_id, index_id) = (field()?, field()?);
        if is_unmerged {
            let _ = (field()?, field()?);
        }
        let &[staged, edited] = sides.as_bytes() else {
            return None;
        };
        Some(Self {
            path: fields.next()?,
            staged,
            edited,
            is_submodule: submodule != "N...",
            is_unmerged,
            index: (index_mode != "000000").then_some((index_mode, index_id)),
        })
    }

    fn is_in_the_way_of(&self, step: &PathStep<'_>, folder: &Path) -> bool {
        let is_there = || folder.join(os_str(self.path)).symlink_metadata().is_ok();
        if self.staged != b'.' {
            // What was staged may be just what comes. A file that was taken out of the index is git's no more.
            return self.index != step.new || (self.index.is_none() && is_there());
        }
        match self.edited {
            b'.' => false,
            _ if self.is_submodule => false,
            // A file that is missing is made anew, unless something else took its place.
            b'D' => is_there(),
            _ => true,
        }
    }
}

/// Finds what git does not know at a place where a file is to be made.
fn find_untracked(
    folder: &Path,
    path: &[u8],
    steps: &PathSteps<'_>,
    files: &mut BTreeSet<Vec<u8>>,
) {
    let goes = |path: &[u8]| steps.get(path).is_some_and(|step| step.old.is_some());
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    for (end, _) in slashes {
        let above = &path[..end];
        match folder.join(os_str(above)).symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) if !goes(above) => {
                files.insert(above.to_vec());
                return;
            }
            // Nothing is below a file, or below nothing.
            _ => return,
        }
    }
    match folder.join(os_str(path)).symlink_metadata() {
        Ok(meta) if meta.is_dir() => find_below(folder, path, &goes, files),
        Ok(_) => {
            files.insert(path.to_vec());
        }
        Err(_) => {}
    }
}

/// Finds files of a folder that do not go by themselves.
fn find_below(
    folder: &Path,
    path: &[u8],
    goes: &dyn Fn(&[u8]) -> bool,
    files: &mut BTreeSet<Vec<u8>>,
) {
    let entries = fs::read_dir(folder.join(os_str(path)));
    for entry in entries.into_iter().flatten().flatten() {
        let below = [path, b"/", entry.file_name().as_encoded_bytes()].concat();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => find_below(folder, &below, goes, files),
            _ if goes(&below) => {}
            _ => {
                files.insert(below);
            }
        }
    }
}
