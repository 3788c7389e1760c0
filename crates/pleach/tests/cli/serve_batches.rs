//! Batches of a server that is killed, stopped or drained, and those of terminals beside it.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::scene::{Gate, Scene};
use crate::serving::Serving;
use crate::table::{Table, outcomes, patient, until_over};

#[test]
fn a_request_that_is_repeated_finds_its_batch_even_after_a_power_cut() {
    let table = Table::new(2, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    let server = table.serve();
    let key = [("Idempotency-Key", "5f2c")];
    let body = json!({"taskIds": [table.tasks[0]]});
    let ask = |server: &Serving, body: &Value| server.ask("POST", "/api/batches", Some(body), &key);
    assert_eq!(ask(&server, &body).good(201)["id"], 1);
    assert_eq!(ask(&server, &body).good(201)["id"], 1);
    let other = json!({"taskIds": [table.tasks[1]]});
    assert_eq!(ask(&server, &other).bad(422), "key_reused");
    gate.wait_for(1);
    server.kill();
    let server = table.serve();
    assert_eq!(ask(&server, &body).good(201)["id"], 1);
    gate.wait_for(1);
    gate.let_go(1);
    assert_eq!(outcomes(&until_over(&server, 1)), "1:merged");
    let all = server.get("/api/batches?status=all").good(200);
    assert_eq!(all["batches"].as_array().unwrap().len(), 1);
    assert_eq!(server.stop().code, 0);
    table.scene.check_nobody_is_left();
}

#[test]
fn a_batch_of_a_terminal_is_seen_and_controlled() {
    let scene = Scene::of("1, 2", "retries = 0", &patient());
    let mut gate = Gate::at(&scene);
    let run = scene.start(&[]);
    gate.wait_for(2);
    let server = Serving::of(&scene, &[]);
    let listed = server.get("/api/batches").good(200);
    assert_eq!(listed["batches"][0]["interrupted"], false);
    let one = server
        .post("/api/batches/1/tasks/1/cancel", &json!({}))
        .good(200);
    assert_eq!(outcomes(&one), "1:cancelled 2:none");
    let all = server
        .post("/api/batches/1/cancel", &json!({"rollback": true}))
        .good(200);
    assert_eq!(
        (&all["status"], outcomes(&all).as_str()),
        (&json!("cancelled"), "1:cancelled 2:cancelled")
    );
    assert_eq!(run.answer().code, 130);
}

#[test]
fn a_server_that_stops_leaves_its_batches_to_the_next_one() {
    let table = Table::new(2, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    let server = table.serve();
    server
        .post("/api/batches", &json!({"taskIds": table.tasks}))
        .good(201);
    assert_eq!(gate.wait_for(2), "1 2");
    let stopped = server.stop();
    assert_eq!(stopped.code, 0, "{}", stopped.err);
    table.scene.check_nobody_is_left();
    let server = table.serve();
    assert_eq!(gate.wait_for(2), "1 2");
    gate.let_go(2);
    assert_eq!(outcomes(&until_over(&server, 1)), "1:merged 2:merged");
    table.scene.check_no_worktree_is_left();
}

#[test]
fn a_server_that_drains_waits_and_takes_nothing_new() {
    let table = Table::new(2, "land = \"none\"", &patient());
    let mut gate = Gate::at(&table.scene);
    let server = Serving::of(&table.scene, &["--yes", "--drain"]);
    let run = |task: usize| {
        let path = format!("/api/tasks/{}/run", table.tasks[task]);
        server.post(&path, &json!({}))
    };
    run(0).good(201);
    gate.wait_for(1);
    server.signal(Signal::TERM);
    // The signal is heard on another thread.
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while server.post("/api/batches/1/resume", &json!({})).status != 503 {
        assert!(std::time::Instant::now() < deadline, "it goes on");
    }
    assert_eq!(run(1).bad(503), "stopping");
    assert_eq!(server.get("/api/batches/1").good(200)["status"], "running");
    gate.let_go(1);
    let status = || {
        let words = ["status", "1", "--json"];
        let answer = crate::pleach(table.scene.repo.path(), &table.scene.home(), &words);
        answer.json()["batches"][0]["status"].clone()
    };
    while status() != "completed" {
        assert!(std::time::Instant::now() < deadline, "{}", status());
    }
}
