//! Deletes files and folders for good, also those that a program has made read-only.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::files::plain_file;

/// Deletes a file or a folder with everything in it, if it is there.
pub fn remove_all(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => delete_folder(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn delete_folder(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    // Tools leave read-only folders behind, which cannot be emptied.
    make_writable(folder)?;
    fs::remove_dir_all(folder)
}

fn make_writable(folder: &Path) -> io::Result<()> {
    // By what is open: somebody may still put links in the places of folders.
    let open = plain_file::open_below(folder, Path::new(""), OFlags::PATH | OFlags::DIRECTORY)?;
    let here = plain_file::held(&open);
    fs::set_permissions(&here, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(&here)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}
