//! Agents that do what they should.

use std::collections::BTreeSet;

use serde_json::json;

use super::super::driven::{Driven, Lack};
use super::super::stage::Stage;

/// What the model is said to take for each answer, in and out.
const TOKENS: u64 = 1050;

pub(crate) fn three_tasks_are_woven(agent: &'static Driven) {
    let make = |name: &str| {
        json!([{"say": "I make it."}, {"write": [name, format!("made {name}\n")]},
            {"run": format!("cat {name}")}, {"say": "It is made."}])
    };
    let join = json!([{"run": "cat one.txt two.txt > three.txt"}, {"say": "It is joined."}]);
    let tasks = [
        ("1", &[][..], make("one.txt")),
        ("2", &[], make("two.txt")),
        ("3", &["1", "2"], join),
    ];
    let stage = Stage::new(agent, &tasks);
    stage.prepare();
    let story = stage.story(&[]);
    story.check(0, "1:merged 2:merged 3:merged");
    // An agent that only does its work changes no settings of its own.
    assert!(!story.notes().contains("restored"), "{}", story.notes());
    assert_eq!(stage.changes(), "A one.txt A three.txt A two.txt");
    let show = |file| stage.scene.show("pleach/batch-1", file);
    assert_eq!(show("one.txt"), "made one.txt");
    assert_eq!(show("three.txt"), "made one.txt\nmade two.txt");
    check_told(&stage);
    check_transcript(&stage);
    stage.check_nobody_is_left();
}

/// What everybody sees of the tasks.
#[track_caller]
fn check_told(stage: &Stage) {
    let batch = stage.batch();
    for (task, answers) in batch["tasks"].as_array().unwrap().iter().zip([3, 3, 2]) {
        assert!(task["sessionId"].is_string(), "{task}");
        let tokens = task["tokens"].as_u64().unwrap();
        assert!(stage.is_about(tokens, answers * TOKENS), "{task}");
        assert_eq!(
            task["cost"].is_number(),
            !stage.agent.lacks(Lack::Cost),
            "{task}"
        );
        assert_eq!(task["attempts"], 1, "{task}");
    }
}

#[track_caller]
fn check_transcript(stage: &Stage) {
    let logs = stage.pleach(&["logs", "1", "1"]).good();
    let transcript = stage.transcript("1");
    let calls = transcript.all("tool_call");
    assert_eq!(calls.len(), 2, "{transcript:#?}");
    assert!(
        calls[1]["title"].as_str().unwrap().contains("cat one.txt"),
        "{calls:#?}"
    );
    for call in &calls {
        assert!(logs.contains(call["title"].as_str().unwrap()), "{logs}");
        let results = transcript.all("tool_result").into_iter();
        let mut own = results.filter(|result| result["id"] == call["id"]);
        assert_eq!(
            own.next().map(|own| &own["status"]),
            Some(&json!("ok")),
            "{call}"
        );
    }
    let output = transcript.last("tool_result")["output"].as_str().unwrap();
    let is_told = output.contains("made one.txt");
    assert_eq!(
        is_told,
        !stage.agent.lacks(Lack::Outputs),
        "{transcript:#?}"
    );
    assert_eq!(transcript.last("file_edit")["path"], "one.txt");
    let tokens = transcript.last("usage")["tokens"].as_u64().unwrap();
    assert!(stage.is_about(tokens, 3 * TOKENS), "{transcript:#?}");
    assert_eq!(transcript.last("result")["outcome"], "completed");
    assert!(
        transcript
            .all("text")
            .iter()
            .any(|text| text["text"] == "I make it.")
    );
}

pub(crate) fn four_at_once_do_not_disturb_each_other(agent: &'static Driven) {
    let script = |task: &str| {
        json!([{"write": [format!("{task}.txt"), format!("by {task}\n")]},
            {"run": format!("pwd > where-{task}.txt; cat *.txt > seen-{task}.txt")}])
    };
    let ids = ["1", "2", "3", "4"];
    let tasks = ids.map(|id| (id, &[][..], script(id)));
    let stage = Stage::new(agent, &tasks).settings("retries = 0\nmax_parallel = 4");
    stage.prepare();
    let story = stage.story(&[]);
    story.check(0, "1:merged 2:merged 3:merged 4:merged");
    let show = |file: String| stage.scene.show("pleach/batch-1", &file);
    for id in ids {
        let place = show(format!("where-{id}.txt"));
        assert!(place.ends_with(&format!("/batch-1/task-{id}")), "{place}");
        assert_eq!(show(format!("{id}.txt")), format!("by {id}"));
        assert_eq!(show(format!("seen-{id}.txt")), format!("by {id}\n{place}"));
    }
    let batch = stage.batch();
    let sessions = batch["tasks"].as_array().unwrap().iter();
    let sessions: BTreeSet<_> = sessions.map(|task| task["sessionId"].to_string()).collect();
    assert_eq!(sessions.len(), 4, "{batch}");
    stage.check_nobody_is_left();
}

pub(crate) fn a_trial_shows_that_it_works(agent: &'static Driven) {
    let stage = Stage::new(agent, &[]);
    let answer = stage.trial();
    let told: serde_json::Value = serde_json::from_str(&answer.out).expect(&answer.err);
    assert_eq!((answer.code, &told["works"]), (0, &json!(true)), "{told:#}");
    assert!(told["sessionId"].is_string(), "{told:#}");
    assert!(told["tokens"].as_u64() > Some(0), "{told:#}");
    stage.check_nobody_is_left();
}
