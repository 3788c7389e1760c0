//! Gives a new store the objects of a repository on the same file system by linking its packs.
//!
//! Packs never change once they are written, so two repositories can share the files. Loose objects are copied, so that
//! nothing that happens to a store's own files harms the user's. Knows nothing of which objects are needed: a fetch checks that
//! all are there.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// The parts of a pack; files of these names are whole from the moment they have them.
const OF_PACK: [&str; 5] = ["pack", "idx", "rev", "bitmap", "mtimes"];

/// Brings all objects of one folder into an empty one; an error means that a fetch has to do it.
pub(super) fn link_objects(from: &Path, to: &Path) -> io::Result<()> {
    // Objects that are borrowed from a third repository would be missing here.
    for borrowed in ["info/alternates", "info/http-alternates"] {
        if from.join(borrowed).symlink_metadata().is_ok() {
            return Err(io::ErrorKind::Unsupported.into());
        }
    }
    fs::create_dir(to.join("info"))?;
    fs::create_dir(to.join("pack"))?;
    let link = |from: &Path, to: &Path| fs::hard_link(from, to);
    bring_files(&from.join("pack"), &to.join("pack"), is_of_pack, link)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if is_object_folder(&name) {
            fs::create_dir(to.join(&name))?;
            let copy = |from: &Path, to: &Path| fs::copy(from, to).map(drop);
            bring_files(&from.join(&name), &to.join(&name), is_loose, copy)?;
        }
    }
    // A copy is not on the disk yet, and the refs that a fetch brings soon will be.
    rustix::fs::syncfs(File::open(to)?)?;
    Ok(())
}

fn bring_files(
    from: &Path,
    to: &Path,
    is_wanted: fn(&OsStr) -> bool,
    bring: impl Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        // Git removes empty folders, and a repository without packs may lack theirs.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if !is_wanted(&name) {
            continue;
        }
        // A link to a link would depend on what it leads to.
        if !entry.file_type()?.is_file() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        bring(&entry.path(), &to.join(&name))?;
    }
    Ok(())
}

fn is_of_pack(name: &OsStr) -> bool {
    let path = Path::new(name);
    let ending = path.extension().and_then(OsStr::to_str);
    let stem = path.file_stem().and_then(OsStr::to_str);
    ending.is_some_and(|ending| OF_PACK.contains(&ending))
        && stem.is_some_and(|stem| stem.starts_with("pack-"))
}

pub(super) fn is_loose(name: &OsStr) -> bool {
    is_hex(name, &[38, 62])
}

pub(super) fn is_object_folder(name: &OsStr) -> bool {
    is_hex(name, &[2])
}

fn is_hex(name: &OsStr, lengths: &[usize]) -> bool {
    let bytes = name.as_encoded_bytes();
    lengths.contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_hexdigit)
}
