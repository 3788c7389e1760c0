//! Where the tasks of a command line work: what makes no sense in a folder that is no repository, and what takes its
//! time there.

use pleach_domain::choice::RunMode;
use std::path::Path;

use pleach_engine::run::{Fetch, Prepared, RunRequest, WorkPlace, prepare, where_tasks_work};

use crate::args::RunArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::waiting_line::WaitingLine;

/// Where tasks would work that are run from a folder.
pub(super) fn place(
    folder: &Path,
    mode: RunMode,
    arguments: &RunArgs,
) -> Result<WorkPlace, Failures> {
    let place = where_tasks_work(folder, mode)?;
    if place == WorkPlace::InPlace {
        check(arguments)?;
    }
    Ok(place)
}

/// Prepares a batch, which may take a while: a server is asked, or a folder is copied for the first time.
pub(super) fn prepare_at(place: WorkPlace, request: RunRequest) -> Result<Prepared, Failures> {
    let what = match (place, request.fetch) {
        (WorkPlace::InPlace, _) => "saving a copy of the folder",
        (WorkPlace::Worktrees, Fetch::Origin) => "fetching from origin",
        (WorkPlace::Worktrees, Fetch::Nothing) => "reading the repository",
    };
    let _waiting = WaitingLine::tell(what.to_owned());
    Ok(prepare(request)?)
}

/// Refuses what needs branches, a server or several tasks at once.
fn check(arguments: &RunArgs) -> Result<(), Failures> {
    let given = [
        ("--base", arguments.base.is_some()),
        ("--fetch", arguments.fetch),
        ("--pr", arguments.pr),
        ("--merge", arguments.merge.is_some()),
        ("--on-conflict", arguments.on_conflict.is_some()),
        ("--waves", arguments.waves),
        ("--jobs", arguments.jobs.is_some_and(|jobs| jobs > 1)),
    ];
    let given = given.iter().filter(|(_, is_given)| *is_given);
    let failures = given.map(|(flag, _)| {
        let message = format!(
            "{flag} needs a git repository; here tasks run in the folder itself, one at a time, without branches"
        );
        Failure::new(Exit::Usage, "needs_repository", message).hint(format!(
            "omit {flag}, or run `git init` and commit something"
        ))
    });
    Failures::check(failures.collect())
}
