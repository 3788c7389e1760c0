//! Over HTTP the first push of a project is confirmed by the request, for the address that the answer names.

use pleach_testkit::{ForgeStyle, Response};
use serde_json::{Value, json};

use crate::landing::{Harbour, PROJECT};
use crate::serving::Serving;
use crate::table::until_over;

/// A server with one task on a board, whose agents are consented to by whoever started it.
struct Pier {
    harbour: Harbour,
    server: Serving,
    project: String,
}

impl Pier {
    fn new(settings: &str) -> Self {
        let shell = "echo x > file-$PLEACH_TASK";
        let harbour = Harbour::new(ForgeStyle::GitHub, "1", settings, shell);
        let server = Serving::by(&mut harbour.command(&["serve", "--port", "0", "--yes"]));
        let path = harbour.scene.repo.path();
        let added = server.post("/api/projects", &json!({ "path": path }));
        let project = added.json()["id"].as_str().unwrap().to_owned();
        Self {
            harbour,
            server,
            project,
        }
    }

    fn task(&self, title: &str) -> String {
        let body = json!({"projectId": self.project, "title": title});
        let task = self.server.post("/api/tasks", &body).good(201);
        task["id"].as_str().unwrap().to_owned()
    }

    /// What it refuses to push names the address and the way to confirm it.
    #[track_caller]
    fn unconfirmed(&self, answer: &Response) {
        let text = answer.text();
        let error = answer.json()["error"].clone();
        assert_eq!(
            (answer.status, error["code"].as_str()),
            (422, Some("push_unconfirmed")),
            "{text}"
        );
        let address = self.harbour.forge.url(PROJECT);
        assert!(error["message"].as_str().unwrap().contains(&address));
        assert_eq!(error["details"], json!({ "address": address }));
    }

    fn batches(&self) -> usize {
        let all = self.server.get("/api/batches?status=all").good(200);
        all["batches"].as_array().unwrap().len()
    }
}

#[test]
fn a_batch_starts_once_the_address_is_confirmed_and_it_stays_so() {
    let pier = Pier::new("");
    let address = pier.harbour.forge.url(PROJECT);
    let (first, second) = (pier.task("Plant"), pier.task("Water"));
    let body = json!({"taskIds": [first]});
    let preview = |body: &Value| pier.server.post("/api/batches/preview", body).good(200);
    let shown = preview(&body);
    assert_eq!(
        (
            &shown["pushTo"],
            &shown["pushUnconfirmed"],
            &shown["refusal"]
        ),
        (&json!(address), &json!(true), &Value::Null)
    );
    let local = preview(&json!({"taskIds": [first], "land": "none"}));
    assert_eq!(local["pushTo"], Value::Null);
    assert_eq!(local["pushUnconfirmed"], false);
    pier.unconfirmed(&pier.server.post("/api/batches", &body));
    // What a request says of landing is no answer: a page would say it without a thought.
    let body = json!({"taskIds": [first], "land": "pr"});
    pier.unconfirmed(&pier.server.post("/api/batches", &body));
    let run = format!("/api/tasks/{first}/run");
    pier.unconfirmed(&pier.server.post(&run, &json!({})));
    assert_eq!(pier.batches(), 0);
    let body = json!({"taskIds": [first], "confirmPush": true});
    pier.server.post("/api/batches", &body).good(201);
    assert!(until_over(&pier.server, 1)["prUrl"].is_string());
    assert_eq!(
        preview(&json!({"taskIds": [second]}))["pushUnconfirmed"],
        false
    );
    let run = format!("/api/tasks/{second}/run");
    pier.server.post(&run, &json!({})).good(201);
    assert!(until_over(&pier.server, 2)["prUrl"].is_string());
}

#[test]
fn an_execution_plan_starts_once_the_address_is_confirmed() {
    let pier = Pier::new("");
    let plan = json!({"tasks": [{"id": "1", "title": "Plant"}]});
    let path = format!("/api/projects/{}/plan", pier.project);
    let put = pier.server.ask("PUT", &path, Some(&plan), &[]);
    assert_eq!(put.status, 200, "{}", put.text());
    let path = format!("/api/projects/{}/parallel/start", pier.project);
    pier.unconfirmed(&pier.server.post(&path, &json!({})));
    assert_eq!(pier.batches(), 0);
    let started = pier.server.post(&path, &json!({"confirm_push": true}));
    assert_eq!(started.good(200)["status"], "started");
    assert!(until_over(&pier.server, 1)["prUrl"].is_string());
}

#[test]
fn landing_is_confirmed_too_and_a_local_branch_needs_nothing() {
    let pier = Pier::new("land = \"none\"");
    let run = format!("/api/tasks/{}/run", pier.task("Plant"));
    pier.server.post(&run, &json!({})).good(201);
    until_over(&pier.server, 1);
    let land = |body: &Value| pier.server.post("/api/batches/1/land", body);
    pier.unconfirmed(&land(&json!({})));
    assert_eq!(pier.harbour.branches_there(), "");
    land(&json!({"into": "main"})).good(200);
    let landed = land(&json!({"confirmPush": true})).good(200);
    assert_eq!(landed["status"], "completed");
    assert_eq!(pier.harbour.branches_there(), "pleach/batch-1");
}
