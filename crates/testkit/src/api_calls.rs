//! Calls of the API that many tests make, and what they show in the few words that tests compare.

use std::path::Path;

use serde_json::{Value, json};

use crate::Client;

/// Imports a plan into a project, `{"path": …}` or `{"markdown": …}`; returns the ids of its tasks.
#[track_caller]
pub fn import_tasks(client: &Client, project: &str, plan: &Value) -> Vec<String> {
    let body = with(&json!({ "projectId": project }), plan);
    let imported = client.post("/api/tasks/import", &body).good(200);
    let tasks = imported["tasks"].as_array().into_iter().flatten();
    let ids = tasks.filter_map(|task| task["id"].as_str());
    ids.map(str::to_owned).collect()
}

/// Starts a batch of tasks, with what is asked for besides.
#[track_caller]
pub fn start_batch(client: &Client, tasks: &[String], options: &Value) -> Value {
    let body = with(&json!({ "taskIds": tasks }), options);
    client.post("/api/batches", &body).good(201)
}

/// An object with the fields of another one as well.
pub fn with(object: &Value, more: &Value) -> Value {
    let fields = [object, more].into_iter().filter_map(Value::as_object);
    let fields = fields
        .flatten()
        .map(|(name, value)| (name.clone(), value.clone()));
    Value::Object(fields.collect())
}

/// Waits until a batch is over.
#[track_caller]
pub fn until_over(client: &Client, batch: u32) -> Value {
    client.until(&format!("/api/batches/{batch}"), |batch| {
        batch["completedAt"].is_string()
    })
}

/// How the tasks of a batch ended, as in `1:merged 2:failed 3:none`.
pub fn outcomes(batch: &Value) -> String {
    let tasks = batch["tasks"].as_array().into_iter().flatten();
    let words = tasks.map(|task| {
        let outcome = task["outcome"].as_str().unwrap_or("none");
        format!("{}:{outcome}", task["key"].as_str().unwrap_or_default())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Checks that a state folder holds no worktree of an ended task any more.
#[track_caller]
pub fn check_no_worktree_is_left(state: &Path) {
    let projects = std::fs::read_dir(state.join("worktrees"));
    for project in projects.expect("there were worktrees").flatten() {
        let left = std::fs::read_dir(project.path()).expect("it is a folder");
        assert_eq!(left.count(), 0, "no worktree is left");
    }
}
