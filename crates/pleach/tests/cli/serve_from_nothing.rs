//! A client that knows nothing but the address and the token, from an empty board to the pull request.

use pleach_testkit::ForgeStyle;
use serde_json::{Value, json};

use crate::landing::Harbour;
use crate::serving::Serving;

/// Serves the repository of a harbour, with its login.
fn serve(harbour: &Harbour) -> Serving {
    harbour.configure_user("land = \"pr\"\n");
    let words = ["serve", "--port", "0", "--yes"];
    Serving::by(&mut harbour.command(&words))
}

fn made(server: &Serving, path: &str, body: &Value) -> String {
    let answer = server.post(path, body);
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn over(server: &Serving, batch: u32) -> Value {
    server.until(&format!("/api/batches/{batch}"), |batch| {
        batch["completedAt"].is_string()
    })
}

#[test]
fn three_tasks_become_one_pull_request() {
    let harbour = Harbour::new(ForgeStyle::GitHub, "1", "", "echo x > file-$PLEACH_TASK");
    let server = serve(&harbour);
    let path = harbour.scene.repo.path();
    let answer = server.post("/api/projects", &json!({ "path": path }));
    let project = answer.json()["id"].as_str().unwrap().to_owned();
    let task = |title: &str, needs: &[&str]| {
        let body = json!({"projectId": project, "title": title, "dependsOn": needs});
        made(&server, "/api/tasks", &body)
    };
    let first = task("Plant", &[]);
    let second = task("Water", &[&first]);
    let third = task("Prune", &[]);
    let alone = json!({"taskIds": [second]});
    assert_eq!(
        server.post("/api/batches", &alone).bad(422),
        "missing_dependencies"
    );
    let body = json!({"taskIds": [second, third], "mode": "parallel", "withDeps": true});
    let batch = server.post("/api/batches", &body).good(201);
    assert_eq!(batch["progress"]["total"], 3);
    let over = over(&server, 1);
    assert_eq!(over["status"], "completed", "{over}");
    let opened = harbour.forge.pull_requests();
    assert_eq!(opened.len(), 1, "{opened:?}");
    let url = over["prUrl"].as_str().unwrap();
    assert!(url.ends_with(&format!("/{}", opened[0].number)), "{url}");
    let task = server.get(&format!("/api/tasks/{second}")).good(200);
    assert_eq!(
        (&task["status"], &task["batch"]["outcome"]),
        (&json!("completed"), &json!("merged"))
    );
}

#[test]
fn what_was_not_to_land_lands_when_a_client_asks() {
    let shell = "echo x > file-$PLEACH_TASK";
    let harbour = Harbour::new(ForgeStyle::GitHub, "1", "land = \"none\"", shell);
    let server = serve(&harbour);
    let path = harbour.scene.repo.path();
    let answer = server.post("/api/projects", &json!({ "path": path }));
    let project = answer.json()["id"].as_str().unwrap().to_owned();
    let body = json!({"projectId": project, "title": "Plant"});
    let task = made(&server, "/api/tasks", &body);
    let run = format!("/api/tasks/{task}/run");
    assert_eq!(server.post(&run, &json!({})).good(201)["id"], 1);
    assert_eq!(over(&server, 1)["prUrl"], Value::Null);
    let landed = server.post("/api/batches/1/land", &json!({})).good(200);
    assert!(landed["prUrl"].is_string(), "{landed}");
    assert_eq!(harbour.forge.pull_requests().len(), 1);
}
