//! Brings a store of an older version to the present layout, where agents write to nothing that is shared.
//!
//! Agents of that version could write loose objects and packed refs, so neither is trusted until it was checked.

use std::fs;
use std::io;
use std::path::Path;

use super::{DamagedFiles, Store, StoreError};

/// What only the older layout had, within the folder of the store.
const ONLY_THEN: [&str; 6] = [
    "vault.git",
    "guard",
    "store.config",
    "store.git/packed",
    "store.git/hooks",
    "store.git/wt-stage",
];

impl Store {
    /// Tells what was damaged; does nothing if the store has the present layout already.
    pub(super) fn leave_older_layout(&self) -> Result<Option<DamagedFiles>, StoreError> {
        let vault = self.home().join("vault.git");
        if vault.symlink_metadata().is_err() {
            return Ok(None);
        }
        let git_dir = self.git_dir();
        unlink_packed_refs(&git_dir).map_err(StoreError::io("set up", &git_dir))?;
        let damage = self.set_aside_damage()?;
        // The first of them last: it says that this is not done yet.
        for name in ONLY_THEN.iter().rev() {
            let path = self.home().join(name);
            remove(&path).map_err(StoreError::io("remove", &path))?;
        }
        Ok(damage)
    }
}

/// Packed refs were a link into a folder that agents wrote to; only a plain file there is taken over.
fn unlink_packed_refs(git_dir: &Path) -> io::Result<()> {
    let link = git_dir.join("packed-refs");
    if !link.is_symlink() {
        return Ok(());
    }
    let real = git_dir.join("packed/packed-refs");
    if real.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        fs::rename(&real, &link)
    } else {
        fs::remove_file(&link)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}
