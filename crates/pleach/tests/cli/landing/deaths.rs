//! A run that is killed at any step of landing lands once.

use std::os::unix::process::ExitStatusExt as _;

use pleach_system::crash_point::{CrashPoint, DIE_AT};
use pleach_testkit::gate_or_night;

use super::{Harbour, SHELL};
use crate::scene::Story;

/// The steps of landing, at each of which a run is killed.
pub(crate) const STEPS: [CrashPoint; 6] = [
    CrashPoint::BaseFollowed,
    CrashPoint::PushMeant,
    CrashPoint::ResultPushed,
    CrashPoint::PushStored,
    CrashPoint::PullRequestOpened,
    CrashPoint::BranchForwarded,
];

/// Killed at a step of landing, and at night again and again, until it is over; then all is as if nothing had happened.
fn check_death(step: CrashPoint) {
    let harbour = Harbour::github("1, 2", "", SHELL);
    let tests =
        "validate = \"true\"\nforge.kind = \"github\"\nplan = \"plan.json\"\nsandbox = \"none\"";
    let mut shell = SHELL.to_owned();
    if step == CrashPoint::BaseFollowed {
        shell = format!("{shell}; {}", harbour.move_base("other", "theirs\n"));
    }
    harbour.scene.configure(tests, &shell);
    let run = |words: &[&str], point: Option<&str>| {
        let mut command = harbour.command(words);
        command.envs(point.map(|point| (DIE_AT, point)));
        command.output().unwrap()
    };
    let point = format!("{step:?}");
    let mut words = vec!["run", "--yes", "-j", "1", "--json"];
    if step == CrashPoint::BranchForwarded {
        run(&["run", "--yes", "--no-pr"], None);
        words = vec!["land", "1", "--into", "main", "--json"];
    }
    let mut deaths = 0;
    let mut output = run(&words, Some(&point));
    while output.status.signal() == Some(9) {
        deaths += 1;
        let again = (deaths < gate_or_night(1, 4)).then_some(point.as_str());
        output = run(&["run", "--resume", "1", "--json"], again);
    }
    assert!(deaths > 0, "{point} is never reached: {output:?}");
    let story = Story::of(&output.into());
    story.check(0, "1:merged 2:merged");
    if step == CrashPoint::BranchForwarded {
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

/// Killed around the push, then the base moves: what got to the server is added to.
#[track_caller]
fn check_base_moves_after_death(step: CrashPoint, merge: &str) {
    let settings = format!("validate = \"true\"\nmerge = \"{merge}\"");
    let harbour = Harbour::github("1, 2", &settings, SHELL);
    let mut command = harbour.command(&["run", "--yes", "-j", "1", "--json"]);
    let output = command.env(DIE_AT, format!("{step:?}")).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    let pushed = harbour.branches_there();
    harbour.move_base_now("other", "theirs\n");
    let story = harbour.story(&["run", "--resume", "1"]);
    story.check(0, "1:merged 2:merged");
    harbour.check_landed(&story);
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
    assert_eq!(harbour.scene.show("pleach/batch-1", "other"), "theirs");
    let is_there = if step == CrashPoint::ResultPushed {
        "pleach/batch-1"
    } else {
        ""
    };
    assert_eq!(pushed, is_there);
}

#[test]
fn a_push_that_nobody_could_store_is_added_to_when_the_base_moves_with_merge() {
    check_base_moves_after_death(CrashPoint::ResultPushed, "merge");
}

#[test]
fn a_push_that_nobody_could_store_is_added_to_when_the_base_moves_with_squash() {
    check_base_moves_after_death(CrashPoint::ResultPushed, "squash");
}

#[test]
fn a_push_that_was_only_meant_leaves_nothing_behind_when_the_base_moves() {
    check_base_moves_after_death(CrashPoint::PushMeant, "merge");
}

/// A `land` that is killed is taken up by the same command.
#[track_caller]
fn check_killed_land(words: &[&str], step: CrashPoint) -> Harbour {
    let harbour = Harbour::github("1, 2", "validate = \"true\"", SHELL);
    let run = harbour.story(&["run", "--yes", "--no-pr"]);
    run.check(0, "1:merged 2:merged");
    let mut killed = harbour.command(words);
    let output = killed.env(DIE_AT, format!("{step:?}")).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    let other = harbour.pleach(&["land", "1", "--into", "elsewhere"]);
    assert_eq!(other.code, 2, "that is another wish: {}", other.err);
    let again = harbour.story(words);
    again.check(0, "1:merged 2:merged");
    if step == CrashPoint::ResultPushed {
        harbour.check_landed(&again);
    }
    harbour
}

#[test]
fn a_killed_land_goes_on_by_the_same_command() {
    let harbour = check_killed_land(&["land", "1", "--yes"], CrashPoint::ResultPushed);
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
}

#[test]
fn a_killed_land_into_a_branch_goes_on_by_the_same_command() {
    let words = ["land", "1", "--into", "main"];
    let harbour = check_killed_land(&words, CrashPoint::BranchForwarded);
    assert_eq!(harbour.scene.show("main", "file-1"), "x");
    assert_eq!(harbour.branches_there(), "");
}
