//! What is shown of attempts that were given to a cluster.

use std::path::Path;

use pleach_domain::event::{Event, TaskEvent};
use pleach_domain::id::TaskId;
use pleach_log::queue_report::{QueueReport, ReportedUnit, UnitWord};
use pleach_log::view::{BatchView, Owner, Surroundings};
use serde_json::{Value, json};

use super::{BEGUN, NEW_YEAR, design, loaded, of_task, started};

#[test]
fn an_attempt_on_a_cluster_is_queued_for_its_reason_until_a_node_begins_with_it() {
    let node = "n7".to_owned();
    let placed = of_task("1", TaskEvent::Placed { attempt: 1, node });
    let events = [(0, BEGUN), (1, started("1", 1)), (61, placed)];
    let unit = |state, because: Option<&str>| ReportedUnit {
        task: Some(TaskId::new("1")),
        number: 1,
        cluster: "slurm".to_owned(),
        job: Some("985_1".to_owned()),
        state,
        because: because.map(str::to_owned),
    };
    let seen = |events: &[(u64, Event)], unit: Option<ReportedUnit>| {
        let mut loaded = loaded(&design("1 2"), events);
        let mut record: Value = serde_json::from_str(&loaded.record).unwrap();
        record["cluster"] = json!({"share": "/share"});
        loaded.record = record.to_string();
        let surroundings = Surroundings {
            worktrees: Path::new("/nowhere"),
            owner: Owner::Alive,
            queue: &QueueReport {
                units: unit.into_iter().collect(),
            },
            now: NEW_YEAR + 70_000,
        };
        let view = json!(BatchView::of(&loaded, &surroundings).unwrap());
        assert_eq!(view["settings"]["where"], "slurm");
        let task = &view["tasks"][0];
        let told = ["status", "state", "word", "node", "unit", "seconds"].map(|field| &task[field]);
        let counts = ["queued", "running"].map(|status| &view["progress"][status]);
        json!([told, counts])
    };
    let waits = |job: Value, because: Value| {
        let unit = json!({"cluster": "slurm", "job": job, "state": "waiting", "because": because});
        json!([["queued", "queued", "queued", null, unit, 0.0], [2, 0]])
    };
    let before = &events[..2];
    assert_eq!(seen(before, None), waits(Value::Null, Value::Null));
    let reported = unit(UnitWord::Waiting, Some("Resources"));
    let expected = waits(json!("985_1"), json!("Resources"));
    assert_eq!(seen(before, Some(reported)), expected);
    // The queue may not have been asked since.
    let reported = unit(UnitWord::Waiting, Some("Resources"));
    let runs = json!({"cluster": "slurm", "job": "985_1", "state": "running", "because": null});
    let expected = json!([["running", "running", "running", "n7", runs, 9.0], [1, 1]]);
    assert_eq!(seen(&events, Some(reported)), expected);
}
