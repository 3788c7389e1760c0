//! Copies files below a folder without ever leaving it: no link is followed, nothing is replaced.
//!
//! Knows nothing of which files these are.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use pleach_system::files::plain_file;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ioctl_ficlone, mkdirat, open, openat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::{IncludedKind, NotCopiedReason};
use crate::worktree::{WorktreeError, failed};

pub(super) enum TargetState {
    Free,
    Taken,
    /// One of the folders above is no folder.
    Blocked,
}

/// Looks at a path below a folder, without following links.
pub(super) fn room(folder: &Path, path: &Path) -> TargetState {
    let mut place = folder.to_owned();
    let mut parts = path.iter().peekable();
    while let Some(part) = parts.next() {
        place.push(part);
        let found = place.symlink_metadata();
        match found {
            Err(_) => return TargetState::Free,
            Ok(_) if parts.peek().is_none() => return TargetState::Taken,
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return TargetState::Blocked,
        }
    }
    TargetState::Taken
}

pub(super) struct Copier<'f> {
    from: &'f Path,
    to: &'f Path,
    top: OwnedFd,
}

impl<'f> Copier<'f> {
    pub(super) fn new(from: &'f Path, to: &'f Path) -> io::Result<Self> {
        let top = open(to, FOLDER, Mode::empty())?;
        Ok(Self { from, to, top })
    }

    /// Copies one path; tells why not if that is nobody's fault.
    pub(super) fn put(
        &self,
        path: &Path,
        kind: &IncludedKind,
    ) -> Result<Option<NotCopiedReason>, WorktreeError> {
        let place = self.to.join(path);
        let source = match kind {
            IncludedKind::Link(_) => None,
            IncludedKind::File => match plain_file::open(CWD, self.from.join(path)) {
                Ok(source) => Some(source),
                Err(error) => return Ok(Some(NotCopiedReason::Unreadable(error.to_string()))),
            },
        };
        let (Some(name), Some(above)) = (path.file_name(), path.parent()) else {
            return Ok(None);
        };
        let folder = match self.folder(above) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Ok(Some(NotCopiedReason::InTheWay)),
            folder => folder.map_err(io::Error::from),
        };
        let folder = folder.map_err(failed("create the folder of", &place))?;
        let made = match (kind, source) {
            (IncludedKind::Link(target), _) => symlinkat(target, &folder, name).map(|()| None),
            (IncludedKind::File, source) => {
                openat(&folder, name, NEW_FILE, Mode::RUSR | Mode::WUSR)
                    .map(|new| source.zip(Some(new)))
            }
        };
        let made = match made {
            // Somebody was faster, and what is there counts.
            Err(Errno::EXIST) => return Ok(None),
            made => made.map_err(io::Error::from),
        };
        if let Some((source, new)) = made.map_err(failed("create", &place))? {
            fill(&File::from(new), &source).map_err(|error| {
                // Half a file is worse than none.
                let _ = unlinkat(&folder, name, AtFlags::empty());
                failed("copy to", &place)(error)
            })?;
        }
        Ok(None)
    }

    /// Opens a folder below the top step by step, so that no link is followed; makes what is missing.
    fn folder(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let mut folder = self
            .top
            .try_clone()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let mut source = PathBuf::from(self.from);
        for part in path {
            source.push(part);
            let mode = source.metadata().map_or(0o777, |meta| meta.mode());
            let mode = Mode::from_raw_mode(mode & 0o777 | 0o700);
            match mkdirat(&folder, part, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
            folder = openat(&folder, part, FOLDER, Mode::empty())?;
        }
        Ok(folder)
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

const NEW_FILE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Shares the content where the file system can, else copies it; with its permissions.
fn fill(mut new: &File, mut source: &File) -> io::Result<()> {
    if ioctl_ficlone(new, source).is_err() {
        io::copy(&mut source, &mut new)?;
    }
    let mode = source.metadata()?.mode() & 0o777;
    new.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_appears_after_the_look_is_not_followed_and_a_file_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to, outside] = ["from", "to", "outside"].map(|name| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        });
        fs::create_dir(from.join("sub")).unwrap();
        for name in ["sub/file", "there", "linked"] {
            fs::write(from.join(name), "new").unwrap();
        }
        symlink(&outside, to.join("sub")).unwrap();
        symlink(outside.join("made"), to.join("linked")).unwrap();
        fs::write(to.join("there"), "old").unwrap();
        let copier = Copier::new(&from, &to).unwrap();
        let put = |path: &str| copier.put(Path::new(path), &IncludedKind::File).unwrap();
        assert_eq!(put("sub/file"), Some(NotCopiedReason::InTheWay));
        assert_eq!((put("there"), put("linked")), (None, None));
        assert_eq!(fs::read_to_string(to.join("there")).unwrap(), "old");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    }
}
