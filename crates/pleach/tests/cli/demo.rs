//! `pleach demo`.

use crate::Place;

#[test]
fn the_demo_shows_every_outcome_and_needs_nothing() {
    let place = Place::new();
    let temporary = place.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let output = crate::command(&place.path(), &place.folder.path().join("home"), &["demo"])
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let answer = crate::Answer::from(output);
    let text = answer.good();
    for part in [
        "merged into pleach/batch-1",
        "conflicted",
        "README.md with 2.2",
        "invalid",
        "proved: tree ",
        "no changes",
        "blocked",
        "serve --open",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    assert!(
        !place.folder.path().join("home").exists(),
        "the home folder is not touched"
    );
}
