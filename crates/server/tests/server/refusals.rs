//! Batches that are refused for what their tasks are or do, over HTTP.

use pleach_testkit::{ADDS_A_FILE, Gate, import_tasks, outcomes, patient, until_over};
use serde_json::json;

use crate::alone;
use crate::table::Table;

#[test]
fn a_batch_is_of_one_project_and_of_a_thousand_tasks_at_most() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
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
        let plan = (0..=1_000).map(|number| format!("- [ ] task {number}\n"));
        let plan = json!({"markdown": plan.collect::<String>()});
        let all = import_tasks(&server, &table.project, &plan);
        let all: Vec<_> = all.iter().map(|task| json!(task)).collect();
        assert_eq!(all.len(), 1_001);
        assert_eq!(ask(&all).bad(422), "too_many_tasks");
        let none = server.get("/api/batches?status=all").good(200);
        assert_eq!(none, json!({"batches": []}));
    });
}

#[test]
fn what_runs_is_neither_deleted_nor_hidden() {
    alone(|| {
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
    });
}
