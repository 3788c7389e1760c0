//! The tests of the project decide what stays: proofs, the guilty, red bases, trouble.

use crate::scene::{Gate, Scene, Story};

/// Each task adds a file of its own name.
const SHELL: &str = "echo x > file-$PLEACH_TASK";

/// Notes every run of the tests beside the repository, with the files it saw.
fn tests(condition: &str) -> String {
    format!(
        "validate = \"ls file-* 2>/dev/null | tr -d '\\\\n' >> BESIDE/runs; echo >> BESIDE/runs; {condition}\""
    )
}

/// How often the tests ran.
fn runs(scene: &Scene) -> usize {
    let text = std::fs::read_to_string(scene.repo.beside("runs")).unwrap_or_default();
    text.lines().count()
}

#[track_caller]
fn check_proved(scene: &Scene, story: &Story) {
    let validation = &story.summary()["validation"];
    assert_eq!(validation["verdict"], "proved", "{validation}");
    let tree = scene.repo.git(&["rev-parse", "pleach/batch-1^{tree}"]);
    assert_eq!(
        validation["tree"],
        tree.trim(),
        "the tree that was tested is the one that ships"
    );
}

#[test]
fn a_green_result_is_proved_with_one_run_and_its_tree_is_told() {
    let scene = Scene::of("1, 2, 3", &tests("true"), SHELL);
    let story = scene.story(&[]);
    story.check(0, "1:merged 2:merged 3:merged");
    check_proved(&scene, &story);
    assert_eq!(runs(&scene), 1);
    let tree = scene.repo.git(&["rev-parse", "pleach/batch-1^{tree}"]);
    assert_eq!(story.told("batch:proved")[0]["tree"], tree.trim());
    scene.check_no_worktree_is_left();
    scene.check_nobody_is_left();
}

#[test]
fn the_guilty_task_is_left_out_with_what_needs_it_and_the_rest_is_proved() {
    let scene = Scene::of("1, 2, 3 2, 4, 5", &tests("[ ! -e file-2 ]"), SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:invalid 3:blocked 4:merged 5:merged");
    assert_eq!(story.status(), "completed");
    check_proved(&scene, &story);
    assert_eq!(scene.new_files("pleach/batch-1"), "file-1 file-4 file-5");
    assert_eq!(
        scene.show("pleach/task-1/2", "file-2"),
        "x",
        "its work is kept"
    );
    assert_eq!(
        scene.show("pleach/task-1/3", "file-3"),
        "x",
        "and so is what needs it"
    );
    assert_eq!(story.error_of("2"), "the tests fail with this task alone");
    assert_eq!(story.error_of("3"), "needs 2, which fails the tests");
}

#[test]
fn of_two_that_are_red_together_the_later_goes() {
    let scene = Scene::of("1, 2, 3", &tests("[ ! -e file-1 -o ! -e file-3 ]"), SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:merged 3:invalid");
    check_proved(&scene, &story);
}

#[test]
fn what_merely_came_after_the_guilty_is_woven_again_without_it() {
    // Both write to one file, so that 2 comes after 1 and builds on it.
    let shell = "printf 'a\\nb\\nc\\nd\\ne\\n' > own-$PLEACH_TASK; [ $PLEACH_TASK = 1 ] && sed -i '1s/.*/one/' shared; \
        [ $PLEACH_TASK = 2 ] && echo two >> shared; echo x > file-$PLEACH_TASK";
    let plan = "### 1. First\n**Files Affected**:\n- `shared`\n\n### 2. Second\n**Files Affected**:\n- `shared`\n";
    let scene = Scene::with(&tests("[ ! -e file-1 ]"), plan, shell);
    scene.repo.write("shared", "a\nb\nc\nd\ne\n");
    scene.repo.commit("a file to share");
    let story = scene.story(&[]);
    story.check(1, "1:invalid 2:merged");
    check_proved(&scene, &story);
    assert_eq!(scene.show("pleach/batch-1", "shared"), "a\nb\nc\nd\ne\ntwo");
}

#[test]
fn a_red_base_blames_nobody_and_does_not_count_as_done() {
    let scene = Scene::with(&tests("false"), "- [ ] one\n- [ ] two\n", SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:merged");
    assert_eq!(story.status(), "failed");
    assert_eq!(story.told("batch:not_proved")[0]["doubt"], "base_red");
    assert_eq!(
        scene.plan(),
        "- [ ] one\n- [ ] two\n",
        "nothing is done that is not proved"
    );
    assert_eq!(
        scene.new_files("pleach/batch-1"),
        "file-1 file-2",
        "the work is there all the same"
    );
    assert_eq!(runs(&scene), 4, "result and base, each twice");
}

#[test]
fn a_flaky_run_is_not_red_and_is_noted() {
    let once = tests("[ -e BESIDE/second ] || { touch BESIDE/second; false; }");
    let scene = Scene::of("1, 2", &once, SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(0, "1:merged 2:merged");
    check_proved(&scene, &story);
    assert_eq!(runs(&scene), 2);
    assert_eq!(story.summary()["validation"]["flaky"], 1);
}

#[test]
fn trouble_of_the_environment_is_no_verdict() {
    for (tests, word) in [
        ("validate = \"kill -9 $$\"", "signal 9"),
        (
            "validate = \"no-such-program-anywhere\"",
            "could not be started",
        ),
        (
            "validate = \"sleep 600\"\nvalidate_timeout = \"300ms\"",
            "took too long",
        ),
        (
            "validate = \"echo No space left on device; exit 1\"",
            "disk was full",
        ),
    ] {
        let scene = Scene::of("1, 2", tests, SHELL);
        let story = scene.story(&[]);
        story.check(1, "1:merged 2:merged");
        assert_eq!(story.status(), "failed");
        let told = &story.told("batch:not_proved")[0];
        assert_eq!(told["doubt"], "trouble");
        let reason = told["reason"].as_str().unwrap();
        assert!(reason.contains(word), "{reason}");
        scene.check_nobody_is_left();
    }
}

#[test]
fn on_invalid_fail_fails_the_batch_and_looks_for_nobody() {
    let settings = tests("[ ! -e file-2 ]") + "\non_invalid = \"fail\"";
    let scene = Scene::of("1, 2, 3", &settings, SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:merged 3:merged");
    assert_eq!(story.status(), "failed");
    assert_eq!(story.told("batch:not_proved")[0]["doubt"], "red");
    assert_eq!(runs(&scene), 3, "the result twice and the base");
}

#[test]
fn a_green_tree_is_remembered_across_batches_and_a_red_one_is_judged_again() {
    let scene = Scene::of("1, 2", &tests("[ ! -e file-2 ]"), SHELL);
    let first = scene.story(&["1"]);
    first.check(0, "1:merged");
    assert_eq!(runs(&scene), 1);
    let again = scene.story(&["1"]);
    again.check(0, "1:merged");
    assert_eq!(runs(&scene), 1, "the same tree is known to be green");
    let both = scene.story(&["-j", "1", "1", "2"]);
    both.check(1, "1:merged 2:invalid");
    let before = runs(&scene);
    let red = scene.story(&["-j", "1", "1", "2"]);
    red.check(1, "1:merged 2:invalid");
    assert_eq!(
        runs(&scene) - before,
        4,
        "only what was red is run again, and the base"
    );
}

#[test]
fn the_tests_run_in_a_clean_worktree_after_setup_with_what_they_may_see() {
    let settings = "setup = \"echo ready > .ready\"\nvalidate_env = [\"WANTED\"]\n\
        validate = \"cat .ready > BESIDE/seen; echo $WANTED$UNWANTED >> BESIDE/seen; pwd >> BESIDE/seen; ls -a >> BESIDE/seen\"";
    let scene = Scene::of("1", settings, "echo x > file-1; echo junk > .ready");
    let mut command = crate::command(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--json"],
    );
    command.env("WANTED", "yes").env("UNWANTED", "no");
    let story = Story::of(&command.output().unwrap().into());
    story.check(0, "1:merged");
    let seen = scene.trace("seen");
    assert!(seen.starts_with("ready yes "), "{seen}");
    assert!(seen.contains("/validate-1 "), "{seen}");
    assert!(seen.contains("file-1"), "{seen}");
}

#[test]
fn every_wave_is_proved_before_the_next_one_starts() {
    let scene = Scene::of("1, 2, 3 1, 4 2", &tests("[ ! -e file-2 ]"), SHELL);
    let story = scene.story(&["--waves", "-j", "1"]);
    story.check(1, "1:merged 2:invalid 3:merged 4:blocked");
    assert_eq!(
        story.attempts(),
        "1:1 2:1 3:1 4:0",
        "no agent worked on what was not proved"
    );
    assert_eq!(story.told("batch:validating").len(), 2);
}

#[test]
fn a_stage_that_is_red_stops_the_plan() {
    let scene = Scene::staged("a b, c", &tests("[ ! -e file-b ]"), SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "a:merged b:invalid c:blocked");
    let stage = &story.told("batch:stage:completed")[0];
    assert_eq!(stage["mergeStatus"], "test_failed");
    assert_eq!(story.status(), "failed");
}

#[test]
fn several_prefixes_are_tried_at_once_when_slots_are_free() {
    let settings = tests("[ ! -e file-3 ]") + "\nmax_parallel = 4";
    let scene = Scene::of("1, 2, 3, 4, 5, 6, 7, 8", &settings, SHELL);
    let story = scene.story(&[]);
    story.check(
        1,
        "1:merged 2:merged 3:invalid 4:merged 5:merged 6:merged 7:merged 8:merged",
    );
    check_proved(&scene, &story);
    let told = story.told("batch:judged");
    let numbers: Vec<_> = told.iter().map(|run| run["number"].as_u64()).collect();
    let gapless: Vec<_> = (1..=told.len() as u64).map(Some).collect();
    assert_eq!(numbers, gapless, "in the order in which they are told");
    assert_eq!(story.summary()["validation"]["runs"], told.len());
    scene.check_nobody_is_left();
}

#[test]
fn without_a_command_it_is_said_that_nothing_is_proved() {
    let scene = Scene::new("- [ ] one\n", SHELL);
    let told = scene.run(&["--no-pr"]);
    assert!(
        told.out
            .contains("not proved: no test command is set (validate)"),
        "{}",
        told.out
    );
    assert!(
        told.err.contains("none (validate is not set)"),
        "{}",
        told.err
    );
    assert_eq!(scene.plan(), "- [x] one\n");
}

#[test]
fn a_batch_is_cancelled_while_its_tests_run() {
    let scene = Scene::of("1, 2", "", SHELL);
    let mut gate = Gate::at(&scene);
    let wait = "echo validate > BESIDE/arrived; read go < BESIDE/gate";
    scene.configure(&format!("plan = \"plan.json\"\nvalidate = {wait:?}"), SHELL);
    let running = scene.start(&[]);
    gate.wait_for(1);
    let cancelled = crate::pleach(scene.repo.path(), &scene.home(), &["cancel", "1"]);
    assert_eq!(cancelled.code, 0, "{}", cancelled.err);
    let story = running.story();
    assert_eq!(story.status(), "cancelled");
    scene.check_nobody_is_left();
}

#[test]
fn what_is_not_proved_is_marked_as_it_was_before() {
    let plan = "### 1. First\n**Status**: [NOT STARTED]\n\n### 2. Second\n**Status**: [PLANNED]\n";
    for tests in ["validate = \"false\"", "validate = \"kill -9 $$\""] {
        let scene = Scene::with(tests, plan, SHELL);
        scene.story(&["-j", "1"]).check(1, "1:merged 2:merged");
        assert_eq!(scene.plan(), plan);
    }
}

#[test]
fn what_is_proved_once_stays_done_when_something_later_is_not() {
    let tests = "validate = \"[ ! -e file-2 ] || kill -9 $$\"";
    let plan = "- [ ] 1 First\n- [ ] 2 Second (depends: 1)\n";
    let scene = Scene::with(tests, plan, SHELL);
    let story = scene.story(&["--waves"]);
    story.check(1, "1:merged 2:merged");
    assert_eq!(story.status(), "failed");
    assert_eq!(scene.plan(), "- [x] 1 First\n- [ ] 2 Second (depends: 1)\n");
}

#[test]
fn a_base_that_was_green_once_does_not_clear_the_machine() {
    let settings = "validate = \"[ -e BESIDE/server -a ! -e file-3 ]\"";
    let scene = Scene::of("1, 2, 3", settings, SHELL);
    std::fs::write(scene.repo.beside("server"), "").unwrap();
    // Somebody is guilty, so the base is looked at and found green.
    let first = scene.story(&["3"]);
    first.check(1, "3:invalid");
    std::fs::remove_file(scene.repo.beside("server")).unwrap();
    let story = scene.story(&["-j", "1", "1", "2"]);
    story.check(1, "1:merged 2:merged");
    assert_eq!(story.told("batch:not_proved")[0]["doubt"], "base_red");
}

#[test]
fn a_high_exit_code_is_red_and_no_signal() {
    let scene = Scene::of("1, 2", &tests("[ ! -e file-2 ] || exit 255"), SHELL);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:merged 2:invalid");
}

#[test]
fn a_value_that_only_the_tests_may_know_is_told_nowhere() {
    let secret = "hunter2-is-not-a-word";
    let settings =
        "validate_env = [\"SECRET\"]\nvalidate = \"echo the token is $SECRET; kill -9 $$\"";
    let scene = Scene::of("1", settings, SHELL);
    let words = ["run", "--yes", "--json"];
    let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
    let told: crate::Answer = command.env("SECRET", secret).output().unwrap().into();
    let story = Story::of(&told);
    story.check(1, "1:merged");
    assert!(!told.out.contains(secret), "{}", told.out);
    assert!(
        told.out.contains("the token is [hidden:SECRET]"),
        "{}",
        told.out
    );
    let shown = crate::pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    assert!(!shown.out.contains(secret), "{}", shown.out);
}

#[test]
fn what_the_tests_said_can_be_read_and_followed() {
    let settings = "validate = \"echo all is well with $(ls file-*)\"";
    let scene = Scene::of("1", settings, SHELL);
    scene.story(&[]).check(0, "1:merged");
    let logs = |words: &[&str]| crate::pleach(scene.repo.path(), &scene.home(), words);
    assert_eq!(
        logs(&["logs", "1", "--validation"]).good(),
        "all is well with file-1\n"
    );
    let followed = logs(&["logs", "1", "--validation", "-f"]);
    assert_eq!(followed.good(), "all is well with file-1\n");
    let missing = logs(&["logs", "1", "--validation", "--attempt", "7"]).bad(2);
    assert!(missing.contains("no test output of run 7"), "{missing}");
    let quiet = Scene::of("1", "", SHELL);
    quiet.story(&[]).check(0, "1:merged");
    let none = crate::pleach(
        quiet.repo.path(),
        &quiet.home(),
        &["logs", "1", "--validation"],
    );
    assert!(
        none.err.contains("batch 1 has not run any tests"),
        "{}",
        none.err
    );
}

#[test]
fn a_token_in_the_test_command_is_hidden_wherever_the_command_is_shown() {
    // Put together here, so that this file holds no secret.
    let token = format!("ghp{}", "_kT4Vw9ZqLx2RbN7mYc1DfGh8JsPu5AoEi3Q6");
    let settings = format!("validate = \"true --token {token}\"\nsetup = \"true {token}\"");
    let scene = Scene::of("1", &settings, "echo x > file-$PLEACH_TASK");
    let said = |words: &[&str]| {
        let answer = crate::pleach(scene.repo.path(), &scene.home(), words);
        assert_eq!(answer.code, 0, "{}", answer.err);
        let shown = format!("{}{}", answer.out, answer.err);
        assert!(!shown.contains(&token), "{words:?}: {shown}");
        shown
    };
    let hidden = "true --token [hidden";
    for words in [
        &["run", "all", "--dry-run"][..],
        &["run", "all", "--dry-run", "--json"],
        &["run", "1", "--yes"],
        &["status", "1", "--json"],
    ] {
        let shown = said(words);
        assert!(shown.contains(hidden), "{words:?}: {shown}");
    }
    said(&["run", "1", "--yes", "--json"]);
}

#[test]
fn a_run_that_was_interrupted_and_the_one_that_repeats_it_have_logs_of_their_own() {
    let scene = Scene::of("1", "", SHELL);
    let mut gate = Gate::at(&scene);
    let wait = "echo one of them; [ -e BESIDE/mended ] || { echo validate > BESIDE/arrived; read go < BESIDE/gate; }";
    let settings = format!("plan = \"plan.json\"\nland = \"none\"\nvalidate = {wait:?}");
    scene.configure(&settings, SHELL);
    let running = scene.start(&[]);
    gate.wait_for(1);
    let pleach = |words: &[&str]| crate::pleach(scene.repo.path(), &scene.home(), words);
    pleach(&["cancel", "1"]).good();
    assert_eq!(running.story().status(), "cancelled");
    std::fs::write(scene.repo.beside("mended"), "").unwrap();
    let landed = Story::of(&pleach(&["land", "1", "--into", "main", "--json"]));
    landed.check(0, "1:merged");
    assert_eq!(landed.told("batch:judged")[0]["number"], 1);
    assert_eq!(
        pleach(&["logs", "1", "--validation"]).good(),
        "one of them\n"
    );
    let first = ["logs", "1", "--validation", "--attempt", "1"];
    assert_eq!(pleach(&first).good(), "one of them\n");
}

#[test]
fn a_verdict_holds_for_its_project_and_until_it_is_asked_for_again() {
    let tests = "land = \"none\"\nvalidate = \"echo run >> BESIDE/runs; [ -e BESIDE/flag ]\"";
    let scene = Scene::of("1", tests, SHELL);
    scene.repo.git(&["add", "--all"]);
    scene.repo.commit("everything");
    let flag = scene.repo.beside("flag");
    std::fs::write(&flag, "").unwrap();
    let first = scene.story(&[]);
    first.check(0, "1:merged");
    assert!(first.summary()["validation"]["provedAt"].is_null());
    let again = scene.story(&[]);
    again.check(0, "1:merged");
    assert_eq!(runs(&scene), 1);
    let when = &again.told("batch:judged")[0]["provedAt"];
    assert!(when.is_string(), "it says since when");
    assert_eq!(again.summary()["validation"]["provedAt"], *when);
    scene.story(&["--prove-again"]).check(0, "1:merged");
    assert_eq!(runs(&scene), 2);
    // The same commit, the same command, in another place.
    std::fs::remove_file(&flag).unwrap();
    let other = scene.repo.beside("other");
    scene
        .repo
        .git(&["clone", "-q", ".", other.to_str().unwrap()]);
    let words = ["run", "--yes", "--json"];
    let there = Story::of(&crate::pleach(&other, &scene.home(), &words));
    assert_eq!(there.status(), "failed");
    let land = ["land", "3", "--into", "main", "--json", "--prove-again"];
    let landed = crate::pleach(scene.repo.path(), &scene.home(), &land);
    assert_eq!(landed.code, 1, "{}", landed.err);
    let told = Story::of(&landed);
    assert_eq!(told.told("batch:not_proved")[0]["doubt"], "base_red");
}

#[test]
fn a_verdict_of_other_programs_is_not_remembered() {
    let tests = "land = \"none\"\nvalidate = \"echo run >> BESIDE/runs\"";
    let scene = Scene::of("1", tests, SHELL);
    let usual = std::env::var("PATH").unwrap();
    let other = format!("{usual}:{}", scene.repo.beside("tools").display());
    for (path, expected) in [(&usual, 1), (&usual, 1), (&other, 2)] {
        let words = ["run", "--yes", "--json"];
        let mut command = crate::command(scene.repo.path(), &scene.home(), &words);
        let answer = command.env("PATH", path).output().unwrap().into();
        Story::of(&answer).check(0, "1:merged");
        assert_eq!(runs(&scene), expected, "{path}");
    }
}
