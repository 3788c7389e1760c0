//! Covers files with others by mounts, in a namespace of mounts that is this process's own.
//!
//! Agents know the paths and may change what is there meanwhile, so each is opened first, without following links,
//! and what was opened is covered. Knows nothing of why something is hidden.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat2, readlinkat,
    statat, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_change, mount_remount,
};

use super::HiddenFiles;

/// Where memory is shared by a name; a program has one of its own in place of it.
pub(crate) const SHARED_MEMORY: &str = "/dev/shm";

/// Where terminals are; a program has only its own in place of it.
pub(crate) const TERMINALS: &str = "/dev/pts";

/// Hides files from this process and whatever it starts.
pub(super) fn hide(hidden: &HiddenFiles) -> io::Result<()> {
    // What is mounted elsewhere later is seen here too, and never the other way round.
    let receiving = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
    mount_change("/", receiving)?;
    let folders = hidden.folders.iter().map(|path| {
        let kept = hidden.kept.iter();
        let kept = kept.filter_map(|kept| kept.strip_prefix(path).ok());
        (path, hide_folder(path, &kept.collect::<Vec<_>>()))
    });
    let sockets = hidden.sockets.iter();
    let sockets = sockets.map(|path| (path, hide_file(path, FileType::Socket)));
    let files = hidden.files.iter();
    let files = files.map(|path| (path, hide_file(path, FileType::RegularFile)));
    for (path, covered) in folders.chain(sockets).chain(files) {
        match covered {
            Ok(()) => {}
            Err(error) if is_out_of_reach(error) => {}
            Err(error) => {
                let error = io::Error::from(error);
                let message = format!("could not hide {}: {error}", path.display());
                return Err(io::Error::new(error.kind(), message));
            }
        }
    }
    Ok(())
}

/// Covers a file with an empty one, if it is of a kind.
fn hide_file(path: &Path, wanted: FileType) -> Result<(), Errno> {
    let (place, kind) = opened(CWD, path)?;
    if kind == wanted {
        mount_bind("/dev/null", by_descriptor(&place))?;
    }
    Ok(())
}

/// Covers a folder with an empty one, in which only some of what was there is found.
fn hide_folder(path: &Path, kept: &[&Path]) -> Result<(), Errno> {
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    let (covered, kind) = opened(CWD, path)?;
    let place = by_descriptor(&covered);
    if kind != FileType::Directory {
        return Ok(());
    }
    if path == Path::new(TERMINALS) {
        let modes = c"newinstance,ptmxmode=0666,mode=620";
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        return mount("devpts", place, "devpts", flags, modes);
    }
    if path == Path::new(SHARED_MEMORY) {
        return mount("tmpfs", place, "tmpfs", plain, c"mode=1777");
    }
    let empty = plain | MountFlags::NOEXEC;
    mount("tmpfs", place, "tmpfs", empty, c"mode=755,size=64k")?;
    let (cover, _) = opened(CWD, path)?;
    for inside in kept {
        match keep(&covered, &cover, inside) {
            Err(error) if is_out_of_reach(error) => {}
            kept => kept?,
        }
    }
    let unchanging = empty | MountFlags::RDONLY;
    mount_remount(by_descriptor(&cover), unchanging, c"")
}

/// Has a folder that is covered be found in the cover: by the first link on the way to it, or as it is.
fn keep(covered: &OwnedFd, cover: &OwnedFd, inside: &Path) -> Result<(), Errno> {
    let mut way = PathBuf::new();
    for part in inside {
        way.push(part);
        let found = statat(covered, &way, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => {
                let target = readlinkat(covered, &way, Vec::new())?;
                return unless_there(symlinkat(target, cover, &way));
            }
            FileType::Directory => {
                unless_there(mkdirat(cover, &way, Mode::from_raw_mode(0o755)))?;
            }
            _ => return Ok(()),
        }
    }
    if way.as_os_str().is_empty() {
        return Ok(());
    }
    let (from, _) = opened(covered, &way)?;
    let (to, _) = opened(cover, &way)?;
    mount_bind(by_descriptor(&from), by_descriptor(&to))
}

/// Whether something has gone or was replaced meanwhile, or the program cannot get there either.
fn is_out_of_reach(error: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::ACCESS].contains(&error)
}

/// What was made, unless something else was kept there before.
fn unless_there(made: Result<(), Errno>) -> Result<(), Errno> {
    match made {
        Err(Errno::EXIST) => Ok(()),
        made => made,
    }
}

/// What is at a path that leads through no links.
fn opened(from: impl AsFd, path: &Path) -> Result<(OwnedFd, FileType), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = openat2(from, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    let kind = FileType::from_raw_mode(fstat(&place)?.st_mode);
    Ok((place, kind))
}

/// A path to what was opened, whatever has become of its own.
fn by_descriptor(place: &OwnedFd) -> PathBuf {
    Path::new("/proc/self/fd").join(place.as_raw_fd().to_string())
}
