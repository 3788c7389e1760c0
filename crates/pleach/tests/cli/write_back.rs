//! What a run writes into the plan, and that it writes nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::process::Signal;

use crate::scene::{Gate, Scene, WAIT};

/// A section without dependencies.
fn section(id: u32, status: &str) -> String {
    format!("### {id}. T{id}\n**Status**: {status}\n\n")
}

#[test]
fn what_runs_is_in_progress_and_what_is_woven_or_needs_no_change_is_completed() {
    let plan = [
        section(1, "[NOT STARTED]"),
        section(2, "PLANNED"),
        section(3, "[BLOCKED]"),
    ];
    let shell = format!("{WAIT}; [ $PLEACH_TASK = 2 ] || echo x > file-$PLEACH_TASK");
    let scene = Scene::new(&plan.concat(), &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["1-2", "-j", "2"]);
    gate.wait_for(2);
    let begun = scene.plan();
    gate.let_go(2);
    run.story().check(0, "1:merged 2:no_changes");
    assert_eq!(begun.matches("**Status**: [IN PROGRESS]\n").count(), 2);
    let expected = [
        section(1, "[COMPLETED]"),
        section(2, "[COMPLETED]"),
        section(3, "[BLOCKED]"),
    ];
    assert_eq!(scene.plan(), expected.concat());
}

#[test]
fn every_other_ending_gives_the_marker_back() {
    let needs = "### 5. T5\n**Status**: [RESEARCHED]\n**Dependencies**: 2\n";
    let plan = [
        section(1, "[NOT STARTED]"),
        section(2, "PLANNED"),
        section(3, "[PARTIAL]"),
        needs.to_owned(),
    ];
    let shell =
        "case $PLEACH_TASK in 1) echo 1 > README.md;; 3) echo 3 > README.md;; 2) exit 1;; esac";
    let scene = Scene::new(&plan.concat(), shell);
    let story = scene.story(&["-j", "1", "--mode", "parallel"]);
    assert_eq!(story.code, 1);
    let outcomes = story.outcomes();
    assert_eq!(outcomes, "1:merged 2:failed 3:conflicted 5:blocked");
    assert_eq!(
        scene.plan(),
        plan.concat().replacen("[NOT STARTED]", "[COMPLETED]", 1)
    );
}

#[test]
fn what_is_interrupted_or_never_started_has_its_marker_as_it_was() {
    let plan = [section(1, "[PLANNED]"), section(2, "[NOT STARTED]")].concat();
    let scene = Scene::new(&plan, WAIT);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "1"]);
    gate.wait_for(1);
    assert!(scene.plan().contains("[IN PROGRESS]"));
    run.signal(Signal::INT);
    assert_eq!(run.answer().code, 130);
    assert_eq!(scene.plan(), plan);
}

#[test]
fn the_summary_names_the_lines_that_were_ticked() {
    let plan = "# Plan\n\n- [ ] 1.1 A\n- [ ] 1.2 B\n  more\n- [ ] 1.3 C\n";
    let shell = "test $PLEACH_TASK != 1.2 && echo x > file-$PLEACH_TASK";
    let scene = Scene::new(plan, shell);
    let story = scene.story(&["1.1", "1.2"]);
    let line = serde_json::json!([{"taskId": "1.1", "line": 3}]);
    assert_eq!(story.summary()["ticked"], line);
    let answer = scene.run(&["1.3"]);
    assert!(
        answer.out.contains("ticked 1.3 in TODO.md (line 6)"),
        "{}",
        answer.out
    );
}

#[test]
fn all_else_stays_byte_for_byte() {
    let plan = "\u{feff}# Plan \r\n\r\n- [ ] 1.1 A\t \r\n  more\r\n* [ ]  1.2 B  (depends: 1.1)\r\n\r\n### 7. C\r\ntext";
    let scene = Scene::new(plan, "echo x > file-$PLEACH_TASK");
    let path = scene.repo.path().join("TODO.md");
    let real = scene.repo.beside("real.md");
    fs::rename(&path, &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &path).unwrap();
    let story = scene.story(&[]);
    assert_eq!(story.code, 0, "{}", story.err);
    assert_eq!(scene.plan(), plan.replace("[ ]", "[x]"));
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn a_person_may_edit_the_plan_while_it_runs() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "2"]);
    gate.wait_for(2);
    let edited = "# News\n\n- [ ] 1.9 More\n- [ ] 1.2 B\n- [ ] 1.1 A\n";
    scene.repo.write("TODO.md", edited);
    gate.let_go(2);
    run.story().check(0, "1.1:merged 1.2:merged");
    assert_eq!(
        scene.plan(),
        "# News\n\n- [ ] 1.9 More\n- [x] 1.2 B\n- [x] 1.1 A\n"
    );
}

#[test]
fn a_task_that_was_taken_out_meanwhile_is_told_and_nothing_is_written_for_it() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new("- [ ] 1.1 A\n- [ ] 1.2 B\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "2"]);
    gate.wait_for(2);
    scene.repo.write("TODO.md", "- [ ] 1.2 B\n");
    gate.let_go(2);
    let story = run.story();
    story.check(0, "1.1:merged 1.2:merged");
    assert!(
        story.notes().contains("could not mark the plan") && story.notes().contains("1.1"),
        "{}",
        story.notes()
    );
    assert_eq!(scene.plan(), "- [x] 1.2 B\n");
}

#[test]
fn a_plan_that_can_not_be_written_is_told_and_the_run_goes_on() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new("- [ ] 1.1 A\n", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&[]);
    gate.wait_for(1);
    let path = scene.repo.path().join("TODO.md");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    gate.let_go(1);
    let story = run.story();
    story.check(0, "1.1:merged");
    assert!(
        story.notes().contains("could not mark the plan"),
        "{}",
        story.notes()
    );
}
