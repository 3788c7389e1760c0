//! The branch of the last batch, for whoever wants to start on top of it.

use super::RunError;

use pleach_git::git::{Git, Store};
use pleach_log::database::{BatchFilter, BatchScope, Database};
use pleach_log::earlier::BuildsOn;

use super::request::RunRequest;
use crate::stored_batch::StoredBatch;

/// The base that means it.
const LAST: &str = "last";

/// The last batch of a project that has a branch.
#[derive(Debug)]
pub(super) struct PreviousBatch {
    /// The full name of its branch in the user's repository.
    pub(super) branch: String,
    /// The branch of the server that it is meant for.
    pub(super) target: Option<String>,
    /// The batches that whoever starts there builds on, itself among them.
    pub(super) stands_on: Vec<BuildsOn>,
}

impl PreviousBatch {
    /// The last batch, if that is the base that is asked for.
    pub(super) fn asked_for(request: &RunRequest) -> Result<Option<Self>, RunError> {
        if request.settings.base.as_deref() != Some(LAST) {
            return Ok(None);
        }
        if !request.state.database().exists() {
            return Err(RunError::NoLastBatch);
        }
        let database = Database::open(&request.state)?;
        let project = Store::name_of(&Git::find()?, &request.state.stores(), &request.folder)?;
        let filter = BatchFilter {
            project: Some(&project),
            among: BatchScope::All,
        };
        for row in database.batches(filter)? {
            let stored = StoredBatch::load(&database, row.id).ok();
            if let Some(last) = stored.and_then(|stored| Self::from_stored(&stored)) {
                return Ok(Some(last));
            }
        }
        Err(RunError::NoLastBatch)
    }

    fn from_stored(stored: &StoredBatch) -> Option<Self> {
        let (branch, _) = stored.batch.published.clone()?;
        let record = &stored.record;
        let woven = stored.batch.woven.iter();
        let itself = BuildsOn {
            batch: stored.number,
            pr_url: stored.batch.pr_url.clone(),
            tasks: woven.map(|task| record.tasks[*task].id.clone()).collect(),
            branch: branch.clone(),
        };
        Some(Self {
            branch: format!("refs/heads/{branch}"),
            target: record.target.clone(),
            stands_on: record.builds_on().into_iter().chain([itself]).collect(),
        })
    }
}
