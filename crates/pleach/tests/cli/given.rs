//! What an agent is given: its prompt, its environment, its worktree; and what becomes of that.

use std::fs;

use serde_json::Value;

use crate::pleach;
use crate::scene::{Gate, Scene, Story, WAIT};

/// What the agent of the one task was told.
fn told(plan: &str, words: &[&str]) -> String {
    let scene = Scene::new(plan, "cat > prompt");
    fs::write(
        scene.repo.path().join("more.md"),
        "Speak like a {{phase}} pirate of {{title}}.\n",
    )
    .unwrap();
    scene.story(words).check(0, "2.1:merged");
    scene.show("pleach/batch-1", "prompt")
}

const PLAN: &str = "## Phase 2: Walls\n- [ ] 2.1 North wall\n  of brick\n";

/// A prompt of the user's, behind which is nothing but how to say that nothing is needed.
#[track_caller]
fn check_whole(prompt: &str, expected: &str) {
    let (told, rest) = prompt.split_once("\n\n").unwrap_or((prompt, ""));
    assert_eq!(told, expected);
    assert!(
        rest.contains("NO CHANGES NEEDED:") && rest.lines().count() == 1,
        "{rest}"
    );
}

#[test]
fn a_prompt_of_the_command_line_is_added_to_the_task() {
    let prompt = told(PLAN, &["--prompt", "Be brief."]);
    assert!(prompt.starts_with("# Task 2.1: North wall\n"), "{prompt}");
    assert!(prompt.contains("of brick"), "{prompt}");
    assert!(prompt.contains("\nBe brief.\n"), "{prompt}");
}

#[test]
fn a_prompt_with_places_is_all_that_an_agent_is_told() {
    let prompt = told(PLAN, &["--prompt", "Build {{title}}: {{details}}"]);
    check_whole(&prompt, "Build North wall: of brick");
}

#[test]
fn a_prompt_may_be_a_file() {
    let prompt = told(PLAN, &["--prompt", "@more.md"]);
    check_whole(&prompt, "Speak like a 2: Walls pirate of North wall.");
}

#[test]
fn a_prompt_that_can_not_be_read_or_asks_for_what_no_task_has_is_refused() {
    let scene = Scene::of("1", "", "true");
    for (prompt, expected) in [
        ("@nowhere.md", "could not read nowhere.md"),
        ("{{titel}}", "did you mean {{title}}?"),
    ] {
        let error = scene.run(&["--prompt", prompt]).bad(2);
        assert!(
            error.contains(expected) && error.contains("hint: "),
            "{error}"
        );
    }
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn the_model_reaches_the_agents_command_and_its_environment() {
    let scene = Scene::of("1", "", "unused");
    let config = "plan = \"plan.json\"\n[agents.mine]\nmodel = \"small\"\n\
        command = [\"sh\", \"-c\", \"echo $0 $PLEACH_MODEL > model\", \"{{model}}\"]\n";
    scene.repo.write("pleach.toml", config);
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "model"), "small small");
    scene.story(&["--model", "large"]).check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-2", "model"), "large large");
}

#[test]
fn setup_runs_once_in_each_worktree_before_the_agent() {
    let settings = "setup = \"echo $PLEACH_TASK >> BESIDE/setups; echo made > made-by-setup\"";
    let scene = Scene::of("1, 2", settings, "cat made-by-setup > saw-$PLEACH_TASK");
    let story = scene.story(&["-j", "1"]);
    story.check(0, "1:merged 2:merged");
    assert_eq!(scene.trace("setups"), "1 2");
    assert_eq!(scene.show("pleach/batch-1", "saw-2"), "made");
}

#[test]
fn a_setup_that_fails_fails_the_attempt_with_its_last_line() {
    let settings =
        "retries = 1\nretry_pause = \"10ms\"\nsetup = \"echo first; echo no such package; exit 4\"";
    let scene = Scene::of("1", settings, "touch BESIDE/agent-ran");
    let story = scene.story(&[]);
    story.check(1, "1:failed");
    assert_eq!(story.attempts(), "1:2");
    let error = story.error_of("1");
    assert!(
        error.contains("exited with 4: no such package") && error.starts_with("setup ("),
        "{error}"
    );
    assert!(!scene.repo.beside("agent-ran").exists());
}

#[test]
fn files_of_worktreeinclude_are_in_the_worktree_and_not_in_the_commit() {
    let scene = Scene::of("1", "", "cp secret.local saw; ls -a > all; rm secret.local");
    scene.repo.write(".gitignore", "*.local\n");
    scene.repo.write(".worktreeinclude", "secret.local\n");
    scene.repo.write("secret.local", "hunter2\n");
    scene.repo.write("other.local", "not asked for\n");
    scene.repo.commit("ignored files that agents get");
    scene.story(&[]).check(0, "1:merged");
    assert_eq!(scene.show("pleach/batch-1", "saw"), "hunter2");
    let all = scene.show("pleach/batch-1", "all");
    assert!(!all.contains("other.local"), "{all}");
    assert_eq!(scene.new_files("pleach/batch-1"), "all saw");
    assert!(scene.repo.path().join("secret.local").exists());
}

#[test]
fn every_agent_knows_its_task_batch_attempt_and_worktree_and_has_ports_of_its_own() {
    let shell = format!(
        "{{ echo $PLEACH_TASK $PLEACH_BATCH $PLEACH_ATTEMPT; echo $PLEACH_PORT
         [ \"$PWD\" = \"$PLEACH_WORKTREE\" ] && echo here; }} > said-$PLEACH_TASK; {WAIT}"
    );
    let scene = Scene::of("1, 2", "", &shell);
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["-j", "2"]);
    gate.wait_for(2);
    gate.let_go(2);
    run.story().check(0, "1:merged 2:merged");
    let said = |task: &str| {
        let said = scene.show("pleach/batch-1", &format!("said-{task}"));
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (first, second) = (said("1"), said("2"));
    assert_eq!((first[0].as_str(), first[2].as_str()), ("1 1 1", "here"));
    assert_eq!((second[0].as_str(), second[2].as_str()), ("2 1 1", "here"));
    let port = |said: &[String]| said[1].parse::<u16>().unwrap();
    assert!(port(&first) > 1023 && port(&second) > 1023);
    assert_ne!(port(&first), port(&second));
}

fn worktrees(scene: &Scene) -> Vec<String> {
    let words = ["worktrees", "--json"];
    let told = pleach(scene.repo.path(), &scene.home(), &words);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let all = told["worktrees"].as_array().unwrap().iter();
    all.map(|tree| tree["id"].as_str().unwrap().to_owned())
        .collect()
}

fn scene_with_a_failure(settings: &str) -> (Scene, Story) {
    let shell = "echo half > half-$PLEACH_TASK; [ $PLEACH_TASK != 1 ]";
    let scene = Scene::of("1, 2", &format!("retries = 0\n{settings}"), shell);
    let story = scene.story(&["-j", "1"]);
    story.check(1, "1:failed 2:merged");
    (scene, story)
}

#[test]
fn keep_failed_leaves_the_worktree_of_a_failed_task_and_of_no_other() {
    let (scene, _) = scene_with_a_failure("keep_failed = true");
    assert_eq!(worktrees(&scene), ["batch-1/task-1"]);
    let (by_default, _) = scene_with_a_failure("");
    assert_eq!(worktrees(&by_default), ["batch-1/task-1"]);
}

#[test]
fn without_keep_failed_no_worktree_stays_and_the_work_is_kept() {
    let (scene, _) = scene_with_a_failure("keep_failed = false");
    assert_eq!(worktrees(&scene), Vec::<String>::new());
    scene.check_no_worktree_is_left();
    assert_eq!(scene.show("pleach/task-1/1", "half-1"), "half");
}

#[test]
fn worktrees_are_where_the_setting_says() {
    let scene = Scene::of(
        "1",
        "worktrees = \"BESIDE/trees\"",
        "pwd > where; echo x > x",
    );
    scene.story(&[]).check(0, "1:merged");
    let pwd = scene.show("pleach/batch-1", "where");
    let trees = scene.repo.beside("trees");
    assert!(pwd.starts_with(trees.to_str().unwrap()), "{pwd}");
    assert!(pwd.ends_with("/batch-1/task-1"), "{pwd}");
}
