//! Batches that are refused for what their tasks are or do, over HTTP.

use rustix::process::Signal;
use serde_json::json;

use crate::scene::Gate;
use crate::serving::Serving;
use crate::table::{ADDS_A_FILE, Table, outcomes, patient, until_over};

#[test]
fn a_batch_is_of_one_project_and_of_a_thousand_tasks_at_most() {
    let mut table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
    let elsewhere = table.scene.repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let server = table.serve();
    let other = server
        .post("/api/projects", &json!({ "path": elsewhere }))
        .good(201);
    let body = json!({"projectId": other["id"], "title": "far away"});
    let far_away = server.post("/api/tasks", &body).good(201)["id"].clone();
    let ask = |tasks: &[serde_json::Value]| {
        let body = json!({ "taskIds": tasks });
        server.post("/api/batches", &body)
    };
    let here = json!(table.tasks[0]);
    assert_eq!(ask(&[here, far_away.clone()]).bad(400), "mixed_projects");
    let unknown = json!("nobody0");
    assert_eq!(ask(&[far_away, unknown]).bad(404), "task_not_found");
    table.add(1_000);
    let all: Vec<_> = table.tasks.iter().map(|task| json!(task)).collect();
    assert_eq!(ask(&all).bad(422), "too_many_tasks");
    let none = server.get("/api/batches?status=all").good(200);
    assert_eq!(none, json!({"batches": []}));
}

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
fn what_runs_is_neither_deleted_nor_hidden() {
    let table = Table::new(2, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    let server = table.serve();
    let run = format!("/api/tasks/{}/run", table.tasks[0]);
    server.post(&run, &json!({})).good(201);
    gate.wait_for(1);
    let ask = |method: &str, path: &str, body: Option<&serde_json::Value>| {
        server.ask(method, path, body, &[])
    };
    let task = format!("/api/tasks/{}", table.tasks[0]);
    let project = format!("/api/projects/{}", table.project);
    assert_eq!(ask("DELETE", &task, None).bad(409), "task_busy");
    let done = json!({"status": "completed"});
    assert_eq!(ask("PATCH", &task, Some(&done)).bad(409), "task_busy");
    assert_eq!(ask("DELETE", &project, None).bad(409), "project_busy");
    gate.let_go(1);
    assert_eq!(outcomes(&until_over(&server, 1)), "1:merged");
    assert_eq!(ask("DELETE", &task, None).status, 204);
    assert_eq!(ask("DELETE", &project, None).status, 204);
    assert_eq!(ask("GET", &project, None).bad(404), "project_not_found");
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
