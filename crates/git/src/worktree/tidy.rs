//! Brings a folder back to what an index says: whatever else is in it goes aside, and so does what was changed.
//!
//! Reads no content and follows no link; a file that was touched in any way counts as changed.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::SystemTime;

use pleach_system::files::plain_file;
use pleach_system::files::removal::remove_all;
use rustix::fs::{AtFlags, FileType, IFlags, Mode, OFlags, RawDir, Stat};
use rustix::io::Errno;

use super::{WorktreeError, failed};
use crate::git::os_str;
use crate::index::{EntryLookup, GITLINK, Likeness, among, folder_of};

/// What whoever owns a folder may set on it, besides its permissions, and git never does.
const SET_BY_HAND: IFlags = IFlags::IMMUTABLE
    .union(IFlags::APPEND)
    .union(IFlags::COMPRESSED)
    .union(IFlags::DIRSYNC)
    .union(IFlags::JOURNALING)
    .union(IFlags::NOATIME)
    .union(IFlags::NOCOW)
    .union(IFlags::NODUMP)
    .union(IFlags::PROJECT_INHERIT)
    .union(IFlags::SYNC);

/// Attributes that the system gives a file by itself.
const GIVEN: &[u8] = b"security.";

/// What a folder is like that was made a moment ago.
pub(super) struct FreshFolder {
    stat: Stat,
    flags: IFlags,
}

impl FreshFolder {
    pub(super) fn probe(folder: &Path) -> Result<Self, WorktreeError> {
        let fd = open_folder(folder).map_err(failed("open", folder))?;
        let stat = rustix::fs::fstat(&fd).map_err(io::Error::from);
        let stat = stat.map_err(failed("look at", folder))?;
        if has_attributes(fd.as_fd()).map_err(failed("look at", folder))? {
            return Err(unfit(folder, "new folders inherit attributes there"));
        }
        let flags = flags(fd.as_fd());
        Ok(Self { stat, flags })
    }

    /// Makes sure that a folder is like this one.
    fn impose_on(&self, fd: BorrowedFd<'_>, folder: &Path) -> Result<(), WorktreeError> {
        let look = || rustix::fs::fstat(fd).map_err(io::Error::from);
        let stat = look().map_err(failed("look at", folder))?;
        let owner = |stat: &Stat| (stat.st_dev, stat.st_uid, stat.st_gid);
        if owner(&stat) != owner(&self.stat) {
            return Err(unfit(
                folder,
                "it belongs to another user or is on another file system",
            ));
        }
        if has_attributes(fd).map_err(failed("look at", folder))? || flags(fd) != self.flags {
            return Err(unfit(folder, "it has extended attributes"));
        }
        if stat.st_mode != self.stat.st_mode {
            let mode = Mode::from_raw_mode(self.stat.st_mode);
            let changed = rustix::fs::fchmod(fd, mode).map_err(io::Error::from);
            changed.map_err(failed("change the mode of", folder))?;
        }
        Ok(())
    }
}

/// Where everything goes that is not wanted; on the same file system, so that nothing has to be deleted now.
pub(super) struct TrashFolder {
    folder: OwnedFd,
    count: usize,
}

impl TrashFolder {
    pub(super) fn new(path: &Path) -> Result<Self, WorktreeError> {
        let folder = fs::create_dir(path).and_then(|()| open_folder(path));
        let folder = folder.map_err(failed("create", path))?;
        Ok(Self { folder, count: 0 })
    }

    /// Takes something out of a folder, whatever it is; a link goes as a link.
    pub(super) fn take(
        &mut self,
        place: &Path,
        from: BorrowedFd<'_>,
        name: &CStr,
    ) -> io::Result<()> {
        self.count += 1;
        let to = self.count.to_string();
        if rustix::fs::renameat(from, name, &self.folder, to).is_ok() {
            return Ok(());
        }
        // A folder that nobody may write to cannot be moved, but it can be opened up.
        remove_all(&place.join(os_str(name.to_bytes())))
    }
}

/// Takes out of a folder what an index does not have, and every file that was touched since; tells which of the
/// entries have no file then.
///
/// `seen` is a moment after which the index saw no file any more. Where it is said which folders are to be looked at,
/// all others are passed over, with what is right in them.
pub(super) fn tidy(
    root: &Path,
    (lookup, seen): (&EntryLookup<'_>, SystemTime),
    looked_at: Option<&HashSet<&[u8]>>,
    model: &FreshFolder,
    aside: &mut TrashFolder,
) -> Result<Vec<usize>, WorktreeError> {
    let is_looked_at = |folder: &[u8]| looked_at.is_none_or(|folders| folders.contains(folder));
    let mut is_there = vec![false; lookup.entries.len()];
    let mut folders = vec![Vec::new()];
    folders.retain(|folder: &Vec<u8>| is_looked_at(folder));
    let mut buffer = Vec::with_capacity(1 << 15);
    while let Some(folder) = folders.pop() {
        let place = root.join(os_str(&folder));
        let fd = open_folder(&place).map_err(failed("open", &place))?;
        model.impose_on(fd.as_fd(), &place)?;
        let beside = lookup.folder(&folder).unwrap_or_default();
        let mut odd: Vec<CString> = Vec::new();
        let read = read_folder(fd.as_fd(), &mut buffer, |name, kind| {
            let known = among(beside, name.to_bytes());
            if kind == FileType::Directory {
                let path = below(&folder, name.to_bytes());
                let submodule = known.filter(|at| lookup.entries[*at].mode == GITLINK);
                if let Some(at) = submodule {
                    is_there[at] = true;
                }
                // The folder of a submodule is empty in a fresh worktree.
                if submodule.is_some() || lookup.folder(&path).is_some() {
                    folders.extend(Some(path).filter(|path| is_looked_at(path)));
                    return Ok(());
                }
            } else if let Some(at) = known {
                let file = stat(fd.as_fd(), name)?;
                if lookup.entries[at].likeness(&file, seen) == Likeness::Same {
                    is_there[at] = true;
                    return Ok(());
                }
            }
            odd.push(name.to_owned());
            Ok(())
        });
        let taken = read.and_then(|()| {
            let mut odd = odd.iter();
            odd.try_for_each(|name| aside.take(&place, fd.as_fd(), name))
        });
        taken.map_err(failed("clear", &place))?;
    }
    let entries = lookup.entries.iter().zip(is_there).enumerate();
    let missing =
        entries.filter(|(_, (entry, there))| !there && is_looked_at(folder_of(&entry.path)));
    Ok(missing.map(|(at, _)| at).collect())
}

pub(super) fn unfit(path: &Path, why: &'static str) -> WorktreeError {
    let path = path.to_owned();
    WorktreeError::Unfit { path, why }
}

fn read_folder(
    folder: BorrowedFd<'_>,
    buffer: &mut Vec<u8>,
    mut each: impl FnMut(&CStr, FileType) -> io::Result<()>,
) -> io::Result<()> {
    let room: &mut [MaybeUninit<u8>] = buffer.spare_capacity_mut();
    let mut entries = RawDir::new(folder, room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(stat(folder, name)?.st_mode),
            kind => kind,
        };
        each(name, kind)?;
    }
    Ok(())
}

/// Opens a folder that is no link; one that its owner may not read is opened up.
pub(super) fn open_folder(place: &Path) -> io::Result<OwnedFd> {
    let open = || rustix::fs::open(place, FOLDER, Mode::empty());
    match open() {
        Err(Errno::ACCESS) => {
            let nothing_above = Path::new("");
            plain_file::change_mode(place, nothing_above, FileType::Directory, |_| 0o700)?;
            Ok(open()?)
        }
        other => Ok(other?),
    }
}

/// How a folder is opened, so that no link is followed.
pub(super) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

fn stat(folder: BorrowedFd<'_>, name: &CStr) -> io::Result<Stat> {
    Ok(rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Whether anybody has given a folder attributes, such as an access list.
fn has_attributes(folder: BorrowedFd<'_>) -> io::Result<bool> {
    let mut names = [0; 4096];
    match rustix::fs::flistxattr(folder, &mut names[..]) {
        Ok(length) => {
            let mut names = names[..length].split(|byte| *byte == 0);
            Ok(names.any(|name| !name.is_empty() && !name.starts_with(GIVEN)))
        }
        // A file system without any.
        Err(Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The marks that somebody set; none on a file system that has none.
fn flags(folder: BorrowedFd<'_>) -> IFlags {
    let flags = rustix::fs::ioctl_getflags(folder);
    flags.unwrap_or(IFlags::empty()) & SET_BY_HAND
}

fn below(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}
