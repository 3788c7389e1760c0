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

/// A folder for the worktree of a task, held for this process: the one that all attempts on it have, unless a process that
/// is cut off from its owner still lives there after a lease.
pub(super) fn take_place(
    usual: &Path,
    fence: &str,
    lease: Duration,
) -> io::Result<(PathBuf, LockedFile)> {
    let deadline = Instant::now() + lease;
    loop {
        if let Some(held) = try_lock(&beside(usual, ".lock"))? {
            // Nobody is there any more.
            remove_all(usual)?;
            return Ok((usual.to_owned(), held));
        }
        if Instant::now() >= deadline {
            break;
        }
        thread::sleep(LOOK);
    }
    let own = beside(usual, &format!("-{fence}"));
    let held = try_lock(&beside(&own, ".lock"))?.ok_or(io::ErrorKind::ResourceBusy)?;
    Ok((own, held))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}
