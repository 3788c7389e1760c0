//! What is noted when a person begins to resolve a conflict, so that the end can be compared with it.
//!
//! One file a conflict in the store; a conflict without one was not begun, or not to its end.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use pleach_git::git::{Store, StoreError};
use pleach_git::weave::{ConflictKind, Content, Unmerged};
use serde::{Deserialize, Serialize};

use super::marks;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResolutionNote {
    pub(super) commit: String,
    pub(super) files: Vec<NotedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NotedFile {
    #[serde(with = "pleach_system::files::stored_path")]
    pub(super) path: PathBuf,
    pub(super) kind: ConflictKind,
    pub(super) marked: Option<Content>,
    /// How long marks are in it.
    pub(super) size: usize,
    /// Lines of either side that look like marks.
    pub(super) meant: BTreeSet<String>,
}

impl NotedFile {
    /// What has to be known later of a file that is laid out now.
    pub(super) fn of(
        store: &Store,
        file: &Unmerged,
        our_name: &str,
    ) -> Result<Self, pleach_git::git::GitError> {
        let is_file = |content: &&Content| content.mode.starts_with("100");
        let marked = file.marked.as_ref().filter(is_file);
        let size = match marked {
            Some(content) => marks::size(&store.read_blob(&content.id)?, our_name),
            None => marks::size(b"", our_name),
        };
        let mut meant = BTreeSet::new();
        for stage in file.stages.iter().filter(|stage| is_file(&&stage.content)) {
            meant.extend(marks::meant(&store.read_blob(&stage.content.id)?, size));
        }
        Ok(Self {
            path: pleach_git::git::os_str(&file.path).into(),
            kind: file.kind,
            marked: file.marked.clone(),
            size,
            meant,
        })
    }
}

impl ResolutionNote {
    /// Reads a note; one that is damaged is none.
    pub(super) fn load(store: &Store, id: &str) -> Option<Self> {
        let text = fs::read(folder(store).join(id)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Puts a note in its place as a whole.
    pub(super) fn save(&self, store: &Store, id: &str) -> Result<(), StoreError> {
        let folder = folder(store);
        let aside = folder.join(format!("{id}.{}", store.sign()?));
        let write = || {
            fs::create_dir_all(&folder)?;
            fs::write(&aside, serde_json::to_vec(self)?)?;
            fs::rename(&aside, folder.join(id))
        };
        write().map_err(StoreError::io("write to", &folder))
    }

    pub(super) fn delete(store: &Store, id: &str) -> Result<(), StoreError> {
        let file = folder(store).join(id);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &file)(error))
            }
            _ => Ok(()),
        }
    }
}

fn folder(store: &Store) -> PathBuf {
    store.home().join("resolves")
}
