//! Which tasks are taken, and in which order they come.

use crate::scene::{Gate, Scene, WAIT};

/// Notes when it came and went, and leaves a file with what is there.
const LEAVE: &str =
    "echo +$PLEACH_TASK >> BESIDE/turns; ls > saw-$PLEACH_TASK; echo -$PLEACH_TASK >> BESIDE/turns";

#[test]
fn the_longest_remaining_path_comes_first() {
    let scene = Scene::of("1, 2, 3 2, 4 3", "", LEAVE);
    scene
        .story(&["-j", "1"])
        .check(0, "1:merged 2:merged 3:merged 4:merged");
    assert_eq!(scene.trace("turns"), "+2 -2 +3 -3 +1 -1 +4 -4");
}

#[test]
fn tasks_of_a_sequential_note_run_in_order_and_a_failure_blocks_those_behind_it() {
    let plan = "## Phase 3: Doors\n- [ ] 3.1 A\n- [ ] 3.2 B\n- [ ] 3.3 C\n\n\
        **Execution Note:** Tasks 3.1-3.3 are [SEQUENTIAL] - all modify same file\n";
    let shell = format!("{LEAVE}; [ $PLEACH_TASK != 3.2 ]");
    let scene = Scene::new(plan, &shell);
    let story = scene.story(&["-j", "3"]);
    story.check(1, "3.1:merged 3.2:failed 3.3:blocked");
    assert_eq!(scene.trace("turns"), "+3.1 -3.1 +3.2 -3.2");
}

#[test]
fn of_two_tasks_that_declare_a_file_the_later_starts_from_the_work_of_the_other() {
    let plan = "- [ ] 1.1 A in `README.md`\n- [ ] 1.2 B in `README.md`\n";
    let scene = Scene::new(plan, "echo $PLEACH_TASK >> README.md");
    scene.story(&["-j", "2"]).check(0, "1.1:merged 1.2:merged");
    assert_eq!(
        scene.show("pleach/batch-1", "README.md"),
        "a test\n1.1\n1.2"
    );
}

#[test]
fn tasks_that_declare_a_file_run_side_by_side_where_overlap_is_allowed() {
    let plan = "- [ ] 1.1 A in `README.md`\n- [ ] 1.2 B in `README.md`\n";
    let scene = Scene::new(plan, WAIT);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "2", "--allow-overlap"]);
    assert_eq!(gate.wait_for(2), "1.1 1.2");
    gate.let_go(2);
    run.story().check(0, "1.1:no_changes 1.2:no_changes");
}

#[test]
fn a_phase_waits_for_the_one_before_and_starts_from_its_work() {
    let plan = "## Phase 1: Walls\n- [ ] 1.1 A\n- [ ] 1.2 B\n## Phase 2: Roof\n- [ ] 2.1 C\n";
    let scene = Scene::new(plan, LEAVE);
    scene
        .story(&["-j", "3"])
        .check(0, "1.1:merged 1.2:merged 2.1:merged");
    assert!(scene.trace("turns").ends_with(" +2.1 -2.1"));
    let saw = scene.show("pleach/batch-1", "saw-2.1");
    assert!(saw.contains("saw-1.1\nsaw-1.2"), "{saw}");
}

#[test]
fn a_task_that_needs_two_that_collide_is_blocked() {
    let scene = Scene::of("1, 2, 3 1 2", "", "echo $PLEACH_TASK >> README.md");
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:conflicted 3:blocked");
    let reason = story.error_of("3");
    assert!(reason.contains("needs 2, which conflicted"), "{reason}");
}

#[test]
fn what_a_selection_needs_is_named_and_added_on_request() {
    let scene = Scene::of("1, 2 1, 3 2, 4", "", LEAVE);
    let error = scene.run(&["3"]).bad(2);
    assert!(
        error.contains('2') && error.contains("--with-deps"),
        "{error}"
    );
    assert_eq!(scene.branches(), "");
    let story = scene.story(&["3", "--with-deps"]);
    story.check(0, "1:merged 2:merged 3:merged");
}

#[test]
fn phases_and_what_is_next_can_be_chosen() {
    let plan =
        "## Phase 1: Walls\n- [x] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C\n## Phase 2: Roof\n- [ ] 2.1 D\n";
    for (words, expected) in [
        (&["phase:1"][..], "1.2:merged 1.3:merged"),
        (&["next:1"], "1.2:merged"),
    ] {
        let scene = Scene::new(plan, LEAVE);
        scene.story(words).check(0, expected);
    }
}

#[test]
fn a_task_in_progress_that_nobody_runs_is_taken_with_a_warning() {
    let plan = "### 1. A\n**Status**: [IN PROGRESS]\n\n### 2. B\n**Status**: [ABANDONED]\n";
    let scene = Scene::new(plan, "echo x > file-$PLEACH_TASK");
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert!(
        story.err.contains("warning") && story.err.contains("task 1"),
        "{}",
        story.err
    );
}

#[test]
fn a_run_starts_from_the_base_that_is_named() {
    let scene = Scene::of("1", "", "ls > saw");
    scene.repo.commit("a plan");
    scene.repo.branch("other");
    scene.repo.write("only-there", "x\n");
    scene.repo.commit("other");
    scene.repo.git(&["switch", "--quiet", "main"]);
    scene.story(&["--base", "other"]).check(0, "1:merged");
    let saw = scene.show("pleach/batch-1", "saw");
    assert!(saw.contains("only-there"), "{saw}");
    assert_eq!(
        scene.repo.git(&["merge-base", "other", "pleach/batch-1"]),
        scene.repo.git(&["rev-parse", "other"])
    );
}

#[test]
fn a_branch_of_the_user_is_never_moved() {
    let scene = Scene::of("1", "", "echo x > x");
    scene.repo.git(&["branch", "pleach/batch-1"]);
    let before = scene.repo.head();
    let story = scene.story(&[]);
    story.check(0, "1:merged");
    assert_eq!(story.summary()["batchBranch"], "pleach/batch-1-2");
    assert_eq!(scene.repo.git(&["rev-parse", "pleach/batch-1"]), before);
    assert_eq!(scene.show("pleach/batch-1-2", "x"), "x");
}
