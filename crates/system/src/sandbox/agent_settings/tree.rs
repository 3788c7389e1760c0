//! A folder that agents write to, looked at and mended without ever following a link out of it.
//!
//! Knows nothing of why which files are looked at.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, chmod, fchmod, fstat, mkdirat, open,
    openat2, readlinkat, renameat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::files::plain_file::names;
use crate::files::stored_path::StoredPath;

/// A folder by itself, whatever its path leads to meanwhile.
#[derive(Debug)]
pub(super) struct AgentFolder {
    top: OwnedFd,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FileKind {
    File(FileStamp),
    Folder,
    Link(StoredPath),
    /// A pipe, a socket or a device.
    Other,
}

/// What changes when a file does; the last of it only the kernel sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    inode: u64,
    pub(super) size: u64,
    pub(super) mode: u32,
    changed: (i64, u64),
}

/// Gives the owner the rights to a folder, whatever its path leads to.
fn open_up(folder: &OwnedFd) -> Result<(), Errno> {
    let stat = fstat(folder)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Ok(());
    }
    let mode = Mode::from_raw_mode(stat.st_mode) | Mode::RWXU;
    chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), mode)
}

impl FileStamp {
    fn from_stat(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            mode: stat.st_mode & 0o777,
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl AgentFolder {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let top = open(path, flags, Mode::empty())?;
        Ok(Self { top })
    }

    fn at(&self, inside: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let inside = match inside.as_os_str() {
            empty if empty.is_empty() => OsStr::new("."),
            inside => inside,
        };
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let open = |inside, flags| openat2(&self.top, inside, flags, Mode::empty(), within);
        match open(inside, flags) {
            Err(Errno::ACCESS) => {
                // Agents can take the rights from folders that they cannot move.
                let above: Vec<&Path> = Path::new(inside).ancestors().collect();
                for folder in above.into_iter().rev() {
                    let folder = if folder.as_os_str().is_empty() {
                        OsStr::new(".")
                    } else {
                        folder.as_os_str()
                    };
                    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    open_up(&open(folder, flags)?)?;
                }
                open(inside, flags)
            }
            opened => opened,
        }
    }

    /// What is at a path, if anything is; whatever lies behind a link is not there.
    pub(super) fn kind(&self, inside: &Path) -> io::Result<Option<FileKind>> {
        let found = match self.at(inside, OFlags::PATH) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&found)?;
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File(FileStamp::from_stat(&stat)),
            FileType::Directory => FileKind::Folder,
            FileType::Symlink => {
                let target = readlinkat(&found, "", Vec::new())?;
                FileKind::Link(StoredPath(OsStr::from_bytes(target.as_bytes()).into()))
            }
            _ => FileKind::Other,
        }))
    }

    pub(super) fn names(&self, inside: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = self.at(inside, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names: Vec<PathBuf> = names(folder)?.into_iter().map(Into::into).collect();
        names.sort_unstable();
        Ok(names)
    }

    pub(super) fn read(&self, inside: &Path, most: u64) -> io::Result<(Vec<u8>, FileStamp)> {
        // Nobody writes to a pipe that has come instead.
        let file = File::from(self.at(inside, OFlags::RDONLY | OFlags::NONBLOCK)?);
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::INVAL.into());
        }
        let mut bytes = Vec::new();
        (&file).take(most).read_to_end(&mut bytes)?;
        Ok((bytes, FileStamp::from_stat(&stat)))
    }

    /// Moves what is at a path away, to a path of ours if that can be, else beside everything in this folder.
    pub(super) fn move_away(&self, inside: &Path, to: &Path, beside: &str) -> io::Result<bool> {
        let (folder, name) = self.parent(inside)?;
        match renameat(&folder, name, CWD, to) {
            Ok(()) => Ok(true),
            Err(Errno::XDEV) => {
                renameat(&folder, name, &self.top, beside)?;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a file at once, with whatever folders it needs.
    pub(super) fn write(&self, inside: &Path, bytes: &[u8], mode: u32) -> io::Result<FileStamp> {
        self.make_folders(inside.parent().unwrap_or(Path::new("")))?;
        let (folder, name) = self.parent(inside)?;
        let draft = format!(".pleach-{}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // What an earlier one of this number left, or an agent made.
        let _ = unlinkat(&folder, &draft, AtFlags::empty());
        let file = rustix::fs::openat(&folder, &draft, flags | OFlags::NOFOLLOW, Mode::RUSR)?;
        let mut file = File::from(file);
        file.write_all(bytes)?;
        fchmod(&file, Mode::from_raw_mode(mode))?;
        renameat(&folder, &draft, &folder, name)?;
        Ok(FileStamp::from_stat(&fstat(&file)?))
    }

    pub(super) fn link(&self, inside: &Path, target: &Path) -> io::Result<()> {
        self.make_folders(inside.parent().unwrap_or(Path::new("")))?;
        let (folder, name) = self.parent(inside)?;
        Ok(symlinkat(target, &folder, name)?)
    }

    pub(super) fn make_folders(&self, inside: &Path) -> io::Result<()> {
        if inside.as_os_str().is_empty() {
            return Ok(());
        }
        if let Some(above) = inside.parent() {
            self.make_folders(above)?;
        }
        let (folder, name) = self.parent(inside)?;
        match mkdirat(&folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn parent<'p>(&self, inside: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = inside.file_name().ok_or(Errno::INVAL)?;
        let folder = inside.parent().unwrap_or(Path::new(""));
        Ok((self.at(folder, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }
}
