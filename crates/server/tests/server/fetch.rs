//! A project that was cloned from an address, over HTTP: its batches begin at what is there now.

use std::path::PathBuf;

use pleach_server::Consent;
use pleach_testkit::{TestRepo, outcomes, until_over};
use serde_json::json;

use crate::alone;
use crate::serving::Serving;

#[test]
fn a_batch_of_a_cloned_project_begins_at_what_was_pushed_since() {
    alone(|| {
        let repo = TestRepo::new();
        let words = json!(["sh", "-c", "cp news seen"]);
        let config = format!("retries = 0\nland = \"none\"\n[agents.shell]\ncommand = {words}\n");
        repo.write("pleach.toml", config);
        repo.commit("an agent");
        let there = repo.beside("there.git");
        let there = there.to_str().unwrap();
        repo.git(&["clone", "-q", "--bare", ".", there]);
        let server = Serving::start(&repo.beside(""), Consent::Given, &[]);
        let url = format!("file://{there}");
        let made = server.post("/api/projects", &json!({ "url": url }));
        let id = made.good(202)["id"].as_str().unwrap().to_owned();
        let project = server.until(&format!("/api/projects/{id}"), |project| {
            project["status"] != "cloning"
        });
        assert_eq!(project["status"], "ready", "{project}");
        repo.write("news", "pushed later\n");
        repo.commit("news");
        repo.git(&["push", "-q", there, "main"]);
        let body = json!({"projectId": id, "title": "look"});
        let task = server.post("/api/tasks", &body).good(201)["id"].clone();
        let run = format!("/api/tasks/{}/run", task.as_str().unwrap());
        let batch = server.post(&run, &json!({})).good(201);
        assert_eq!(batch["base"], repo.head().as_str(), "{batch}");
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1:merged", "{over}");
        let clone: PathBuf = project["path"].as_str().unwrap().into();
        let seen = repo.git_in(&clone, &["show", "pleach/batch-1:seen"]);
        assert_eq!(seen, "pushed later");
    });
}
