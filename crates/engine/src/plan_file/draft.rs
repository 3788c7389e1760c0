//! Writes the new text of a plan into a complete file next to it, dressed as the plan is.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, XattrFlags, access, fgetxattr, flistxattr, fsetxattr};
use rustix::io::Errno;

use super::aside;
use super::error::PlanFileError;
use super::retry::retry;

const XATTR_LIMIT: usize = 64 << 10;

/// A finished file under a name of its own; it is deleted unless it is taken.
#[derive(Debug)]
pub(super) struct DraftFile {
    path: PathBuf,
}

impl DraftFile {
    /// Writes `new` next to `target`, and to the disk.
    pub(super) fn write(target: &Path, was: &str, new: &str) -> Result<Self, PlanFileError> {
        let path = target.to_owned();
        if !is_writable(target) {
            return Err(PlanFileError::ReadOnly { path });
        }
        let draft = aside::fresh_path(target, was, new);
        match retry(|| write_new(target, &draft, new)) {
            Ok(()) => Ok(Self { path: draft }),
            Err(source) => Err(match source.kind() {
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                    PlanFileError::FolderReadOnly { path, source }
                }
                ErrorKind::NotFound => PlanFileError::Missing { path },
                _ => PlanFileError::Write { path, source },
            }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the name to the caller: from now on it may hold the text of somebody else.
    pub(super) fn take(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // It holds our text alone; one that cannot be deleted is swept by a later rewrite.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Replacing a name asks the folder only, so the mark that the user set on the file is looked at here.
fn is_writable(target: &Path) -> bool {
    let marked = fs::metadata(target).is_ok_and(|metadata| metadata.mode() & 0o222 == 0);
    // A plan that is missing for a moment is no read-only one.
    !marked && matches!(access(target, Access::WRITE_OK), Ok(()) | Err(Errno::NOENT))
}

/// The name is the final one only once the text is complete, so that a killed process leaves no doubt.
fn write_new(target: &Path, draft: &Path, text: &str) -> io::Result<()> {
    let mut partial = draft.as_os_str().to_owned();
    partial.push(aside::PARTIAL);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&partial)?;
    let written = fill(file, target, text).and_then(|()| fs::rename(&partial, draft));
    if written.is_err() {
        fs::remove_file(&partial)?;
    }
    written
}

fn fill(mut file: File, target: &Path, text: &str) -> io::Result<()> {
    dress(&file, target)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives `file` the owner, the attributes and the mode of `target`, as far as the system lets us.
fn dress(file: &File, target: &Path) -> io::Result<()> {
    let model = File::open(target)?;
    let metadata = model.metadata()?;
    let (user, group) = (metadata.uid(), metadata.gid());
    if fchown(file, Some(user), Some(group)).is_err() {
        // Only root may give a file away, but a member may choose the group; neither is worth a failure.
        let _ = fchown(file, None, Some(group));
    }
    copy_attributes(&model, file);
    // Last, because a change of owner clears bits of the mode.
    file.set_permissions(Permissions::from_mode(metadata.mode() & 0o7777))
}

/// Some attributes are the system's own and some file systems have none, so each is copied if it can be.
fn copy_attributes(from: &File, to: &File) {
    let mut names = vec![0; XATTR_LIMIT];
    let mut value = vec![0; XATTR_LIMIT];
    let length = flistxattr(from, names.as_mut_slice()).unwrap_or(0);
    for name in names[..length]
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        if let Ok(size) = fgetxattr(from, name, value.as_mut_slice()) {
            let _ = fsetxattr(to, name, &value[..size], XattrFlags::empty());
        }
    }
}
