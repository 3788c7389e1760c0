//! The ids of tasks: the same in every answer and event, whether a plan file was imported or not.

use serde_json::{Value, json};

use crate::scene::Scene;
use crate::serving::Serving;
use crate::table::{Table, until_over};

fn ids(batch: &Value) -> Vec<Value> {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["taskId"].clone()).collect()
}

#[test]
fn the_ids_that_go_in_come_out_of_every_answer_and_event() {
    let table = Table::new(2, "land = \"none\"", "echo x > file-$PLEACH_TASK");
    let server = table.serve();
    let mut stream = server.listen("/api/events?from=0", &[]).unwrap();
    let made = table.start(&server, &json!({}));
    assert_eq!(json!(ids(&made)), json!(table.tasks));
    until_over(&server, 1);
    let mut heard = Vec::new();
    loop {
        let event = stream.next_event().unwrap();
        let is_last = event.event == "batch:completed";
        if event.event.starts_with("batch:task:") {
            heard.push((event.data["taskId"].clone(), event.data["key"].clone()));
        }
        if event.event == "batch:created" {
            assert_eq!(event.data["tasks"], json!(table.tasks));
            assert_eq!(event.data["keys"], json!(["1", "2"]));
        }
        if is_last {
            break;
        }
    }
    let [first, second] = [&table.tasks[0], &table.tasks[1]];
    assert!(heard.contains(&(json!(first), json!("1"))), "{heard:?}");
    for pair in &heard {
        let known = [(json!(first), json!("1")), (json!(second), json!("2"))];
        assert!(known.contains(pair), "{heard:?}");
    }
    for name in ["2", second] {
        let path = format!("/api/batches/1/tasks/{name}/diff");
        server.get(&path).good(200);
    }
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
