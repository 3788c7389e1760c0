//! Takes ignored files of the user's checkout along into new worktrees, as `.worktreeinclude` says.
//!
//! Only reads the checkout; a file comes along only where it is ignored as well, so that it stays out
//! of the task's work.

mod copy;
mod packed;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

pub use packed::PackedFiles;

use super::{Worktree, WorktreeError, failed};
use crate::git::{CallPlace, CommitId, Store, ignored, loose_files};

/// The file that names what comes along, in the syntax of `.gitignore`.
const RULES: &str = ".worktreeinclude";

#[derive(Debug, Default)]
pub struct Included {
    /// The top of the user's checkout.
    from: PathBuf,
    entries: Vec<IncludedEntry>,
    left_out: Vec<NotCopied>,
}

#[derive(Debug)]
struct IncludedEntry {
    pub path: PathBuf,
    kind: IncludedKind,
}

#[derive(Debug)]
enum IncludedKind {
    File,
    Link(OsString),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCopied {
    pub path: PathBuf,
    pub why: NotCopiedReason,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotCopiedReason {
    /// It is a link to something that is not part of the checkout.
    LeadsOutside,
    Repository,
    /// It would become part of the task's work.
    NotIgnored,
    /// Its folder is a link or a file there.
    InTheWay,
    Unreadable(String),
    /// There is more than goes to another machine.
    TooLarge,
}

impl fmt::Display for NotCopied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not copied: ", self.path.display())?;
        match &self.why {
            NotCopiedReason::LeadsOutside => f.write_str("it is a link to outside the repository"),
            NotCopiedReason::Repository => f.write_str("it is a repository of its own"),
            NotCopiedReason::NotIgnored => f.write_str("git does not ignore it in the worktree"),
            NotCopiedReason::InTheWay => f.write_str("its folder is not a folder in the worktree"),
            NotCopiedReason::TooLarge => f.write_str("it is too large to go to another machine"),
            NotCopiedReason::Unreadable(why) => write!(f, "could not read it: {why}"),
        }
    }
}

impl Included {
    /// Lists the ignored files of the user's checkout that the rules in a commit name.
    pub fn list(store: &Store, base: &CommitId) -> Result<Self, WorktreeError> {
        let checkout = store.checkout().ok();
        let Some(top) = checkout.and_then(|checkout| checkout.top()) else {
            return Ok(Self::default());
        };
        let Some(rules) = store.read_file_at(base, RULES)? else {
            return Ok(Self::default());
        };
        let scratch = store.scratch()?;
        let file = scratch.path().join("rules");
        let written = fs::File::create(&file).and_then(|mut file| file.write_all(&rules));
        written.map_err(failed("write", &file))?;
        let call = || {
            store
                .git
                .call(CallPlace::Users(top))
                .reading(scratch.path())
        };
        let mut named = loose_files(call(), &file)?;
        let is_ignored = ignored(call(), named.iter().map(Vec::as_slice))?;
        named.retain(|path| is_ignored.contains(path));
        let mut included = Self {
            from: top.to_owned(),
            ..Self::default()
        };
        for path in named {
            included.add(&path);
        }
        Ok(included)
    }

    fn add(&mut self, path: &[u8]) {
        let folder = path.strip_suffix(b"/");
        let is_repository = folder.is_some();
        let path = PathBuf::from(OsStr::from_bytes(folder.unwrap_or(path)));
        let place = self.from.join(&path);
        let kind = if is_repository || !is_plain(&path) {
            Err(NotCopiedReason::Repository)
        } else {
            kind_of(&place).map_err(|error| NotCopiedReason::Unreadable(error.to_string()))
        };
        match kind {
            Ok(IncludedKind::Link(target)) if !self.stays_inside(&path, &target) => {
                let why = NotCopiedReason::LeadsOutside;
                self.left_out.push(NotCopied { path, why });
            }
            Ok(kind) => self.entries.push(IncludedEntry { path, kind }),
            Err(why) => self.left_out.push(NotCopied { path, why }),
        }
    }

    /// Whether a link means something in the checkout, by its words and by what is there.
    fn stays_inside(&self, link: &Path, target: &OsStr) -> bool {
        let mut at: Vec<&OsStr> = link.iter().collect();
        at.pop();
        for part in Path::new(target).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => at.push(name),
                Component::ParentDir if at.pop().is_some() => {}
                // A whole path would lead every worktree to the same place, the user's own.
                _ => return false,
            }
        }
        let is_plain = at.iter().all(|part| is_plain(Path::new(part)));
        let is_there = match self.from.join(link).canonicalize() {
            Ok(real) => self
                .from
                .canonicalize()
                .is_ok_and(|top| real.starts_with(top)),
            Err(_) => true,
        };
        is_plain && is_there
    }

    /// What was named and does not come along, wherever it would go.
    pub fn left_out(&self) -> &[NotCopied] {
        &self.left_out
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(|entry| entry.path.as_path())
    }

    /// The files that come along, where they are now.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.paths().map(|path| self.from.join(path))
    }

    /// Copies everything into a new worktree, and tells what did not fit there.
    pub fn copy_into(
        &self,
        store: &Store,
        worktree: &Worktree,
    ) -> Result<Vec<NotCopied>, WorktreeError> {
        let to = worktree.path();
        let mut notes = Vec::new();
        let mut wanted = Vec::new();
        for entry in &self.entries {
            let path = entry.path.clone();
            match copy::room(to, &path) {
                copy::TargetState::Free => wanted.push(entry),
                // What is checked out there counts.
                copy::TargetState::Taken => {}
                copy::TargetState::Blocked => {
                    let why = NotCopiedReason::InTheWay;
                    notes.push(NotCopied { path, why });
                }
            }
        }
        let paths = wanted.iter().map(|entry| entry.path.as_os_str().as_bytes());
        let is_ignored = ignored(store.call().work_tree(to), paths)?;
        let copier = copy::Copier::new(&self.from, to).map_err(failed("open", to))?;
        for IncludedEntry { path, kind } in wanted {
            let why = if is_ignored.contains(path.as_os_str().as_bytes()) {
                copier.put(path, kind)?
            } else {
                Some(NotCopiedReason::NotIgnored)
            };
            let path = path.clone();
            notes.extend(why.map(|why| NotCopied { path, why }));
        }
        Ok(notes)
    }
}

/// Whether a path is made of names alone, none of which is git's own.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    })
}

fn kind_of(place: &Path) -> std::io::Result<IncludedKind> {
    if place.symlink_metadata()?.is_symlink() {
        return Ok(IncludedKind::Link(fs::read_link(place)?.into()));
    }
    Ok(IncludedKind::File)
}
