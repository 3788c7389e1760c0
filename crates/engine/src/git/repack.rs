//! Packs the objects of a store, and drops those that nothing leads to and that are old.
//!
//! Knows nothing of which refs are wanted; whoever calls sees to it that nobody works in the store.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Place, Store, StoreError};

/// A large store takes its time.
const DEADLINE: Duration = Duration::from_hours(2);

/// Whatever somebody is about to point at is younger than this.
const YOUNGEST: Duration = Duration::from_hours(24);

impl Store {
    /// Packs what can be reached from refs, logs and worktrees; drops the rest if it is older than that.
    ///
    /// Packs that the user's repository shares stay as they are: a new one would take the room twice.
    pub(crate) fn repack(&self, older_than: Duration) -> Result<(), StoreError> {
        let folder = self.scratch()?;
        self.furnish(folder.path())?;
        let before = SystemTime::now() - older_than.max(YOUNGEST);
        let before = before.duration_since(SystemTime::UNIX_EPOCH);
        let before = before.map_or(0, |before| before.as_secs());
        let call = || {
            let call = self.git.call(Place::Ours(folder.path()));
            call.holding(self.sign_file()).deadline(DEADLINE)
        };
        let shared = shared_packs(&self.git_dir().join("objects/pack"));
        let shared = shared.iter().map(|name| format!("--keep-pack={name}"));
        call()
            .args(["repack", "-d", "-l", "--quiet", "--cruft"])
            .arg(format!("--cruft-expiration={before}"))
            .args(shared)
            .output()?;
        call()
            .args(["prune", &format!("--expire={before}")])
            .output()?;
        Ok(())
    }

    /// The store forbids to drop objects, for everybody's git; this folder sees the same and may.
    fn furnish(&self, folder: &Path) -> Result<(), StoreError> {
        let known = self.home().join("init.config");
        let furnish = || {
            fs::copy(&known, folder.join("config"))?;
            fs::write(folder.join("HEAD"), "ref: refs/heads/pleach-nothing\n")?;
            for shared in ["refs", "objects", "logs", "packed-refs", "worktrees"] {
                symlink(self.git_dir().join(shared), folder.join(shared))?;
            }
            Ok(())
        };
        furnish().map_err(StoreError::io("set up", folder))
    }

    /// How many bytes its objects take, without those that the user's repository shares.
    pub(crate) fn object_bytes(&self) -> u64 {
        own_bytes(&self.git_dir().join("objects"))
    }
}

/// Packs whose file has a second name elsewhere.
fn shared_packs(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let packs = entries.filter(|entry| {
        let is_pack = entry.path().extension().is_some_and(|end| end == "pack");
        is_pack && entry.metadata().is_ok_and(|meta| meta.nlink() > 1)
    });
    packs
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

fn own_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => own_bytes(&entry.path()),
            Ok(meta) if meta.nlink() == 1 => meta.len(),
            _ => 0,
        })
        .sum()
}
