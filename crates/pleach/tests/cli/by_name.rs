//! What the issue tracker calls the scenarios of a run, each under its name.

use crate::scene::{Gate, Scene, WAIT};

/// Leaves a file with what is there, and notes when it came and went.
const LEAVE: &str =
    "echo +$PLEACH_TASK >> BESIDE/turns; ls > saw-$PLEACH_TASK; echo -$PLEACH_TASK >> BESIDE/turns";

/// Tasks in a plan of sections, each `id needs…`.
fn sections(tasks: &[&str]) -> String {
    let section = |task: &&str| {
        let (id, needs) = task.split_once(' ').unwrap_or((task, "None"));
        format!(
            "### {id}. T{id}\n**Status**: [NOT STARTED]\n**Dependencies**: {}\n\n",
            needs.replace(' ', ", ")
        )
    };
    tasks.iter().map(section).collect()
}

#[test]
fn no_dependencies_and_all_run_side_by_side() {
    let shell = format!("{WAIT}; echo x > file-$PLEACH_TASK");
    let scene = Scene::new(&sections(&["1", "2", "3"]), &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "3"]);
    assert_eq!(gate.wait_for(3), "1 2 3");
    gate.let_go(3);
    let story = run.story();
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(story.status(), "completed");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-2 file-3");
    assert_eq!(scene.plan().matches("[COMPLETED]").count(), 3);
    scene.check_no_worktree_is_left();
}

#[test]
fn sequential_where_each_task_needs_the_one_before() {
    let scene = Scene::of("1, 2 1, 3 2", "", LEAVE);
    let story = scene.story(&["-j", "3"]);
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(scene.trace("turns"), "+1 -1 +2 -2 +3 -3");
    let saw = scene.show("pleach/batch-1", "saw-3");
    assert!(saw.contains("saw-1") && saw.contains("saw-2"), "{saw}");
}

#[test]
fn parallel_with_dependencies_as_in_a_diamond() {
    let shell = format!("{WAIT}; ls > saw-$PLEACH_TASK");
    let scene = Scene::of("1, 2 1, 3 1, 4 2 3", "", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "4"]);
    for (count, together) in [(1, "1"), (2, "2 3"), (1, "4")] {
        assert_eq!(gate.wait_for(count), together);
        gate.let_go(count);
    }
    run.story().check(0, "1:merged 2:merged 3:merged 4:merged");
    let saw = |task: &str| {
        let saw = scene.show("pleach/batch-1", &format!("saw-{task}"));
        let others = saw.lines().filter(|name| name.starts_with("saw-"));
        others.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(saw("3"), "saw-1 saw-3");
    assert_eq!(saw("4"), "saw-1 saw-2 saw-3 saw-4");
}

#[test]
fn circular_dependencies_are_refused_with_the_whole_path() {
    let scene = Scene::new(&sections(&["63 66", "64 63", "66 64"]), "touch ran");
    let before = scene.repo.fingerprint();
    let error = scene.run(&[]).bad(2);
    assert!(
        error.contains("63 → 66 → 64 → 63") || error.contains("63 → 64 → 66 → 63"),
        "{error}"
    );
    assert!(
        error.contains("TODO.md:") && error.contains("hint: "),
        "{error}"
    );
    assert_eq!(scene.repo.fingerprint(), before);
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn failure_blocks_dependents_and_nobody_else() {
    let shell = "echo x > file-$PLEACH_TASK; [ $PLEACH_TASK != 1 ]";
    let scene = Scene::new(&sections(&["1", "2 1", "3 2", "4"]), shell);
    let story = scene.story(&[]);
    story.check(1, "1:failed 2:blocked 3:blocked 4:merged");
    assert_eq!(story.status(), "completed");
    let reason = story.error_of("2");
    assert!(reason.contains("needs 1, which failed"), "{reason}");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-4");
    assert_eq!(scene.branches(), "pleach/batch-1 pleach/task-1/1");
    assert_eq!(scene.plan().matches("[NOT STARTED]").count(), 3);
}

#[test]
fn mixed_input_of_single_tasks_and_ranges() {
    let scene = Scene::of("1, 2, 3, 4, 5, 6, 7", "", "echo x > file-$PLEACH_TASK");
    let story = scene.story(&["1,", "3-4", "7"]);
    story.check(0, "1:merged 3:merged 4:merged 7:merged");
}

#[test]
fn already_complete_tasks_are_left_out_and_alone_there_is_nothing_to_run() {
    let plan = sections(&["1", "2"]).replacen("NOT STARTED", "COMPLETED", 1);
    let scene = Scene::new(&plan, "echo x > file-$PLEACH_TASK");
    let told = scene.run(&["1"]).bad(0);
    assert!(told.contains("task 1 is already completed"), "{told}");
    let story = scene.story(&["1", "2"]);
    story.check(0, "2:merged");
    assert!(
        story.err.contains("task 1 is already completed"),
        "{}",
        story.err
    );
}

#[test]
fn missing_task_is_refused_and_nothing_runs() {
    let scene = Scene::of("1", "", "echo x > file-$PLEACH_TASK");
    let error = scene.run(&["99"]).bad(2);
    assert!(
        error.contains("task 99 not found") && error.contains("hint: "),
        "{error}"
    );
    let error = scene.run(&["1", "99"]).bad(2);
    assert!(error.contains("task 99 not found"), "{error}");
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn fifty_tasks() {
    let ids: Vec<String> = (1..=50).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let scene = Scene::new(&sections(&ids), "echo x > file-$PLEACH_TASK");
    let story = scene.story(&["-j", "8"]);
    assert_eq!((story.code, story.status()), (0, "completed"));
    assert_eq!(story.outcomes().matches(":merged").count(), 50);
    assert_eq!(
        scene.new_files("pleach/batch-1").split(' ').count(),
        50,
        "the work of each is in"
    );
    assert_eq!(scene.plan().matches("[COMPLETED]").count(), 50);
    scene.check_no_worktree_is_left();
}

#[test]
fn a_chain_of_twenty() {
    let link = |id: u32| match id {
        1 => "1".to_owned(),
        _ => format!("{id} {}", id - 1),
    };
    let links: Vec<String> = (1..=20).map(link).collect();
    let scene = Scene::of(&links.join(", "), "", "echo $PLEACH_TASK >> chain");
    let story = scene.story(&["-j", "8"]);
    assert_eq!((story.code, story.status()), (0, "completed"));
    let expected: Vec<String> = (1..=20).map(|id| id.to_string()).collect();
    assert_eq!(
        scene.show("pleach/batch-1", "chain"),
        expected.join("\n"),
        "each went on from the one before"
    );
}

#[test]
fn one_before_forty_nine() {
    let one = |id: u32| match id {
        1 => "1".to_owned(),
        _ => format!("{id} 1"),
    };
    let tasks: Vec<String> = (1..=50).map(one).collect();
    let shell = "[ $PLEACH_TASK = 1 ] || [ -f file-1 ] || exit 78; echo x > file-$PLEACH_TASK";
    let scene = Scene::of(&tasks.join(", "), "", shell);
    let story = scene.story(&["-j", "8"]);
    assert_eq!((story.code, story.status()), (0, "completed"));
    assert_eq!(story.outcomes().matches(":merged").count(), 50);
    let first_woven = &story.told("batch:task:completed")[0]["key"];
    assert_eq!(first_woven, "1");
}

#[test]
fn a_failed_stage_stops_the_plan() {
    let shell = "echo x > file-$PLEACH_TASK; [ $PLEACH_TASK != c ]";
    let scene = Scene::staged("a b, c, d", "retries = 0", shell);
    let story = scene.story(&[]);
    story.check(1, "a:merged b:merged c:failed d:blocked");
    assert_eq!(story.status(), "failed");
    let ended = story.told("batch:stage:completed");
    let ended: Vec<String> = ended
        .iter()
        .map(|stage| format!("{} {}", stage["success"], stage["mergeStatus"]))
        .collect();
    assert_eq!(ended, ["true \"success\"", "false \"skipped\""]);
    assert_eq!(story.told("batch:stage:started").len(), 2);
    let reason = story.error_of("d");
    assert!(reason.contains("stage 2 failed"), "{reason}");
    assert_eq!(scene.new_files("pleach/batch-1"), "file-a file-b");
}

#[test]
fn mode_parallel_is_chosen_by_flag_over_the_setting() {
    let scene = Scene::of("1, 2", "mode = \"serial\"", WAIT);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--mode", "parallel"]);
    assert_eq!(gate.wait_for(2), "1 2");
    gate.let_go(2);
    run.story().check(0, "1:no_changes 2:no_changes");
}

#[test]
fn mode_sequential_is_chosen_by_flag_and_by_setting() {
    for (settings, words) in [
        ("", &["-j", "3", "--mode", "serial"][..]),
        ("mode = \"serial\"", &[]),
        ("mode = \"queue\"\nqueue_auto_approve = true", &[]),
    ] {
        let scene = Scene::of("1, 2, 3", settings, LEAVE);
        let story = scene.story(words);
        story.check(0, "1:merged 2:merged 3:merged");
        assert_eq!(scene.trace("turns"), "+1 -1 +2 -2 +3 -3", "{settings}");
        let saw = scene.show("pleach/batch-1", "saw-3");
        assert!(
            saw.contains("saw-1\nsaw-2"),
            "each starts from the result of those before: {saw}"
        );
    }
}
