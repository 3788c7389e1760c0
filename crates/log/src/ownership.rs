//! Who owns a batch: one process at a time, which others ask through a door in the batch's folder.
//!
//! Knows locks and sockets, not what becomes of a request.

mod ask;
mod door;
mod key;
mod owner;

use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use ask::{Answer, AskError, Request, ask};
pub use door::{Door, KeylessClient, Reply};

use self::key::Key;

const LOCK: &str = "lock";
const PAUSE: Duration = Duration::from_millis(1);

/// How long a child of a dead owner may take to become its program.
const LAST_CHILD: Duration = Duration::from_secs(5);

/// Why the ownership of a batch could not be taken or looked at.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} {}", path.display())]
pub struct OwnershipError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OwnershipError {
    let path = path.to_owned();
    move |source| OwnershipError {
        doing,
        path,
        source,
    }
}

/// Holds a batch; let go when it and its door are dropped, and by the kernel when the process dies.
#[derive(Debug)]
pub struct BatchLock(Arc<OwnedBatch>);

#[derive(Debug)]
struct OwnedBatch {
    place: OpenFolder,
    key: Key,
    _lock: File,
}

impl BatchLock {
    /// Takes the batch whose folder that is, or tells that somebody else has it.
    pub fn take(folder: &Path) -> Result<Option<Self>, OwnershipError> {
        let path = folder.join(LOCK);
        let place = OpenFolder::open(folder).map_err(failed("open", folder))?;
        let file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed("open", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    let key = Key::new_random().map_err(failed("create a key for", &path))?;
                    owner::note(&file, &key).map_err(failed("write", &path))?;
                    return Ok(Some(Self(Arc::new(OwnedBatch {
                        place,
                        key,
                        _lock: file,
                    }))));
                }
                Err(TryLockError::Error(source)) => return Err(failed("lock", &path)(source)),
                Err(TryLockError::WouldBlock) => {}
            }
            if is_held(&file).map_err(failed("lock", &path))? {
                return Ok(None);
            }
            // Somebody only looked.
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether a living process has the batch.
pub fn is_owned(folder: &Path) -> Result<bool, OwnershipError> {
    let path = folder.join(LOCK);
    match File::open(&path) {
        Ok(file) => is_held(&file).map_err(failed("look at", &path)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(failed("open", &path)(source)),
    }
}

/// An owner locks for itself alone and those who look lock together, so they never take each other for owners.
fn is_held(file: &File) -> io::Result<bool> {
    let deadline = Instant::now() + LAST_CHILD;
    loop {
        match file.try_lock_shared() {
            Ok(()) => return file.unlock().map(|()| false),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        // A child that the owner was just starting when it was killed has the lock until it becomes its program.
        if owner::is_alive(file) || Instant::now() > deadline {
            return Ok(true);
        }
        std::thread::sleep(PAUSE);
    }
}

/// A folder that is held open, so that names in it are short however long its own is.
#[derive(Debug)]
struct OpenFolder(File);

impl OpenFolder {
    fn open(folder: &Path) -> io::Result<Self> {
        File::open(folder).map(Self)
    }

    /// Addresses of sockets have 108 bytes at most.
    fn short(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.0.as_raw_fd()))
    }
}
