//! When running several at once does not work out: each cause, with the way back to one at a time and without.

use std::path::PathBuf;

use pleach_testkit::LIMITED;

use crate::scene::{Gate, Scene, Story, WAIT};

/// The one batch's folder of worktrees.
fn trees(scene: &Scene) -> PathBuf {
    let mut projects = std::fs::read_dir(scene.state().join("worktrees")).unwrap();
    projects.next().unwrap().unwrap().path().join("batch-1")
}

/// A first task puts a file where the worktree of the second goes, while the third is at work.
fn scene_with_a_file_in_the_way() -> Scene {
    let shell = format!(
        "case $PLEACH_TASK in 1) echo x > ../task-2;; 2) ls > saw;; 3) {WAIT};; esac; echo x > file-$PLEACH_TASK"
    );
    Scene::of("1, 2 1, 3 1", "retries = 0", &shell)
}

#[test]
fn worktrees_cannot_be_made_and_the_rest_runs_one_at_a_time() {
    let scene = scene_with_a_file_in_the_way();
    let mut gate = Gate::at(&scene);
    let mut run = scene.start(&["-j", "2"]);
    assert_eq!(gate.wait_for(1), "3");
    run.wait_for("batch:fallback");
    std::fs::remove_file(trees(&scene).join("task-2")).unwrap();
    gate.let_go(1);
    let story = run.story();
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(story.status(), "completed");
    let reason = &story.told("batch:fallback")[0]["reason"];
    let reason = reason.as_str().unwrap();
    assert!(reason.contains("could not create a worktree"), "{reason}");
    let saw = scene.show("pleach/batch-1", "saw");
    assert!(
        saw.contains("file-3"),
        "it starts from the woven result: {saw}"
    );
}

#[test]
fn worktrees_cannot_be_made_and_without_fallback_the_batch_fails() {
    let scene = scene_with_a_file_in_the_way();
    let _gate = Gate::at(&scene);
    let story = scene.story(&["-j", "2", "--no-fallback"]);
    story.check(1, "1:merged 2:failed 3:cancelled");
    assert_eq!(story.status(), "failed");
    assert!(story.told("batch:fallback").is_empty());
    let error = story.error_of("2");
    assert!(error.contains("could not create its worktree"), "{error}");
    scene.check_nobody_is_left();
}

#[test]
fn limits_again_and_again_and_the_rest_runs_one_at_a_time() {
    let settings = "retries = 0\nretry_pause = \"10ms\"";
    let scene = Scene::of("1, 2, 3", settings, LIMITED);
    let mut run = scene.start(&["-j", "3"]);
    run.wait_for("batch:fallback");
    let story = run.story();
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(
        story.told("batch:task:limited").len(),
        9,
        "a limit is no failure"
    );
    let reasons = story.told("batch:fallback");
    let reason = reasons[0]["reason"].as_str().unwrap();
    assert!(reason.contains("keeps hitting its usage limit"), "{reason}");
    assert_eq!(reasons.len(), 1);
    check_turns_at_the_end(&scene, 3);
}

/// The last so many agents ran one after the other.
#[track_caller]
fn check_turns_at_the_end(scene: &Scene, count: usize) {
    let turns = scene.trace("turns");
    let turns: Vec<&str> = turns.split(' ').collect();
    for pair in turns[turns.len() - 2 * count..].chunks(2) {
        assert_eq!(pair[0].replace('+', "-"), pair[1], "{turns:?}");
    }
}

#[test]
fn limits_again_and_again_and_without_fallback_the_batch_fails() {
    let settings = "retries = 0\nretry_pause = \"10ms\"";
    let scene = Scene::of("1, 2, 3", settings, "echo later; exit 75");
    let story = scene.story(&["-j", "3", "--no-fallback"]);
    assert_eq!((story.code, story.status()), (1, "failed"));
    assert_eq!(story.outcomes().matches(":failed").count(), 1);
    assert_eq!(story.outcomes().matches(":cancelled").count(), 2);
    assert!(story.told("batch:fallback").is_empty());
    let error = story.told("batch:failed")[0]["error"].as_str().unwrap();
    assert!(error.contains("keeps hitting its usage limit"), "{error}");
}

/// Two tasks of a stage write the same line; on the woven result each adds its own.
const COLLIDE: &str = "echo $PLEACH_TASK >> README.md; ls > saw-$PLEACH_TASK";

fn merge_statuses(story: &Story) -> String {
    let ended = story.told("batch:stage:completed").into_iter();
    let words = ended.map(|stage| stage["mergeStatus"].as_str().unwrap());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_collision_in_a_stage_and_what_collided_runs_again_on_the_woven_result() {
    let scene = Scene::staged("a b, c", "", COLLIDE);
    let story = scene.story(&["-j", "2"]);
    story.check(0, "a:merged b:merged c:merged");
    let reasons = story.told("batch:fallback");
    let reason = reasons[0]["reason"].as_str().unwrap();
    assert!(reason.contains("conflicted in stage 1"), "{reason}");
    assert_eq!(reasons.len(), 1);
    assert_eq!(merge_statuses(&story), "success success");
    let lines = scene.show("pleach/batch-1", "README.md");
    let mut lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.pop(), Some("c"), "the next stage came after");
    lines.sort_unstable();
    assert_eq!(lines, ["a", "a test", "b"]);
    let attempts = story.attempts();
    assert!(
        ["a:1 b:2 c:1", "a:2 b:1 c:1"].contains(&attempts.as_str()),
        "{attempts}"
    );
}

#[test]
fn a_collision_in_a_stage_and_without_fallback_the_plan_stops() {
    let scene = Scene::staged("a b, c", "", COLLIDE);
    let story = scene.story(&["-j", "2", "--no-fallback"]);
    assert_eq!((story.code, story.status()), (1, "failed"));
    let outcomes = story.outcomes();
    let expected = [
        "a:merged b:conflicted c:blocked",
        "a:conflicted b:merged c:blocked",
    ];
    assert!(expected.contains(&outcomes.as_str()), "{outcomes}");
    assert_eq!(merge_statuses(&story), "conflicts");
    assert!(story.told("batch:fallback").is_empty());
}
