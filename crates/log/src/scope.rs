//! Which batches somebody means who names none: those of the repository or the folder around, else all of this user.

use std::path::{Path, PathBuf};

use pleach_domain::id::BatchNumber;
use pleach_git::git::{Git, GitError, Store, StoreError};
use pleach_system::state_folder::StateFolder;

use crate::database::{BatchFilter, BatchRow, BatchScope, Database, DatabaseError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Project(String),
    User,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBatches {
    Nothing,
    One(u32),
    /// One batch in each of these repositories.
    Several(Vec<PathBuf>),
}

impl Scope {
    pub fn of_folder(state: &StateFolder, folder: &Path) -> Result<Self, GitError> {
        match Store::name_of(&Git::find()?, &state.stores(), folder) {
            Ok(name) => Ok(Self::Project(name)),
            Err(StoreError::Git(error)) => Err(error),
            // A folder that could not have a batch has no business hiding others.
            Err(_) => Ok(Self::User),
        }
    }

    pub fn project(&self) -> Option<&str> {
        match self {
            Self::Project(name) => Some(name),
            Self::User => None,
        }
    }

    pub fn find(
        &self,
        database: &Database,
        number: BatchNumber,
    ) -> Result<FoundBatches, DatabaseError> {
        if let Self::Project(project) = self {
            let found = database.batch_numbered(project, number)?;
            return Ok(found.map_or(FoundBatches::Nothing, FoundBatches::One));
        }
        let mut rows = self.batches(database, BatchScope::All)?;
        rows.retain(|row| row.number == number);
        Ok(match rows.as_slice() {
            [] => FoundBatches::Nothing,
            [row] => FoundBatches::One(row.id),
            rows => FoundBatches::Several(rows.iter().map(|row| row.repository.clone()).collect()),
        })
    }

    /// The batches of it, newest first.
    pub fn batches(
        &self,
        database: &Database,
        among: BatchScope,
    ) -> Result<Vec<BatchRow>, DatabaseError> {
        database.batches(BatchFilter {
            project: self.project(),
            among,
        })
    }
}
