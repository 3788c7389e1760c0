//! What has tests and is not proved lands only where a person says so.

use super::{Harbour, SHELL};
use crate::scene::{Scene, Story};

/// The first line of the text of the only pull request.
fn first_line(harbour: &Harbour) -> String {
    let opened = harbour.forge.pull_requests();
    assert_eq!(opened.len(), 1, "{opened:?}");
    opened[0].body.lines().next().unwrap().to_owned()
}

#[test]
fn what_the_tests_give_trouble_on_lands_only_unproved() {
    let tests = "validate = \"echo run >> BESIDE/runs; kill -9 $$\"";
    let harbour = Harbour::github("1", tests, SHELL);
    harbour.run().check(1, "1:merged");
    let refused = harbour.story(&["land", "1"]);
    refused.check(1, "1:merged");
    assert_eq!(refused.status(), "failed");
    assert_eq!(harbour.branches_there(), "", "nothing was pushed");
    let told = harbour.pleach(&["land", "1"]);
    assert_eq!(told.code, 1);
    assert!(
        told.out.contains("pleach land 1 --unproved"),
        "{}",
        told.out
    );
    let runs = harbour.scene.trace("runs");
    let landed = harbour.story(&["land", "1", "--unproved"]);
    landed.check(0, "1:merged");
    assert_eq!(harbour.scene.trace("runs"), runs, "nobody wants a proof");
    assert_eq!(harbour.branches_there(), "pleach/batch-1");
    let line = first_line(&harbour);
    assert!(line.starts_with("**Not proved:**"), "{line}");
}

#[test]
fn what_is_red_lands_only_unproved_and_says_that_it_is_red() {
    let tests = "validate = \"[ ! -e file-1 ]\"\non_invalid = \"fail\"";
    let harbour = Harbour::github("1", tests, SHELL);
    harbour.run().check(1, "1:merged");
    harbour.story(&["land", "1"]).check(1, "1:merged");
    assert_eq!(harbour.branches_there(), "");
    harbour
        .story(&["land", "1", "--unproved"])
        .check(0, "1:merged");
    let line = first_line(&harbour);
    assert!(line.contains("fails on this"), "{line}");
}

#[test]
fn a_local_branch_is_not_moved_to_a_tree_that_is_not_proved() {
    let scene = Scene::of("1", "land = \"none\"\nvalidate = \"false\"", SHELL);
    scene.story(&[]).check(1, "1:merged");
    let before = scene.repo.git(&["rev-parse", "main"]);
    let land = |more: &[&str]| {
        let words = [&["land", "1", "--into", "main", "--json"], more].concat();
        Story::of(&crate::pleach(scene.repo.path(), &scene.home(), &words))
    };
    land(&[]).check(1, "1:merged");
    assert_eq!(scene.repo.git(&["rev-parse", "main"]), before);
    land(&["--unproved"]).check(0, "1:merged");
    assert_eq!(scene.show("main", "file-1"), "x");
}
