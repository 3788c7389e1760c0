//! Batches over HTTP: started, followed, controlled.

use pleach_server::Consent;
use pleach_testkit::{ADDS_A_FILE, Gate, LIMITED, WAIT, outcomes, patient, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;
use crate::table::Table;

#[test]
fn a_client_runs_three_tasks_at_once_cancels_one_and_lands_the_rest() {
    alone(|| {
        let table = Table::new(3, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let body = json!({"taskIds": table.tasks, "mode": "parallel", "maxConcurrent": 3});
        let made = server.post("/api/batches", &body);
        assert_eq!(made.header("location"), Some("/api/batches/1"));
        let made = made.good(201);
        assert_eq!(
            (&made["id"], &made["plan"], &made["warnings"]),
            (&json!(1), &json!("board"), &json!([]))
        );
        assert_eq!(gate.wait_for(3), "1 2 3");
        assert_eq!(table.marks(), "in_progress in_progress in_progress");
        let trees = server.get("/api/batches/1/worktrees").good(200);
        let trees = trees["worktrees"].as_array().unwrap();
        assert_eq!(trees.len(), 3, "{trees:?}");
        assert!(
            trees
                .iter()
                .all(|tree| tree["exists"] == true && tree["state"] == "in_use"),
            "{trees:?}"
        );
        // By its id on the board; the others by their key.
        let cancel = format!("/api/batches/1/tasks/{}/cancel", table.tasks[1]);
        let cancelled = server.post(&cancel, &json!({})).good(200);
        assert_eq!(outcomes(&cancelled), "1:none 2:cancelled 3:none");
        assert_eq!(server.post(&cancel, &json!({})).bad(409), "task_over");
        gate.let_go(2);
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:cancelled 3:merged");
        assert_eq!(table.marks(), "completed pending completed");
        check_diffs(&server);
        let plan = server.get("/api/batches/1/plan").good(200);
        assert_eq!(plan["waves"], json!([table.tasks]));
        let validation = server.get("/api/batches/1/validation").good(200);
        assert_eq!(validation["verdict"], "not_configured");
        let landed = server
            .post("/api/batches/1/land", &json!({"into": "main"}))
            .good(200);
        assert_eq!(landed["message"], "batch 1 has landed");
        assert_eq!(table.scene.show("main", "file-3"), "x");
        let retried = server
            .post("/api/batches/1/tasks/2/retry", &json!({}))
            .good(200);
        assert_eq!(retried["message"], "task 2 is queued again");
        gate.let_go(1);
        assert_eq!(
            outcomes(&until_over(&server, 1)),
            "1:merged 2:merged 3:merged"
        );
        let open = server.get("/api/batches").good(200);
        assert_eq!(open, json!({"batches": []}));
        let all = server.get("/api/batches?status=all&limit=1").good(200);
        assert_eq!(all["batches"][0]["id"], 1);
        check_found_by_number(&server, all["batches"][0]["projectId"].as_str().unwrap());
    });
}

/// Finds the first batch of a project by its number, and no second.
#[track_caller]
fn check_found_by_number(server: &Serving, project: &str) {
    let numbered = |number: u32| {
        let asked = format!("/api/batches?project={project}&number={number}");
        server.get(&asked).good(200)["batches"].clone()
    };
    assert_eq!(numbered(1)[0]["number"], 1);
    assert_eq!(numbered(2), json!([]));
    server.get("/api/batches?number=1").good(422);
}

/// The batch has brought what its first and third task added.
#[track_caller]
fn check_diffs(server: &Serving) {
    let diff = server.get("/api/batches/1/diff").good(200);
    let files = diff["files"].as_array().unwrap().iter();
    let files: Vec<_> = files.map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["file-1", "file-3"]);
    assert!(diff["patch"].as_str().unwrap().contains("+x"), "{diff}");
    let of_task = server.get("/api/batches/1/tasks/3/diff").good(200);
    assert_eq!(
        of_task["files"][0],
        json!({"path": "file-3", "added": 1, "removed": 0})
    );
}

#[test]
fn a_queue_waits_for_approval_and_refuses_what_nobody_asked_for() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let body = json!({"taskIds": table.tasks, "mode": "queue"});
        server.post("/api/batches", &body).good(201);
        gate.wait_for(1);
        let approve = || server.post("/api/batches/1/approve", &json!({}));
        assert_eq!(approve().bad(409), "nothing_waiting");
        gate.let_go(1);
        server.until("/api/batches/1", |batch| {
            batch["tasks"][1]["status"] == "waiting"
        });
        approve().good(200);
        gate.wait_for(1);
        gate.let_go(1);
        assert_eq!(outcomes(&until_over(&server, 1)), "1:merged 2:merged");
        assert_eq!(approve().bad(409), "nothing_waiting");
    });
}

/// What may be asked of a new batch, and how it is refused; TASK is there, MANY and LONG are too much.
const SENSELESS: &str = r#"
{} -> 400 empty_batch
{"taskIds": []} -> 400 empty_batch
{"taskIds": MANY} -> 422 too_many_tasks
{"taskIds": ["unknown"]} -> 404 task_not_found
{"taskIds": ["../x"]} -> 400 bad_id
{"taskIds": "TASK"} -> 400 bad_body
{"taskIds": ["TASK"], "colour": "red"} -> 400 bad_body
{"taskIds": ["TASK"], "mode": "sideways"} -> 400 bad_body
{"taskIds": ["TASK"], "maxConcurrent": 0} -> 422 bad_field
{"taskIds": ["TASK"], "maxConcurrent": 65} -> 422 bad_field
{"taskIds": ["TASK"], "phaseThreshold": 1.5} -> 422 bad_field
{"taskIds": ["TASK"], "prompt": "LONG"} -> 422 bad_field
{"taskIds": ["TASK"], "prompt": "{{colour}}"} -> 422 bad_prompt
{"taskIds": ["TASK"], "agent": "nobody"} -> 422 unknown_agent
{"taskIds": ["TASK"], "base": "nowhere"} -> 422 base_not_found
"#;

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
        let server = table.serve();
        let first = &table.tasks[0];
        let many: Vec<String> = (0..10_001).map(|number| format!("task{number}")).collect();
        let (many, long) = (json!(many).to_string(), "x".repeat(100_001));
        for line in SENSELESS.trim().lines() {
            let (body, expected) = line.split_once(" -> ").unwrap();
            let body = body.replace("TASK", first).replace("MANY", &many);
            let body = serde_json::from_str(&body.replace("LONG", &long)).unwrap();
            let answer = server.post("/api/batches", &body);
            let told = format!("{} {}", answer.status, answer.bad(answer.status));
            assert_eq!(told, expected, "{line}");
        }
        let long = "k".repeat(201);
        let bad_key = [("Idempotency-Key", long.as_str())];
        let body = json!({"taskIds": [first]});
        let answer = server.ask("POST", "/api/batches", Some(&body), &bad_key);
        assert_eq!(answer.bad(400), "bad_key");
        for (path, code) in [
            ("/api/batches/1/cancel", "batch_not_found"),
            ("/api/batches/1/tasks/1/retry", "batch_not_found"),
            ("/api/tasks/unknown/run", "task_not_found"),
            ("/api/projects/unknown/parallel/start", "project_not_found"),
        ] {
            assert_eq!(server.post(path, &json!({})).bad(404), code, "{path}");
        }
        assert_eq!(server.get("/api/batches/x").bad(400), "bad_id");
        assert_eq!(server.get("/api/batches?limit=0").bad(422), "bad_field");
        let none = server.get("/api/batches?status=all").good(200);
        assert_eq!(none, json!({"batches": []}));
    });
}

#[test]
fn what_comes_too_early_or_too_late_is_refused() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let first = &table.tasks[0];
        let body = json!({"taskIds": [first]});
        server
            .post(&format!("/api/tasks/{first}/run"), &json!({}))
            .good(201);
        gate.wait_for(1);
        assert_eq!(server.post("/api/batches", &body).bad(409), "task_busy");
        assert_eq!(
            server.post("/api/batches/1/resume", &json!({})).bad(409),
            "batch_running"
        );
        assert_eq!(
            server.post("/api/batches/1/land", &json!({})).bad(409),
            "batch_running"
        );
        assert_eq!(server.get("/api/batches/1/diff").bad(404), "no_work");
        let resolve = |action: &str| {
            let body = json!({ "action": action });
            server.post("/api/batches/1/tasks/1/resolve", &body)
        };
        assert_eq!(resolve("start").bad(409), "not_conflicted");
        assert_eq!(resolve("dance").bad(400), "bad_body");
        gate.let_go(1);
        until_over(&server, 1);
        assert_eq!(
            server.post("/api/batches", &body).bad(422),
            "already_complete"
        );
        assert_eq!(
            server.post("/api/batches/1/cancel", &json!({})).bad(409),
            "batch_over"
        );
        let both = json!({"taskIds": table.tasks});
        let made = server.post("/api/batches", &both).good(201);
        assert_eq!(made["warnings"][0]["code"], "already_complete");
        gate.let_go(1);
        assert_eq!(outcomes(&until_over(&server, 2)), "2:merged");
    });
}

#[test]
fn nothing_runs_that_nobody_consented_to() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
        let server = Serving::of(&table.scene, Consent::Asked);
        let ask = |consent: Value| {
            let body = json!({"taskIds": table.tasks, "consent": consent});
            server.post("/api/batches", &body)
        };
        let refused = ask(Value::Null);
        assert_eq!(refused.bad(409), "no_consent");
        let details = &refused.json()["error"]["details"];
        let changes = details["changes"].as_array().unwrap();
        let names: Vec<_> = changes.iter().map(|change| &change["name"]).collect();
        assert!(names.contains(&&json!("agents.shell.command")), "{details}");
        assert_eq!(ask(json!("another")).bad(409), "no_consent");
        assert_eq!(
            server.get("/api/batches?status=all").good(200),
            json!({"batches": []})
        );
        ask(details["fingerprint"].clone()).good(201);
        assert_eq!(outcomes(&until_over(&server, 1)), "1:merged");
    });
}

#[test]
fn an_effect_that_takes_long_is_told_later() {
    alone(|| {
        let shell = format!("trap '' TERM; {WAIT}; read again < BESIDE/gate");
        let table = Table::new(1, "land = \"none\"", &shell);
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        server
            .post("/api/batches", &json!({"taskIds": table.tasks}))
            .good(201);
        gate.wait_for(1);
        let body = json!({});
        let cancel = server.ask(
            "POST",
            "/api/batches/1/cancel",
            Some(&body),
            &[("Prefer", "wait=0")],
        );
        assert_eq!(cancel.header("location"), Some("/api/batches/1"));
        assert_eq!(
            cancel.good(202),
            json!({"status": "cancelling", "batch": "/api/batches/1"})
        );
        assert_eq!(outcomes(&until_over(&server, 1)), "1:cancelled");
    });
}

#[test]
fn a_batch_that_finds_no_server_can_be_landed_in_its_branch() {
    alone(|| {
        let table = Table::new(1, "", ADDS_A_FILE);
        let server = table.serve();
        let body = json!({"taskIds": table.tasks, "land": "pr"});
        let made = server.post("/api/batches", &body).good(201);
        assert_eq!(made["landInto"], Value::Null);
        let over = until_over(&server, 1);
        assert_eq!(over["landInto"], "main");
        let wish = json!({"into": over["landInto"]});
        server.post("/api/batches/1/land", &wish).good(200);
        assert_eq!(table.scene.show("main", "file-1"), "x");
    });
}

#[test]
fn a_client_has_a_batch_finish_what_runs_and_start_nothing_new() {
    alone(|| {
        let table = Table::new(3, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        table.start(&server, &json!({"maxConcurrent": 2}));
        gate.wait_for(2);
        let stopped = server.post("/api/batches/1/stop", &json!({})).good(200);
        assert_eq!(stopped["status"], "running");
        gate.let_go(2);
        let over = until_over(&server, 1);
        assert_eq!(outcomes(&over), "1:merged 2:merged 3:cancelled");
        assert_eq!(over["status"], "completed");
        let again = server.post("/api/batches/1/stop", &json!({}));
        assert_eq!(again.bad(409), "batch_over");
    });
}

#[test]
fn a_client_asks_for_waves() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", "echo x > file-$PLEACH_TASK");
        let server = table.serve();
        let made = table.start(&server, &json!({"waves": true}));
        assert_eq!(made["stages"].as_array().unwrap().len(), 1, "{made}");
        until_over(&server, 1);
    });
}

#[test]
fn a_client_asks_for_no_way_back_to_one_at_a_time() {
    alone(|| {
        let settings = "land = \"none\"\nretry_pause = \"10ms\"";
        let table = Table::new(3, settings, LIMITED);
        let server = table.serve();
        table.start(&server, &json!({"maxConcurrent": 3, "noFallback": true}));
        assert_eq!(until_over(&server, 1)["status"], "failed");
    });
}
