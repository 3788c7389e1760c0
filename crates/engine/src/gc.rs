//! Removes what batches that are over left behind and nobody needs any more.
//!
//! Looks first and removes then, each thing only if it still is as it was seen. What belongs to a batch that runs or
//! is interrupted is never looked at, and no kept work goes that is younger than it may be.

mod search;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pleach_domain::id::BatchNumber;
use pleach_git::git::{CommitId, GitError, Store, StoreError};
use pleach_git::worktree::{Worktree, WorktreeError, finish_removals, sweep};
use pleach_log::database::{BatchFilter, BatchScope, Database, DatabaseError};
use pleach_log::ownership::{BatchLock, OwnershipError, is_owned};
use pleach_system::files::removal::remove_all;
use pleach_system::sandbox::clear_replaced;
use pleach_system::state_folder::StateFolder;
use pleach_system::text::causes::with_causes;

use crate::kept::KeptError;
use crate::resolve::ResolveError;
use crate::share;
use crate::stored_batch::{LookupError, StoredBatch};

pub use search::{empty_folders, unused_on_shares};

#[derive(Debug, thiserror::Error)]
pub enum GcError {
    #[error(transparent)]
    Lookup(#[from] LookupError),
    #[error(transparent)]
    Kept(#[from] KeptError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Worktree(Box<WorktreeError>),
    #[error(transparent)]
    Resolve(Box<ResolveError>),
    #[error(transparent)]
    Ownership(#[from] OwnershipError),
    #[error("could not remove {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl From<DatabaseError> for GcError {
    fn from(error: DatabaseError) -> Self {
        Self::Lookup(error.into())
    }
}

impl From<ResolveError> for GcError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(Box::new(error))
    }
}

impl From<WorktreeError> for GcError {
    fn from(error: WorktreeError) -> Self {
        Self::Worktree(Box::new(error))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Garbage {
    pub what: GarbageKind,
    /// The id of the batch that left it.
    pub batch: Option<u32>,
    /// What people call that; none for one that never began.
    pub number: Option<BatchNumber>,
    pub name: String,
    pub age: Option<Duration>,
    pub bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GarbageKind {
    /// The worktree of a task; its last state is kept first.
    Worktree {
        task: usize,
        path: PathBuf,
    },
    /// The folder in which a conflict was to be resolved; its last state is kept first.
    Resolution {
        task: usize,
        path: PathBuf,
    },
    KeptWork {
        name: String,
        commit: CommitId,
    },
    /// The branch of a task in the store, whose work is merged or kept.
    Branch {
        name: String,
        commit: CommitId,
        /// The folder of the worktree that may have it checked out.
        tree: Option<PathBuf>,
    },
    Transcripts {
        /// The folder of the batch; it stays, because it holds its number.
        folder: PathBuf,
    },
    /// The folder of a batch that never came to be.
    EmptyFolder {
        folder: PathBuf,
    },
    /// Files of the store, or a git folder of an agent, that could not be read.
    Damaged {
        /// The folder that they were moved to.
        folder: PathBuf,
    },
    Socket {
        path: PathBuf,
    },
    /// What lies on the share of a cluster, and no node needs.
    OnShare {
        path: PathBuf,
    },
}

impl GarbageKind {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Worktree { .. } | Self::Resolution { .. } => "worktree",
            Self::KeptWork { .. } => "kept work",
            Self::Branch { .. } => "branch",
            Self::Transcripts { .. } => "transcripts",
            Self::EmptyFolder { .. } => "empty folder",
            Self::Damaged { .. } => "damaged files",
            Self::Socket { .. } => "socket",
            Self::OnShare { .. } => "share",
        }
    }
}

#[derive(Debug, Default)]
pub struct GarbageRemoved {
    pub finds: Vec<Garbage>,
    pub notes: Vec<String>,
}

/// How large the objects of a store are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repacked {
    /// Before, in bytes.
    pub before: u64,
    pub after: u64,
}

#[derive(Debug)]
pub struct GarbageCollector<'a> {
    pub state: &'a StateFolder,
    pub database: &'a Database,
    pub store: &'a Store,
    pub project: &'a str,
    pub keep: Duration,
}

impl GarbageCollector<'_> {
    /// Removes what was found, if it still is as it was seen.
    pub fn remove(&self, finds: &[Garbage]) -> GarbageRemoved {
        let mut removed = GarbageRemoved::default();
        if let Err(error) = sweep(self.store) {
            removed.notes.push(with_causes(&error));
        }
        clear_replaced(self.state, self.keep);
        let batches: BTreeSet<Option<u32>> = finds.iter().map(|find| find.batch).collect();
        for batch in batches {
            let of_batch = finds.iter().filter(|find| find.batch == batch);
            let of_batch: Vec<&Garbage> = of_batch.collect();
            if let Err(error) = self.remove_of(batch, &of_batch, &mut removed) {
                removed.notes.push(with_causes(&error));
            }
        }
        finish_removals();
        removed
    }

    /// Under the lock of the batch, so that nobody opens it again meanwhile.
    fn remove_of(
        &self,
        batch: Option<u32>,
        finds: &[&Garbage],
        removed: &mut GarbageRemoved,
    ) -> Result<(), GcError> {
        let mut stored = None;
        let mut lock = None;
        if let Some(id) = batch {
            lock = BatchLock::take(&self.state.batch(id))?;
            let number = self.database.number_of(id)?;
            stored = if number.is_some() {
                Some(StoredBatch::load(self.database, id)?)
            } else {
                None
            };
            let is_open = |stored: &StoredBatch| !stored.batch.status.is_over();
            if lock.is_none() || stored.as_ref().is_some_and(is_open) {
                let number = number.unwrap_or_default();
                let note = format!("batch {number} is running again; nothing of it was removed");
                removed.notes.push(note);
                return Ok(());
            }
        }
        for find in finds {
            match self.remove_one(find, stored.as_ref()) {
                Ok(()) => removed.finds.push((*find).clone()),
                Err(error) => {
                    let note = format!(
                        "{} {}: {}",
                        find.what.as_str(),
                        find.name,
                        with_causes(&error)
                    );
                    removed.notes.push(note);
                }
            }
        }
        if let Some(stored) = &stored {
            // Not empty while a worktree stays.
            let _ = fs::remove_dir(stored.trees(self.state));
        }
        drop(lock);
        Ok(())
    }

    fn remove_one(&self, find: &Garbage, stored: Option<&StoredBatch>) -> Result<(), GcError> {
        match &find.what {
            GarbageKind::Worktree { task, .. } => match stored {
                Some(stored) => self.retire(stored, *task),
                None => Ok(()),
            },
            GarbageKind::Resolution { task, .. } => match stored {
                Some(stored) => {
                    let conflict_worktree = stored.conflict_worktree(self.state, self.store, *task);
                    Ok(conflict_worktree.clear().map(drop)?)
                }
                None => Ok(()),
            },
            GarbageKind::KeptWork { name, commit } => Ok(self.store.drop_ref(name, commit)?),
            GarbageKind::Branch { name, commit, tree } => {
                match tree.as_ref().filter(|tree| tree.exists()) {
                    Some(path) => Err(GcError::Io {
                        path: path.clone(),
                        source: io::Error::other("its worktree is still there"),
                    }),
                    None => Ok(self.store.drop_ref(name, commit)?),
                }
            }
            GarbageKind::Transcripts { folder } => remove_contents(folder),
            GarbageKind::EmptyFolder { folder } => {
                remove_contents(folder)?;
                let lock = folder.join(search::LOCK);
                removed_or(&lock, fs::remove_file(&lock))?;
                removed_or(folder, fs::remove_dir(folder))
            }
            GarbageKind::Damaged { folder } => removed_or(folder, remove_all(folder)),
            GarbageKind::Socket { path } => removed_or(path, fs::remove_file(path)),
            GarbageKind::OnShare { path } => self.remove_from_share(path),
        }
    }

    /// Somebody may have come to need it since it was found.
    fn remove_from_share(&self, path: &std::path::Path) -> Result<(), GcError> {
        let unused = share::unused(self.state, self.database, self.keep)?;
        if unused.iter().any(|unused| unused.path == path) {
            removed_or(path, remove_all(path))?;
        }
        Ok(())
    }

    fn retire(&self, stored: &StoredBatch, task: usize) -> Result<(), GcError> {
        let Some(spec) = stored.tree_spec(self.state, task) else {
            return Ok(());
        };
        if let Some(worktree) = Worktree::existing(self.store, &spec)? {
            let attempt = stored.batch.tasks[task].attempts;
            worktree.retire(self.store, &stored.keep_name(task, attempt))?;
        }
        Ok(())
    }

    /// Packs the store; nothing, if somebody works in it.
    pub fn repack(&self) -> Result<Option<Repacked>, GcError> {
        // Whoever begins a batch opens the store first, and waits for this.
        let _lock = self.store.lock("store.lock")?;
        if self.store.has_company()? || self.has_live_batch()? {
            return Ok(None);
        }
        let before = self.store.object_bytes();
        self.store.repack(self.keep)?;
        let after = self.store.object_bytes();
        Ok(Some(Repacked { before, after }))
    }

    fn has_live_batch(&self) -> Result<bool, GcError> {
        let open = BatchFilter {
            project: Some(self.project),
            among: BatchScope::Open,
        };
        for row in self.database.batches(open)? {
            if is_owned(&self.state.batch(row.id))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Everything but the lock, which whoever holds it removes last.
fn remove_contents(folder: &std::path::Path) -> Result<(), GcError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name() != search::LOCK) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let gone = if is_folder {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed_or(&path, gone)?;
    }
    Ok(())
}

fn removed_or(path: &std::path::Path, gone: io::Result<()>) -> Result<(), GcError> {
    match gone {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(GcError::Io {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}
