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
    assert!(hint.contains("`git merge pleach/batch-1`"), "{hint}");
    assert!(hint.contains("`pleach land 1 --into main`"), "{hint}");
    scene
        .repo
        .git(&["merge", "-q", "--no-edit", "pleach/batch-1"]);
    land().check(0, "1:merged");
}
