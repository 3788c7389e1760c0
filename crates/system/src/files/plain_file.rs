//! Files in folders that agents write to: read, replaced and opened up without following a link or waiting at a pipe.
//!
//! A link may be put in a file's place between a look and a deed, so the deed itself refuses it. Knows nothing of
//! what is in the files.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;
use rustix::path::Arg;

const READING: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// No index of millions of files is larger.
pub const LARGEST_INDEX: u64 = 512 << 20;

/// No list of rules for files is larger.
pub const LARGEST_RULES: u64 = 16 << 20;

/// What a file holds; a link, a pipe or a folder in its place is an error, and so is one that holds more than that.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    contents(open(CWD, path)?, most)
}

/// All of a file, which may be a hole that is larger than the memory.
fn contents(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match file.metadata()?.len() {
        length if length > most => length,
        _ => file.take(most + 1).read_to_end(&mut bytes)? as u64,
    };
    if read > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

pub fn open(parent: impl AsFd, name: impl Arg) -> io::Result<File> {
    // A pipe would hold us up otherwise.
    plain(openat(
        parent,
        name,
        READING | OFlags::NONBLOCK,
        Mode::empty(),
    )?)
}

/// Opens a folder that is no link.
pub fn open_folder(parent: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = READING | OFlags::DIRECTORY;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

pub fn names(folder: impl AsFd) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// The same for a file somewhere below a folder, on the way to which no link is followed either.
pub fn read_below(root: &Path, path: &Path, most: u64) -> io::Result<Vec<u8>> {
    contents(file_below(root, path)?, most)
}

pub fn file_below(root: &Path, path: &Path) -> io::Result<File> {
    plain(open_below(root, path, READING | OFlags::NONBLOCK)?)
}

/// Opens something below a folder, on the way to which there is no link.
pub fn open_below(root: &Path, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW;
    if path.as_os_str().is_empty() {
        return openat(CWD, root, flags, Mode::empty());
    }
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = openat(CWD, root, folder, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&top, path, flags, Mode::empty(), resolve) {
        // Kernels and containers that do not know it; at least the last step is safe then.
        Err(Errno::NOSYS | Errno::PERM) => openat(&top, path, flags, Mode::empty()),
        Err(Errno::LOOP) if flags.contains(OFlags::DIRECTORY) => Err(Errno::NOTDIR),
        other => other,
    }
}

/// Changes the mode of something below a folder, if it still is of a kind; a link is not followed.
pub fn change_mode(
    root: &Path,
    path: &Path,
    kind: FileType,
    change: impl FnOnce(u32) -> u32,
) -> io::Result<()> {
    let there = open_below(root, path, OFlags::PATH | OFlags::CLOEXEC)?;
    let mode = fstat(&there)?.st_mode;
    if FileType::from_raw_mode(mode) != kind {
        return Err(Errno::LOOP.into());
    }
    fs::set_permissions(held(&there), Permissions::from_mode(change(mode & 0o7777)))
}

/// The path of what is held open, whatever has its name by now.
pub fn held(there: impl AsFd) -> PathBuf {
    let number = there.as_fd().as_raw_fd();
    Path::new("/proc/self/fd").join(number.to_string())
}

/// Puts a file in the place of whatever has that name, with a date of its own if it is to have one; a link is replaced
/// and not written through.
pub fn replace(path: &Path, bytes: &[u8], written: Option<SystemTime>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(written) = written {
        file.as_file().set_modified(written)?;
    }
    file.persist(path)?;
    Ok(())
}

fn plain(file: OwnedFd) -> io::Result<File> {
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn neither_a_link_nor_a_pipe_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("real")).unwrap();
        fs::write(at("real/file"), "text").unwrap();
        symlink("real/file", at("link")).unwrap();
        symlink("real", at("folder")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let read = |path: &Path| read(path, 4);
        assert_eq!(read(&at("real/file")).unwrap(), b"text");
        let below = |path: &str| read_below(folder.path(), Path::new(path), 4);
        assert_eq!(below("real/file").unwrap(), b"text");
        for odd in ["link", "pipe", "real"] {
            assert!(read(&at(odd)).is_err() && below(odd).is_err(), "{odd}");
        }
        assert!(below("folder/file").is_err() && below("../x").is_err());
    }

    #[test]
    fn a_hole_that_no_memory_could_hold_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hole");
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let why = read(&file, LARGEST_INDEX).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::FileTooLarge);
        read_below(folder.path(), Path::new("hole"), LARGEST_RULES).unwrap_err();
    }

    #[test]
    fn a_link_is_replaced_and_neither_written_through_nor_opened_up() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o200)).unwrap();
        symlink(&file, &link).unwrap();
        let open_up = |name: &str| {
            change_mode(
                folder.path(),
                Path::new(name),
                FileType::RegularFile,
                |mode| mode | 0o400,
            )
        };
        open_up("link").unwrap_err();
        let mode = || file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o200);
        open_up("file").unwrap();
        assert_eq!(mode(), 0o600);
        replace(&link, b"after", None).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"before");
        assert_eq!(fs::read(&link).unwrap(), b"after");
        assert!(link.symlink_metadata().unwrap().is_file());
    }
}
