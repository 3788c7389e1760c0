//! `run --status FILE`: a status file that says what is done and is kept while a batch runs.

use serde_json::{Value, json};

use crate::scene::{Gate, Scene, WAIT};

const PLAN: &str = "- [ ] 1.1 A\n- [ ] 1.2 B\n- [ ] 1.3 C (depends: 1.2)\n- [ ] 1.4 D\n";

fn scene(shell: &str) -> Scene {
    let scene = Scene::new(PLAN, shell);
    let task = |id: &str, status: &str| json!({"id": id, "status": status, "owner": {"of": id}});
    let tasks = [
        task("1.1", "pending"),
        task("1.2", "pending"),
        task("1.3", "pending"),
        task("1.4", "completed"),
    ];
    let text = json!({"planPath": "TODO.md", "tasks": tasks, "summary": {"note": "mine"}});
    scene.repo.write("status.json", text.to_string());
    scene
}

fn states(scene: &Scene) -> String {
    let path = scene.repo.path().join("status.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(file["summary"]["note"], "mine", "what is unknown is kept");
    let tasks = file["tasks"].as_array().unwrap().iter();
    let states = tasks.map(|task| {
        assert_eq!(task["owner"]["of"], task["id"], "what is unknown is kept");
        format!(
            "{}:{}",
            task["id"].as_str().unwrap(),
            task["status"].as_str().unwrap()
        )
    });
    states.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_status_file_follows_the_run_and_says_what_is_done() {
    let scene = scene(&format!(
        "{WAIT}; test $PLEACH_TASK != 1.2 && echo x > file-$PLEACH_TASK"
    ));
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--status", "status.json", "-j", "2"]);
    gate.wait_for(2);
    assert_eq!(
        states(&scene),
        "1.1:in_progress 1.2:in_progress 1.3:pending 1.4:completed"
    );
    gate.let_go(2);
    run.story().check(1, "1.1:merged 1.2:failed 1.3:blocked");
    assert_eq!(
        states(&scene),
        "1.1:completed 1.2:failed 1.3:skipped 1.4:completed"
    );
}

#[test]
fn a_run_that_is_interrupted_and_resumed_goes_on_keeping_the_file() {
    let scene = scene(&format!("{WAIT}; echo x > file-$PLEACH_TASK"));
    let mut gate = Gate::at(&scene);
    let run = scene.start(&["--status", "status.json", "1.1"]);
    gate.wait_for(1);
    run.signal(rustix::process::Signal::INT);
    assert_eq!(run.answer().code, 130);
    assert_eq!(
        states(&scene),
        "1.1:pending 1.2:pending 1.3:pending 1.4:completed"
    );
    let resumed = scene.start(&["--resume"]);
    gate.wait_for(1);
    gate.let_go(1);
    resumed.story().check(0, "1.1:merged");
    assert_eq!(
        states(&scene),
        "1.1:completed 1.2:pending 1.3:pending 1.4:completed"
    );
}

#[test]
fn a_task_that_the_file_does_not_know_is_refused_before_anything_starts() {
    let scene = scene("echo x > x");
    scene.repo.write(
        "status.json",
        r#"{"tasks":[{"id":"1.1","status":"pending"}]}"#,
    );
    let answer = scene.run(&["--status", "status.json", "--json", "1.2"]);
    assert_eq!(answer.code, 2);
    assert_eq!(answer.json()["error"]["code"], "task_not_found");
}
