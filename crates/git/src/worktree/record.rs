//! What the store notes about each worktree, where no agent looks.
//!
//! Knows nothing of what is in a worktree.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::git::{CommitId, Store};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorktreeRecord {
    pub(super) stage: WorktreeStage,
    /// The process that brought it to that stage.
    pub(super) sign: String,
    pub(super) path: PathBuf,
    pub(super) branch: String,
    pub(super) basis: CommitId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorktreeStage {
    /// Nobody has worked there yet.
    Making,
    Made,
    /// Everything in it is kept elsewhere.
    Going,
}

impl WorktreeStage {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Making, "making"),
        (Self::Made, "made"),
        (Self::Going, "going"),
    ];

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(stage, _)| *stage == self);
        found.map_or("", |(_, word)| word)
    }
}

impl WorktreeRecord {
    /// Reads the record of a worktree; one that is damaged is none.
    pub(super) fn load(store: &Store, id: &str) -> Option<Self> {
        let bytes = fs::read(folder(store).join(id)).ok()?;
        let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let [stage, sign, path, branch, basis, b""] = fields[..] else {
            return None;
        };
        let text = |field: &[u8]| String::from_utf8(field.to_vec()).ok();
        let stage = WorktreeStage::ALL
            .iter()
            .find(|(_, word)| word.as_bytes() == stage)?;
        Some(Self {
            stage: stage.0,
            sign: text(sign)?,
            path: OsString::from_vec(path.to_vec()).into(),
            branch: text(branch)?,
            basis: text(basis)?.parse().ok()?,
        })
    }

    pub(super) fn save(&self, store: &Store, id: &str) -> io::Result<()> {
        let folder = folder(store);
        fs::create_dir_all(&folder)?;
        let mut bytes = Vec::new();
        for field in [
            self.stage.word().as_bytes(),
            self.sign.as_bytes(),
            self.path.as_os_str().as_bytes(),
            self.branch.as_bytes(),
            self.basis.as_str().as_bytes(),
        ] {
            bytes.extend_from_slice(field);
            bytes.push(0);
        }
        let aside = folder.join(format!("{id}.{}", self.sign));
        fs::write(&aside, bytes)?;
        fs::rename(&aside, folder.join(id))?;
        if self.stage == WorktreeStage::Made {
            // After a power cut, nobody may take work for a worktree that was never finished.
            File::open(&folder)?.sync_all()?;
        }
        Ok(())
    }

    pub(super) fn delete(store: &Store, id: &str) -> io::Result<()> {
        match fs::remove_file(folder(store).join(id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The names of all worktrees that have a record; a record that is being written has a dot in its name.
pub(super) fn names(store: &Store) -> Vec<String> {
    let entries = fs::read_dir(folder(store)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| !name.contains('.')).collect()
}

/// When a worktree came to its stage.
pub(super) fn written(store: &Store, id: &str) -> Option<std::time::SystemTime> {
    let file: &Path = &folder(store).join(id);
    file.metadata().and_then(|meta| meta.modified()).ok()
}

fn folder(store: &Store) -> PathBuf {
    store.home().join("trees")
}
