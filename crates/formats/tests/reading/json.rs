//! Execution plans.

use crate::check;

#[test]
fn an_execution_plan_has_stages() {
    let text = r#"{
  "batches": [
    {"batch_id": 1, "task_ids": ["a", "b"], "can_parallel": true},
    {"batch_id": "two", "task_ids": ["c"], "can_parallel": false}
  ],
  "tasks": [
    {"id": "a", "title": "A", "prompt": "do a", "files": ["x.rs"]},
    {"id": "b", "depends_on": ["a"]},
    {"id": "c", "title": "C", "status": "completed"}
  ]
}"#;
    check(text, "a [ ] A @ x.rs\nb [ ] b < a\nc [x] C");
    let plan = pleach_formats::read(text).plan;
    assert_eq!(plan.tasks[0].details, "do a");
    assert_eq!(plan.tasks[1].line, 8);
    let stages: Vec<(&str, usize, bool, u32)> = plan
        .stages
        .iter()
        .map(|stage| {
            (
                stage.id.as_str(),
                stage.tasks.len(),
                stage.can_parallel,
                stage.line,
            )
        })
        .collect();
    assert_eq!(stages, [("1", 2, true, 3), ("two", 1, false, 4)]);
}

#[test]
fn broken_json_is_an_error_at_its_line() {
    let plan = pleach_formats::read("{\n  \"tasks\": [\n    {\"id\": }\n  ]\n}").plan;
    assert_eq!(plan.errors[0].code.as_str(), "bad_plan");
    assert_eq!(plan.errors[0].line, Some(3));
    let plan = pleach_formats::read("{\"tasks\": [\n{\"id\": \"a\"},\n{\"title\": 7}]}").plan;
    assert_eq!((plan.tasks.len(), plan.errors[0].line), (1, Some(3)));
}

#[test]
fn what_other_programs_write_is_taken_as_far_as_it_goes() {
    let text = r#"{"tasks":[{"id":1.1,"priority":1,"status":"todo","files":null,"depends_on":null},{"id":2}]}"#;
    check(text, "1.1 [ ] 1.1\n2 [ ] 2");
    assert!(pleach_formats::read(text).plan.errors.is_empty());
    let plan = pleach_formats::read(r#"{"tasks":[{"id":[]}]}"#).plan;
    assert!(
        plan.errors[0]
            .message
            .contains("an id is a text or a number"),
        "{:?}",
        plan.errors
    );
}
