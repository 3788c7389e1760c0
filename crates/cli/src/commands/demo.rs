//! `pleach demo`: a whole run on a small repository in a temporary folder.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use pleach_domain::task_state::Ending;
use pleach_engine::config::{Config, Settings};
use pleach_engine::demo::{PLAN, make_repository};
use pleach_engine::plan_to_run::{PlanOrigin, PlanToRun};
use pleach_engine::run::RunBatch;
use pleach_engine::run::{RunRequest, Summary, WorkPlace, prepare};
use pleach_system::state_folder::StateFolder;
use pleach_system::text::shell_words::quoted;

use crate::commands::run::own_program;
use crate::commands::watch::follow;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, tell};
use crate::preview::PreviewInput;
use crate::summary;

/// What becomes of the demo's tasks, by their order in the plan.
const EXPECTED: [&str; 10] = [
    "merged",
    "merged",
    "merged",
    "invalid",
    "merged",
    "merged",
    "conflicted",
    "no_changes",
    "failed",
    "blocked",
];

/// Makes the repository, runs its plan and says where to look.
pub(crate) fn run(run_batch: RunBatch) -> Result<Exit, Failures> {
    let trouble = |what: &str, error: &dyn std::error::Error| {
        let message = format!("could not {what}: {error}");
        Failures::from(
            Failure::new(Exit::Environment, "demo", message)
                .hint("set TMPDIR to a writable folder with free space"),
        )
    };
    let folder = tempfile::Builder::new().prefix("pleach-demo-").tempdir();
    let folder = folder
        .map_err(|error| trouble("create a temporary folder", &error))?
        .keep();
    let repository = folder.join("greenhouse");
    std::fs::create_dir(&repository).map_err(|error| trouble("create a folder", &error))?;
    make_repository(&repository).map_err(|error| trouble("create the demo repository", &error))?;
    let request = request(&folder, &repository)?;
    let shown = PreviewInput::new(&request, WorkPlace::Worktrees);
    let agent = request.agent.agent(&request.program);
    shown.preview(&*agent, &HashMap::new()).print();
    let summary = follow(prepare(request)?, run_batch, Reader::Person, |_| {})?;
    summary::print(&summary);
    tell(format_args!(
        "\nThe conflict, the failing tests, the failed task and the blocked one are part of the demo.\n\
         On the board:  cd {} && PLEACH_HOME={} {} serve --open\n\
         The repository is {}; delete {} when you are done.\n",
        quoted(&repository.to_string_lossy()),
        quoted(&folder.join("state").to_string_lossy()),
        quoted(&own_program()?.to_string_lossy()),
        repository.display(),
        folder.display(),
    ));
    Ok(if went_as_expected(&summary) {
        Exit::Success
    } else {
        Exit::Bug
    })
}

fn request(folder: &Path, repository: &Path) -> Result<RunRequest, Failures> {
    let document = pleach_formats::read(PLAN);
    let chosen = (0..document.plan.tasks.len()).collect();
    let origin = PlanOrigin::File(repository.join("TODO.md"));
    let request = RunRequest::new(
        repository.to_owned(),
        PlanToRun::new(origin, PLAN.to_owned(), document),
        chosen,
        Settings::of([Config::load(repository)?], repository)?,
        StateFolder::at(&folder.join("state"))?,
        own_program()?,
    )?;
    Ok(RunRequest {
        grace: Duration::from_secs(2),
        ..request
    })
}

fn went_as_expected(summary: &Summary) -> bool {
    let outcomes = summary
        .tasks
        .iter()
        .map(|task| task.ending.as_ref().map_or("", Ending::outcome));
    outcomes.eq(EXPECTED)
}
