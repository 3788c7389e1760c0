//! What a plan and a selection say is what happens: prompts, phases, notes, choices, boxes, states.

use serde_json::Value;

use crate::pleach;
use crate::scene::{Gate, Scene, WAIT};

/// Fails for the tasks whose prompt names one of phase 1.
const ONLY_PHASE_2: &str =
    "if grep -q 'Task 2'; then echo x > \"$PLEACH_TASK.txt\"; else exit 3; fi";

const WRITES: &str = "cat > /dev/null; echo hi > \"$PLEACH_TASK.txt\"";

fn ask(scene: &Scene, words: &[&str]) -> Value {
    let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
    pleach(scene.repo.path(), &scene.home(), &words).json()
}

/// `id:reason` of everything that `next` offers.
fn offered(scene: &Scene) -> Vec<String> {
    let answer = ask(scene, &["next", "9"]);
    let tasks = answer["tasks"].as_array().unwrap().iter();
    let word = |reason: &Value| {
        let reason = reason.as_str().unwrap();
        reason.split(' ').next().unwrap().to_owned()
    };
    tasks
        .map(|task| format!("{}:{}", task["id"].as_str().unwrap(), word(&task["reason"])))
        .collect()
}

#[test]
fn a_prompt_has_the_title_as_it_is_written() {
    let plan = "- [ ] 1.1 Fix [the crash](https://ex.org/issues/12) in `a b.py`, see **ADR 3**\n";
    let scene = Scene::new(plan, "cat > prompt");
    scene.story(&[]).check(0, "1.1:merged");
    let prompt = scene.show("pleach/batch-1", "prompt");
    let title =
        "# Task 1.1: Fix [the crash](https://ex.org/issues/12) in `a b.py`, see **ADR 3**\n";
    assert!(prompt.starts_with(title), "{prompt}");
}

#[test]
fn a_phase_that_failed_blocks_the_next_one() {
    let plan = "## Phase 1: Base\n- [ ] 1.1 a\n- [ ] 1.2 b\n## Phase 2: On top\n- [ ] 2.1 c\n";
    let scene = Scene::new(plan, ONLY_PHASE_2);
    let story = scene.story(&[]);
    story.check(1, "1.1:failed 1.2:failed 2.1:blocked");
    assert_eq!(
        story.error_of("2.1"),
        "phase 1 has only 0 of 2 tasks done, below 80 %"
    );
    assert_eq!(scene.plan(), plan);
    let refused = scene.run(&["2.1"]).bad(2);
    assert!(
        refused.contains("phase 2 is not open: phase 1 has only 0 of 2 tasks done, below 80 %")
            && refused.contains("--phase-threshold 0"),
        "{refused}"
    );
    scene
        .story(&["2.1", "--phase-threshold", "0"])
        .check(0, "2.1:merged");
}

#[test]
fn the_share_that_opens_a_phase_can_be_configured() {
    let plan = "## Phase 1: Base\n- [x] 1.1 a\n- [ ] 1.2 b\n## Phase 2: On top\n- [ ] 2.1 c\n";
    let scene = Scene::new(plan, ONLY_PHASE_2);
    let offered = |words: &[&str]| {
        let words = [&["next", "5", "--json"], words].concat();
        let answer = pleach(scene.repo.path(), &scene.home(), &words);
        answer.json()["count"].clone()
    };
    assert_eq!(offered(&[]), 1);
    scene.configure("phase_threshold = 0.5\n", ONLY_PHASE_2);
    assert_eq!(offered(&[]), 2);
    assert_eq!(offered(&["--phase-threshold", "1"]), 1);
    scene.story(&["2.1"]).check(0, "2.1:merged");
    scene.configure("phase_threshold = 1.5\n", ONLY_PHASE_2);
    let refused = scene.run(&["1.2"]).bad(2);
    assert!(refused.contains("a share from 0 to 1"), "{refused}");
}

#[test]
fn what_follows_in_a_note_is_blocked_by_what_failed() {
    let plan = "**Execution Note:** Tasks 1.1-2.2 are nothing\n\n- [ ] 1.1 a\n- [ ] 2.1 b\n- [ ] 2.2 c\n\nTasks 1.1, 2.1 and 2.2 are [SEQUENTIAL] - each uses the one before\n";
    let scene = Scene::new(plan, ONLY_PHASE_2);
    let story = scene.story(&[]);
    story.check(1, "1.1:failed 2.1:blocked 2.2:blocked");
}

#[test]
fn only_what_exists_and_is_no_sentence_is_run() {
    let scene = Scene::new("- [ ] 1.1 A\n- [x] 1.2 B\n- [ ] 1.3 C\n", WRITES);
    let sentence = scene.run(&["fix all failed tests"]).bad(2);
    assert!(
        sentence.contains("`fix all failed tests` is not a selection"),
        "{sentence}"
    );
    scene.run(&["fix", "all", "failed", "tests"]).bad(2);
    let missing = scene.run(&["1.1", "1.9"]).bad(2);
    assert!(
        missing.contains("task 1.9 not found") && !missing.contains("did you mean"),
        "{missing}"
    );
    assert!(!scene.state().join("batches").exists(), "nothing was run");
    let done = scene.run(&["1.2"]);
    assert!(
        done.err.contains("task 1.2 is already completed"),
        "{}",
        done.err
    );
    assert_eq!((done.code, done.out.as_str()), (0, ""));
    let answer = scene.run(&["1.1", "1.2"]);
    assert!(
        answer
            .err
            .contains("warning: task 1.2 is already completed"),
        "{}",
        answer.err
    );
    assert_eq!(answer.code, 0);
    scene.run(&["all"]).good();
    let all = scene.run(&["all"]);
    assert_eq!(all.code, 0);
    assert!(
        all.err.contains("all 3 tasks of the plan are done"),
        "{}",
        all.err
    );
}

#[test]
fn the_reason_for_an_error_is_never_left_out() {
    let loose: Vec<String> = (1..20).map(|n| format!("- [ ] loose end {n}")).collect();
    let scene = Scene::new(&format!("- [ ] 1.1 A\n{}\n", loose.join("\n")), WRITES);
    for words in [["label:nope"], ["99"]] {
        let error = scene.run(&words).bad(2);
        let last = error.lines().rev().find(|line| line.starts_with("error: "));
        let says = last.unwrap();
        assert!(
            says.contains("label nope has no tasks") || says.contains("task 99 not found"),
            "{error}"
        );
    }
}

#[test]
fn boxes_inside_a_task_are_ticked_with_it() {
    let plan = "- [ ] Parent\n  - [ ] child a\n  - [x] child b\n- [ ] Other\n";
    let scene = Scene::new(plan, WRITES);
    scene.story(&["1"]).check(0, "1:merged");
    assert_eq!(
        scene.plan(),
        "- [x] Parent\n  - [x] child a\n  - [x] child b\n- [ ] Other\n"
    );
}

#[test]
fn next_knows_what_runs_and_what_failed() {
    let plan = "## Phase 1: A\n- [ ] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c (depends: 1.2)\n";
    let scene = Scene::new(
        plan,
        &format!("{WAIT}; test \"$PLEACH_TASK\" = 1.1 && echo x > x"),
    );
    assert_eq!(offered(&scene), ["1.1:pending", "1.2:pending"]);
    let mut gate = Gate::at(&scene);
    let running = scene.start(&["1.1", "1.2"]);
    gate.wait_for(2);
    assert_eq!(offered(&scene), ["1.1:in_progress", "1.2:in_progress"]);
    let busy = pleach(scene.repo.path(), &scene.home(), &["run", "--yes", "all"]).bad(2);
    assert!(busy.contains("task 1.3 needs 1.2"), "{busy}");
    gate.let_go(2);
    running.story().check(1, "1.1:merged 1.2:failed");
    assert_eq!(offered(&scene), ["1.2:failed"]);
    let progress = ask(&scene, &["progress"]);
    assert_eq!(
        (&progress["failed"], &progress["open"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn marks_that_a_checkbox_cannot_hold_are_remembered() {
    let plan = "- [ ] 1.1 a\n- [x] 1.2 b\n- [ ] 1.3 c (depends: 1.1)\n";
    let scene = Scene::new(plan, WRITES);
    let mark = |words: &[&str]| {
        let words: Vec<&str> = ["mark"].iter().chain(words).copied().collect();
        pleach(scene.repo.path(), &scene.home(), &words).good()
    };
    mark(&["1.1", "failed"]);
    assert_eq!(offered(&scene), ["1.1:failed"]);
    mark(&["1.1", "skipped"]);
    assert_eq!(offered(&scene), ["1.3:pending"]);
    mark(&["1.3", "started"]);
    assert_eq!(offered(&scene), ["1.3:in_progress"]);
    assert_eq!(scene.plan(), plan);
    mark(&["1.2", "failed"]);
    assert!(scene.plan().contains("- [ ] 1.2 b"), "{}", scene.plan());
    mark(&["1.2", "complete"]);
    mark(&["1.3", "pending"]);
    assert_eq!(scene.plan(), plan);
    assert_eq!(offered(&scene), ["1.3:pending"]);
    scene.story(&["all"]).check(0, "1.3:merged");
    assert_eq!(ask(&scene, &["progress"])["skipped"], 1);
}

#[test]
fn a_blocked_task_is_started_by_its_id_alone() {
    let plan = "### 1. A\n**Status**: [BLOCKED]\n\n### 2. B\n**Status**: [NOT STARTED]\n";
    let scene = Scene::new(plan, WRITES);
    assert_eq!(offered(&scene), ["2:pending"]);
    scene.story(&["all"]).check(0, "2:merged");
    scene.story(&["1"]).check(0, "1:merged");
}

#[test]
fn two_tasks_that_name_one_file_in_plain_words_are_kept_apart() {
    let scene = Scene::new(
        "- [ ] 1.4 Update src/app.ts for login\n- [ ] 1.5 Update src/app.ts for logout\n",
        WRITES,
    );
    scene.repo.write("src/app.ts", "");
    let plan = ask(&scene, &["plan"]);
    assert_eq!(plan["ordered"][0]["because"], "both declare src/app.ts");
}

#[test]
fn a_task_that_is_done_runs_again_only_on_request() {
    let plan = "- [x] 1.1 a\n- [ ] 1.2 b (depends: 1.1)\n";
    let scene = Scene::new(plan, WRITES);
    assert_eq!(scene.run(&["1.1"]).code, 0);
    scene.story(&["1.1", "--redo"]).check(0, "1.1:merged");
    assert_eq!(scene.plan(), plan);
    scene.run(&["--redo"]).bad(2);
    scene.story(&["all", "--redo"]).check(0, "1.2:merged");
}
