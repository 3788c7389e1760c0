//! The ids of tasks: the same in every answer and event, whether a plan file was imported or not.

use pleach_testkit::until_over;
use serde_json::{Value, json};

use crate::alone;
use crate::table::Table;

fn ids(batch: &Value) -> Vec<Value> {
    let tasks = batch["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["taskId"].clone()).collect()
}

#[test]
fn the_ids_that_go_in_come_out_of_every_answer_and_event() {
    alone(|| {
        let table = Table::new(2, "land = \"none\"", "echo x > file-$PLEACH_TASK");
        let server = table.serve();
        let mut stream = server.listen("/api/events?from=0", &[]).unwrap();
        let made = table.start(&server, &json!({}));
        assert_eq!(json!(ids(&made)), json!(table.tasks));
        until_over(&server, 1);
        let mut heard = Vec::new();
        loop {
            let event = stream.next_event().unwrap();
            let is_last = event.event == "batch:completed";
            if event.event.starts_with("batch:task:") {
                heard.push((event.data["taskId"].clone(), event.data["key"].clone()));
            }
            if event.event == "batch:created" {
                assert_eq!(event.data["tasks"], json!(table.tasks));
                assert_eq!(event.data["keys"], json!(["1", "2"]));
            }
            if is_last {
                break;
            }
        }
        let [first, second] = [&table.tasks[0], &table.tasks[1]];
        assert!(heard.contains(&(json!(first), json!("1"))), "{heard:?}");
        for pair in &heard {
            let known = [(json!(first), json!("1")), (json!(second), json!("2"))];
            assert!(known.contains(pair), "{heard:?}");
        }
        for name in ["2", second] {
            let path = format!("/api/batches/1/tasks/{name}/diff");
            server.get(&path).good(200);
        }
    });
}
