//! Batches on a cluster that are asked for over HTTP.

use pleach_system::pace::PACE;
use pleach_system::stand_in::STAND_IN;
use serde_json::json;

use super::{ON_CLUSTER, check_tidy};
use crate::command;
use crate::serving::Serving;
use crate::table::{Table, outcomes, until_over};

#[test]
fn a_batch_that_is_asked_for_over_http_runs_where_the_request_says() {
    // The table says how often, and the request where.
    let settings = ON_CLUSTER.replace("retries = 0\n", "");
    let settings = settings.replace("where = \"slurm\"\n", "");
    let table = Table::new(2, &settings, "echo x > file-$PLEACH_TASK");
    let (folder, home) = (table.scene.repo.path(), table.scene.home());
    let mut serve = command(folder, &home, &["serve", "--yes", "--port", "0"]);
    let serve = serve.env(STAND_IN, "subprocess").env(PACE, "20");
    let server = Serving::by(serve);
    let clusters = server.get("/api/clusters").good(200);
    assert_eq!(clusters["clusters"][1]["name"], "slurm");
    let body = json!({"taskIds": table.tasks, "where": "slurm"});
    let started = server.post("/api/batches", &body).good(201);
    assert_eq!(started["settings"]["where"], "slurm");
    let batch = until_over(&server, 1);
    assert_eq!(outcomes(&batch), "1:merged 2:merged");
    for (task, id) in batch["tasks"].as_array().unwrap().iter().zip(&table.tasks) {
        assert!(task["node"].is_string() && task["unit"].is_null(), "{task}");
        let told = server.get(&format!("/api/tasks/{id}/attempts")).good(200);
        assert_eq!(told["attempts"][0]["node"], task["node"]);
    }
    let metrics = server.get("/metrics").text();
    for line in ["pleach_queue_seconds_count 2", "pleach_lost_total 0"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    check_tidy(&table.scene);
    assert_eq!(server.stop().code, 0);
}
