//! What agents of this protocol tell of what went wrong, each in its own way.

use std::time::Duration;

use serde_json::Value;

use super::wire::RpcError;
use crate::retry_budget::ModelRetry;
use crate::trouble;
use crate::{Conclusion, Outcome, Trouble};

const LOGIN_WANTED: i64 = -32000;

/// How an agent begins that tells an error of its model as if it said it.
const ERROR_WORDS: &[&str] = &[
    "Ran into this error",
    "Network error:",
    "Authentication error:",
    "Rate limit exceeded:",
    "Server error:",
    "Context length exceeded:",
    "Unable to continue: Context limit",
    "Credits exhausted:",
    "Please add credits to your account",
    "Please check your account with your provider to add more credits",
    "The model returned an empty response.",
];

const BEFORE_ADDRESS: &[&str] = &[" at http", ", url: http", " url: http"];

/// What is left out of a message, because it says nothing.
const EMPTY_WORDS: &[&str] = &["Internal error:", "Invalid params:", "Ran into this error:"];

/// Messages that say nothing beside what comes with them.
const NOTHING_SAID: &[&str] = &["Internal error", "Resource not found", "Invalid params"];

/// What such an agent adds to it, for whoever sits in front of it.
const ADVICE: &[&str] = &[
    "Please retry if you think this is a transient or recoverable error.",
    "Please resend your message to try again.",
];

/// Words of a tool's end that was not allowed to begin.
const DENIED: &[&str] = &[
    "rejected permission",
    "which prevents you from using this specific tool call",
    "declined to run this tool",
    "denied by policy",
    "doesn't want to proceed with this tool use",
];

pub(super) fn of_text(text: &str) -> Conclusion {
    let message = plain(text);
    let trouble = match (trouble::of_text(&message), bracketed(&message)) {
        (Trouble::Other, Some(status)) => trouble::of_status(status, &message),
        (trouble, _) => trouble,
    };
    failed(trouble, message, text)
}

/// What an answer means that is an error; a login that is wanted names the ways there are.
pub(super) fn of_fault(fault: &RpcError, logins: &[String]) -> Conclusion {
    let details = details(&fault.data);
    let mut message = plain(&fault.message);
    if !details.is_empty() && (message.is_empty() || NOTHING_SAID.contains(&message.as_str())) {
        message = plain(&details);
    }
    let text = [message.as_str(), &details].join(" ");
    let status = u16::try_from(fault.code).ok();
    let status = status.filter(|status| (400..600).contains(status));
    let by_text = trouble::of_text(&text);
    let trouble = match status {
        _ if fault.code == LOGIN_WANTED => Trouble::Login,
        // Its own mistakes have this status as well, such as a stream that broke.
        Some(500) if by_text != Trouble::Other => by_text,
        Some(status) => trouble::of_status(status, &text),
        None => by_text,
    };
    if trouble == Trouble::Login && !logins.is_empty() {
        message = format!("{message} (available: {})", logins.join(", "));
    }
    failed(trouble, message, &text)
}

fn failed(trouble: Trouble, message: String, text: &str) -> Conclusion {
    let mut conclusion = Conclusion::failed(trouble, message);
    if matches!(trouble, Trouble::Limit | Trouble::Overload) {
        conclusion.retry_after_ms = trouble::pause(text);
    }
    conclusion
}

/// A status of HTTP in brackets, as in `Bad request (400)`.
fn bracketed(text: &str) -> Option<u16> {
    let parts = text.split('(').skip(1);
    let parts = parts.filter_map(|part| part.split([')', ' ']).next()?.parse().ok());
    parts.into_iter().find(|status| (400..600).contains(status))
}

/// Whether words that an agent says are an error of its model.
pub(super) fn is_error(text: &str) -> bool {
    let text = text.trim_start();
    ERROR_WORDS.iter().any(|words| text.starts_with(words))
}

pub(super) fn is_denial(output: &str) -> bool {
    let output = output.to_lowercase();
    DENIED.iter().any(|words| output.contains(words))
}

/// A line of standard error that tells that the model is asked once more, as Gemini writes it.
pub(super) fn again(line: &str) -> Option<ModelRetry> {
    let rest = line.trim_start().strip_prefix("Attempt ")?;
    let (attempt, rest) = rest.split_once(' ')?;
    let rest = rest.strip_prefix("failed")?;
    let message = rest.trim_start_matches([':', '.', ' ']);
    let message = plain(message);
    Some(ModelRetry {
        attempt: attempt.parse().ok()?,
        trouble: trouble::of_text(line),
        delay: trouble::pause(&message).map(Duration::from_millis),
        message,
    })
}

/// What Codex adds to its updates when its model failed, if it asks once more.
pub(super) fn again_of_codex(meta: &Value) -> Option<ModelRetry> {
    let error = &meta["codex"]["error"];
    if error["willRetry"] != true {
        return None;
    }
    let told = error["message"].as_str().unwrap_or_default();
    let details = error["additionalDetails"].as_str().unwrap_or(told);
    let found = of_text(details);
    let status = status_in(&error["codexErrorInfo"]);
    let trouble = match (status, found.outcome) {
        (Some(status), _) => trouble::of_status(status, details),
        (None, Outcome::Failed(trouble)) => trouble,
        (None, _) => Trouble::Other,
    };
    // As in `Reconnecting... 1/5`.
    let attempt = told
        .split(' ')
        .find_map(|word| word.split_once('/')?.0.parse().ok());
    Some(ModelRetry {
        attempt: attempt.unwrap_or(1),
        trouble,
        message: found.message,
        delay: None,
    })
}

/// What Codex adds to its updates when its state changes: whether it has failed. What it says next is why.
pub(super) fn is_broken_codex(meta: &Value) -> Option<bool> {
    let status = meta["codex"]["threadStatus"]["type"].as_str()?;
    Some(status == "systemError")
}

/// The status of HTTP, wherever it is in there.
fn status_in(info: &Value) -> Option<u16> {
    let all = info.as_object()?;
    let own = all.get("httpStatusCode").and_then(Value::as_u64);
    let own = own.and_then(|status| u16::try_from(status).ok());
    own.or_else(|| all.values().find_map(status_in))
}

fn details(data: &Value) -> String {
    let places = ["/details", "/message", "/error/message", "/error", "/cause"];
    let mut found = places.iter().filter_map(|place| data.pointer(place));
    let found = data.as_str().or_else(|| found.find_map(Value::as_str));
    found.unwrap_or_default().to_owned()
}

/// A text without the addresses of what was asked, which may be nobody's business.
fn without_addresses(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    let found = |text: &str| {
        let found = BEFORE_ADDRESS.iter().filter_map(|words| text.find(words));
        found.min()
    };
    while let Some(start) = found(rest) {
        kept += &rest[..start];
        let address = rest[start..].find("http").unwrap_or(0) + start;
        let address = &rest[address..];
        let end = address.find(char::is_whitespace).unwrap_or(address.len());
        let end = end - usize::from(address[..end].ends_with([':', '.', ',']));
        rest = &address[end..];
    }
    kept + rest
}

fn plain(text: &str) -> String {
    let mut text = text.trim();
    for words in ADVICE {
        text = text.trim_end().trim_end_matches(words);
    }
    for words in EMPTY_WORDS {
        text = text.strip_prefix(words).unwrap_or(text).trim_start();
    }
    let text = without_addresses(&trouble::plain(text));
    let text = text.replace(" <unknown status code>", "");
    let text = text.trim().to_owned();
    // A full stop that was put after another.
    match text.strip_suffix("..") {
        Some(rest) if !rest.ends_with('.') => format!("{rest}."),
        _ => text,
    }
}
