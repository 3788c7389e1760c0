//! Tasks of plan files that terminals ran, as the board shows them once they are imported.

use pleach_testkit::import_tasks;
use serde_json::{Value, json};

use crate::scene::Scene;
use crate::serving::Serving;
use crate::table::until_over;

fn ids(batch: &Value) -> Vec<Value> {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["taskId"].clone()).collect()
}

#[test]
fn a_task_of_a_plan_file_has_one_id_in_batches_before_and_after_it_is_imported() {
    let scene = Scene::of("1, 2", "land = \"none\"", "echo x > file-$PLEACH_TASK");
    scene.story(&["1"]).check(0, "1:merged");
    let server = Serving::of(&scene, &["--yes"]);
    let before = server.get("/api/batches/1").good(200);
    let project = before["projectId"].as_str().unwrap();
    let plan = std::path::Path::new(before["plan"].as_str().unwrap());
    let body = json!({"projectId": project, "path": plan.file_name().unwrap().to_str()});
    let imported = server.post("/api/tasks/import", &body).good(200);
    let task = |at: usize| imported["tasks"][at]["id"].clone();
    assert_eq!(ids(&before), [task(0)]);
    let body = json!({"taskIds": [task(1)]});
    let after = server.post("/api/batches", &body).good(201);
    assert_eq!(ids(&after), [task(1)]);
    until_over(&server, 2);
}

#[test]
fn a_task_shows_what_became_of_it_in_a_terminal() {
    let scene = Scene::new("- [ ] dig\n", "true");
    scene.story(&["all"]).check(0, "1:no_changes");
    let server = Serving::of(&scene, &[]);
    let project = server.get("/api/projects").good(200)["projects"][0]["id"].clone();
    let project = project.as_str().unwrap();
    let tasks = import_tasks(&server, project, &json!({"path": "TODO.md"}));
    let dig = server.get(&format!("/api/tasks/{}", tasks[0])).good(200);
    let batch = json!({"id": 1, "number": 1, "status": "completed", "outcome": "no_changes"});
    assert_eq!(
        (&dig["batch"], &dig["status"]),
        (&batch, &json!("completed"))
    );
}
