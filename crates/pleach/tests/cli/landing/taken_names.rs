//! A branch of the server that has the name of a batch and is not of it.

use super::{Harbour, PROJECT, SHELL};
use crate::scene::Story;

#[test]
fn a_branch_of_somebody_else_is_left_alone_and_the_next_name_taken() {
    let harbour = Harbour::github("1", "", SHELL);
    let place = harbour.forge.repository(PROJECT);
    let place = place.to_str().unwrap();
    harbour
        .scene
        .repo
        .git(&["push", "-q", place, "HEAD~1:refs/heads/pleach/batch-1"]);
    let before = harbour.there("refs/heads/pleach/batch-1");
    let story = harbour.run();
    story.check(0, "1:merged");
    assert_eq!(harbour.there("refs/heads/pleach/batch-1"), before);
    assert_eq!(harbour.branches_there(), "pleach/batch-1 pleach/batch-1-2");
    assert_eq!(harbour.forge.pull_requests()[0].head, "pleach/batch-1-2");
    check_tells_the_name_first(&story);
}

#[test]
fn that_the_next_name_is_taken_is_told_before_the_push_to_people_and_by_landing_too() {
    let harbour = Harbour::github("1", "", SHELL);
    let place = harbour.forge.repository(PROJECT);
    let place = place.to_str().unwrap();
    let repo = &harbour.scene.repo;
    repo.git(&["push", "-q", place, "HEAD~1:refs/heads/pleach/batch-1"]);
    repo.git(&["push", "-q", place, "HEAD~1:refs/heads/pleach/batch-2"]);
    harbour.pleach(&["run", "--yes", "--no-pr"]).good();
    let landed = harbour.story(&["land", "1", "--yes"]);
    assert_eq!(landed.code, 0, "{}", landed.err);
    check_tells_the_name_first(&landed);
    let told = harbour.pleach(&["run", "--yes"]).good();
    let place = |word: &str| told.find(word).unwrap_or_else(|| panic!("{word}: {told}"));
    let why = place("pleach/batch-2 on the server does not belong to this batch");
    assert!(why < place("pushed"), "{told}");
    assert!(told[why..].contains("pleach/batch-2-2"), "{told}");
}

/// One push is told, of the branch that it really goes to, with the reason of its name.
#[track_caller]
fn check_tells_the_name_first(story: &Story) {
    let pushing = story.told("batch:pushing");
    assert_eq!(pushing.len(), 1, "{pushing:?}");
    assert_eq!(pushing[0]["branch"], "pleach/batch-1-2");
    let reason = pushing[0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("pleach/batch-1 on the server"), "{reason}");
    let place = |name: &str| story.events.iter().position(|(event, _)| event == name);
    assert!(place("batch:pushing") < place("batch:pushed"));
}
