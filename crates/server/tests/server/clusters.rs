//! Where batches can run, as the run dialog asks for it.

use pleach_system::stand_in::STAND_IN;
use pleach_testkit::ADDS_A_FILE;
use serde_json::{Value, json};

use crate::alone_with;
use crate::serving::Serving;
use crate::table::Table;

fn cluster(server: &Serving, name: &str) -> Value {
    let told = server.get("/api/clusters").good(200);
    let mut clusters = told["clusters"].as_array().unwrap().iter();
    clusters
        .find(|cluster| cluster["name"] == name)
        .unwrap()
        .clone()
}

#[test]
fn a_cluster_can_be_chosen_once_it_has_a_share_and_else_says_why_not() {
    alone_with(&[(STAND_IN, "subprocess")], || {
        let table = Table::new(1, "land = \"none\"", ADDS_A_FILE);
        let server = table.serve();
        let here = json!({
            "name": "local", "title": "This machine", "available": true, "reason": null, "hint": null,
            "isDefault": true,
        });
        assert_eq!(cluster(&server, "local"), here);
        let slurm = cluster(&server, "slurm");
        assert_eq!(
            (&slurm["available"], &slurm["isDefault"]),
            (&json!(false), &json!(false))
        );
        assert!(slurm["reason"].is_string());
        let hint = slurm["hint"].as_str().unwrap();
        assert!(hint.contains("pleach config set cluster.share"), "{hint}");
        let wanted = json!({"taskIds": table.tasks, "where": "slurm"});
        let refused = server.post("/api/batches", &wanted);
        assert_eq!(refused.bad(refused.status), "share_unusable");
        let change = json!({"where": "slurm"});
        let changed = server
            .ask("PATCH", "/api/settings", Some(&change), &[])
            .good(200);
        assert_eq!(changed["where"], "slurm");
        assert_eq!(cluster(&server, "slurm")["isDefault"], true);
    });
}
