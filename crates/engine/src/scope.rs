//! Which batches somebody means who names none: those of the repository or the folder around, else all of this user.

use std::path::Path;

use crate::database::{Among, BatchFilter, BatchRow, Database, DatabaseError};
use crate::git::{Git, GitError, Store, StoreError};
use crate::state_folder::StateFolder;

/// Whose batches are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// Those of one project.
    Project(String),
    /// All of this user.
    User,
}

impl Scope {
    /// The scope of somebody who stands in a folder.
    pub fn of(state: &StateFolder, folder: &Path) -> Result<Self, GitError> {
        match Store::name_of(&Git::find()?, &state.stores(), folder) {
            Ok(name) => Ok(Self::Project(name)),
            Err(StoreError::Git(error)) => Err(error),
            // A folder that could not have a batch has no business hiding others.
            Err(_) => Ok(Self::User),
        }
    }

    /// The project, if it is one.
    pub fn project(&self) -> Option<&str> {
        match self {
            Self::Project(name) => Some(name),
            Self::User => None,
        }
    }

    /// The batches of it, newest first.
    pub fn batches(
        &self,
        database: &Database,
        among: Among,
    ) -> Result<Vec<BatchRow>, DatabaseError> {
        database.batches(BatchFilter {
            project: self.project(),
            among,
        })
    }
}
