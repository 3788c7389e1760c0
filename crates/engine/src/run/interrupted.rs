//! Finds the batches whose process died.
//!
//! Takes none of them up.

use std::path::Path;

use pleach_git::git::{Git, Store};
use pleach_log::database::{BatchFilter, BatchRow, BatchScope, Database};
use pleach_system::state_folder::StateFolder;

use super::RunError;

/// The batches of a repository or a folder that were alive when their process died, oldest first.
pub fn interrupted(state: &StateFolder, folder: &Path) -> Result<Vec<BatchRow>, RunError> {
    let open = BatchFilter {
        project: None,
        among: BatchScope::Open,
    };
    let mut rows = Vec::new();
    let mut project = None;
    for row in Database::open(state)?.batches(open)? {
        if pleach_log::ownership::is_owned(&state.batch(row.id))? {
            continue;
        }
        // Most of the time nothing is interrupted, and then nobody waits for git.
        if project.is_none() {
            project = Some(Store::names_of(&Git::find()?, &state.stores(), folder)?);
        }
        if project
            .as_ref()
            .is_some_and(|names| names.contains(&row.project))
        {
            rows.push(row);
        }
    }
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}
