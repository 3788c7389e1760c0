//! What clients hear of the board: tasks and settings that change, by hand and by what runs.

use pleach_testkit::{EventStream, Gate, patient, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::table::Table;

/// The next event of the board.
#[track_caller]
fn next_of_board(listener: &mut EventStream) -> (String, Value) {
    loop {
        let heard = listener.next_event().unwrap();
        if heard.event.starts_with("task:") || heard.event.starts_with("settings:") {
            assert!(heard.id.is_some(), "it is in the log");
            return (heard.event, heard.data);
        }
    }
}

#[test]
fn what_people_do_on_the_board_is_told() {
    alone(|| {
        let table = Table::new(0, "", "true");
        let server = table.serve();
        let path = format!("/api/events?project={}", table.project);
        let mut listener = server.listen(&path, &[]).unwrap();
        let body = json!({"projectId": table.project, "title": "dig", "labels": ["spade"]});
        let task = server.post("/api/tasks", &body).good(201);
        let (name, data) = next_of_board(&mut listener);
        assert_eq!(name, "task:created");
        assert_eq!(
            (&data["taskId"], &data["projectId"], &data["task"]["title"]),
            (&task["id"], &json!(table.project), &json!("dig")),
            "{data}"
        );
        assert!(data["at"].is_string(), "{data}");
        let one = format!("/api/tasks/{}", task["id"].as_str().unwrap());
        let change = json!({"title": "dig deep", "status": "completed"});
        let changed = server.ask("PATCH", &one, Some(&change), &[]).good(200);
        let (name, data) = next_of_board(&mut listener);
        assert_eq!((name.as_str(), &data["task"]), ("task:updated", &changed));
        let settings = json!({"maxBatchSize": 7});
        let settings = server.ask("PATCH", "/api/settings", Some(&settings), &[]);
        let settings = settings.good(200);
        let (name, data) = next_of_board(&mut listener);
        assert_eq!(
            (name.as_str(), &data["settings"]["maxBatchSize"]),
            ("settings:updated", &settings["maxBatchSize"]),
            "{data}"
        );
        assert_eq!(server.ask("DELETE", &one, None, &[]).status, 204);
        let (name, data) = next_of_board(&mut listener);
        assert_eq!(
            (name.as_str(), &data["taskId"]),
            ("task:deleted", &task["id"])
        );
    });
}

#[test]
fn what_is_refused_is_not_told() {
    alone(|| {
        let table = Table::new(1, "", "true");
        let server = table.serve();
        let mut listener = server.listen("/api/events", &[]).unwrap();
        let one = format!("/api/tasks/{}", table.tasks[0]);
        let itself = json!({"title": "x", "dependsOn": table.tasks});
        let refused = server.ask("PATCH", &one, Some(&itself), &[]);
        assert_eq!(refused.bad(422), "self_dependency");
        let far = json!({"maxBatchSize": 65});
        let refused = server.ask("PATCH", "/api/settings", Some(&far), &[]);
        assert_eq!(refused.status, 422);
        server.ask("DELETE", &one, None, &[]);
        assert_eq!(next_of_board(&mut listener).0, "task:deleted");
    });
}

#[test]
fn a_task_that_runs_is_told_as_in_progress_and_then_as_completed() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", &patient());
        let mut gate = Gate::at(&table.scene);
        let server = table.serve();
        let mut listener = server.listen("/api/events", &[]).unwrap();
        table.start(&server, &json!({}));
        gate.wait_for(1);
        let mut next = || {
            let (name, data) = next_of_board(&mut listener);
            assert_eq!(
                (name.as_str(), &data["taskId"]),
                ("task:updated", &json!(table.tasks[0]))
            );
            data["task"].clone()
        };
        let shown = next();
        assert_eq!(shown["status"], "in_progress", "{shown}");
        gate.let_go(1);
        until_over(&server, 1);
        let shown = next();
        assert_eq!(shown["status"], "completed", "{shown}");
        let asked = server.get(&format!("/api/tasks/{}", table.tasks[0]));
        assert_eq!(asked.good(200)["batch"]["outcome"], "merged");
    });
}
