//! What became of tasks, as their board tells it: the last outcome, every attempt, and what people say since.

use pleach_testkit::{ADDS_A_FILE, Gate, outcomes, patient, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;
use crate::table::Table;

/// The first task fails, the others add a file.
fn one_fails() -> String {
    format!("[ $PLEACH_TASK = 1 ] && exit 3; {ADDS_A_FILE}")
}

fn task(server: &Serving, id: &str) -> Value {
    server.get(&format!("/api/tasks/{id}")).good(200)
}

fn mark(server: &Serving, id: &str, status: &str) -> Value {
    let change = json!({ "status": status });
    let path = format!("/api/tasks/{id}");
    server.ask("PATCH", &path, Some(&change), &[]).good(200)
}

#[test]
fn a_task_that_a_person_puts_back_to_pending_has_no_outcome_until_it_runs_again() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &one_fails());
        let server = table.serve();
        table.start(&server, &json!({}));
        assert_eq!(outcomes(&until_over(&server, 1)), "1:failed 2:merged");
        let failed = json!({"id": 1, "number": 1, "status": "failed", "outcome": "failed"});
        let first = &table.tasks[0];
        let before = task(&server, first);
        assert_eq!(
            (&before["status"], &before["batch"]),
            (&json!("pending"), &failed)
        );
        let place = |task: &Value| json!([task["column"], task["word"]]);
        assert_eq!(place(&before), json!(["needs_you", "failed"]));
        let mut listener = server.listen("/api/events", &[]).unwrap();
        let marked = mark(&server, first, "pending");
        assert_eq!(marked["batch"], Value::Null);
        assert_eq!(place(&marked), json!(["todo", "pending"]));
        let heard = listener.next_event().unwrap();
        assert_eq!(
            (heard.event.as_str(), &heard.data["task"]),
            ("task:updated", &marked)
        );
        let path = format!("/api/tasks/{first}");
        let moved = server.ask("PATCH", &path, Some(&json!({"position": 9})), &[]);
        assert_eq!(moved.good(200)["batch"], Value::Null);
        server
            .post("/api/batches/1/tasks/1/retry", &json!({}))
            .good(200);
        until_over(&server, 1);
        assert_eq!(task(&server, first)["batch"], failed);
    });
}

#[test]
fn what_a_person_says_of_a_task_is_not_contradicted_by_its_last_batch() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &one_fails());
        let server = table.serve();
        table.start(&server, &json!({}));
        until_over(&server, 1);
        let (first, second) = (&table.tasks[0], &table.tasks[1]);
        for status in ["completed", "cancelled", "skipped", "in_progress"] {
            assert_eq!(mark(&server, first, status)["batch"], Value::Null);
        }
        assert_eq!(mark(&server, first, "failed")["batch"]["outcome"], "failed");
        let merged = json!({"id": 1, "number": 1, "status": "completed", "outcome": "merged"});
        assert_eq!(mark(&server, second, "completed")["batch"], merged);
        assert_eq!(mark(&server, second, "pending")["batch"], Value::Null);
    });
}

#[test]
fn a_task_that_a_person_ticks_in_its_file_has_not_failed_any_more() {
    alone(|| {
        let table = Table::new(0, "land = \"none\"", &one_fails());
        let scene = &table.scene;
        scene.repo.write("plan.md", "- [ ] dig\n");
        scene.repo.commit("another plan");
        let server = table.serve();
        let body = json!({"projectId": table.project, "path": "plan.md"});
        let imported = server.post("/api/tasks/import", &body).good(200);
        let id = imported["tasks"][0]["id"].as_str().unwrap();
        let run = format!("/api/tasks/{id}/run");
        server.post(&run, &json!({})).good(201);
        until_over(&server, 1);
        assert_eq!(task(&server, id)["batch"]["outcome"], "failed");
        scene.repo.write("plan.md", "- [x] dig\n");
        let path = format!("/api/tasks/{id}");
        let ticked = server.until(&path, |task| task["status"] == "completed");
        assert_eq!(ticked["batch"], Value::Null);
    });
}

#[test]
fn every_attempt_on_a_task_is_listed_newest_first() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", &one_fails());
        let server = table.serve();
        let attempts = |id: &str| {
            let path = format!("/api/tasks/{id}/attempts");
            server.get(&path).good(200)["attempts"].clone()
        };
        let first = &table.tasks[0];
        assert_eq!(attempts(first), json!([]));
        table.start(&server, &json!({}));
        until_over(&server, 1);
        server
            .post("/api/batches/1/tasks/1/retry", &json!({}))
            .good(200);
        until_over(&server, 1);
        let run = format!("/api/tasks/{first}/run");
        server.post(&run, &json!({})).good(201);
        until_over(&server, 2);
        let listed = attempts(first);
        let listed = listed.as_array().unwrap();
        let short: Vec<_> = listed
            .iter()
            .map(|one| (one["batchId"].as_u64(), one["attempt"].as_u64()))
            .collect();
        let numbers = [(2, 1), (1, 2), (1, 1)];
        assert_eq!(short, numbers.map(|(batch, at)| (Some(batch), Some(at))));
        for one in listed {
            assert_eq!(
                (&one["outcome"], &one["agent"], &one["cost"]),
                (&json!("failed"), &json!("shell"), &Value::Null)
            );
            assert!(one["error"].as_str().unwrap().contains('3'), "{one}");
            assert!(one["startedAt"].as_str() <= one["completedAt"].as_str());
        }
        let merged = attempts(&table.tasks[1]);
        assert_eq!(merged.as_array().unwrap().len(), 1, "{merged}");
        assert_eq!(merged[0]["outcome"], "merged");
        assert_eq!(
            server.get("/api/tasks/nobody/attempts").bad(404),
            "task_not_found"
        );
    });
}

#[test]
fn a_batch_whose_only_task_is_cancelled_is_cancelled_and_may_be_retried() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        table.start(&server, &json!({}));
        gate.wait_for(1);
        server
            .post("/api/batches/1/tasks/1/cancel", &json!({}))
            .good(200);
        let over = until_over(&server, 1);
        assert_eq!(
            (&over["status"], outcomes(&over).as_str(), &over["error"]),
            (&json!("cancelled"), "1:cancelled", &Value::Null)
        );
        server
            .post("/api/batches/1/tasks/1/retry", &json!({}))
            .good(200);
        gate.wait_for(1);
        gate.let_go(1);
        let over = until_over(&server, 1);
        assert_eq!(
            (&over["status"], outcomes(&over).as_str()),
            (&json!("completed"), "1:merged")
        );
    });
}
