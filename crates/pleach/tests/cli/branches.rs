//! Branches are named as people want them, in their repository and on the server.

use crate::command;
use crate::scene::{Gate, Scene, WAIT};

const OWN: &str = "retries = 0\nbranch_prefix = \"team/bot\"\ntask_branch = \"{{prefix}}/{{batch}}-{{task}}\"\n\
                   batch_branch = \"{{prefix}}/hedge-{{batch}}\"";

fn all(scene: &Scene) -> String {
    let words = ["for-each-ref", "--format=%(refname:short)", "refs/heads"];
    scene.repo.git(&words).replace('\n', " ")
}

#[test]
fn patterns_name_what_is_published_and_nothing_else_is() {
    let plan = "- [ ] 1.1 A\n- [ ] 1.2 B\n";
    let shell = "echo $PLEACH_TASK > $PLEACH_TASK; [ $PLEACH_TASK = 1.1 ]";
    let scene = Scene::with(OWN, plan, shell);
    let story = scene.story(&[]);
    story.check(1, "1.1:merged 1.2:failed");
    assert_eq!(all(&scene), "main team/bot/1-1.2 team/bot/hedge-1");
    assert_eq!(scene.show("team/bot/hedge-1", "1.1"), "1.1");
    assert_eq!(story.summary()["batchBranch"], "team/bot/hedge-1");
    let recovered = crate::pleach(scene.repo.path(), &scene.home(), &["recover", "1", "1.2"]);
    recovered.good();
    assert!(
        all(&scene).contains("team/bot/recovered-1/1.2"),
        "{}",
        all(&scene)
    );
}

#[test]
fn a_batch_that_is_taken_up_keeps_its_names() {
    let scene = Scene::with(OWN, "- [ ] 1 A\n", "echo a > a");
    let mut first = command(scene.repo.path(), &scene.home(), &["run", "--yes"]);
    first.env("PLEACH_DIE_AT", "BatchStarted");
    first.output().unwrap();
    scene.configure("branch_prefix = \"other\"", "echo a > a");
    scene.run(&["--resume", "1"]).good();
    assert_eq!(all(&scene), "main team/bot/hedge-1");
}

#[test]
fn a_branch_with_the_name_of_the_prefix_is_refused_with_the_key() {
    let scene = Scene::with("branch_prefix = \"bot\"", "- [ ] 1 A\n", "true");
    scene.repo.git(&["branch", "bot"]);
    let error = scene.run(&[]).bad(3);
    assert!(error.contains("branch \"bot\" prevents"), "{error}");
    assert!(error.contains("branch_prefix"), "{error}");
    scene.configure("branch_prefix = \"free\"", "echo a > a");
    scene.run(&[]).good();
    assert_eq!(all(&scene), "bot free/batch-1 main");
}

#[test]
fn a_result_that_cannot_be_brought_to_the_repository_is_no_success() {
    let scene = Scene::with("", "- [ ] 1 A\n", &format!("{WAIT}; echo a > a"));
    let mut gate = Gate::at(&scene);
    let running = scene.start(&[]);
    gate.wait_for(1);
    // Git cannot have branches below the name of one.
    scene.repo.git(&["branch", "pleach"]);
    gate.let_go(1);
    let story = running.story();
    story.check(1, "1:merged");
    let summary = story.summary();
    assert_eq!(
        (story.status(), &summary["batchBranch"]),
        ("completed", &serde_json::Value::Null)
    );
    assert!(
        story.notes().contains("could not create the branch"),
        "{}",
        story.notes()
    );
    assert_eq!(all(&scene), "main pleach");
}

#[test]
fn patterns_that_collide_are_refused_before_anything_is_done() {
    let settings = "task_branch = \"{{prefix}}/batch-{{batch}}/{{task}}\"";
    let scene = Scene::with(settings, "- [ ] 1 A\n", "true");
    let error = scene.run(&[]).bad(2);
    assert!(error.contains("pleach.toml:4: task_branch"), "{error}");
    assert!(error.contains("a folder of the other"), "{error}");
    assert!(!scene.state().join("batches").exists());
}

#[test]
fn what_is_pushed_bears_the_same_name() {
    let settings = format!("{OWN}\nland = \"push\"");
    let scene = Scene::with(&settings, "- [ ] 1 A\n", "echo a > a");
    let server = scene.repo.beside("server.git");
    let server = server.to_str().unwrap();
    scene.repo.git(&["init", "-q", "--bare", server]);
    scene.repo.git(&["remote", "add", "origin", server]);
    scene.repo.git(&["push", "-q", "origin", "main"]);
    scene.run(&[]).good();
    let there = scene.repo.git(&["ls-remote", "--heads", "origin"]);
    assert!(there.contains("refs/heads/team/bot/hedge-1"), "{there}");
    assert!(!there.contains("pleach"), "{there}");
}
