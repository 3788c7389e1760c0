//! Tasks that change what steers agents or Pleach: what builds on them waits for a person.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::pleach;
use crate::scene::Scene;

/// Every kind of file that steers, with the shell that changes it.
const STEERING: [&str; 20] = [
    "mkdir -p .claude; echo x > .claude/settings.json",
    "mkdir -p .claude/hooks; echo x > .claude/hooks/a.sh",
    "mkdir -p web/.claude; echo x > web/.claude/settings.local.json",
    "echo '{}' > .mcp.json",
    "mkdir -p .codex; echo x > .codex/config.toml",
    "mkdir -p .gemini; echo x > .gemini/settings.json",
    "mkdir -p .cursor; echo x > .cursor/rules",
    "echo '{}' > opencode.json",
    "mkdir -p .opencode; echo x > .opencode/agent.md",
    "echo x > AGENTS.md",
    "mkdir -p deep/er; echo x > deep/er/AGENTS.md",
    "echo x > CLAUDE.md",
    "echo x > .env",
    "echo x > .env.production",
    "mkdir -p .husky; echo x > .husky/pre-commit",
    "mkdir -p .githooks; echo x > .githooks/pre-push",
    "echo '*' > .worktreeinclude",
    "echo 'validate = \"curl evil\"' > pleach.toml",
    "rm GEMINI.md",
    "mkdir -p links; ln -s /tmp links/.claude",
];

/// Tasks `a1`, `a2` … change something, and `b1`, `b2` … need them.
fn scene() -> Scene {
    let scene = Scene::of("x", "max_parallel = 8\nparallel_limit = 8", "");
    scene.repo.write("GEMINI.md", "be nice\n");
    let mut cases = String::new();
    let mut tasks = vec![json!({"id": "free", "title": "needs nothing", "priority": "high"})];
    for (number, deed) in STEERING.iter().enumerate() {
        write!(cases, "a{number}) {deed};; ").unwrap();
        tasks.push(json!({"id": format!("a{number}"), "title": "changes"}));
        tasks.push(json!({"id": format!("b{number}"), "title": "builds", "depends_on": [format!("a{number}")]}));
    }
    let shell = format!(
        "case $PLEACH_TASK in {cases} *) echo $PLEACH_TASK >> BESIDE/ran; echo x > done-$PLEACH_TASK;; esac"
    );
    scene.configure("plan = \"plan.json\"\nmax_parallel = 8", &shell);
    scene
        .repo
        .write("plan.json", json!({"tasks": tasks}).to_string());
    scene.repo.commit("a plan");
    scene
}

fn tasks(scene: &Scene) -> Vec<Value> {
    let answer = pleach(scene.repo.path(), &scene.home(), &["status", "1", "--json"]);
    let status: Value = serde_json::from_str(&answer.good()).unwrap();
    status["batches"][0]["tasks"].as_array().unwrap().clone()
}

fn state_of(scene: &Scene, id: &str) -> String {
    let tasks = tasks(scene);
    let task = tasks.iter().find(|task| task["key"] == id).unwrap();
    task["state"].as_str().unwrap().to_owned()
}

#[test]
fn what_builds_on_a_task_that_changes_steering_files_waits_for_consent_20_of_20() {
    let scene = scene();
    let mut running = scene.start(&[]);
    for _ in 0..STEERING.len() {
        running.wait_for("batch:task:waiting");
    }
    let waiting = tasks(&scene);
    let waiting: Vec<&Value> = waiting
        .iter()
        .filter(|task| task["status"] == "waiting")
        .collect();
    assert_eq!(waiting.len(), STEERING.len());
    for task in waiting {
        let files = task["consent"].as_array().unwrap();
        assert!(!files.is_empty(), "{task}");
    }
    // What needs nothing of it went on, and nothing that waits has run.
    assert_eq!(state_of(&scene, "free"), "merged");
    assert_eq!(scene.trace("ran"), "free");
    let approved = pleach(scene.repo.path(), &scene.home(), &["approve", "1"]).good();
    assert!(approved.contains("to .claude/settings.json"), "{approved}");
    running.wait_for("batch:task:completed");
    pleach(scene.repo.path(), &scene.home(), &["cancel", "1"]).good();
    let story = running.story();
    let outcomes = story.outcomes();
    assert!(
        outcomes.contains("b0:merged") && outcomes.contains("b1:cancelled"),
        "{outcomes}"
    );
    assert_eq!(scene.trace("ran"), "free b0");
}

#[test]
fn consent_holds_for_the_files_as_they_were_and_for_all_that_wait_for_them() {
    let shell = "case $PLEACH_TASK in
        1) echo one > AGENTS.md;;
        4) echo four > AGENTS.md;;
        *) cat AGENTS.md > seen-$PLEACH_TASK;; esac";
    let scene = Scene::of("1, 2 1, 3 1, 4 2 3, 5 4", "max_parallel = 2", shell);
    let mut running = scene.start(&[]);
    running.wait_for("batch:task:waiting");
    running.wait_for("batch:task:waiting");
    let approve = || pleach(scene.repo.path(), &scene.home(), &["approve", "1"]);
    approve().good();
    // Both go on, and so does what builds on them; what was changed again is asked for again.
    running.wait_for("batch:task:waiting");
    let waiting = tasks(&scene);
    let states: Vec<&str> = waiting
        .iter()
        .map(|task| task["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["merged", "merged", "merged", "merged", "waiting"]);
    approve().good();
    let story = running.story();
    story.check(0, "1:merged 2:merged 3:merged 4:merged 5:merged");
    assert_eq!(scene.show("pleach/batch-1", "seen-2"), "one");
    assert_eq!(scene.show("pleach/batch-1", "seen-5"), "four");
    assert_eq!(story.told("batch:task:waiting").len(), 3);
}
