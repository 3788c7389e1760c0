//! Takes away the locks of gits that were killed, which would stand in everybody's way for good.
//!
//! Git notes nowhere who holds a lock. So one goes only when nobody can be at work in the store, or
//! when it is older than any call of git may last.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::{DEADLINE, Store, StoreError};

/// How long a git may go on for a process that was killed; it holds a lock for some milliseconds.
const LAST_BREATH: Duration = Duration::from_secs(2);

/// How often a lock is looked at that somebody may still give back.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

const ENDING: &str = ".lock";

impl Store {
    /// Clears locks that nobody holds any more; under the lock of the store, so that nobody comes.
    pub(super) fn clear_locks(&self) -> Result<(), StoreError> {
        let began = Instant::now();
        loop {
            let locks = self.locks();
            if locks.is_empty() {
                return Ok(());
            }
            let is_alone = !self.has_company()?;
            let longest = if is_alone { LAST_BREATH } else { DEADLINE };
            for lock in &locks {
                // Seen for so long, whatever the clocks say that date files.
                let is_seen = is_alone && began.elapsed() > longest;
                if is_seen || age(lock).is_some_and(|age| age > longest) {
                    remove(lock)?;
                }
            }
            if !is_alone {
                return Ok(());
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Clears the lock of the branch of an agent that has ended, and whom nobody else writes for.
    pub(crate) fn clear_lock_of(&self, name: &str) -> Result<(), StoreError> {
        let lock = self.git_dir().join(format!("{name}{ENDING}"));
        if lock.exists() {
            remove(&lock)?;
        }
        Ok(())
    }

    /// Clears the lock of a branch of ours in the user's repository whose git was killed.
    pub(super) fn clear_lock_of_published(
        &self,
        common_dir: &Path,
        branch: &str,
    ) -> Result<(), StoreError> {
        let lock = common_dir.join(format!("refs/heads/{branch}{ENDING}"));
        let began = Instant::now();
        while lock.exists() && !self.has_company()? {
            let is_old = age(&lock).is_some_and(|age| age > LAST_BREATH);
            if is_old || began.elapsed() > LAST_BREATH {
                return remove(&lock);
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }

    pub fn has_company(&self) -> Result<bool, StoreError> {
        let own = self.sign()?;
        for entry in fs::read_dir(self.signs()).into_iter().flatten().flatten() {
            let sign = entry.file_name().to_string_lossy().into_owned();
            if sign != own && self.is_alive(&sign)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Locks that have stood for longer than any call of git may last.
    pub fn stale_locks(&self) -> Vec<PathBuf> {
        let mut locks = self.locks();
        locks.retain(|lock| age(lock).is_some_and(|age| age > DEADLINE));
        locks
    }

    fn locks(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for file in ["packed-refs", "HEAD", "config"] {
            found.push(self.git_dir().join(format!("{file}{ENDING}")));
        }
        found.retain(|lock| lock.exists());
        find(&self.git_dir().join("refs"), &mut found);
        found
    }
}

/// The locks of all refs of a folder; no ref has a name that ends like one.
fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_lock = || entry.file_name().to_string_lossy().ends_with(ENDING);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => find(&entry.path(), found),
            Ok(_) if is_lock() => found.push(entry.path()),
            _ => {}
        }
    }
}

fn age(lock: &Path) -> Option<Duration> {
    let written = lock.symlink_metadata().and_then(|meta| meta.modified());
    SystemTime::now().duration_since(written.ok()?).ok()
}

fn remove(lock: &Path) -> Result<(), StoreError> {
    match fs::remove_file(lock) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("remove", lock)(error))
        }
        _ => Ok(()),
    }
}
