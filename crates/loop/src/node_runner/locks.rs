//! Who is at work on this machine: a unit whose process died leaves folders behind, and the next one clears them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::files::removal::remove_all;
use pleach_system::state_folder::{LockedFile, try_lock};

/// The file in the folder of a unit that its process holds locked.
const ALIVE: &str = "alive";

/// How often a folder is looked at that is still in use.
const LOOK: Duration = Duration::from_millis(200);

/// Says that this process is at work in its folder, and removes those of processes that died.
pub(super) fn sign_of_life(units: &Path, own: &Path) -> io::Result<LockedFile> {
    let alive = try_lock(&own.join(ALIVE))?.ok_or(io::ErrorKind::ResourceBusy)?;
    for unit in fs::read_dir(units)?.flatten() {
        let path = unit.path();
        // One that has no such file yet has just begun.
        let sign = path.join(ALIVE);
        if path != own && sign.exists() && matches!(try_lock(&sign), Ok(Some(_))) {
            // What cannot go now is found by the next one.
            let _ = remove_all(&path);
        }
    }
    Ok(alive)
}

/// Takes the folder of a task for this process, and removes what a dead one left there. One that is cut off from its
/// owner may live there for a lease.
pub(super) fn take_place(tree: &Path, lease: Duration) -> io::Result<LockedFile> {
    let mut lock = tree.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let deadline = Instant::now() + lease;
    loop {
        if let Some(held) = try_lock(&lock)? {
            remove_all(tree)?;
            return Ok(held);
        }
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        thread::sleep(LOOK);
    }
}
