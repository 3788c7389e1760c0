//! `pleach plan`.

use std::fmt::Write as _;

use serde_json::json;

use crate::Place;

const PLAN: &str = "\
### 61. Parse
**Status**: [COMPLETED]

### 63. Weave `src/a.rs`
**Status**: [NOT STARTED]
**Dependencies**: 61

### 64. Land
**Dependencies**: 63

### 65. Doc of `src/a.rs`
**Priority**: Low
";

#[test]
fn json_has_the_promised_shape() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    let answer = place.pleach(&["plan", "TODO.md", "--format", "json"]);
    assert_eq!(answer.code, 0);
    assert_eq!(
        answer.json(),
        json!({
            "tasks": [
                {"id": "61", "title": "Parse", "status": "completed", "phase": null, "dependsOn": [], "files": [], "line": 1, "wave": null},
                {"id": "63", "title": "Weave src/a.rs", "status": "pending", "phase": null, "dependsOn": ["61"], "files": [], "line": 4, "wave": 1},
                {"id": "64", "title": "Land", "status": "pending", "phase": null, "dependsOn": ["63"], "files": [], "line": 8, "wave": 2},
                {"id": "65", "title": "Doc of src/a.rs", "status": "pending", "phase": null, "dependsOn": [], "files": [], "line": 11, "wave": 1},
            ],
            "waves": [["63", "65"], ["64"]],
            "criticalPath": ["63", "64"],
            "ordered": [],
            "errors": [],
            "warnings": [],
        })
    );
}

#[test]
fn json_with_errors_lists_them_all_and_exits_2() {
    let place = Place::new();
    place.write(
        "plan.md",
        "- [ ] 1.1 A (depends: 1.2)\n- [ ] 1.2 B (depends: 1.1)\n- [ ] 1.3 C (depends: 9.9)\n",
    );
    let answer = place.pleach(&["plan", "plan.md", "--json"]);
    assert_eq!(answer.code, 2);
    let errors = answer.json()["errors"].clone();
    assert_eq!(errors[0]["code"], "cycle");
    assert_eq!(errors[0]["message"], "dependency cycle: 1.1 → 1.2 → 1.1");
    assert_eq!(errors[0]["line"], 1);
    assert_eq!(errors[1]["code"], "unknown_dependency");
    assert_eq!(errors[1]["line"], 3);
}

#[test]
fn collisions_say_which_and_why() {
    let place = Place::new();
    place.write(
        "TODO.md",
        "- [ ] 1.1 Edit `src/a.rs`\n- [ ] 1.2 Edit `src/a.rs` too\n",
    );
    let ordered = place.pleach(&["plan", "--json"]).json()["ordered"].clone();
    assert_eq!(
        ordered,
        json!([{"first": "1.1", "then": "1.2", "because": "both declare src/a.rs"}])
    );
    let allowed = place.pleach(&["plan", "--json", "--allow-overlap"]).json();
    assert_eq!(allowed["waves"], json!([["1.1", "1.2"]]));
}

#[test]
fn a_selection_narrows_the_plan_and_wants_its_dependencies() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    let narrowed = place.pleach(&["plan", "TODO.md", "63", "--json"]);
    assert_eq!(narrowed.json()["waves"], json!([["63"]]));
    let error = place.pleach(&["plan", "64"]).bad(2);
    assert!(
        error.contains("task 64 needs 63, which is not done and not selected"),
        "{error}"
    );
    assert!(
        error.contains("TODO.md:8") && error.contains("--with-deps"),
        "{error}"
    );
    let with_deps = place.pleach(&["plan", "64", "--with-deps", "--json"]);
    assert_eq!(with_deps.json()["waves"], json!([["63"], ["64"]]));
}

#[test]
fn every_format_answers() {
    let place = Place::new();
    place.write("TODO.md", PLAN);
    assert!(place.pleach(&["plan"]).good().contains("Weave src/a.rs"));
    assert!(
        place
            .pleach(&["plan", "--format", "mermaid"])
            .good()
            .starts_with("flowchart LR")
    );
    assert!(
        place
            .pleach(&["plan", "--format", "dot"])
            .good()
            .starts_with("digraph")
    );
    assert!(
        place
            .pleach(&["plan", "--format", "svg"])
            .good()
            .starts_with("<svg")
    );
}

#[test]
fn a_plan_of_a_thousand_tasks_is_no_wall_of_text() {
    let place = Place::new();
    let mut text = String::new();
    for number in 1..=1000 {
        let needs = if number > 40 {
            format!(" (depends: t.{})", number - 40)
        } else {
            String::new()
        };
        writeln!(
            text,
            "- [ ] {number}. Improve part {number}{}",
            needs.replace("t.", "")
        )
        .unwrap();
    }
    place.write("TODO.md", &text);
    let short = place.pleach(&["plan"]).good();
    assert!(
        short.lines().count() <= 110,
        "{} lines",
        short.lines().count()
    );
    assert!(short.contains("--all"));
    let long = place.pleach(&["plan", "--all"]).good();
    assert!(long.lines().count() > 1000);
}

#[test]
fn a_reader_that_goes_away_early_is_no_error() {
    let place = Place::new();
    let mut text = String::new();
    for number in 1..5000 {
        writeln!(text, "- [ ] {number}. Task").unwrap();
    }
    place.write("TODO.md", &text);
    let script = format!("{} plan --all | head -n 1", env!("CARGO_BIN_EXE_pleach"));
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_picture_in_the_guide_is_what_the_program_draws() {
    let guide = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let words = ["plan", "greenhouse.md", "--format", "svg"];
    let drawn = crate::pleach(&guide, &guide, &words).good();
    let shown = std::fs::read_to_string(guide.join("plan.svg")).unwrap();
    assert!(
        drawn == shown,
        "run `cargo xtask pictures` and look at docs/guide/plan.svg"
    );
}
