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
    assert!(into.out.contains("fast-forwarding main"), "{}", into.out);
    assert!(!into.out.contains("--ff-only"), "it is there: {}", into.out);
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
fn a_local_branch_that_went_on_stays_where_it_is() {
    let scene = Scene::of("1", "land = \"none\"\nvalidate = \"true\"", SHELL);
    scene.story(&[]).check(0, "1:merged");
    scene.repo.write("later", "x\n");
    scene.repo.commit("later");
    let refs = || scene.repo.git(&["for-each-ref", "refs/heads"]);
    let before = refs();
    let land = || {
        let words = ["land", "1", "--into", "main", "--json"];
        Story::of(&crate::pleach(scene.repo.path(), &scene.home(), &words))
    };
    let refused = land();
    refused.check(1, "1:merged");
    assert_eq!(refs(), before);
    assert!(!scene.repo.path().join("file-1").exists());
    assert_eq!(refused.told("batch:rewoven").len(), 0);
    let told = refused.told("batch:not_landed")[0];
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("git merge pleach/batch-1`"), "{hint}");
    assert!(hint.contains("`pleach land 1 --into main`"), "{hint}");
    scene
        .repo
        .git(&["merge", "-q", "--no-edit", "pleach/batch-1"]);
    land().check(0, "1:merged");
}

/// A batch that lands by itself in a local branch.
fn local(settings: &str) -> Scene {
    let settings = format!("land = \"local\"\nvalidate = \"true\"\n{settings}");
    Scene::of("1, 2", &settings, SHELL)
}

#[test]
fn a_batch_lands_by_itself_in_the_branch_that_it_started_from() {
    let scene = local("");
    let story = scene.story(&[]);
    story.check(0, "1:merged 2:merged");
    assert_eq!(story.told("batch:landing")[0]["into"], "main");
    assert_eq!(story.told("batch:landed")[0]["into"], "main");
    let at = |name| scene.repo.git(&["rev-parse", name]);
    assert_eq!(at("main"), at("pleach/batch-1"));
    assert!(scene.repo.path().join("file-2").exists());
}

#[test]
fn another_branch_that_is_the_base_gets_the_result() {
    let scene = local("base = \"side\"");
    let main = scene.repo.head();
    scene.repo.git(&["branch", "side"]);
    scene.story(&[]).check(0, "1:merged 2:merged");
    let at = |name| scene.repo.git(&["rev-parse", name]).trim().to_owned();
    assert_eq!(at("side"), at("pleach/batch-1"));
    assert_eq!(at("main"), main);
    assert!(!scene.repo.path().join("file-1").exists());
}

#[test]
fn without_a_branch_to_land_in_one_has_to_be_named() {
    let scene = local("");
    scene.repo.git(&["checkout", "-q", "--detach"]);
    let story = scene.story(&[]);
    story.check(1, "1:merged 2:merged");
    let told = story.told("batch:not_landed")[0];
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("`pleach land 1 --into BRANCH`"), "{hint}");
    let words = ["land", "1", "--into", "main"];
    crate::pleach(scene.repo.path(), &scene.home(), &words).good();
    assert_eq!(scene.show("main", "file-1"), "x");
}
