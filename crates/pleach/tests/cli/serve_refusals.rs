//! Batches that are refused for what their tasks are or do, over HTTP.

use rustix::process::Signal;
use serde_json::json;

use crate::scene::Gate;
use crate::serving::Serving;
use crate::table::{Table, outcomes, patient, until_over};

#[test]
fn a_task_that_runs_in_a_terminal_is_busy() {
    let table = Table::new(0, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    table.scene.repo.write("TODO.md", "- [ ] dig\n- [ ] sow\n");
    let server = table.serve();
    let body = json!({"projectId": table.project, "path": "TODO.md"});
    let imported = server.post("/api/tasks/import", &body).good(200);
    let ids = imported["tasks"].as_array().unwrap().iter();
    let ids: Vec<_> = ids.map(|task| task["id"].clone()).collect();
    let run = table.scene.start(&["1"]);
    gate.wait_for(1);
    let ask = |tasks: &[serde_json::Value]| {
        let body = json!({ "taskIds": tasks });
        server.post("/api/batches", &body)
    };
    let refused = ask(&ids);
    assert_eq!(refused.bad(409), "task_busy");
    assert!(refused.text().contains("batch 1"), "{}", refused.text());
    let alone = format!("/api/tasks/{}/run", ids[0].as_str().unwrap());
    assert_eq!(server.post(&alone, &json!({})).bad(409), "task_busy");
    // The other one is free.
    assert_eq!(ask(&ids[1..]).good(201)["id"], 2);
    gate.wait_for(1);
    gate.let_go(2);
    assert_eq!(outcomes(&until_over(&server, 2)), "2:merged");
    run.story().check(0, "1:merged");
    assert_eq!(ask(&ids).bad(422), "already_complete");
}

#[test]
fn whoever_stops_a_batch_of_a_terminal_frees_its_tasks() {
    let table = Table::new(0, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    table.scene.repo.write("TODO.md", "- [ ] dig\n");
    let server = Serving::of(&table.scene, &["--yes"]);
    let body = json!({"projectId": table.project, "path": "TODO.md"});
    let imported = server.post("/api/tasks/import", &body).good(200);
    let run = table.scene.start(&["1"]);
    gate.wait_for(1);
    run.signal(Signal::INT);
    assert_eq!(run.answer().code, 130);
    let body = json!({"taskIds": [imported["tasks"][0]["id"]]});
    server.post("/api/batches", &body).good(201);
    gate.wait_for(1);
    gate.let_go(1);
    assert_eq!(outcomes(&until_over(&server, 2)), "1:merged");
}
