//! What the tests of a project say of a batch, over HTTP: the verdict, the guilty, and what they printed.

use pleach_testkit::{ADDS_A_FILE, outcomes, until_over};
use serde_json::{Value, json};

use crate::alone;
use crate::serving::Serving;
use crate::table::Table;

/// Prints many lines of letters that are more than one byte each, and is red with task 2.
const TESTS: &str = "seq 20000 | sed 's/^/prüfe /'; ls; [ ! -e file-2 ]";

/// A batch of three tasks that is over.
fn judged(settings: &str) -> (Table, Serving, Value) {
    let settings = format!("land = \"none\"\nvalidate = \"{TESTS}\"\n{settings}");
    let table = Table::new(3, &settings, ADDS_A_FILE);
    let server = table.serve();
    table.start(&server, &json!({"maxConcurrent": 1}));
    let over = until_over(&server, 1);
    (table, server, over)
}

/// What a run of the tests printed, page by page.
fn printed(server: &Serving, run: u64, page: u64) -> String {
    let (mut from, mut text) = (0, String::new());
    loop {
        let path = format!("/api/batches/1/validation?run={run}&from={from}&limit={page}");
        let part = server.get(&path).good(200)["log"].clone();
        assert_eq!((&part["run"], &part["from"]), (&json!(run), &json!(from)));
        text.push_str(part["text"].as_str().unwrap());
        if part["to"] == part["total"] {
            return text;
        }
        assert!(part["to"].as_u64() > Some(from), "{part}");
        from = part["to"].as_u64().unwrap();
    }
}

/// The number of the first run that ended so.
#[track_caller]
fn run_that_was(validation: &Value, verdict: &str) -> u64 {
    let mut runs = validation["runs"].as_array().unwrap().iter();
    let run = runs.find(|run| run["run"] == verdict);
    run.expect(verdict)["number"].as_u64().unwrap()
}

#[test]
fn the_guilty_task_is_named_and_the_rest_is_proved() {
    alone(|| {
        let (table, server, over) = judged("");
        assert_eq!(outcomes(&over), "1:merged 2:invalid 3:merged");
        assert_eq!(over["tasks"][1]["status"], "skipped");
        let why = over["tasks"][1]["error"].as_str().unwrap();
        assert_eq!(
            why,
            "the tests pass with 1 and fail when this task is added"
        );
        assert_eq!(table.marks(), "completed pending completed");
        let validation = server.get("/api/batches/1/validation").good(200);
        assert_eq!(
            (&validation["verdict"], &validation["tree"]),
            (&json!("proved"), &over["validation"]["tree"])
        );
        let tree = ["rev-parse", "pleach/batch-1^{tree}"];
        assert_eq!(validation["tree"], table.scene.repo.git(&tree).as_str());
        let last = &validation["log"];
        assert!(
            last["text"]
                .as_str()
                .unwrap()
                .ends_with("file-1\nfile-3\npleach.toml\n"),
            "{last}"
        );
        let number = run_that_was(&validation, "red");
        let red = printed(&server, number, 99_999);
        assert!(red.starts_with("prüfe 1\nprüfe 2\n"), "{red}");
        assert!(red.contains("file-2\n"), "{red}");
        assert_eq!(red, printed(&server, number, 10_001));
        assert!(
            !red.contains(char::REPLACEMENT_CHARACTER),
            "a letter was cut"
        );
        let unknown = server.get("/api/batches/1/validation?run=99");
        assert_eq!(unknown.bad(404), "run_not_found");
        for bad in ["limit=0", "limit=1048577"] {
            let answer = server.get(&format!("/api/batches/1/validation?{bad}"));
            assert_eq!(answer.bad(422), "bad_field", "{bad}");
        }
    });
}

#[test]
fn a_batch_that_may_not_drop_anybody_is_red_and_fails() {
    alone(|| {
        let (table, server, over) = judged("on_invalid = \"fail\"");
        assert_eq!(over["status"], "failed");
        assert_eq!(over["validation"]["verdict"], "red");
        assert_eq!(table.marks(), "pending pending pending");
        let validation = server.get("/api/batches/1/validation").good(200);
        assert!(validation["reason"].is_string(), "{validation}");
        let printed = printed(&server, run_that_was(&validation, "red"), 99_999);
        assert!(printed.contains("file-2\n"), "{printed}");
    });
}

#[test]
fn what_is_not_proved_lands_over_http_only_where_that_is_said() {
    alone(|| {
        let table = Table::new(1, "land = \"none\"\nvalidate = \"kill -9 $$\"", ADDS_A_FILE);
        let server = table.serve();
        table.start(&server, &json!({}));
        until_over(&server, 1);
        let land = |wish: &Value| server.post("/api/batches/1/land", wish);
        let refused = || land(&json!({"into": "main"})).bad(409);
        // Whoever ran it may hold it for another moment.
        let refused = (0..50)
            .map(|_| refused())
            .find(|code| code != "batch_running");
        assert_eq!(refused.as_deref(), Some("not_landed"));
        let wish = json!({"into": "main", "unproved": true});
        assert_eq!(land(&wish).good(200)["message"], "batch 1 has landed");
        assert_eq!(table.scene.show("main", "file-1"), "x");
    });
}
