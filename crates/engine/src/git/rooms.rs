//! Locks and scratch folders of a store, which several processes use at the same time.
//!
//! Knows nothing of what is done under a lock or in a folder.

use std::fs::File;

use tempfile::TempDir;

use super::{Store, StoreError};

impl Store {
    /// Takes a lock that holds across processes until it is dropped.
    pub(crate) fn lock(&self, name: &str) -> Result<File, StoreError> {
        let path = self.home().join(name);
        File::options()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(StoreError::io("lock", &path))
    }

    /// A private folder that goes away with its value.
    pub(crate) fn scratch(&self) -> Result<TempDir, StoreError> {
        tempfile::Builder::new()
            .prefix("scratch-")
            .tempdir_in(self.home())
            .map_err(StoreError::io("create a folder in", self.home()))
    }
}
