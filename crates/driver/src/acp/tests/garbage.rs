//! Whatever comes, nothing breaks, and what nobody knows is told as it came.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Talk, order};
use crate::Exit;
use crate::Protocol;

/// Words that mean something somewhere in the protocol.
const KEYS: &[&str] = &[
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "code",
    "message",
    "data",
    "sessionId",
    "update",
    "sessionUpdate",
    "content",
    "text",
    "toolCallId",
    "toolCall",
    "title",
    "kind",
    "status",
    "rawInput",
    "rawOutput",
    "locations",
    "path",
    "oldText",
    "newText",
    "type",
    "_meta",
    "codex",
    "quota",
    "token_count",
    "usage",
    "totalTokens",
    "inputTokens",
    "outputTokens",
    "cachedReadTokens",
    "used",
    "cost",
    "amount",
    "stopReason",
    "options",
    "optionId",
    "modes",
    "availableModes",
    "models",
    "availableModels",
    "configOptions",
    "command",
    "entries",
];

const TEXTS: &[&str] = &[
    "session/update",
    "session/request_permission",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "usage_update",
    "completed",
    "failed",
    "pending",
    "diff",
    "content",
    "end_turn",
    "cancelled",
    "s",
    "a\nb",
    "é · ü",
    "",
    "edit",
    "execute",
    "allow_once",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(u64::MAX), 0..9_u64].prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(TEXTS).prop_map(Value::from),
    ];
    let key = proptest::sample::select(KEYS).prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(key.clone(), inner, 0..7)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

/// A line that may be anything, but often is near the protocol.
fn line() -> impl Strategy<Value = String> {
    let kind = proptest::sample::select(&TEXTS[2..8]);
    let near = (kind, value(), value()).prop_map(|(kind, one, two)| {
        let update = json!({
            "sessionUpdate": kind, "toolCallId": "c", "status": one["status"], "content": one,
            "rawInput": two, "rawOutput": one, "used": two["used"], "locations": one["locations"],
        });
        let params = json!({"sessionId": "s", "update": update});
        json!({"method": "session/update", "params": params}).to_string()
    });
    let answer = (1..6_u64, value())
        .prop_map(|(id, result)| json!({"id": id, "result": result}).to_string());
    let fault =
        (1..6_u64, value()).prop_map(|(id, error)| json!({"id": id, "error": error}).to_string());
    let asks = (value(), value()).prop_map(|(id, options)| {
        let params = json!({"sessionId": "s", "options": options, "toolCall": {"toolCallId": "c"}});
        json!({"id": id, "method": "session/request_permission", "params": params}).to_string()
    });
    let cut = value().prop_map(|value| {
        let text = value.to_string();
        text[..text.floor_char_boundary(text.len() / 2)].to_owned()
    });
    let any = value().prop_map(|value| value.to_string());
    prop_oneof![near, answer, fault, asks, cut, any, ".*"]
}

/// Something that happens to a machine.
#[derive(Debug, Clone)]
enum Event {
    Line(String),
    ErrorLine(String),
    Answer(Value),
    Interrupt,
}

fn event() -> impl Strategy<Value = Event> {
    let opens = Just(Event::Answer(json!({"sessionId": "s"})));
    prop_oneof![
        8 => line().prop_map(Event::Line),
        1 => ".*".prop_map(Event::ErrorLine),
        3 => opens,
        1 => value().prop_map(Event::Answer),
        1 => Just(Event::Interrupt),
    ]
}

proptest! {
    #[test]
    fn nothing_that_comes_breaks_it(
        events in proptest::collection::vec(event(), 0..24),
        session in proptest::option::of(Just("s".to_owned())),
        code in 0..200,
    ) {
        let mut order = order();
        order.session = session;
        let mut talk = Talk::begin(&order);
        for event in events {
            match event {
                Event::Line(line) => talk.hear(&line),
                Event::ErrorLine(line) => talk.act(|acp, out| acp.hear_error(&line, out)),
                Event::Answer(result) => {
                    let id = talk.asked().map(|(id, _)| id);
                    talk.hear(&json!({"id": id, "result": result}).to_string());
                }
                Event::Interrupt => talk.act(Protocol::interrupt),
            }
        }
        talk.end(Exit::Code(code));
    }

    #[test]
    fn what_nobody_knows_is_told_as_it_came(
        kind in "[a-z]{1,8}_odd",
        method in "[a-z]{1,8}/odd",
        garbage in "[^{\\[\"0-9tfn \n-][^\n]{0,40}",
    ) {
        let mut talk = Talk::begin(&order());
        talk.answer("initialize", json!({}));
        talk.answer("session/new", json!({"sessionId": "s"}));
        let update = json!({"sessionUpdate": kind});
        let params = json!({"sessionId": "s", "update": update});
        let lines = [
            json!({"method": "session/update", "params": params}).to_string(),
            json!({"method": method, "params": {}}).to_string(),
            json!({"id": 99, "result": {}}).to_string(),
            garbage,
        ];
        for line in lines {
            let mut out = crate::ProtocolOutput::default();
            talk.acp.hear(&line, &mut out);
            prop_assert_eq!(out.entries, vec![crate::Entry::Raw { text: line }]);
        }
    }
}
