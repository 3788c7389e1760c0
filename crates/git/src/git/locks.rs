//! Locks, scratch folders and signs of life in a store, which several processes use at the same time.
//!
//! Knows nothing of what is done under a lock or in a folder.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pleach_system::process::{Cancel, end_abandoned};
use tempfile::{Builder, NamedTempFile, TempDir};

use super::{Store, StoreError};

/// A git that outlived its Pleach ends by itself, at the end of a checkout at the latest.
const LONGEST_END: Duration = Duration::from_secs(5);

/// How often somebody who may be stopped looks whether a lock is free.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The signs of life of this process, by the store that each lies in.
///
/// They are locked files, and the system unlocks them whatever way the process ends.
static SIGNS: Mutex<BTreeMap<PathBuf, (String, File)>> = Mutex::new(BTreeMap::new());

impl Store {
    /// Takes a lock that holds across processes until it is dropped.
    pub fn lock(&self, name: &str) -> Result<File, StoreError> {
        let path = self.home().join(name);
        File::options()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(StoreError::io("lock", &path))
    }

    /// The same; whoever cancels meanwhile is not kept waiting.
    pub(super) fn lock_until(&self, name: &str, stop: Option<&Cancel>) -> Result<File, StoreError> {
        let Some(stop) = stop else {
            return self.lock(name);
        };
        let path = self.home().join(name);
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(StoreError::io("lock", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if !stop.is_cancelled() => stop.sleep(LOOK_AGAIN),
                Err(error) => return Err(StoreError::io("lock", &path)(error.into())),
            }
        }
    }

    /// A private folder that goes away with its value.
    pub fn scratch(&self) -> Result<TempDir, StoreError> {
        let made = Builder::new()
            .prefix(&self.scratch_prefix()?)
            .tempdir_in(self.home());
        made.map_err(StoreError::io("create a folder in", self.home()))
    }

    /// A private file that goes away with its value, unless it is given a name of its own in the store.
    pub(super) fn scratch_file(&self) -> Result<NamedTempFile, StoreError> {
        let made = Builder::new()
            .prefix(&self.scratch_prefix()?)
            .tempfile_in(self.home());
        made.map_err(StoreError::io("create a file in", self.home()))
    }

    /// How the name of everything begins that must not outlive this process.
    pub(super) fn scratch_prefix(&self) -> Result<String, StoreError> {
        Ok(format!("scratch-{}-", self.sign()?))
    }

    /// The name of this process in the names of what it may leave behind; letters, digits and a dash.
    pub fn sign(&self) -> Result<String, StoreError> {
        let mut signs = SIGNS.lock().unwrap_or_else(PoisonError::into_inner);
        let known = signs.get(self.home()).map(|(sign, _)| sign.clone());
        // Somebody may have cleared the whole store away.
        if let Some(sign) = known.filter(|sign| self.signs().join(sign).exists()) {
            return Ok(sign);
        }
        let _lock = self.lock("rooms.lock")?;
        let folder = self.signs();
        let failed = StoreError::io("create a file in", &folder);
        let made = fs::create_dir_all(&folder).and_then(|()| {
            let file = Builder::new()
                .prefix(&format!("{}-", std::process::id()))
                .tempfile_in(&folder)?;
            file.as_file().lock()?;
            Ok(file.keep()?)
        });
        let (file, path) = made.map_err(failed)?;
        let sign = path.file_name().unwrap_or_default();
        let sign = sign.to_string_lossy().into_owned();
        signs.insert(self.home().to_owned(), (sign.clone(), file));
        Ok(sign)
    }

    /// The locked file of this process, if it has made a sign: the lock holds until the last one goes.
    pub(crate) fn sign_file(&self) -> Option<File> {
        let signs = SIGNS.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, file) = signs.get(self.home())?;
        file.try_clone().ok()
    }

    /// Waits for a process to end, and for every git that it started and that outlived it; not for ever.
    pub(crate) fn wait_for_end(&self, sign: &str) -> Result<(), StoreError> {
        let deadline = Instant::now() + LONGEST_END;
        while self.is_alive(sign)? && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Ends gits of processes that were killed, if they do not end by themselves: one may wait for ever at a pipe that
    /// an agent put in the place of a file.
    pub(super) fn end_abandoned_gits() {
        // Whoever cannot be ended is in the way of nobody, or will be noticed by the lock that it holds.
        let _ = end_abandoned("git", LONGEST_END);
    }

    /// Whether the process that a sign stands for may still be there.
    pub(crate) fn is_alive(&self, sign: &str) -> Result<bool, StoreError> {
        // Nobody is between making a sign and locking it then.
        let _lock = self.lock("rooms.lock")?;
        let file = match File::open(self.signs().join(sign)) {
            Ok(file) => file,
            Err(error) => return Ok(error.kind() != io::ErrorKind::NotFound),
        };
        Ok(match file.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        })
    }

    /// The signs of processes that have ended without clearing up.
    pub(crate) fn dead_signs(&self) -> Result<Vec<String>, StoreError> {
        let mut dead = Vec::new();
        for entry in fs::read_dir(self.signs()).into_iter().flatten().flatten() {
            let sign = entry.file_name().to_string_lossy().into_owned();
            if !self.is_alive(&sign)? {
                dead.push(sign);
            }
        }
        Ok(dead)
    }

    pub(crate) fn signs(&self) -> PathBuf {
        self.home().join("live")
    }
}
