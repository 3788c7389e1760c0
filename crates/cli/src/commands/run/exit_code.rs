//! What the shell is told of a batch.

use pleach_domain::batch::{BatchStatus, LandingResult};
use pleach_domain::task_state::Ending;
use pleach_engine::run::{Summary, TaskReport};

use crate::failure::Exit;

pub(crate) fn exit(summary: &Summary) -> Exit {
    let succeeded = |ending: &Option<Ending>| ending.as_ref().is_some_and(Ending::is_success);
    let was_stopped = summary.landing_was_stopped && summary.landed != Some(LandingResult::Landed);
    // Without a server there is nothing to land on, which the summary says.
    let landing_failed = matches!(
        summary.landed,
        Some(LandingResult::NotLanded {
            no_server: false,
            ..
        })
    );
    let is_merged = |task: &TaskReport| matches!(task.ending, Some(Ending::Merged { .. }));
    let is_nowhere =
        summary.branch.is_none() && summary.pushed.is_none() && summary.folder.is_none();
    let result_is_lost = is_nowhere && summary.tasks.iter().any(is_merged);
    if !summary.status.is_over() || summary.status == BatchStatus::Cancelled || was_stopped {
        Exit::Interrupted
    } else if summary.tasks.iter().all(|task| succeeded(&task.ending))
        && summary.status == BatchStatus::Completed
        && !landing_failed
        && !result_is_lost
    {
        Exit::Success
    } else {
        Exit::SomeTaskFailed
    }
}
