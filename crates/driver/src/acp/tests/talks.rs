//! Talks with agents that are made up, where no real one was recorded.

use serde_json::{Value, json};

use super::{Talk, concluded, order};
use crate::{DriverOrder, Protocol, ProtocolKind};
use crate::{Exit, Outcome, Trouble};

/// A talk up to the answer to the first session.
fn opened(order: &DriverOrder, session: &Value) -> Talk {
    let mut talk = Talk::begin(order);
    let about = json!({
        "agentCapabilities": {"loadSession": true},
        "agentInfo": {"version": "1.2"},
        "authMethods": [{"name": "By key"}],
    });
    talk.answer("initialize", about);
    let (_, method) = talk.asked().expect("a session is asked for");
    talk.answer(&method, session.clone());
    talk
}

/// A talk in which the agent works.
fn working() -> Talk {
    let talk = opened(&order(), &json!({"sessionId": "s"}));
    assert_eq!(talk.asked().unwrap().1, "session/prompt");
    talk
}

impl Talk {
    fn update(&mut self, session: &str, update: &Value) {
        let params = json!({"sessionId": session, "update": update});
        self.hear(&json!({"method": "session/update", "params": params}).to_string());
    }

    fn say(&mut self, text: &str) {
        let content = json!({"type": "text", "text": text});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        self.update("s", &update);
    }

    fn ask_permission(&mut self, kinds: &[&str]) -> Value {
        let options = kinds
            .iter()
            .map(|kind| json!({"optionId": format!("the-{kind}"), "kind": kind}));
        let options: Vec<_> = options.collect();
        let call = json!({"toolCallId": "c", "title": "Do", "kind": "execute", "rawInput": {"command": "ls"}});
        let params = json!({"sessionId": "s", "toolCall": call, "options": options});
        let request = json!({"id": "x", "method": "session/request_permission", "params": params});
        self.hear(&request.to_string());
        self.story.written.last().expect("it is answered")["result"]["outcome"].clone()
    }

    #[track_caller]
    fn ends(self, expected: &str) -> Vec<String> {
        let (story, conclusion) = self.end(Exit::Code(0));
        assert_eq!(concluded(&conclusion), expected);
        story.told
    }
}

fn with(mode: &str, model: &str) -> DriverOrder {
    DriverOrder {
        speaks: ProtocolKind::Acp {
            mode: Some(mode.to_owned()),
            errors_are_text: false,
        },
        model: Some(model.to_owned()),
        ..order()
    }
}

#[test]
fn mode_and_model_are_set_before_the_prompt() {
    let session = json!({
        "sessionId": "s",
        "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "yolo"}]},
        "models": {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "big"}]},
    });
    let mut talk = opened(&with("yolo", "big"), &session);
    talk.answer("session/set_mode", json!({}));
    talk.answer("session/set_model", json!({}));
    talk.say("Done.");
    talk.answer("session/prompt", json!({"stopReason": "end_turn"}));
    assert!(talk.story.is_dismissed);
    let sent = &talk.story.written;
    assert_eq!(
        sent[2]["params"],
        json!({"sessionId": "s", "modeId": "yolo"})
    );
    assert_eq!(
        sent[3]["params"],
        json!({"sessionId": "s", "modelId": "big"})
    );
    assert_eq!(sent[4]["params"]["prompt"][0]["text"], "Do it");
    let told = talk.ends("Completed \"Done.\"");
    assert_eq!(told, ["session s big 1.2", "says \"Done.\""]);
}

#[test]
fn modes_and_models_may_be_options() {
    let option = |id: &str, values: Value| json!({"id": id, "category": id, "currentValue": "a", "options": values});
    let groups = json!([{"group": "g", "options": [{"value": "a"}, {"value": "b"}]}]);
    let session = json!({
        "sessionId": "s",
        "configOptions": [option("mode", json!([{"value": "a"}, {"value": "b"}])), option("model", groups)],
    });
    let mut talk = opened(&with("b", "b"), &session);
    talk.answer("session/set_config_option", json!({}));
    talk.answer("session/set_config_option", json!({}));
    assert_eq!(talk.asked().unwrap().1, "session/prompt");
    let set = json!({"sessionId": "s", "configId": "model", "value": "b"});
    assert_eq!(talk.story.written[3]["params"], set);
}

#[test]
fn what_is_set_already_is_not_set() {
    let session = json!({
        "sessionId": "s",
        "modes": {"currentModeId": "yolo", "availableModes": [{"id": "yolo"}]},
        "models": {"currentModelId": "big", "availableModels": []},
    });
    let talk = opened(&with("yolo", "big"), &session);
    assert_eq!(talk.asked().unwrap().1, "session/prompt");
}

#[test]
fn a_model_that_does_not_exist_is_told_with_those_that_do() {
    let models = json!({"availableModels": [{"modelId": "small"}, {"modelId": "big"}]});
    let mut talk = opened(
        &with("yolo", "huge"),
        &json!({"sessionId": "s", "models": models}),
    );
    let (id, method) = talk.asked().unwrap();
    assert_eq!(method, "session/set_model");
    talk.hear(&json!({"id": id, "error": {"code": -32602, "message": "no"}}).to_string());
    assert!(talk.story.is_dismissed);
    talk.ends("Failed(Configuration) \"unknown model huge; available: small, big\"");
}

#[test]
fn what_a_loaded_session_tells_of_its_past_is_not_told_again() {
    let mut order = order();
    order.session = Some("s".to_owned());
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask"}]});
    let mut talk = opened(&order, &json!({"modes": modes}));
    // It answers that it is loaded, and goes on with its past.
    talk.say("old");
    talk.answer("session/set_mode", json!({}));
    talk.say("old");
    talk.answer("session/set_mode", json!({}));
    talk.answer("session/set_mode", json!({}));
    talk.say("new");
    talk.answer("session/prompt", json!({"stopReason": "end_turn"}));
    let told = talk.ends("Completed \"new\"");
    assert_eq!(told, ["session s - 1.2", "says \"new\""]);
}

#[test]
fn permissions_are_given_by_their_kind() {
    let mut talk = working();
    let given = |outcome: Value| outcome["optionId"].clone();
    let all = ["reject_once", "allow_once", "allow_always"];
    assert_eq!(given(talk.ask_permission(&all)), "the-allow_always");
    assert_eq!(given(talk.ask_permission(&all[..2])), "the-allow_once");
    assert_eq!(given(talk.ask_permission(&all[..1])), "the-reject_once");
    talk.act(Protocol::interrupt);
    assert_eq!(talk.ask_permission(&all)["outcome"], "cancelled");
    assert_eq!(talk.story.methods().last(), Some(&"session/cancel"));
    talk.ends("Interrupted \"it was interrupted\" denials 1");
}

#[test]
fn what_is_not_offered_is_refused() {
    let mut talk = working();
    talk.hear(r#"{"id":7,"method":"fs/read_text_file","params":{}}"#);
    let answer = talk.story.written.last().unwrap();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(-32601))
    );
    assert!(talk.story.told[1].starts_with("raw "));
}

#[test]
fn another_session_is_not_taken_for_ours() {
    let mut talk = working();
    let content = json!({"type": "text", "text": "not ours"});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    talk.say("ours, ");
    talk.update("other", &update);
    talk.say("too");
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Do"});
    talk.update("other", &call);
    talk.answer("session/prompt", json!({"stopReason": "end_turn"}));
    let told = talk.ends("Completed \"too\"");
    let kinds: Vec<_> = told
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(kinds, ["session", "says", "raw", "says", "raw"]);
}

#[test]
fn an_agent_that_is_stopped_before_it_works_is_dismissed() {
    let mut talk = Talk::begin(&order());
    talk.act(Protocol::interrupt);
    assert!(talk.story.is_dismissed);
    talk.answer("initialize", json!({}));
    assert_eq!(talk.story.methods(), ["initialize"]);
    talk.ends("Interrupted \"it was interrupted\"");
}

#[test]
fn an_agent_that_ends_without_an_answer_has_crashed() {
    let mut talk = working();
    talk.act(|acp, out| acp.complained("panicked at main.rs", out));
    talk.act(|acp, out| acp.complained("    at frame (1:2)", out));
    talk.ends("Failed(Crash) \"panicked at main.rs\"");
    working().ends("Failed(Crash) \"it exited with code 0\"");
}

#[test]
fn an_agent_that_leaves_badly_has_not_completed() {
    let mut talk = working();
    talk.say("Done.");
    talk.answer("session/prompt", json!({"stopReason": "end_turn"}));
    let (_, conclusion) = talk.end(Exit::Code(1));
    assert_eq!(conclusion.outcome, Outcome::Failed(Trouble::Crash));
}

#[test]
fn own_retries_are_cut_short() {
    let mut talk = working();
    for attempt in 1..=3 {
        let line = format!(
            "Attempt {attempt} failed with status 529. Retrying with backoff... ApiError: {{\"error\":{{\"message\":\"Overloaded\"}}}}"
        );
        assert!(!talk.story.is_dismissed);
        talk.act(|acp, out| acp.complained(&line, out));
    }
    assert!(talk.story.is_dismissed);
    assert_eq!(talk.story.methods().last(), Some(&"session/cancel"));
    talk.answer("session/prompt", json!({"stopReason": "cancelled"}));
    let (_, conclusion) = talk.end(Exit::Code(0));
    assert_eq!(conclusion.outcome, Outcome::Failed(Trouble::Overload));
}

/// What the Codex of this protocol tells beside its words.
fn codex(meta: &Value) -> Value {
    json!({"sessionUpdate": "session_info_update", "_meta": {"codex": meta}})
}

#[test]
fn what_codex_says_after_it_failed_is_why() {
    let mut talk = working();
    let info = json!({"responseStreamDisconnected": {"httpStatusCode": 529}});
    let error = json!({
        "message": "Reconnecting... 2/5", "codexErrorInfo": info, "willRetry": true,
        "additionalDetails": "unexpected status 529: Busy, url: http://127.0.0.1/v1",
    });
    talk.update("s", &codex(&json!({"error": error})));
    talk.update(
        "s",
        &codex(&json!({"threadStatus": {"type": "systemError"}})),
    );
    talk.say("exceeded retry limit, last status: 429 Too Many Requests\n\n");
    talk.answer("session/prompt", json!({"stopReason": "end_turn"}));
    let message = "\"exceeded retry limit, last status: 429 Too Many Requests\"";
    let told = talk.ends(&format!("Failed(Limit) {message}"));
    let again = "again 2 Overload \"unexpected status 529: Busy\" None";
    let limit = format!("limit {message} None");
    assert_eq!(told[1..], [again, limit.as_str()]);
}

#[test]
fn each_reason_to_stop_means_something() {
    #[track_caller]
    fn check(reason: &str, expected: Outcome) {
        let mut talk = working();
        talk.say("Well.");
        talk.answer("session/prompt", json!({"stopReason": reason}));
        assert_eq!(talk.end(Exit::Code(0)).1.outcome, expected);
    }
    check("end_turn", Outcome::Completed);
    check("cancelled", Outcome::Interrupted);
    check("refusal", Outcome::Failed(Trouble::Refused));
    check("max_tokens", Outcome::Failed(Trouble::Context));
    check("max_turn_requests", Outcome::Failed(Trouble::Budget));
    check("boredom", Outcome::Failed(Trouble::Other));
}

#[test]
fn plans_are_told() {
    let mut talk = working();
    let entries = json!([{"content": "one", "status": "completed"}, {"content": "two"}]);
    talk.update("s", &json!({"sessionUpdate": "plan", "entries": entries}));
    assert_eq!(talk.story.told[1], "plans completed one, pending two");
}

/// Costs are told of the whole session, and some of it may be from before.
#[test]
fn cost_is_what_this_turn_cost() {
    let mut order = order();
    order.session = Some("s".to_owned());
    let mut talk = Talk::begin(&order);
    talk.answer(
        "initialize",
        json!({"agentCapabilities": {"loadSession": true}}),
    );
    let cost = |amount: f64| json!({"sessionUpdate": "usage_update", "used": 10, "cost": {"amount": amount}});
    talk.update("s", &cost(0.25));
    talk.answer("session/load", json!({}));
    talk.say("Done.");
    talk.update("s", &cost(0.75));
    assert_eq!(talk.story.told[1], "took (0, 0, 0, 0) $0.50000");
}

#[test]
fn what_each_answer_took_is_summed_up() {
    let mut talk = working();
    let usage = json!({"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050, "cachedReadTokens": 100});
    let content = json!({"type": "text", "text": ""});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": {"usage": usage}});
    talk.update("s", &update);
    talk.update("s", &update);
    assert_eq!(talk.story.told[2], "took (2100, 2000, 100, 200)");
}

/// What the end of a turn took is the sum of it, or that of the last answer if it is as long as the context.
#[test]
fn the_end_of_a_turn_may_tell_of_its_last_answer_only() {
    #[track_caller]
    fn check(contexts: [u64; 2], total: u64, expected: &str) {
        let mut talk = working();
        for context in contexts {
            talk.say("Well.");
            talk.update(
                "s",
                &json!({"sessionUpdate": "usage_update", "used": context}),
            );
        }
        let usage = json!({"totalTokens": total, "outputTokens": 5});
        talk.answer(
            "session/prompt",
            json!({"stopReason": "end_turn", "usage": usage}),
        );
        let told = talk.story.told.iter().find(|line| line.starts_with("took"));
        assert_eq!(told.expect("it is told"), expected);
    }
    check([100, 200], 200, "took (300, 295, 5, 0)");
    check([100, 200], 205, "took (300, 295, 5, 0)");
    check([900, 990], 250, "took (250, 245, 5, 0)");
}

#[test]
fn a_model_may_be_meant_by_what_it_is_called() {
    let models = json!({"availableModels": [{"modelId": "runtime|big", "name": "big"}]});
    let talk = opened(
        &with("yolo", "big"),
        &json!({"sessionId": "s", "models": models}),
    );
    let sent = talk.story.written.last().unwrap();
    assert_eq!(sent["params"]["modelId"], "runtime|big");
}

#[test]
fn a_turn_that_ends_in_mid_work_is_not_taken_for_done() {
    let tool = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "kind": "execute", "status": "completed"});
    let ended = || json!({"stopReason": "end_turn"});
    let usage = |tokens: u64| json!({"stopReason": "end_turn", "usage": {"totalTokens": tokens}});
    let mut talk = working();
    talk.update("s", &tool);
    talk.answer("session/prompt", usage(100));
    let asked = talk.story.written.last().unwrap();
    let words = asked["params"]["prompt"][0]["text"].as_str().unwrap();
    assert!(words.contains("continue where you left off"), "{words}");
    talk.say("All done.");
    talk.answer("session/prompt", usage(50));
    let told = talk.ends("Completed \"All done.\"");
    assert!(
        told.iter().any(|line| line.starts_with("took (150,")),
        "{told:?}"
    );

    let mut talk = working();
    talk.update("s", &tool);
    for _ in 0..2 {
        talk.answer("session/prompt", ended());
        talk.update("s", &tool);
    }
    talk.answer("session/prompt", ended());
    talk.ends("Failed(Network) \"its turns keep ending without a message\"");
}
