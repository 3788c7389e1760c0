//! What people do not let agents do.

use serde_json::json;

use super::super::driven::Driven;
use super::super::stage::Stage;

/// It is used up with the second answer; what some agents take they tell with the next one, which would take long.
pub(crate) fn a_used_up_budget_is_the_end_in_mid_work(agent: &'static Driven) {
    let long = "python3 -c 'import time; time.sleep(300)'";
    let script = json!([{"run": "echo 1 > one.txt"}, {"run": "echo 2 > two.txt"},
        {"run": format!("echo 3 > three.txt; {long}")}]);
    let stage = Stage::of(agent, &script);
    let stage = stage.settings("retries = 2\ntask_budget_tokens = 2000");
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    let error = story.error_of("1");
    assert!(error.contains("budget"), "{error}");
    assert_eq!(story.attempts(), "1:1");
    assert_eq!(stage.scene.show("pleach/task-1/1", "one.txt"), "1");
    stage.check_nobody_is_left();
}

pub(crate) fn what_is_not_allowed_is_told(agent: &'static Driven) {
    let script = json!([{"write": ["one.txt", "one\n"]}, {"say": "I could not."}]);
    let stage = Stage::of(agent, &script).args(agent.forbidding);
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    let error = story.error_of("1");
    assert!(error.contains("denied permission once"), "{error}");
    let transcript = stage.transcript("1");
    let result = transcript.last("tool_result");
    assert_eq!(result["status"], "denied", "{transcript:#?}");
}
