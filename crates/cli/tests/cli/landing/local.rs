//! `pleach land --into`: a local branch gets the result.

use super::SHELL;
use crate::scene::{Scene, Story};

#[test]
fn a_result_is_brought_to_a_local_branch_with_its_files() {
    let scene = Scene::of("1, 2", "land = \"none\"\nvalidate = \"true\"", SHELL);
    scene.story(&[]).check(0, "1:merged 2:merged");
    scene.repo.write("mine", "dirty\n");
    let into = crate::pleach(
        scene.repo.path(),
        &scene.home(),
        &["land", "1", "--into", "main"],
    );
    assert_eq!(into.code, 0, "{}{}", into.out, into.err);
    assert_eq!(
        scene.repo.git(&["rev-parse", "main"]),
        scene.repo.git(&["rev-parse", "pleach/batch-1"])
    );
    assert!(scene.repo.path().join("file-1").exists());
    assert_eq!(
        std::fs::read_to_string(scene.repo.path().join("mine")).unwrap(),
        "dirty\n"
    );
}

#[test]
fn a_local_branch_that_went_on_gets_the_result_woven_and_proved_on_it() {
    let scene = Scene::of("1", "land = \"none\"\nvalidate = \"true\"", SHELL);
    scene.story(&[]).check(0, "1:merged");
    scene.repo.write("later", "x\n");
    scene.repo.commit("later");
    let into = crate::pleach(
        scene.repo.path(),
        &scene.home(),
        &["land", "1", "--into", "main", "--json"],
    );
    let story = Story::of(&into);
    assert_eq!(story.code, 0, "{}", story.err);
    assert_eq!(story.told("batch:proved").len(), 1);
    assert!(scene.repo.path().join("file-1").exists());
    assert_eq!(scene.show("main", "later"), "x");
}
