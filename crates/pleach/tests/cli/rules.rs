//! The rules a batch is run by: failures, conflicts, barriers, turns.

use crate::scene::{Gate, Scene, WAIT};

#[test]
fn stop_on_failure_stops_what_runs_and_starts_nothing_more() {
    let shell = "[ $PLEACH_TASK = 1 ] && { echo half > half; touch BESIDE/there; exec sleep 600; }
        until [ -e BESIDE/there ]; do sleep 0.01; done; exit 1";
    for (settings, words) in [
        ("retries = 0", &["-j", "2", "--stop-on-failure"][..]),
        ("retries = 0\nstop_on_failure = true", &["-j", "2"]),
    ] {
        let scene = Scene::of("1, 2, 3", settings, shell);
        let story = scene.story(words);
        story.check(1, "1:cancelled 2:failed 3:cancelled");
        assert_eq!(story.status(), "failed");
        assert_eq!(story.attempts(), "1:1 2:1 3:0");
        assert_eq!(scene.show("pleach/task-1/1", "half"), "half");
        scene.check_nobody_is_left();
    }
}

#[test]
fn without_stop_on_failure_the_others_go_on() {
    let shell = "echo x > file-$PLEACH_TASK; [ $PLEACH_TASK != 1 ]";
    let scene = Scene::of("1, 2, 3", "retries = 0", shell);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:failed 2:merged 3:merged");
    assert_eq!(story.status(), "completed");
}

/// Each writes the same file, and one more.
const COLLIDE: &str = "echo $PLEACH_TASK >> README.md; echo x > file-$PLEACH_TASK";

#[test]
fn on_conflict_skip_leaves_out_what_collides_and_what_needs_it() {
    let scene = Scene::of("1, 2, 3 1, 4 2", "", COLLIDE);
    let story = scene.story(&["-j", "1", "--on-conflict", "skip"]);
    story.check(1, "1:merged 2:conflicted 3:merged 4:blocked");
    assert_eq!(story.status(), "completed");
    let told = &story.told("batch:task:skipped")[0];
    assert_eq!(told["files"][0], "README.md");
    assert_eq!(told["with"][0], story.summary()["tasks"][0]["taskId"]);
    assert_eq!(scene.show("pleach/task-1/2", "README.md"), "a test\n2");
}

#[test]
fn on_conflict_fail_gives_the_batch_up() {
    let scene = Scene::of("1, 2, 3", "on_conflict = \"fail\"", COLLIDE);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:conflicted 3:cancelled");
    assert_eq!(story.status(), "failed");
    let error = story.told("batch:failed")[0]["error"].as_str().unwrap();
    assert!(error.contains("task 2 conflicted"), "{error}");
}

#[test]
fn on_conflict_rerun_does_the_task_again_on_the_woven_result() {
    let scene = Scene::of("1, 2, 3", "", COLLIDE);
    let story = scene.story(&["-j", "1", "--on-conflict", "rerun"]);
    story.check(0, "1:merged 2:merged 3:merged");
    assert_eq!(story.attempts(), "1:1 2:2 3:2", "one more each");
    assert_eq!(scene.show("pleach/batch-1", "README.md"), "a test\n1\n2\n3");
}

#[test]
fn without_waves_a_task_starts_as_soon_as_it_can() {
    let shell = format!("[ $PLEACH_TASK = 2 ] || {{ {WAIT}; }}; echo x > file-$PLEACH_TASK");
    let scene = Scene::of("1, 2, 3 2", "", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "2"]);
    assert_eq!(gate.wait_for(2), "1 3", "although 1 is still at work");
    gate.let_go(2);
    run.story().check(0, "1:merged 2:merged 3:merged");
}

#[test]
fn waves_and_stages_are_told_by_their_names_and_counted() {
    let waves = Scene::of("1, 2 1", "land = \"none\"", "echo x > file-$PLEACH_TASK");
    let stages = Scene::staged("1, 2", "land = \"none\"", "echo x > file-$PLEACH_TASK");
    for (scene, words, name) in [(waves, &["--waves"][..], "wave"), (stages, &[], "stage")] {
        let told = scene.run(words).good();
        let is_start = |line: &&str| line.trim_end().ends_with("of 2 starts");
        let starts: Vec<&str> = told.lines().filter(is_start).collect();
        assert_eq!(starts.len(), 2, "{told}");
        for (line, number) in starts.iter().zip(["1", "2"]) {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[1..3], [name, number], "{told}");
        }
    }
}

#[test]
fn with_waves_each_is_woven_before_the_next_starts() {
    let shell = "echo +$PLEACH_TASK >> BESIDE/turns; [ $PLEACH_TASK = 2 ] || sleep 0.2; ls > saw-$PLEACH_TASK
        echo -$PLEACH_TASK >> BESIDE/turns";
    let scene = Scene::of("1, 2, 3 2", "", shell);
    let story = scene.story(&["-j", "2", "--waves"]);
    story.check(0, "1:merged 2:merged 3:merged");
    assert!(scene.trace("turns").ends_with(" +3 -3"));
    let saw = scene.show("pleach/batch-1", "saw-3");
    assert!(
        saw.contains("saw-1") && saw.contains("saw-2"),
        "the whole wave before is there: {saw}"
    );
    assert_eq!(story.told("batch:stage:completed").len(), 2);
}

#[test]
fn a_wave_in_which_a_task_failed_keeps_nobody_else_from_starting() {
    let shell = "echo x > file-$PLEACH_TASK; [ $PLEACH_TASK != 1 ]";
    let scene = Scene::of("1, 2, 3 2", "retries = 0", shell);
    let story = scene.story(&["--waves"]);
    story.check(1, "1:failed 2:merged 3:merged");
}

#[test]
fn a_stage_that_can_not_be_parallel_runs_one_at_a_time() {
    let shell = "echo +$PLEACH_TASK >> BESIDE/turns; echo x > file-$PLEACH_TASK; sleep 0.1
        echo -$PLEACH_TASK >> BESIDE/turns";
    let scene = Scene::staged("a b!, c d", "", shell);
    let story = scene.story(&["-j", "4"]);
    story.check(0, "a:merged b:merged c:merged d:merged");
    let turns = scene.trace("turns");
    assert!(
        turns.starts_with("+a -a +b -b ") || turns.starts_with("+b -b +a -a "),
        "{turns}"
    );
}

#[test]
fn stages_that_can_be_parallel_are_and_wait_for_each_other() {
    let shell = format!("{WAIT}; ls > saw-$PLEACH_TASK");
    let scene = Scene::staged("a b, c d", "", &shell);
    let mut gate = Gate::at(&scene);
    let mut run = scene.start(&["-j", "4"]);
    assert_eq!(gate.wait_for(2), "a b");
    gate.let_go(1);
    run.wait_for("batch:task:completed");
    assert!(gate.is_empty(), "the stage is not over");
    gate.let_go(1);
    assert_eq!(gate.wait_for(2), "c d");
    gate.let_go(2);
    run.story().check(0, "a:merged b:merged c:merged d:merged");
    let saw = scene.show("pleach/batch-1", "saw-c");
    assert!(saw.contains("saw-a\nsaw-b"), "{saw}");
}

/// The subjects of a branch and how many parents each commit has, oldest first.
fn history(scene: &Scene) -> Vec<String> {
    let words = [
        "log",
        "--first-parent",
        "--reverse",
        "--format=%s|%p",
        "main..pleach/batch-1",
    ];
    let log = scene.repo.git(&words);
    let lines = log.lines().map(|line| {
        let (subject, parents) = line.rsplit_once('|').unwrap();
        format!("{subject} ({})", parents.split(' ').count())
    });
    lines.collect()
}

#[test]
fn every_way_to_merge_gives_the_same_tree_and_its_own_history() {
    let shell = "echo x > file-$PLEACH_TASK; git add .; git commit -qm \"part of $PLEACH_TASK\"
        echo y >> file-$PLEACH_TASK";
    let expected: [(&str, &[&str]); 4] = [
        ("merge", &["Merge task 1: T1 (2)", "Merge task 2: T2 (2)"]),
        ("squash", &["Task 1: T1 (1)", "Task 2: T2 (1)"]),
        (
            "rebase",
            &[
                "part of 1 (1)",
                "Task 1: T1 (1)",
                "part of 2 (1)",
                "Task 2: T2 (1)",
            ],
        ),
        ("octopus", &["Merge 2 branches (3)"]),
    ];
    let scene = Scene::of("1, 2", "", shell);
    let mut trees = Vec::new();
    for (number, (strategy, history_of_it)) in expected.iter().enumerate() {
        let story = scene.story(&["-j", "1", "--merge", strategy]);
        story.check(0, "1:merged 2:merged");
        let branch = format!("pleach/batch-{}", number + 1);
        trees.push(
            scene
                .repo
                .git(&["rev-parse", &format!("{branch}^{{tree}}")]),
        );
        if number > 0 {
            scene
                .repo
                .git(&["branch", "-q", "-f", "pleach/batch-1", &branch]);
        }
        let found = history(&scene);
        assert_eq!(found, *history_of_it, "{strategy}");
    }
    trees.dedup();
    assert_eq!(trees.len(), 1);
}

#[test]
fn a_queue_runs_in_plan_order_each_on_the_result_of_the_one_before() {
    let shell = "echo $PLEACH_TASK >> README.md; [ $PLEACH_TASK != 2 ]";
    let scene = Scene::of("3, 1, 2, 4", "retries = 0", shell);
    let story = scene.story(&["--mode", "serial", "-j", "4"]);
    story.check(1, "3:merged 1:merged 2:failed 4:merged");
    assert_eq!(scene.show("pleach/batch-1", "README.md"), "a test\n3\n1\n4");
    assert_eq!(
        scene.show("pleach/task-1/2", "README.md"),
        "a test\n3\n1\n2",
        "what fails is left out"
    );
}
