//! A run that is killed at any step of landing lands once.

use std::os::unix::process::ExitStatusExt as _;

use pleach_engine::step::{DIE_AT, Step};

use super::{Harbour, SHELL};
use crate::scene::Story;

/// The steps of landing, at each of which a run is killed.
pub(crate) const STEPS: [Step; 5] = [
    Step::BaseFollowed,
    Step::ResultPushed,
    Step::PushStored,
    Step::PullRequestOpened,
    Step::BranchForwarded,
];

/// Killed at a step of landing, and again, until it is over; then all is as if nothing had happened.
fn check_death(step: Step) {
    let harbour = Harbour::github("1, 2", "", SHELL);
    let tests =
        "validate = \"true\"\nforge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    let mut shell = SHELL.to_owned();
    if step == Step::BaseFollowed {
        shell = format!("{shell}; {}", harbour.move_base("other", "theirs\n"));
    }
    harbour.scene.configure(tests, &shell);
    let run = |words: &[&str], point: Option<String>| {
        let mut command = harbour.command(words);
        if let Some(point) = point {
            command.env(DIE_AT, point);
        }
        command.output().unwrap()
    };
    let point = format!("{step:?}");
    let mut words = vec!["run", "--yes", "-j", "1", "--json"];
    if step == Step::BranchForwarded {
        run(&["run", "--yes", "--no-pr"], None);
        words = vec!["land", "1", "--into", "main", "--json"];
    }
    let mut deaths = 0;
    let mut output = run(&words, Some(point.clone()));
    while output.status.signal() == Some(9) && deaths < 3 {
        deaths += 1;
        output = run(&["run", "--resume", "1", "--json"], Some(point.clone()));
    }
    assert!(deaths > 0, "{point} is never reached: {output:?}");
    if output.status.signal() == Some(9) {
        output = run(&["run", "--resume", "1", "--json"], None);
    }
    let story = Story::of(&output.into());
    story.check(0, "1:merged 2:merged");
    if step == Step::BranchForwarded {
        assert_eq!(harbour.forge.pull_requests().len(), 0);
        assert!(harbour.scene.repo.path().join("file-1").exists());
        let main = harbour.scene.repo.git(&["rev-parse", "main"]);
        assert_eq!(story.summary()["tip"], main.trim());
    } else {
        harbour.check_landed(&story);
        assert_eq!(harbour.branches_there(), "pleach/batch-1");
    }
    harbour.scene.check_nobody_is_left();
}

#[test]
fn a_run_that_dies_at_any_step_of_landing_lands_once() {
    std::thread::scope(|scope| {
        for step in STEPS {
            let name = std::thread::Builder::new().name(format!("{step:?}"));
            name.spawn_scoped(scope, move || check_death(step)).unwrap();
        }
    });
}
