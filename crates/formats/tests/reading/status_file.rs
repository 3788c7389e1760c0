//! Status files.

use pleach_domain::task::TaskStatus;
use pleach_formats::{StatusFile, StatusFileError};

use crate::table;

const STATUS: &str = r#"{
  "version": 7,
  "tasks": [
    {"id": "2.1", "status": "pending", "phase": "Phase 2: Walls", "description": "North", "extra": [1, 2]},
    {"id": "1.1", "status": "failed", "phase": "Phase 1: Ground"}
  ]
}
"#;

#[test]
fn the_file_gives_tasks_order_and_state_and_the_plan_the_rest() {
    let written = pleach_formats::read(
        "## Phase 1: G\n- [x] 1.1 Dig `a.rs`\n- [ ] 1.2 Pour\n## Phase 2: W\n- [ ] 2.1 N (depends: 1.1, 1.2, 0.1)\n",
    );
    let plan = StatusFile::read(STATUS).unwrap().plan(&written.plan);
    assert_eq!(
        table(&plan),
        "2.1 [ ] North p2 < 1.1 1.2 0.1\n1.1 failed Dig a.rs p1 @ a.rs"
    );
}

#[test]
fn setting_a_state_changes_one_value_and_no_other_byte() {
    let edited = StatusFile::set(STATUS, &["2.1".into()], TaskStatus::InProgress).unwrap();
    assert_eq!(
        edited.unwrap(),
        STATUS.replace("\"pending\"", "\"in_progress\"")
    );
    let same = StatusFile::set(STATUS, &["1.1".into()], TaskStatus::Failed).unwrap();
    assert_eq!(same, None);
    let gone = StatusFile::set(STATUS, &["9".into()], TaskStatus::Failed);
    assert_eq!(gone, Err(StatusFileError::NoSuchTask("9".into())));
}

#[test]
fn a_malformed_file_is_refused_with_its_line() {
    for (text, line) in [
        ("", 1),
        ("[]", 1),
        ("{\"tasks\":[\n{\"id\":\"a\"}]}", 2),
        ("{\"tasks\":[\n\n{\"id\":\"a\",\"status\":\"odd\"}]}", 3),
        (
            "{\"tasks\":[{\"id\":\"a\",\"status\":\"failed\"},\n{\"id\":\"a\",\"status\":\"failed\"}]}",
            2,
        ),
    ] {
        match StatusFile::read(text) {
            Err(StatusFileError::Malformed { line: found, .. }) => {
                assert_eq!(found, line, "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}
