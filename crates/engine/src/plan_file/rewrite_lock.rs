//! Lets the writers of Pleach take turns at a plan, in this process and in others.
//!
//! A courtesy only: without it each would see the others as people who save all the time, and the slowest
//! might never finish. No save is safe because of it.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::source;

const PAUSE: Duration = Duration::from_millis(2);
const MOST_PAUSES: u32 = 1000;

#[derive(Debug)]
pub(super) struct RewriteLock {
    _folder: Option<File>,
}

impl RewriteLock {
    /// Waits for the others, and goes on without a turn if that takes long or cannot be had.
    pub(super) fn wait_for(plan: &Path) -> Self {
        Self {
            _folder: lock_folder(plan),
        }
    }
}

/// The folder is locked, since each write replaces the plan and a lock file would litter the folder.
fn lock_folder(plan: &Path) -> Option<File> {
    let target = source::resolve(plan).ok()?;
    let folder = File::open(target.parent()?).ok()?;
    for _ in 0..MOST_PAUSES {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}
