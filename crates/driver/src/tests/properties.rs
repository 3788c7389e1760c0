//! Whatever an agent says, nothing breaks, and what nobody knows is shown as it was.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::super::claude::Claude;
use super::super::codex::Codex;
use super::super::order::ProtocolKind;
use super::super::protocol::{Protocol, ProtocolOutput};
use super::shown::order;
use crate::{Entry, Exit, Outcome};

macro_rules! streams {
    ($($path:literal),+ $(,)?) => {
        &[$(include_str!(concat!("../../tests/fixtures/agents/", $path, ".jsonl"))),+]
    };
}

const STREAMS: &[&str] = streams![
    "claude/asked",
    "claude/denied",
    "claude/edit",
    "claude/interrupted",
    "claude/limit",
    "claude/thinking",
    "claude/two-turns",
    "claude/unknown-session",
    "codex/cut-once",
    "codex/edit",
    "codex/limit",
    "codex/login",
    "codex/refused",
    "codex/thinking",
];

/// Words that agents use.
const WORDS: &[&str] = &[
    "type",
    "subtype",
    "system",
    "assistant",
    "user",
    "result",
    "message",
    "content",
    "item",
    "item.started",
    "item.completed",
    "error",
    "usage",
    "tool_use",
    "tool_result",
    "text",
    "api_retry",
    "Reconnecting... 1/5 (429)",
    "changes",
    "path",
    "id",
];

fn both() -> [Box<dyn Protocol>; 2] {
    let claude = Claude::new(&order(ProtocolKind::Claude));
    let codex = Codex::new(&order(ProtocolKind::Codex));
    [Box::new(claude), Box::new(codex)]
}

/// Any value, with words in it that agents use.
fn any_value() -> impl Strategy<Value = Value> {
    let word = || prop_oneof![select(WORDS).prop_map(str::to_owned), ".{0,12}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = prop_oneof![select(WORDS).prop_map(str::to_owned), "[a-z]{1,6}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..5)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

/// Puts a value somewhere into another.
fn put(into: &mut Value, path: &[Index], what: Value) {
    let Some((first, rest)) = path.split_first() else {
        *into = what;
        return;
    };
    match into {
        Value::Array(all) if !all.is_empty() => {
            let at = first.index(all.len());
            put(&mut all[at], rest, what);
        }
        Value::Object(all) if !all.is_empty() => {
            let at = first.index(all.len());
            if let Some(value) = all.values_mut().nth(at) {
                put(value, rest, what);
            }
        }
        _ => *into = what,
    }
}

/// A line that was said once, as it was, cut off, with something else in it, or something that was never said.
fn any_line() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = STREAMS.iter().flat_map(|stream| stream.lines()).collect();
    let said = select(lines).prop_map(str::to_owned);
    let cut = (said.clone(), any::<Index>()).prop_map(|(line, at)| {
        let at = line.floor_char_boundary(at.index(line.len()));
        line[..at].to_owned()
    });
    let path = prop::collection::vec(any::<Index>(), 1..6);
    let twisted = (said.clone(), path, any_value()).prop_map(|(line, path, what)| {
        let mut value: Value = serde_json::from_str(&line).unwrap_or_default();
        put(&mut value, &path, what);
        value.to_string()
    });
    let value = any_value().prop_map(|value| value.to_string());
    prop_oneof![said, cut, twisted, value, ".{0,80}"]
}

proptest! {
    #[test]
    fn whatever_is_said_has_an_end(
        lines in prop::collection::vec((any_line(), any::<bool>()), 0..24),
        stop in any::<Index>(),
        code in prop_oneof![Just(0), Just(1), any::<i32>()],
    ) {
        for mut protocol in both() {
            let mut out = ProtocolOutput::default();
            protocol.begin(&mut out);
            for (at, (line, is_error)) in lines.iter().enumerate() {
                match is_error {
                    true => protocol.hear_error(line, &mut out),
                    false => protocol.hear(line, &mut out),
                }
                if at == stop.index(48) {
                    protocol.interrupt(&mut out);
                }
            }
            let end = protocol.conclude(Exit::Code(code), &mut out);
            prop_assert!(end.outcome != Outcome::Completed || [0, 130, 137, 143].contains(&code));
            for entry in &out.entries {
                let line = entry.to_line();
                prop_assert!(Entry::from_line(line.as_bytes()).is_some(), "{line}");
            }
        }
    }

    #[test]
    fn nothing_is_done_before_that_is_said(stream in select(STREAMS), lines in any::<Index>()) {
        for mut protocol in both() {
            let mut out = ProtocolOutput::default();
            let ends = ["\"type\":\"result\"", "turn.completed"];
            let is_end = |line: &str| ends.iter().any(|end| line.contains(end));
            let count = stream.lines().count();
            let before = stream.lines().take(lines.index(count)).filter(|line| !is_end(line));
            before.for_each(|line| protocol.hear(line, &mut out));
            let end = protocol.conclude(Exit::Code(0), &mut out);
            prop_assert!(end.outcome != Outcome::Completed);
        }
    }

    #[test]
    fn an_event_that_nobody_knows_is_shown_as_it_was(kind in "[a-z]{3,9}_[a-z]{3,9}", more in any_value()) {
        let line = json!({"type": format!("new_{kind}"), "more": more}).to_string();
        for mut protocol in both() {
            let mut out = ProtocolOutput::default();
            protocol.hear(&line, &mut out);
            prop_assert_eq!(&out.entries, &[Entry::Raw { text: line.clone() }]);
        }
    }
}
