//! What is on the server is only ever added to.

use pleach_testkit::ForgeStyle;

use super::{Harbour, SHELL};
use crate::scene::{Gate, Running, Scene, WAIT};

/// What is done after landing is added to the same pull request.
#[track_caller]
fn check_added(merge: &str) {
    let shell = "[ $PLEACH_TASK = 1 -o -e BESIDE/mended ] && echo x > file-$PLEACH_TASK";
    let settings = format!("retries = 0\nmerge = \"{merge}\"\nvalidate = \"true\"");
    let harbour = Harbour::github("1, 2", &settings, shell);
    let first = harbour.run();
    first.check(1, "1:merged 2:failed");
    let pushed = harbour.there("refs/heads/pleach/batch-1");
    std::fs::write(harbour.scene.repo.beside("mended"), "").unwrap();
    let again = harbour.story(&["retry", "1", "2"]);
    again.check(0, "1:merged 2:merged");
    harbour.check_landed(&again);
    harbour.git_there(&["merge-base", "--is-ancestor", &pushed, "pleach/batch-1"]);
    let body = &harbour.forge.pull_requests()[0].body;
    assert!(
        !body.contains("pleach recover 1 2"),
        "the text is brought up to date: {body}"
    );
}

#[test]
fn the_pull_request_says_what_agents_cost_and_their_time_goes_on_when_they_name_a_session() {
    let spent = r#"{"pleach": {"tokens": 1200, "usd": 0.5}}"#;
    let session = r#"{"pleach": {"type": "session", "id": "s1"}}"#;
    let shell = format!("echo '{spent}'; echo '{session}'; {WAIT}; echo x > file-$PLEACH_TASK");
    let harbour = Harbour::github("1", "", &shell);
    let mut gate = Gate::at(&harbour.scene);
    let mut running = Running::start(&mut harbour.command(&["run", "--yes", "--json"]));
    gate.wait_for(1);
    running.wait_for("batch:task:session");
    gate.let_go(1);
    let story = running.story();
    story.check(0, "1:merged");
    let shown = harbour.pleach(&["status", "1", "--json"]).json();
    let shown = &shown["batches"][0]["tasks"][0];
    assert_eq!(story.summary()["tasks"][0]["seconds"], shown["seconds"]);
    let body = &harbour.forge.pull_requests()[0].body;
    assert!(body.contains("0.50 USD"), "{body}");
}

#[test]
fn what_is_done_after_landing_is_added_to_the_pull_request_with_merge() {
    check_added("merge");
}

#[test]
fn what_is_done_after_landing_is_added_to_the_pull_request_with_squash() {
    check_added("squash");
}

#[test]
fn what_is_done_after_landing_is_added_to_the_pull_request_with_rebase() {
    check_added("rebase");
}

#[test]
fn what_is_done_after_landing_is_added_to_the_pull_request_with_octopus() {
    check_added("octopus");
}

/// What must go after landing is reverted by a commit of its own.
#[track_caller]
fn check_reverted(merge: &str) {
    let tests = "validate = \"[ ! -e theirs -o ! -e file-1 ]\"";
    let settings = format!("{tests}\nmerge = \"{merge}\"");
    let harbour = Harbour::github("1, 2, 3 1", &settings, SHELL);
    harbour.run().check(0, "1:merged 2:merged 3:merged");
    let pushed = harbour.there("refs/heads/pleach/batch-1");
    harbour.move_base_now("theirs", "x\n");
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:invalid 2:merged 3:blocked");
    harbour.check_landed(&again);
    let new = format!("{pushed}..pleach/batch-1");
    let log = harbour.git_there(&["log", "--format=%s", &new]);
    for part in ["evert task 1: T1", "evert task 3: T3"] {
        let log = log.replace("evert of task", "evert task");
        assert!(log.contains(part), "{log}");
    }
    for early in [&pushed, "main"] {
        harbour.git_there(&["merge-base", "--is-ancestor", early, "pleach/batch-1"]);
    }
    let files = harbour.git_there(&["ls-tree", "--name-only", "pleach/batch-1"]);
    assert!(
        files.contains("theirs") && files.contains("file-2"),
        "{files}"
    );
    assert!(
        !files.contains("file-1") && !files.contains("file-3"),
        "{files}"
    );
}

#[test]
fn what_must_go_after_landing_is_reverted_by_a_commit_of_its_own_with_merge() {
    check_reverted("merge");
}

#[test]
fn what_must_go_after_landing_is_reverted_by_a_commit_of_its_own_with_squash() {
    check_reverted("squash");
}

#[test]
fn what_cannot_be_continued_lands_beside_with_a_link_to_the_first() {
    let harbour = Harbour::github("1, 2", "validate = \"true\"", SHELL);
    harbour.run().check(0, "1:merged 2:merged");
    let first = harbour.there("refs/heads/pleach/batch-1");
    harbour.move_base_now("file-1", "theirs\n");
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:conflicted 2:merged");
    assert_eq!(
        harbour.there("refs/heads/pleach/batch-1"),
        first,
        "nothing is taken back"
    );
    assert_eq!(harbour.branches_there(), "pleach/batch-1 pleach/batch-1-2");
    let opened = harbour.forge.pull_requests();
    assert_eq!(opened.len(), 2);
    assert_eq!(opened[1].head, "pleach/batch-1-2");
    let link = format!("/{}", opened[0].number);
    assert!(opened[1].body.contains(&link), "{}", opened[1].body);
    let shown = again.summary()["prUrl"].as_str().unwrap();
    assert!(
        shown.ends_with(&format!("/{}", opened[1].number)),
        "{shown}"
    );
    harbour.forge.assert_well_asked();
}

/// A batch that landed with one of its two tasks; the other one is mended.
fn half_landed() -> Harbour {
    let shell = "[ $PLEACH_TASK = 1 -o -e BESIDE/mended ] && echo x > file-$PLEACH_TASK";
    let harbour = Harbour::github("1, 2", "retries = 0\nvalidate = \"true\"", shell);
    harbour.run().check(1, "1:merged 2:failed");
    std::fs::write(harbour.scene.repo.beside("mended"), "").unwrap();
    harbour
}

/// What is new is on a second branch with a pull request of its own, which links the first.
#[track_caller]
fn check_landed_beside(harbour: &Harbour) {
    let files = harbour.git_there(&["ls-tree", "--name-only", "pleach/batch-1-2"]);
    assert!(files.contains("file-1"), "{files}");
    assert!(files.contains("file-2"), "{files}");
    let opened = harbour.forge.pull_requests();
    assert_eq!(opened.len(), 2, "{opened:?}");
    assert_eq!(opened[1].head, "pleach/batch-1-2");
    let link = format!("/{}", opened[0].number);
    assert!(opened[1].body.contains(&link), "{}", opened[1].body);
    harbour.forge.assert_well_asked();
}

#[test]
fn what_is_done_after_the_branch_was_merged_and_deleted_lands_beside() {
    let harbour = half_landed();
    harbour.git_there(&["update-ref", "refs/heads/main", "refs/heads/pleach/batch-1"]);
    harbour.git_there(&["update-ref", "-d", "refs/heads/pleach/batch-1"]);
    harbour.forge.close(harbour.forge.pull_requests()[0].number);
    let again = harbour.story(&["retry", "1", "2"]);
    again.check(0, "1:merged 2:merged");
    check_landed_beside(&harbour);
    assert_eq!(harbour.branches_there(), "pleach/batch-1-2");
}

#[test]
fn what_is_done_after_a_reviewer_added_a_commit_lands_beside() {
    let harbour = half_landed();
    let branch = "refs/heads/pleach/batch-1";
    let tree = format!("{branch}^{{tree}}");
    let review = harbour.git_there(&["commit-tree", "-m", "review", "-p", branch, &tree]);
    harbour.git_there(&["update-ref", branch, review.trim()]);
    let again = harbour.story(&["retry", "1", "2"]);
    again.check(0, "1:merged 2:merged");
    check_landed_beside(&harbour);
    assert_eq!(harbour.there(branch), review.trim(), "nothing is forced");
}

#[test]
fn a_result_that_was_merged_meanwhile_needs_no_second_pull_request() {
    let harbour = Harbour::github("1", "validate = \"true\"", SHELL);
    harbour.run().check(0, "1:merged");
    let tree = harbour.there("refs/heads/pleach/batch-1^{tree}");
    let squashed = harbour.git_there(&["commit-tree", "-m", "squashed", "-p", "main", &tree]);
    harbour.git_there(&["update-ref", "refs/heads/main", squashed.trim()]);
    harbour.git_there(&["update-ref", "-d", "refs/heads/pleach/batch-1"]);
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:merged");
    assert_eq!(harbour.forge.pull_requests().len(), 1);
    assert_eq!(harbour.branches_there(), "");
}

#[test]
fn what_others_brought_to_the_base_is_not_held_against_the_result() {
    let harbour = Harbour::github("1", "validate = \"true\"", SHELL);
    harbour.run().check(0, "1:merged");
    harbour.move_base_now("big", &"x".repeat(6_000_000));
    let again = harbour.story(&["land", "1"]);
    again.check(0, "1:merged");
    harbour.check_landed(&again);
}

#[test]
fn a_rollback_leaves_what_is_on_the_server_ticked() {
    let shell =
        "[ $PLEACH_TASK = 1.1 ] && echo x > f || { [ -e BESIDE/gate ] && { WAIT; }; false; }";
    let shell = shell.replace("WAIT", WAIT);
    let settings = "retries = 0\nforge.kind = \"github\"";
    let scene = Scene::with(settings, "- [ ] 1.1 A\n- [ ] 1.2 B\n", &shell);
    let harbour = Harbour::of(scene, ForgeStyle::GitHub);
    harbour.run().check(1, "1.1:merged 1.2:failed");
    assert_eq!(harbour.scene.plan(), "- [x] 1.1 A\n- [ ] 1.2 B\n");
    let mut gate = Gate::at(&harbour.scene);
    let again = Running::start(&mut harbour.command(&["retry", "1", "1.2", "--json"]));
    gate.wait_for(1);
    harbour.pleach(&["cancel", "1", "--rollback"]).good();
    let story = again.story();
    assert_eq!(story.status(), "cancelled");
    assert_eq!(story.summary()["batchBranch"], serde_json::Value::Null);
    assert_eq!(harbour.scene.plan(), "- [x] 1.1 A\n- [ ] 1.2 B\n");
    assert!(!harbour.scene.branches().contains("pleach/batch-1"));
}
