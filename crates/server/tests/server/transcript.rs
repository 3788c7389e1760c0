//! Transcripts, by the names of their tasks.

use pleach_testkit::until_over;
use serde_json::json;

use crate::alone;
use crate::table::Table;

#[test]
fn a_transcript_is_found_by_the_key_of_its_task_and_by_its_id() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"", "echo hello");
        let server = table.serve();
        table.start(&server, &json!({}));
        until_over(&server, 1);
        for task in ["1", &table.tasks[0]] {
            let page = server.get(&format!("/api/batches/1/tasks/{task}/log"));
            assert_eq!(page.good(200)["entries"][0]["text"], "hello");
        }
    });
}
