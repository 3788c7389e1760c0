//! Walks a worktree once and tells how its files stand to the entries that are expected.
//!
//! Reads no content and follows no link; opens up what its owner may not read.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pleach_system::files::plain_file;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat};
use rustix::io::Errno;

use super::CaptureError;
use super::staging::is_at_or_below;
use crate::git::os_str;
use crate::index::{EntryLookup, GITLINK, IndexEntry, Likeness, among};

/// Something in the worktree that no entry stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LooseFile {
    pub(super) path: Vec<u8>,
    pub(super) kind: LooseKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LooseKind {
    File,
    Link,
    Folder,
}

pub(super) struct WalkResult {
    /// Whether each of the entries is still there, or stays whether it is or not.
    pub(super) stays: Vec<bool>,
    /// Entries whose files have to be read.
    pub(super) doubtful: Vec<usize>,
    /// Entries whose files are certainly not what they were.
    pub(super) changed: Vec<usize>,
    pub(super) loose: Vec<LooseFile>,
    /// Entries in whose place is a pipe, a socket or a device.
    pub(super) special: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnreadablePolicy {
    /// They are opened up: nobody else is there any more.
    MakeReadable,
    /// They are taken for unchanged, and what vanishes meanwhile for gone: somebody is at work.
    AssumeUnchanged,
    /// They stay closed, and whoever takes files says which were passed over: the folder is the user's.
    Skip,
}

/// Walks all folders that hold expected entries; others are only named.
pub(super) fn walk(
    root: &Path,
    lookup: &EntryLookup<'_>,
    seen: SystemTime,
    manners: UnreadablePolicy,
) -> Result<WalkResult, CaptureError> {
    let is_gitlink = |entry: &IndexEntry<'_>| entry.mode == GITLINK;
    let mut walk = WorktreeWalk {
        root,
        lookup,
        seen,
        manners,
        found: WalkResult {
            stays: lookup.entries.iter().map(is_gitlink).collect(),
            doubtful: Vec::new(),
            changed: Vec::new(),
            loose: Vec::new(),
            special: Vec::new(),
        },
        folders: vec![Vec::new()],
    };
    let mut buffer = Vec::with_capacity(1 << 15);
    while let Some(folder) = walk.folders.pop() {
        let beside = &lookup.folders[&folder[..]];
        let visit = |fd: BorrowedFd<'_>, name: &CStr, kind| {
            let known = among(beside, name.to_bytes());
            walk.visit(&folder, known, fd, name, kind)
        };
        let read = read_folder(root, &folder, &mut buffer, manners, visit);
        if let Err(error) = read {
            let place = || root.join(os_str(&folder));
            let passed_over = walk.pass_over(&folder, error);
            passed_over.map_err(|error| failed(&place())(error))?;
        }
    }
    Ok(walk.found)
}

struct WorktreeWalk<'a> {
    root: &'a Path,
    lookup: &'a EntryLookup<'a>,
    seen: SystemTime,
    manners: UnreadablePolicy,
    found: WalkResult,
    folders: Vec<Vec<u8>>,
}

impl WorktreeWalk<'_> {
    /// Goes on without a folder that cannot be read, if that is the way to go about it.
    fn pass_over(&mut self, folder: &[u8], error: io::Error) -> io::Result<()> {
        match (self.manners, error.kind()) {
            (UnreadablePolicy::MakeReadable, _) => Err(error),
            // Nothing is known of it then, least of all that it is empty.
            (UnreadablePolicy::Skip, _) if folder.is_empty() => Err(error),
            (_, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(()),
            (_, io::ErrorKind::PermissionDenied) => {
                for (at, entry) in self.lookup.entries.iter().enumerate() {
                    self.found.stays[at] |= is_at_or_below(&entry.path, folder);
                }
                Ok(())
            }
            _ => Err(error),
        }
    }

    fn visit(
        &mut self,
        folder: &[u8],
        known: Option<usize>,
        fd: BorrowedFd<'_>,
        name: &CStr,
        kind: FileType,
    ) -> io::Result<()> {
        let path = || below(folder, name.to_bytes());
        if kind == FileType::Directory {
            return self.visit_folder(path(), known);
        }
        let Some(known) = known else {
            self.found.loose.extend(loose(path(), kind));
            return Ok(());
        };
        if !matches!(kind, FileType::RegularFile | FileType::Symlink) {
            self.found.special.push(known);
            return Ok(());
        }
        let file = match stat(fd, name, self.manners) {
            Err(error) => return self.pass_over(&path(), error),
            Ok(file) => file,
        };
        self.found.stays[known] = true;
        if self.manners == UnreadablePolicy::AssumeUnchanged && is_closed(&file) {
            return Ok(());
        }
        match self.lookup.entries[known].likeness(&file, self.seen) {
            Likeness::Same => return Ok(()),
            Likeness::Doubtful => self.found.doubtful.push(known),
            Likeness::Other => self.found.changed.push(known),
        }
        match self.manners {
            UnreadablePolicy::MakeReadable => open_up_file(self.root, &path(), &file),
            UnreadablePolicy::AssumeUnchanged | UnreadablePolicy::Skip => Ok(()),
        }
    }

    fn visit_folder(&mut self, path: Vec<u8>, known: Option<usize>) -> io::Result<()> {
        if self.lookup.folders.contains_key(&path[..]) {
            self.folders.push(path);
            return Ok(());
        }
        match known.filter(|known| self.lookup.entries[*known].mode == GITLINK) {
            // Files of no repository in the place of a submodule are the agent's work.
            Some(submodule) if holds_plain_files(self.root, &path, self.manners)? => {
                self.found.stays[submodule] = false;
                self.found.loose.extend(loose(path, FileType::Directory));
            }
            Some(_) => {}
            None => self.found.loose.extend(loose(path, FileType::Directory)),
        }
        Ok(())
    }
}

/// The most that the system takes for a path, with the zero at its end.
const LONGEST_PATH: usize = 4096;

/// What is in a folder, without any repository's own bookkeeping; one that is passed over is empty.
pub(super) fn children(
    root: &Path,
    folder: &[u8],
    manners: UnreadablePolicy,
) -> Result<Vec<LooseFile>, CaptureError> {
    let place = root.join(os_str(folder));
    let mut found = Vec::new();
    let visit = |_: BorrowedFd<'_>, name: &CStr, kind| {
        // Neither git nor anybody else who goes by paths gets there.
        if place.as_os_str().len() + 1 + name.to_bytes_with_nul().len() <= LONGEST_PATH {
            found.extend(loose(below(folder, name.to_bytes()), kind));
        }
        Ok(())
    };
    let buffer = &mut Vec::with_capacity(1 << 15);
    let read = read_folder(root, folder, buffer, manners, visit);
    match read {
        Err(_) if manners == UnreadablePolicy::AssumeUnchanged => Ok(Vec::new()),
        Err(error)
            if manners == UnreadablePolicy::Skip
                && error.kind() == io::ErrorKind::PermissionDenied =>
        {
            Ok(Vec::new())
        }
        read => read.map(|()| found).map_err(failed(&place)),
    }
}

/// Makes sure that a file can be read; `false` if it cannot, and that is to be left so.
pub(super) fn open_up(
    root: &Path,
    path: &[u8],
    manners: UnreadablePolicy,
) -> Result<bool, CaptureError> {
    let place = root.join(os_str(path));
    let file = rustix::fs::lstat(&place).map_err(io::Error::from);
    match manners {
        UnreadablePolicy::AssumeUnchanged => return Ok(file.is_ok_and(|file| !is_closed(&file))),
        // Whether it can be read is asked of all files together, and told.
        UnreadablePolicy::Skip => return Ok(true),
        UnreadablePolicy::MakeReadable => {}
    }
    file.and_then(|file| open_up_file(root, path, &file))
        .map_err(failed(&place))?;
    Ok(true)
}

fn below(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    if !folder.is_empty() {
        path.extend_from_slice(folder);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}

/// Git has no room for pipes, sockets and devices.
fn loose(path: Vec<u8>, kind: FileType) -> Option<LooseFile> {
    let kind = match kind {
        FileType::RegularFile => LooseKind::File,
        FileType::Symlink => LooseKind::Link,
        FileType::Directory => LooseKind::Folder,
        _ => return None,
    };
    Some(LooseFile { path, kind })
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> CaptureError {
    let path = path.to_owned();
    move |source| CaptureError::Io { path, source }
}

/// Shows everything in a folder but `.git`.
fn read_folder(
    root: &Path,
    path: &[u8],
    buffer: &mut Vec<u8>,
    manners: UnreadablePolicy,
    mut each: impl FnMut(BorrowedFd<'_>, &CStr, FileType) -> io::Result<()>,
) -> io::Result<()> {
    let folder = open_folder(root, Path::new(os_str(path)), manners)?;
    let spare: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
    let mut entries = RawDir::new(&folder, spare);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b".." | b".git") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                FileType::from_raw_mode(stat(folder.as_fd(), name, manners)?.st_mode)
            }
            kind => kind,
        };
        each(folder.as_fd(), name, kind)?;
    }
    Ok(())
}

fn open_folder(root: &Path, path: &Path, manners: UnreadablePolicy) -> io::Result<OwnedFd> {
    let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = || plain_file::open_below(root, path, how);
    match open() {
        Err(Errno::ACCESS) if manners == UnreadablePolicy::MakeReadable => {
            plain_file::change_mode(root, path, FileType::Directory, |mode| mode | 0o700)?;
            Ok(open()?)
        }
        other => Ok(other?),
    }
}

fn stat(folder: BorrowedFd<'_>, name: &CStr, manners: UnreadablePolicy) -> io::Result<Stat> {
    let stat = || rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    match stat() {
        // A folder may be read but not entered.
        Err(Errno::ACCESS) if manners == UnreadablePolicy::MakeReadable => {
            let mode = rustix::fs::fstat(folder)?.st_mode;
            rustix::fs::fchmod(folder, Mode::from_raw_mode(mode) | Mode::RWXU)?;
            Ok(stat()?)
        }
        other => Ok(other?),
    }
}

fn open_up_file(root: &Path, path: &[u8], file: &Stat) -> io::Result<()> {
    if is_closed(file) {
        let path = Path::new(os_str(path));
        plain_file::change_mode(root, path, FileType::RegularFile, |mode| mode | 0o400)?;
    }
    Ok(())
}

/// Whether it is a file that not even its owner may read.
fn is_closed(file: &Stat) -> bool {
    file.st_mode & 0o400 == 0 && FileType::from_raw_mode(file.st_mode) == FileType::RegularFile
}

/// Whether somebody filled the empty folder of a submodule with files of no repository.
fn holds_plain_files(root: &Path, path: &[u8], manners: UnreadablePolicy) -> io::Result<bool> {
    if root
        .join(os_str(path))
        .join(".git")
        .symlink_metadata()
        .is_ok()
    {
        return Ok(false);
    }
    let mut holds = false;
    let visit = |_: BorrowedFd<'_>, _: &CStr, _| {
        holds = true;
        Ok(())
    };
    let buffer = &mut Vec::with_capacity(1 << 15);
    read_folder(root, path, buffer, manners, visit)?;
    Ok(holds)
}

/// Where the work is: a folder, and no link that could lead anywhere.
pub(super) fn check_is_folder(path: &Path) -> Result<(), CaptureError> {
    if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    let path: PathBuf = path.to_owned();
    Err(CaptureError::Gone { path })
}
