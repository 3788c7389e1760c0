//! What an agent says went wrong, as a person would tell it: without the JSON that it is wrapped in.

use serde_json::Value;

/// So many characters are told.
const LONGEST: usize = 400;

/// So many times JSON is taken out of JSON.
const DEEPEST: usize = 4;

/// The message on one line, taken out of the JSON around it.
pub(in super::super) fn plain(text: &str) -> String {
    let text = unwrapped(text, DEEPEST);
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    cut + "…"
}

fn unwrapped(text: &str, depth: usize) -> String {
    let Some(start) = text.find('{').filter(|_| depth > 0) else {
        return text.to_owned();
    };
    let (before, json) = text.split_at(start);
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    let Some(Ok(value)) = values.next() else {
        return text.to_owned();
    };
    let rest = &json[values.byte_offset()..];
    let Some(message) = message_in(&value) else {
        return text.to_owned();
    };
    let message = unwrapped(message, depth - 1);
    // Brackets around the JSON say nothing.
    let before = before.trim_start_matches('[').trim_end_matches(['[', '"']);
    let rest = rest.trim_matches([']', '"']);
    format!("{before} {message}{rest}")
}

fn message_in(value: &Value) -> Option<&str> {
    let places = [
        "/error/message",
        "/message",
        "/detail",
        "/error/error/message",
        "/error",
    ];
    let mut found = places
        .iter()
        .filter_map(|place| value.pointer(place)?.as_str());
    found.find(|message| !message.is_empty())
}
