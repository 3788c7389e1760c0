//! The process dies, and another one goes on from what is stored.

use super::{Story, tell};

/// The same end, wherever the process dies: after each event, once.
#[track_caller]
fn check_each_death(settings: &str, tasks: &str, steps: &str) {
    let whole = tell(settings, tasks, steps);
    let end = |story: &Story| {
        let tasks = story.batch().tasks.iter();
        let tasks: Vec<&str> = tasks.map(|task| task.state.as_str()).collect();
        (story.batch().status.as_str(), tasks.join(" "))
    };
    for after in 1..whole.told.len() {
        let mut story = Story::new(settings, tasks, steps);
        story.dies_after = Some(after);
        story.live_to_the_end();
        assert_eq!(end(&story), end(&whole), "it died after event {after}");
        if whole.batch().published.is_some() {
            let tree = |story: &Story| {
                let branch = &story.batch().published.as_ref().unwrap().0;
                story
                    .repo
                    .git(&["rev-parse", &format!("{branch}^{{tree}}")])
            };
            assert_eq!(tree(&story), tree(&whole), "it died after event {after}");
        }
    }
}

#[test]
fn what_is_built_and_woven_survives_each_death() {
    check_each_death("", "1, 2 1", "");
}

#[test]
fn a_task_without_changes_survives_each_death() {
    check_each_death("max_parallel = 1", "1, 2 1", "1:same");
}

#[test]
fn a_validation_survives_each_death() {
    check_each_death("validate = \"make test\"", "1, 2", "guilty:2");
}

#[test]
fn an_interrupted_attempt_is_made_again_and_is_no_failure() {
    let story = tell("retries = 0", "1", "crash");
    story.ends("completed: 1 merged");
    story.happened("1", "started; interrupted; started; built; woven");
}

#[test]
fn a_cancel_outlives_the_process_that_heard_it() {
    let story = tell("", "1, 2", "cancel crash");
    story.ends("cancelled: 1 cancelled, 2 cancelled");
}

#[test]
fn a_task_that_was_asked_to_stop_is_cancelled_when_its_process_dies() {
    let story = tell("", "1, 2", "1:cancel crash");
    story.ends("completed: 1 cancelled, 2 merged");
}

#[test]
fn losses_are_counted_over_deaths() {
    let story = tell(
        "",
        "1, 2",
        "1:lost 1:lost 1:lost crash 1:lost 1:lost 1:lost",
    );
    story.ends("completed: 1 failed, 2 merged");
}

#[test]
fn failures_are_counted_over_deaths() {
    let story = tell("retries = 1", "1, 2", "1:failed crash 1:failed");
    story.ends("completed: 1 failed, 2 merged");
}
