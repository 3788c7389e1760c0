//! Our own program on a disk of this machine, where it runs from.
//!
//! A program on a share that hangs stops where it comes to a page that was not read yet, and could not even end what it
//! started.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::unit::root;
use crate::spool::OrdersHead;

/// Nothing of a build runs any more that was brought so long ago.
const FORGOTTEN: Duration = Duration::from_hours(24 * 90);

/// Brings it, unless it is there: each build has a name of its own.
pub(super) fn on_this_disk(head: &OrdersHead) -> io::Result<PathBuf> {
    let folder = root(head).map_err(io::Error::other)?.join("bin");
    let name = head.program.0.file_name().unwrap_or_default();
    let place = folder.join(name);
    if !place.exists() {
        fs::create_dir_all(&folder)?;
        forget_old_ones(&folder);
        let aside = folder.join(format!(".{}", std::process::id()));
        fs::copy("/proc/self/exe", &aside)?;
        fs::rename(&aside, &place)?;
    }
    Ok(place)
}

/// What cannot go now goes when the next build comes.
fn forget_old_ones(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let brought = entry.metadata().and_then(|meta| meta.modified());
        let age = brought.ok().and_then(|brought| brought.elapsed().ok());
        if age.is_some_and(|age| age > FORGOTTEN) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
