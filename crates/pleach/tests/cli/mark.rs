//! `pleach mark`.

use serde_json::json;

use crate::Place;

#[test]
fn a_checkbox_is_ticked_and_everything_else_stays() {
    let place = Place::new();
    place.write(
        "TODO.md",
        "\u{feff}- [ ] 1.1 A\r\n* [ ] 1.2 B  \r\n- [ ] 1.3 C",
    );
    let said = place.pleach(&["mark", "1.2", "1.3", "complete"]).good();
    assert_eq!(
        said,
        "1.2 is completed in TODO.md\n1.3 is completed in TODO.md\n"
    );
    assert_eq!(
        place.read("TODO.md"),
        "\u{feff}- [ ] 1.1 A\r\n* [x] 1.2 B  \r\n- [x] 1.3 C"
    );
    place.pleach(&["mark", "1.2-1.3", "pending"]).good();
    assert_eq!(
        place.read("TODO.md"),
        "\u{feff}- [ ] 1.1 A\r\n* [ ] 1.2 B  \r\n- [ ] 1.3 C"
    );
    let left = std::fs::read_dir(place.path()).unwrap().count();
    assert_eq!(left, 1, "nothing is left beside the plan");
}

#[test]
fn a_status_line_holds_more_than_a_checkbox() {
    let place = Place::new();
    place.write("TODO.md", "### 7. A\n**Status**: [NOT STARTED] (soon)\n");
    place.pleach(&["mark", "7", "started"]).good();
    assert_eq!(
        place.read("TODO.md"),
        "### 7. A\n**Status**: [IN PROGRESS] (soon)\n"
    );
}

#[test]
fn what_the_plan_cannot_hold_is_refused_and_nothing_is_written() {
    let place = Place::new();
    place.write(
        "TODO.md",
        "- [ ] 1.1 A\n\n### 7. B\n**Status**: [PLANNED]\n",
    );
    let error = place.pleach(&["mark", "7", "1.1", "started"]).bad(2);
    assert!(
        error.contains("task 1.1 cannot be marked started: a checkbox is either open or done"),
        "{error}"
    );
    assert!(
        error.contains("TODO.md:1") && error.contains("hint: use --status FILE"),
        "{error}"
    );
    assert!(place.read("TODO.md").contains("[PLANNED]"));
    assert!(
        place
            .pleach(&["mark", "7", "failed"])
            .bad(2)
            .contains("task 7 cannot be marked failed")
    );
}

#[test]
fn a_status_file_holds_every_state_and_keeps_unknown_fields() {
    let place = Place::new();
    let before =
        "{\"v\": 1, \"tasks\": [ {\"id\": \"a\", \"status\": \"pending\", \"x\": [1,2]} ]}\n";
    place.write("status.json", before);
    let answer = place.pleach(&["mark", "a", "skipped", "--status", "status.json", "--json"]);
    assert_eq!(
        answer.json(),
        json!({"file": "status.json", "marked": [{"id": "a", "status": "skipped"}]})
    );
    assert_eq!(
        place.read("status.json"),
        before.replace("pending", "skipped")
    );
}

#[test]
fn mistakes_are_told_with_what_to_write_instead() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] 1.1 A\n- [ ] 1.2 B\n");
    assert!(
        place
            .pleach(&["mark", "1.1", "completed"])
            .bad(2)
            .contains("'complete'")
    );
    assert!(
        place
            .pleach(&["mark", "1.7", "complete"])
            .bad(2)
            .contains("task 1.7 not found")
    );
    assert!(
        place
            .pleach(&["mark", "all", "complete"])
            .bad(2)
            .contains("mark takes only ids")
    );
    let json = place.pleach(&["mark", "1.7", "complete", "--json"]).json();
    assert_eq!(json["error"]["code"], "task_not_found");
}

#[test]
fn a_plan_behind_a_link_stays_behind_it() {
    let place = Place::new();
    place.write("real.md", "- [ ] 1.1 A\n");
    std::os::unix::fs::symlink("real.md", place.path().join("TODO.md")).unwrap();
    place.pleach(&["mark", "1.1", "complete"]).good();
    assert_eq!(place.read("real.md"), "- [x] 1.1 A\n");
    assert!(
        place
            .path()
            .join("TODO.md")
            .symlink_metadata()
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn of_two_tasks_with_one_id_none_is_marked() {
    let place = Place::new();
    place.write("TODO.md", "- [ ] 1.1 A\n- [ ] 1.1 B\n");
    assert!(
        place
            .pleach(&["mark", "1.1", "complete"])
            .bad(2)
            .contains("several tasks have the id 1.1")
    );
    place.write("TODO.md", "- [ ] Same\n- [ ] Same\n");
    assert!(
        place
            .pleach(&["mark", "2", "complete"])
            .bad(2)
            .contains("several tasks")
    );
    assert_eq!(place.read("TODO.md"), "- [ ] Same\n- [ ] Same\n");
}
