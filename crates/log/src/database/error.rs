//! Why the database cannot be read or written, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use pleach_domain::id::{BatchNumber, TaskId};
use rusqlite::{ErrorCode, ffi};

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error(
        "{} has version {found}; this Pleach supports versions up to {known}",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    #[error("{} is damaged, or not a Pleach database", path.display())]
    Damaged {
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("could not {doing}: {} is not writable", path.display())]
    NotWritable {
        doing: &'static str,
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("could not {doing}: no space left for {}", path.display())]
    NoRoom {
        doing: &'static str,
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("could not {doing}: {} is locked", path.display())]
    Locked {
        doing: &'static str,
        path: PathBuf,
        source: rusqlite::Error,
    },
    #[error("could not use a write-ahead log for {}", path.display())]
    NoLog { path: PathBuf },
    #[error("task {task} is in batch {batch}, which is still running")]
    TaskBusy { task: TaskId, batch: BatchNumber },
    #[error("this request already created batch {batch}")]
    RequestKnown { batch: u32 },
    #[error("batch {0} not found")]
    NoBatch(u32),
    #[error("could not read event {seq} of {}", path.display())]
    StrangeEvent {
        seq: u64,
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("could not {doing} {}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("could not {doing} in {}", path.display())]
    Sqlite {
        doing: &'static str,
        path: PathBuf,
        source: rusqlite::Error,
    },
}

impl DatabaseError {
    /// Whether trying again later may help.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::NoRoom { .. } | Self::Locked { .. } | Self::Io { .. }
        )
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Newer { .. } => Some("update Pleach"),
            Self::Damaged { .. } => Some(
                "move the file away, or replace it with one of its copies (pleach.db.before-…); \
                 branches and kept work are in git and stay",
            ),
            Self::NotWritable { .. } | Self::Io { .. } => {
                Some("check that the folder is writable, or set PLEACH_HOME to another one")
            }
            Self::NoRoom { .. } => Some("free some disk space, then run the command again"),
            Self::Locked { .. } => Some("run the command again"),
            Self::NoLog { .. } => Some("set PLEACH_HOME to a folder on a local disk"),
            Self::TaskBusy { .. } => {
                Some("wait until the batch finishes; if it is interrupted, resume or cancel it")
            }
            Self::Sqlite { .. } => Some("check that the folder's disk works and has free space"),
            Self::NoBatch(_) | Self::RequestKnown { .. } | Self::StrangeEvent { .. } => None,
        }
    }

    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Self::Locked { .. })
    }

    /// Sorts what `SQLite` said by what can be done about it.
    pub(super) fn of_sqlite(doing: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let extended = match &source {
            rusqlite::Error::SqliteFailure(failure, _) => failure.extended_code,
            _ => 0,
        };
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, source }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::NotWritable {
                    doing,
                    path,
                    source: source.into(),
                }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked {
                doing,
                path,
                source,
            },
            // Two processes that make the same new file clear away each other's journal.
            _ if extended == ffi::SQLITE_IOERR_DELETE_NOENT => Self::Locked {
                doing,
                path,
                source,
            },
            // A full disk shows itself where the file shared between processes is to grow, too.
            _ if matches!(extended, ffi::SQLITE_FULL | ffi::SQLITE_IOERR_SHMSIZE) => Self::NoRoom {
                doing,
                path,
                source,
            },
            _ => Self::Sqlite {
                doing,
                path,
                source,
            },
        }
    }
}

/// What stops a piece of work on the database, before it is known what the work was for.
#[derive(Debug)]
pub(super) enum Stop {
    Sqlite(rusqlite::Error),
    Known(DatabaseError),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<DatabaseError> for Stop {
    fn from(error: DatabaseError) -> Self {
        Self::Known(error)
    }
}

impl Stop {
    pub(super) fn while_at(self, doing: &'static str, path: &Path) -> DatabaseError {
        match self {
            Self::Sqlite(source) => DatabaseError::of_sqlite(doing, path, source),
            Self::Known(error) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_makes_a_new_file_together_with_others_tries_once_more() {
        let failure = ffi::Error::new(ffi::SQLITE_IOERR_DELETE_NOENT);
        let source = rusqlite::Error::SqliteFailure(failure, None);
        let error = DatabaseError::of_sqlite("open the database", Path::new("pleach.db"), source);
        assert!(error.is_locked(), "{error}");
    }
}
