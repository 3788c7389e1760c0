//! Whether a project may push to an address: a person confirms that once.
//!
//! Knows what counts as an answer; who is asked, and how, is known elsewhere.

use crate::config::Layers;
use pleach_domain::choice::Landing;
use pleach_log::database::{Database, DatabaseError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PushConfirmation {
    /// A person confirmed exactly this before.
    Before,
    /// The user's own settings say so, or the project pushed before anybody was asked.
    Otherwise,
}

/// Whether a project may push to an address; nothing is remembered. Where no database exists, nobody was asked.
pub(crate) fn may_push(
    database: Option<&Database>,
    project: &str,
    address: &str,
) -> Result<bool, DatabaseError> {
    Ok(confirmed(database, project, address)?.is_some())
}

/// The same; what is known otherwise is remembered for this address, so that another one is asked about.
pub fn may_push_from_now_on(
    database: &mut Database,
    project: &str,
    address: &str,
) -> Result<bool, DatabaseError> {
    let confirmed = confirmed(Some(database), project, address)?;
    if confirmed == Some(PushConfirmation::Otherwise) {
        database.confirm_push(project, address)?;
    }
    Ok(confirmed.is_some())
}

fn confirmed(
    database: Option<&Database>,
    project: &str,
    address: &str,
) -> Result<Option<PushConfirmation>, DatabaseError> {
    if let Some(database) = database {
        if database.is_push_confirmed(project, address)? {
            return Ok(Some(PushConfirmation::Before));
        }
        if database.has_pushed_unasked(project)? {
            return Ok(Some(PushConfirmation::Otherwise));
        }
    }
    Ok(is_said_by_user().then_some(PushConfirmation::Otherwise))
}

/// Whether the user's own file or environment says that results are pushed. What a repository says is no answer: it is
/// written by whoever may change the repository.
fn is_said_by_user() -> bool {
    // What cannot be read says nothing, and is told wherever settings are needed.
    let layers = Layers::of_user().unwrap_or_default();
    layers.merged().land.is_some_and(Landing::pushes)
}
