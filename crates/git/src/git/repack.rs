//! Packs the objects of a store, and drops those that nothing leads to and that are old.
//!
//! Knows nothing of which refs are wanted; whoever calls sees to it that nobody works in the store.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{CallPlace, Store, StoreError};

/// A large store takes its time.
const DEADLINE: Duration = Duration::from_hours(2);

/// Whatever somebody is about to point at is younger than this.
const YOUNGEST: Duration = Duration::from_hours(24);

impl Store {
    /// Packs what can be reached from refs, logs and worktrees; drops the rest if it is older than that.
    ///
    /// Packs that the user's repository shares stay as they are: a new one would take the room twice.
    pub fn repack(&self, older_than: Duration) -> Result<(), StoreError> {
        let folder = self.scratch()?;
        self.furnish(folder.path())?;
        let before = SystemTime::now() - older_than.max(YOUNGEST);
        let before = before.duration_since(SystemTime::UNIX_EPOCH);
        let before = before.map_or(0, |before| before.as_secs());
        let call = || {
            let call = self.git.call(CallPlace::Ours(folder.path()));
            let call = call.writing(&self.git_dir());
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
            for shared in ["refs", "objects", "logs", "packed-refs"] {
                symlink(self.git_dir().join(shared), folder.join(shared))?;
            }
            Ok(())
        };
        furnish().map_err(StoreError::io("set up", folder))
    }

    /// How many bytes its objects take, without those that the user's repository shares.
    pub fn object_bytes(&self) -> u64 {
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;

    use pleach_testkit::TestRepo;

    use super::*;
    use crate::git::{CommitId, Git};

    /// Writes an object that nothing leads to, as if that had been so long ago.
    fn write_loose(store: &Store, text: &str, ago: Duration) -> String {
        let write = ["hash-object", "-w", "--stdin"];
        let id = store.call().args(write).stdin(text).output().unwrap();
        let id = String::from_utf8(id).unwrap().trim().to_owned();
        let path = format!("objects/{}/{}", &id[..2], &id[2..]);
        let file = File::open(store.git_dir().join(path)).unwrap();
        file.set_modified(SystemTime::now() - ago).unwrap();
        id
    }

    fn has(store: &Store, id: &str) -> bool {
        store.look_up(&[id.to_owned()]).unwrap()[0].is_some()
    }

    fn packs(store: &Store) -> Vec<PathBuf> {
        let shared = shared_packs(&store.git_dir().join("objects/pack"));
        let folder = store.git_dir().join("objects/pack");
        shared.iter().map(|name| folder.join(name)).collect()
    }

    #[test]
    fn old_waste_goes_and_what_is_kept_young_or_shared_stays() {
        let repo = TestRepo::new();
        repo.git(&["gc", "--quiet"]);
        let store = Store::open(Git::find().unwrap(), &repo.beside("stores"), repo.path()).unwrap();
        let head: CommitId = repo.head().parse().unwrap();
        let tree = store.tree_of(&head).unwrap();
        let kept = store
            .commit_tree(&tree, &[&head], "kept", Some(1_000_000_000))
            .unwrap();
        store.keep(&kept, "batch-1/task-1/attempt-1").unwrap();
        let (day, month) = (Duration::from_hours(24), Duration::from_hours(30 * 24));
        let old = write_loose(&store, "old", 3 * month);
        let young = write_loose(&store, "young", day);
        let shared = packs(&store);
        assert_eq!(
            shared.len(),
            1,
            "the store shares a pack with the repository"
        );
        store.repack(month).unwrap();
        assert!(!has(&store, &old), "old waste is gone");
        assert!(has(&store, &young), "young waste may be somebody's");
        assert!(has(&store, kept.as_str()), "kept work stays");
        assert_eq!(packs(&store), shared, "the shared pack is still shared");
        repo.git_in(&store.git_dir(), &["fsck", "--strict"]);
        store.repack(Duration::ZERO).unwrap();
        assert!(has(&store, kept.as_str()), "and stays for good");
    }
}
