//! `pleach worktrees`.

use serde_json::Value;

use crate::run::Scene;
use crate::stopping::waiting_run;
use crate::{Answer, pleach};

fn worktrees(scene: &Scene, words: &[&str]) -> Answer {
    let words: Vec<&str> = ["worktrees"].iter().chain(words).copied().collect();
    pleach(scene.repo.path(), &scene.home(), &words)
}

fn states(scene: &Scene) -> Vec<(String, String)> {
    let told: Value = serde_json::from_str(&worktrees(scene, &["--json"]).out).unwrap();
    let all = told["worktrees"].as_array().unwrap().iter();
    let word = |tree: &Value, name: &str| tree[name].as_str().unwrap().to_owned();
    all.map(|tree| (word(tree, "id"), word(tree, "state")))
        .collect()
}

#[test]
fn a_repository_that_was_never_run_has_none() {
    let scene = Scene::new("- [ ] 1.1 A\n", "true");
    let answer = worktrees(&scene, &[]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert_eq!(answer.out, "No worktrees.\n");
    assert!(states(&scene).is_empty());
    assert!(!scene.home().join(".local/state/pleach/stores").exists());
}

#[test]
fn those_in_use_and_those_left_over_are_told_apart() {
    let scene = Scene::new("- [ ] 1.1 A\n", "");
    let (mut run, gate) = waiting_run(&scene, "");
    let id = "batch-1/task-1.1".to_owned();
    assert_eq!(states(&scene), [(id.clone(), "in_use".to_owned())]);
    let text = worktrees(&scene, &[]).out;
    assert!(
        text.contains("in use") && text.contains("pleach/task-1/1.1"),
        "{text}"
    );
    assert!(text.contains("do not run git here"), "{text}");
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(states(&scene), [(id.clone(), "left_over".to_owned())]);
    let text = worktrees(&scene, &[]).out;
    assert!(text.contains("do not run git here"), "{text}");
    // It may hold work, so the next run leaves it alone.
    drop(gate);
    let next = pleach(
        scene.repo.path(),
        &scene.home(),
        &["run", "--yes", "--dry-run"],
    );
    assert_eq!(next.code, 0, "{}", next.err);
    assert_eq!(states(&scene), [(id, "left_over".to_owned())]);
}
