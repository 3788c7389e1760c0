//! Models that do not answer as they should.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::driven::{Driven, Lack};
use super::super::stage::Stage;

/// Some agents would try again for minutes.
const AT_ONCE: Duration = Duration::from_secs(20);

pub(crate) fn a_usage_limit_pauses_and_the_session_goes_on(agent: &'static Driven) {
    let limit = format!("429,times={},retry_after=1", agent.patience);
    let script = json!([{"run": "echo first >> steps.txt"}, {"fail": limit},
        {"run": "echo second >> steps.txt"}, {"say": "Done."}]);
    let stage = Stage::of(agent, &script);
    let story = stage.story(&[]);
    story.check(0, "1:merged");
    let limited = story.told("batch:task:limited");
    assert!(
        !limited.is_empty(),
        "it got over it by itself: {:?}",
        story.events
    );
    let error = limited[0]["error"].as_str().unwrap();
    assert!(
        error.starts_with("the agent reached its usage limit"),
        "{error}"
    );
    assert_eq!(story.attempts(), "1:1", "no attempt is spent");
    check_steps(&stage);
    if agent.lacks(Lack::Session) {
        return;
    }
    let last = stage.requests().pop().unwrap().body.to_string();
    assert!(
        last.contains("echo first"),
        "what was before is known: {last}"
    );
    assert_eq!(stage.sessions(), 1, "{:?}", story.events);
}

/// Checks that no step was done twice. Where the session may be lost, all may have begun anew in the same worktree.
#[track_caller]
fn check_steps(stage: &Stage) {
    let steps = stage.scene.show("pleach/batch-1", "steps.txt");
    let is_anew = stage.agent.lacks(Lack::Session) && steps == "first\nfirst\nsecond";
    assert!(is_anew || steps == "first\nsecond", "{steps}");
}

/// Nothing was done yet, and the agent may not even have stored what it was told.
pub(crate) fn a_limit_at_the_start_loses_no_task(agent: &'static Driven) {
    let limit = format!("429,times={},retry_after=1", agent.patience);
    let script = json!([{"fail": limit}, {"run": "echo x > done.txt"}]);
    let stage = Stage::of(agent, &script);
    let story = stage.story(&[]);
    story.check(0, "1:merged");
    assert!(!story.told("batch:task:limited").is_empty());
    assert_eq!(stage.scene.show("pleach/batch-1", "done.txt"), "x");
}

pub(crate) fn an_overload_is_waited_for(agent: &'static Driven) {
    let overload = format!("529,times={},retry_after=1", agent.patience);
    let script = json!([{"run": "echo first >> steps.txt"}, {"fail": overload},
        {"run": "echo second >> steps.txt"}]);
    let stage = Stage::of(agent, &script);
    let story = stage.story(&[]);
    story.check(0, "1:merged");
    let told = story.told("batch:task:retrying");
    let error = told.first().map(|told| told["error"].as_str().unwrap());
    let error = error.unwrap_or_else(|| panic!("it got over it: {:?}", story.events));
    assert!(
        error.starts_with("the agent's model is overloaded"),
        "{error}"
    );
    check_steps(&stage);
}

pub(crate) fn a_broken_stream_is_got_over(agent: &'static Driven) {
    let script = json!([{"run": "echo first > first.txt"}, {"fail": "cut,times=1"},
        {"run": "echo second > second.txt"}]);
    let stage = Stage::of(agent, &script).settings("retries = 1");
    stage.story(&[]).check(0, "1:merged");
    assert_eq!(stage.changes(), "A first.txt A second.txt");
}

pub(crate) fn a_stream_that_always_breaks_fails(agent: &'static Driven) {
    let script = json!([{"run": "echo first > first.txt"}, {"fail": "cut"}]);
    let stage = Stage::of(agent, &script).settings("retries = 1");
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    assert_eq!(story.attempts(), "1:2");
    let error = story.error_of("1");
    assert!(
        error.starts_with("the agent lost its connection"),
        "{error}"
    );
}

pub(crate) fn a_missing_login_is_the_end_at_once(agent: &'static Driven) {
    let stage = Stage::of(agent, &json!([])).failing("fail=401");
    let stage = stage.settings("retries = 2");
    let start = Instant::now();
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    assert!(start.elapsed() < AT_ONCE, "it took {:?}", start.elapsed());
    assert_eq!(story.attempts(), "1:1");
    let error = story.error_of("1");
    assert!(error.starts_with("the agent is not logged in"), "{error}");
    stage.check_nobody_is_left();
}

pub(crate) fn a_full_context_is_the_end(agent: &'static Driven) {
    // What an agent leaves out of its conversation to go on is of no use here.
    let stage = Stage::of(agent, &json!([])).failing("fail=context");
    let stage = stage.settings("retries = 2");
    let story = stage.story(&[]);
    story.check(1, "1:failed");
    let error = story.error_of("1");
    assert!(error.starts_with("the agent's context is full"), "{error}");
    assert_eq!(story.attempts(), "1:1");
}
