//! `pleach next`.

use serde_json::json;

use crate::Place;

const PLAN: &str = "\
## Phase 1: Ground
- [x] 1.1 Dig
- [ ] 1.2 Pour (depends: 1.1)

## Phase 3: Roof
**Execution Note:** Tasks 3.1-3.2 are [SEQUENTIAL] - all modify same file
- [ ] 3.1 Beams (depends: 1.1)
- [ ] 3.2 Tiles (depends: 1.1)
";

#[test]
fn json_has_the_promised_shape() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    assert_eq!(
        place.pleach(&["next", "--json"]).json(),
        json!({"count": 2, "tasks": [
            {"id": "1.2", "description": "Pour", "phase": 1, "status": "pending",
             "reason": "pending - ready to implement", "sequential": false,
             "dependencies": ["1.1"], "blockedBy": []},
            {"id": "3.1", "description": "Beams", "phase": 3, "status": "pending",
             "reason": "pending - ready to implement", "sequential": true,
             "sequentialGroup": "3.1-3.2", "sequentialReason": "all modify same file",
             "dependencies": ["1.1"], "blockedBy": []},
        ]})
    );
}

#[test]
fn a_status_file_stands_in_for_the_states() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    place.write(
        "status.json",
        r#"{"tasks":[{"id":"1.1","status":"failed","phase":"Phase 1: Ground","description":"Dig deeper"},
                     {"id":"1.2","status":"pending","phase":"Phase 1: Ground"}]}"#,
    );
    let answer = place
        .pleach(&["next", "5", "--status", "status.json", "--json"])
        .json();
    assert_eq!(answer["count"], 1);
    assert_eq!(answer["tasks"][0]["description"], "Dig deeper");
    assert_eq!(
        answer["tasks"][0]["reason"],
        "failed - needs retry or manual intervention"
    );
    let ignoring = place
        .pleach(&[
            "next",
            "5",
            "--status",
            "status.json",
            "--ignore-deps",
            "--json",
        ])
        .json();
    assert_eq!(ignoring["tasks"][1]["id"], "1.2");
    assert_eq!(ignoring["tasks"][1]["blockedBy"], json!(["1.1"]));
}

#[test]
fn a_status_file_needs_no_plan() {
    let place = Place::new();
    place.write(
        "status.json",
        r#"{"tasks":[{"id":"a","status":"in_progress"},{"id":"b","status":"pending"}]}"#,
    );
    let answer = place
        .pleach(&["next", "--status", "status.json", "--json"])
        .json();
    assert_eq!(
        answer["tasks"][0]["reason"],
        "in_progress - should be completed first"
    );
    assert_eq!(
        (answer["count"].clone(), answer["tasks"][0]["phase"].clone()),
        (json!(1), json!(0))
    );
}

#[test]
fn people_are_told_in_words() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    let text = place.pleach(&["next", "1"]).good();
    assert!(
        text.contains("1.2  Pour") && text.contains("pending - ready to implement"),
        "{text}"
    );
    place.write("TODO.md", "- [x] all of it\n");
    assert_eq!(place.pleach(&["next"]).good(), "All tasks are done.\n");
}

#[test]
fn errors_elsewhere_are_only_warnings() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.2)\n");
    let answer = place.pleach(&["next"]);
    assert!(
        answer.err.contains("warning: task 1.2 depends on itself"),
        "{}",
        answer.err
    );
    assert!(answer.good().contains("1.1  A"));
    place.write("TODO.md", "- [ ] 1.2 B (depends: 1.2)\n");
    assert!(
        place
            .pleach(&["next"])
            .bad(2)
            .contains("error: task 1.2 depends on itself")
    );
}

#[test]
fn a_status_file_leaves_dependencies_in_charge_of_their_tasks() {
    let place = Place::new();
    place.write("TODO.md", "## Phase 1: A\n- [x] 1.1 X\n- [ ] 1.2 Y\n## Phase 2: B\n- [ ] 2.1 Z (depends: 1.1)\n- [ ] 2.2 W (depends: 1.2)\n");
    place.write(
        "status.json",
        r#"{"tasks":[{"id":"2.1","status":"pending","phase":"Phase 2: B"},{"id":"2.2","status":"pending","phase":"Phase 2: B"}]}"#,
    );
    let answer = place.pleach(&["next", "--status", "status.json", "--json"]);
    assert!(
        answer
            .err
            .contains("task 2.2 depends on 1.2, which is open and not in the status file"),
        "{}",
        answer.err
    );
    assert_eq!(answer.json()["count"], 1);
    assert_eq!(answer.json()["tasks"][0]["id"], "2.1");
}
