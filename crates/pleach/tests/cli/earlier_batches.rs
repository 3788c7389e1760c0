//! Work of earlier batches that the base lacks: where tasks that need it start, what the result holds, who is told.

use rustix::process::Signal;
use serde_json::Value;

use crate::pleach;
use crate::scene::{Gate, Scene, WAIT};

/// Each task makes a file of its own, with what it found there.
const LISTS: &str =
    "cat > /dev/null; found=$(ls *.txt 2> /dev/null); echo $found > \"$PLEACH_TASK.txt\"";

/// Each task adds a line to one file.
const ADDS: &str = "cat > /dev/null; echo \"$PLEACH_TASK\" >> all.txt";

const CHAIN: &str = "- [ ] 1.1 Make it\n- [ ] 1.2 Use it (depends: 1.1)\n- [ ] 1.3 Use that (depends: 1.2)\n\
                     - [ ] 1.4 Something else\n";

/// The chain, of which the first task is done in a batch of its own.
fn after_the_first(shell: &str) -> Scene {
    let scene = Scene::new(CHAIN, shell);
    scene.story(&["1.1"]).check(0, "1.1:merged");
    scene
}

fn is_ancestor(scene: &Scene, early: &str, late: &str) -> bool {
    let both = scene.repo.git(&["merge-base", early, late]);
    both == scene.repo.git(&["rev-parse", early])
}

fn dry(scene: &Scene, words: &[&str]) -> Value {
    let dry = ["--dry-run", "--json"];
    let words: Vec<&str> = dry.iter().chain(words).copied().collect();
    scene.run(&words).json()
}

/// `1: 1.1 1.2` for each batch that something builds on.
fn builds_on(told: &Value) -> Vec<String> {
    let told = told["buildsOn"].as_array().unwrap().iter();
    told.map(|other| {
        let tasks = other["tasks"].as_array().unwrap().iter();
        let tasks: Vec<&str> = tasks.map(|task| task.as_str().unwrap()).collect();
        format!("{}: {}", other["batch"], tasks.join(" "))
    })
    .collect()
}

fn squash_into_main(scene: &Scene, branch: &str) {
    scene.repo.git(&["merge", "--squash", branch]);
    scene.repo.git(&["commit", "-m", "squashed"]);
}

#[test]
fn a_task_starts_with_what_it_needs_from_batches_that_did_not_land() {
    let scene = after_the_first(LISTS);
    assert_eq!(builds_on(&dry(&scene, &["1.2"])), ["1: 1.1"]);
    let story = scene.story(&["1.2"]);
    story.check(0, "1.2:merged");
    assert_eq!(builds_on(story.summary()), ["1: 1.1"]);
    let status = pleach(scene.repo.path(), &scene.home(), &["status", "2", "--json"]).json();
    assert_eq!(builds_on(&status["batches"][0]), ["1: 1.1"]);
    assert_eq!(scene.show("pleach/batch-2", "1.2.txt"), "1.1.txt");
    assert!(is_ancestor(&scene, "pleach/batch-1", "pleach/batch-2"));
    // Nobody finds it in the store without looking into the repository.
    scene.repo.commit("the plan so far");
    assert_eq!(builds_on(&dry(&scene, &["1.3"])), ["1: 1.1", "2: 1.2"]);
    let third = scene.run(&["1.3"]);
    assert_eq!(third.code, 0, "{}", third.err);
    assert!(
        third.err.contains("batch 2 (pleach/batch-2), which"),
        "{}",
        third.err
    );
    assert!(
        third
            .out
            .contains("builds on batch 1 (pleach/batch-1), which"),
        "{}",
        third.out
    );
    assert_eq!(scene.show("pleach/batch-3", "1.3.txt"), "1.1.txt 1.2.txt");
    let body = std::fs::read_to_string(scene.state().join("batches/3/pull-request.md")).unwrap();
    assert!(
        body.contains("**Builds on batch 2** (`pleach/batch-2`), which"),
        "{body}"
    );
}

#[test]
fn what_needs_no_earlier_work_starts_and_lands_without_it() {
    let fails = format!("[ $PLEACH_TASK != 1.3 ] || exit 3; {LISTS}");
    let scene = after_the_first(&fails);
    scene
        .story(&["1.2", "1.4"])
        .check(0, "1.2:merged 1.4:merged");
    assert_eq!(scene.show("pleach/batch-2", "1.4.txt"), "");
    assert_eq!(scene.show("pleach/batch-2", "1.2.txt"), "1.1.txt");
    let plan = scene.plan().replace("- [x] 1.4", "- [ ] 1.4");
    scene.repo.write("TODO.md", plan);
    let story = scene.story(&["1.3", "1.4"]);
    story.check(1, "1.3:failed 1.4:merged");
    assert_eq!(builds_on(story.summary()), Vec::<String>::new());
    assert_eq!(scene.new_files("pleach/batch-3"), "1.4.txt");
}

#[test]
fn work_that_is_in_the_base_is_not_woven_again() {
    let scene = after_the_first(LISTS);
    scene.repo.git(&["merge", "--no-ff", "pleach/batch-1"]);
    assert_eq!(builds_on(&dry(&scene, &["1.2"])), Vec::<String>::new());
    let story = scene.story(&["1.2"]);
    story.check(0, "1.2:merged");
    assert_eq!(builds_on(story.summary()), Vec::<String>::new());
    assert_eq!(scene.new_files("pleach/batch-2"), "1.2.txt");
}

#[test]
fn work_that_was_squashed_into_the_base_is_in_it() {
    let scene = Scene::new(CHAIN, ADDS);
    scene
        .story(&["1.1", "1.2"])
        .check(0, "1.1:merged 1.2:merged");
    squash_into_main(&scene, "pleach/batch-1");
    let story = scene.story(&["1.3"]);
    story.check(0, "1.3:merged");
    assert_eq!(builds_on(story.summary()), Vec::<String>::new());
    assert_eq!(scene.show("pleach/batch-2", "all.txt"), "1.1\n1.2\n1.3");
    let own = scene
        .repo
        .git(&["rev-list", "--no-merges", "--count", "main..pleach/batch-2"]);
    assert_eq!(own, "1");
}

#[test]
fn work_that_was_squashed_into_the_base_and_changed_there_is_in_it() {
    let scene = Scene::new(CHAIN, ADDS);
    scene.story(&["1.1"]).check(0, "1.1:merged");
    squash_into_main(&scene, "pleach/batch-1");
    scene.repo.write("all.txt", "one point one\n");
    scene.repo.commit("in other words");
    let story = scene.story(&["1.2"]);
    story.check(0, "1.2:merged");
    assert_eq!(builds_on(story.summary()), Vec::<String>::new());
    assert_eq!(
        scene.show("pleach/batch-2", "all.txt"),
        "one point one\n1.2"
    );
}

#[test]
fn work_that_conflicts_with_the_base_blocks_what_needs_it_until_it_is_said_to_have_landed() {
    let scene = after_the_first(LISTS);
    scene.repo.write("1.1.txt", "something else\n");
    scene.repo.commit("another one");
    let story = scene.story(&["1.2", "1.4"]);
    story.check(1, "1.2:blocked 1.4:merged");
    let why = story.error_of("1.2");
    assert!(
        why.contains("--assume-landed") && why.contains("1.1.txt"),
        "{why}"
    );
    let story = scene.story(&["1.2", "--assume-landed"]);
    story.check(0, "1.2:merged");
    assert_eq!(builds_on(story.summary()), Vec::<String>::new());
    assert_eq!(scene.show("pleach/batch-3", "1.1.txt"), "something else");
}

#[test]
fn two_batches_that_conflict_with_each_other_are_brought_together_by_a_person() {
    let plan = "- [ ] 1.1 One\n- [ ] 1.2 Another\n- [ ] 1.3 On one (depends: 1.1)\n\
                - [ ] 1.4 On the other (depends: 1.2)\n- [ ] 1.5 On both (depends: 1.1, 1.2)\n";
    let scene = Scene::new(plan, ADDS);
    scene.story(&["1.1"]).check(0, "1.1:merged");
    scene.story(&["1.2"]).check(0, "1.2:merged");
    let story = scene.story(&["1.3,1.4,1.5", "--mode", "serial"]);
    story.check(1, "1.3:merged 1.4:blocked 1.5:blocked");
    let settings = "retries = 0\nmax_parallel = 2";
    scene.configure(settings, &format!("{WAIT}; {ADDS}"));
    let plan = scene.plan().replace("- [x] 1.3", "- [ ] 1.3");
    scene.repo.write("TODO.md", plan);
    let mut gate = Gate::at(&scene);
    let running = scene.start(&["1.3,1.4"]);
    gate.wait_for(2);
    gate.let_go(2);
    let story = running.story();
    assert_eq!(story.code, 1);
    let tasks = story.summary()["tasks"].as_array().unwrap();
    let left_out = tasks
        .iter()
        .find(|task| task["outcome"] == "conflicted")
        .unwrap();
    let task = left_out["key"].as_str().unwrap();
    let resolve = |words: &[&str]| {
        let words: Vec<&str> = ["resolve", "4", task]
            .iter()
            .chain(words)
            .copied()
            .collect();
        pleach(scene.repo.path(), &scene.home(), &words)
    };
    let laid_out = resolve(&["--json"]).json();
    let file = std::path::Path::new(laid_out["path"].as_str().unwrap()).join("all.txt");
    assert!(std::fs::read_to_string(&file).unwrap().contains("<<<<<<<"));
    std::fs::write(&file, "1.1\n1.2\n1.3\n1.4\n").unwrap();
    let done = resolve(&["--done"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(
        scene.show("pleach/batch-4", "all.txt"),
        "1.1\n1.2\n1.3\n1.4"
    );
}

#[test]
fn tasks_of_a_later_phase_start_with_those_before() {
    let plan = "## Phase 1: Base\n- [ ] 1.1 a\n- [ ] 1.2 b\n## Phase 2: On top\n- [ ] 2.1 c\n";
    let scene = Scene::new(plan, LISTS);
    scene.story(&["phase:1"]).check(0, "1.1:merged 1.2:merged");
    scene.story(&["phase:2"]).check(0, "2.1:merged");
    assert_eq!(scene.show("pleach/batch-2", "2.1.txt"), "1.1.txt 1.2.txt");
    // It merely came before, so that it does not matter to anybody if it cannot be had.
    let plan = scene.plan().replace("- [x] 2.1", "- [ ] 2.1");
    scene.repo.write("TODO.md", plan);
    scene.repo.write("1.1.txt", "something else\n");
    scene.repo.commit("another one");
    let story = scene.story(&["phase:2"]);
    story.check(0, "2.1:merged");
    assert_eq!(builds_on(story.summary()), ["1: 1.2"]);
}

#[test]
fn a_task_without_an_id_is_found_by_its_words() {
    let plan = "- [ ] Make it (depends: 2)\n- [ ] Before it\n";
    let scene = Scene::new(plan, LISTS);
    scene.story(&["2"]).check(0, "2:merged");
    let moved = format!(
        "- [x] Long done\n{}",
        scene.plan().replace("depends: 2", "depends: 3")
    );
    scene.repo.write("TODO.md", moved);
    assert_eq!(builds_on(&dry(&scene, &["2"])), ["1: 2"]);
}

#[test]
fn a_base_whose_history_was_written_anew_gets_the_work_alone() {
    let scene = after_the_first(ADDS);
    scene.repo.write("other.md", "hello\n");
    scene.repo.git(&["add", "other.md"]);
    scene
        .repo
        .git(&["commit", "--amend", "-m", "another first commit"]);
    let plan = format!("{}- [ ] 1.5 Also (depends: 1.1)\n", scene.plan());
    scene.repo.write("TODO.md", plan);
    let story = scene.story(&["1.2", "1.5", "--mode", "serial"]);
    story.check(0, "1.2:merged 1.5:merged");
    assert_eq!(scene.show("pleach/batch-2", "all.txt"), "1.1\n1.2\n1.5");
    assert!(!is_ancestor(&scene, "pleach/batch-1", "pleach/batch-2"));
    assert_eq!(scene.show("pleach/batch-2", "other.md"), "hello");
}

#[test]
fn every_strategy_puts_the_tasks_on_top_of_earlier_work() {
    for strategy in ["squash", "rebase", "octopus"] {
        let scene = after_the_first(LISTS);
        let story = scene.story(&["1.2", "1.4", "--merge", strategy]);
        story.check(0, "1.2:merged 1.4:merged");
        let files = scene.new_files("pleach/batch-2");
        assert_eq!(files, "1.1.txt 1.2.txt 1.4.txt", "{strategy}");
        assert!(
            is_ancestor(&scene, "pleach/batch-1", "pleach/batch-2"),
            "{strategy}"
        );
    }
}

#[test]
fn nobody_is_blamed_for_what_an_earlier_batch_broke() {
    let scene = after_the_first(LISTS);
    let story = scene.story(&["1.2", "1.4", "--validate", "! test -e 1.1.txt"]);
    story.check(1, "1.2:merged 1.4:merged");
    let reason = story.summary()["validation"]["reason"].as_str().unwrap();
    assert!(reason.contains("no task is blamed"), "{reason}");
}

#[test]
fn who_breaks_the_tests_goes_and_earlier_work_stays() {
    let scene = after_the_first(LISTS);
    let story = scene.story(&[
        "1.2",
        "1.4",
        "--validate",
        "test -e 1.1.txt && ! test -e 1.4.txt",
    ]);
    story.check(1, "1.2:merged 1.4:invalid");
    assert_eq!(builds_on(story.summary()), ["1: 1.1"]);
    assert_eq!(scene.new_files("pleach/batch-2"), "1.1.txt 1.2.txt");
}

#[test]
fn a_batch_that_died_goes_on_with_the_same_earlier_work() {
    let scene = after_the_first(LISTS);
    scene.configure("retries = 0", &format!("{WAIT}; {LISTS}"));
    let mut gate = Gate::at(&scene);
    let running = scene.start(&["1.2", "1.4"]);
    assert_eq!(gate.wait_for(2), "1.2 1.4");
    running.signal(Signal::KILL);
    running.answer();
    // By now nobody would find it there.
    squash_into_main(&scene, "pleach/batch-1");
    let resumed = scene.start(&["--resume"]);
    // Not before: those of the run that died may take a moment to end.
    assert_eq!(gate.wait_for(2), "1.2 1.4");
    gate.let_go(2);
    resumed.story().check(0, "1.2:merged 1.4:merged");
    assert_eq!(scene.show("pleach/batch-2", "1.2.txt"), "1.1.txt");
    assert_eq!(scene.show("pleach/batch-2", "1.4.txt"), "");
    assert!(is_ancestor(&scene, "pleach/batch-1", "pleach/batch-2"));
}

#[test]
fn the_last_batch_can_be_the_base() {
    let scene = Scene::new(CHAIN, LISTS);
    let refused = scene.run(&["1.4", "--base", "last"]).bad(2);
    assert!(refused.contains("no batch of this project"), "{refused}");
    scene.story(&["1.1"]).check(0, "1.1:merged");
    let words = ["1.4", "--base", "last"];
    let told = dry(&scene, &words);
    assert_eq!(builds_on(&told), ["1: 1.1"]);
    assert_eq!(
        told["base"],
        scene.repo.git(&["rev-parse", "pleach/batch-1"])
    );
    let story = scene.story(&words);
    story.check(0, "1.4:merged");
    assert_eq!(builds_on(story.summary()), ["1: 1.1"]);
    assert_eq!(scene.show("pleach/batch-2", "1.4.txt"), "1.1.txt");
    assert!(is_ancestor(&scene, "pleach/batch-1", "pleach/batch-2"));
}
