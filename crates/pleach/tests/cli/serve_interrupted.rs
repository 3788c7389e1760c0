//! Batches of terminals that died while a server runs: shown as interrupted, gone on with or cancelled over HTTP.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::scene::{Gate, Scene};
use crate::serving::Serving;
use crate::table::{outcomes, patient, until_over};

/// A batch whose process was killed while both of its tasks were at work.
struct Orphan {
    scene: Scene,
    gate: Gate,
    server: Serving,
}

impl Orphan {
    fn new() -> Self {
        let settings = "retries = 0\nland = \"none\"";
        let scene = Scene::of("1, 2", settings, &patient());
        let mut gate = Gate::at(&scene);
        // It finds nothing that was interrupted when it begins.
        let server = Serving::of(&scene, &[]);
        let run = scene.start(&[]);
        gate.wait_for(2);
        let shown = server.get("/api/batches/1").good(200);
        assert_eq!(shown["interrupted"], false);
        run.signal(Signal::KILL);
        run.answer();
        let orphan = Self {
            scene,
            gate,
            server,
        };
        let shown = orphan
            .server
            .until("/api/batches/1", |batch| batch["interrupted"] == true);
        assert_eq!(shown["status"], "running");
        let listed = orphan.server.get("/api/batches").good(200);
        assert_eq!(listed["batches"][0]["interrupted"], true);
        orphan
    }

    /// What a new listener hears up to something that happens only then.
    fn heard(&self) -> Vec<String> {
        let mut listener = self.server.listen("/api/events", &[]).unwrap();
        let projects = self.server.get("/api/projects").good(200);
        let task = json!({"projectId": projects["projects"][0]["id"], "title": "Something new"});
        self.server.post("/api/tasks", &task).good(201);
        let mut names = Vec::new();
        while names.last().is_none_or(|name| name != "task:created") {
            names.push(listener.next_event().unwrap().event);
        }
        names
    }

    fn post(&self, what: &str) -> pleach_testkit::Response {
        let path = format!("/api/batches/1/{what}");
        self.server.post(&path, &json!({}))
    }
}

#[test]
fn a_batch_that_lost_its_process_is_gone_on_with() {
    let mut orphan = Orphan::new();
    let resumed = orphan.post("resume").good(200);
    assert_eq!(
        (&resumed["message"], &resumed["interrupted"]),
        (&json!("batch 1 resumed"), &Value::Bool(false))
    );
    assert_eq!(orphan.gate.wait_for(2), "1 2");
    assert_eq!(orphan.post("resume").bad(409), "batch_running");
    orphan.gate.let_go(2);
    let over = until_over(&orphan.server, 1);
    assert_eq!(outcomes(&over), "1:merged 2:merged");
    assert_eq!(orphan.post("resume").bad(409), "batch_over");
    orphan.scene.check_no_worktree_is_left();
}

#[test]
fn that_a_batch_lost_its_process_is_told_as_long_as_it_is_so() {
    let mut orphan = Orphan::new();
    let mut listener = orphan.server.listen("/api/events", &[]).unwrap();
    let told = loop {
        let heard = listener.next_event().unwrap();
        if heard.event == "batch:interrupted" {
            break heard;
        }
    };
    assert_eq!((told.id, &told.data["batchId"]), (None, &json!(1)));
    drop(listener);
    // Nobody listens while it is taken up and ends.
    orphan.post("resume").good(200);
    orphan.gate.wait_for(2);
    orphan.gate.let_go(2);
    until_over(&orphan.server, 1);
    let heard = orphan.heard();
    assert!(
        !heard.iter().any(|name| name == "batch:interrupted"),
        "{heard:?}"
    );
}

#[test]
fn a_batch_that_lost_its_process_is_cancelled_and_nobody_is_left() {
    let orphan = Orphan::new();
    let cancelled = orphan.post("cancel").good(200);
    assert_eq!(
        (&cancelled["status"], outcomes(&cancelled).as_str()),
        (&json!("cancelled"), "1:cancelled 2:cancelled")
    );
    assert_eq!(orphan.post("cancel").bad(409), "batch_over");
    assert_eq!(orphan.server.stop().code, 0);
    orphan.scene.check_nobody_is_left();
}

#[test]
fn nothing_else_is_done_to_a_batch_that_lost_its_process() {
    let orphan = Orphan::new();
    for (what, code) in [
        ("tasks/1/cancel", "interrupted"),
        ("tasks/1/retry", "nothing_to_retry"),
        ("approve", "interrupted"),
        ("land", "interrupted"),
    ] {
        assert_eq!(orphan.post(what).bad(409), code, "{what}");
    }
    let shown = orphan.server.get("/api/batches/1").good(200);
    assert_eq!(
        (&shown["interrupted"], outcomes(&shown).as_str()),
        (&json!(true), "1:none 2:none")
    );
}
