//! What went wrong, by the status or the words in which an agent tells it.
//!
//! Knows nothing of agents: the words of all of them are looked for in what any of them says.

mod clock;
mod last_words;
mod plain;
mod retry_after;

use std::time::Duration;

use jiff::Zoned;

use crate::Trouble;

pub(super) use last_words::{LastWords, interrupted, left};
pub(super) use plain::plain;
pub(super) use retry_after::retry_after;

const BUDGET: &[&str] = &[
    "insufficient_quota",
    "insufficient quota",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "credit balance",
    "out of credits",
    "billing",
    "payment required",
    "spend limit",
    "spending limit",
    "budget",
];

const REFUSED: &[&str] = &[
    "content policy",
    "content_policy",
    "content filter",
    "content_filter",
    "prohibited_content",
    "prohibited content",
    "usage policy",
    "usage policies",
    "violate our",
    "violates our",
    "invalid_prompt",
    "refusal",
    "refused to answer",
    "blocked for safety",
    "safety reasons",
];

const CONTEXT: &[&str] = &[
    "context length",
    "context_length",
    "context window",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input token count",
    "maximum number of tokens",
    "request too large",
    "request_too_large",
    "conversation too long",
    "conversation is too long",
];

const LOGIN: &[&str] = &[
    "api key",
    "api_key",
    "x-api-key",
    "/login",
    "codex login",
    "logged in",
    "log in",
    "login",
    "sign in",
    "signing in",
    "authenticat",
    "unauthorized",
    "unauthenticated",
    "oauth",
    "token expired",
    "token has expired",
    "access token",
    "refresh token",
    "missing environment variable",
    "organization has been disabled",
    "does not have access to claude",
];

const LIMIT: &[&str] = &[
    "rate limit",
    "rate_limit",
    "rate-limit",
    "ratelimit",
    "too many requests",
    "usage limit",
    "usage_limit",
    "limit reached",
    "hit your limit",
    "session limit",
    "weekly limit",
    "hour limit",
    "daily limit",
    "quota",
    "resource_exhausted",
    "resource exhausted",
    "resource has been exhausted",
    "out of extra usage",
];

const OVERLOAD: &[&str] = &[
    "overloaded",
    "high demand",
    "at capacity",
    "over capacity",
    "unavailable",
    "internal server error",
    "internal error",
    "bad gateway",
    "gateway timeout",
    "server error",
    "server_error",
    "api_error",
];

const CONFIGURATION: &[&str] = &[
    "model not found",
    "model_not_found",
    "not_found_error",
    "selected model",
    "no such model",
    "unknown model",
    "invalid model",
    "unsupported model",
    "model is not supported",
    "does not exist",
    "is not supported",
    "not found for api version",
    "invalid_request_error",
    "invalid request",
    "invalid_argument",
    "error loading config",
    "unknown option",
    "unexpected argument",
    "unrecognized",
];

const NETWORK: &[&str] = &[
    "connect",
    "network",
    "stream",
    "timed out",
    "timeout",
    "decod",
    "econn",
    "enotfound",
    "eai_again",
    "dns",
    "socket",
    "certificate",
    "fetch failed",
    "error sending request",
    "end of file",
    "unexpected eof",
];

const STATUSES: &[u16] = &[
    400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504, 529,
];

const BEFORE_STATUS: &[&str] = &["status", "code", "error", "http", "rejected", "statuscode"];

const AFTER_STATUS: &[&str] = &[
    "bad",
    "unauthorized",
    "payment",
    "forbidden",
    "not",
    "too",
    "internal",
    "service",
    "gateway",
    "overloaded",
    "request",
    "status",
];

pub(super) fn of_status(status: u16, text: &str) -> Trouble {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match status {
        400..=499 if is_budget(&text) => Trouble::Budget,
        429 => Trouble::Limit,
        403 if says(REFUSED) => Trouble::Refused,
        401 | 403 => Trouble::Login,
        402 => Trouble::Budget,
        413 => Trouble::Context,
        408 => Trouble::Network,
        400 | 422 if says(CONTEXT) => Trouble::Context,
        400 | 422 if says(REFUSED) => Trouble::Refused,
        400 if says(LOGIN) => Trouble::Login,
        400..=499 => Trouble::Configuration,
        500..=599 => Trouble::Overload,
        _ => of_words(&text),
    }
}

pub(super) fn of_text(text: &str) -> Trouble {
    let lower = text.to_lowercase();
    match status_in(&lower) {
        Some(status) => of_status(status, &lower),
        None => of_words(&lower),
    }
}

/// How long to wait by what a message says, in milliseconds from now on.
pub(super) fn pause(text: &str) -> Option<u64> {
    retry_after(text, &Zoned::now()).map(millis)
}

pub(super) fn millis(pause: Duration) -> u64 {
    u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)
}

fn of_words(text: &str) -> Trouble {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if is_budget(text) {
        return Trouble::Budget;
    }
    // The first that fits: what is told of limits and logins is often wrapped in words of networks.
    let meanings = [
        (REFUSED, Trouble::Refused),
        (CONTEXT, Trouble::Context),
        (LIMIT, Trouble::Limit),
        (LOGIN, Trouble::Login),
        (OVERLOAD, Trouble::Overload),
        (CONFIGURATION, Trouble::Configuration),
        (NETWORK, Trouble::Network),
    ];
    let meaning = meanings.iter().find(|(words, _)| says(words));
    meaning.map_or(Trouble::Other, |(_, trouble)| *trouble)
}

/// Whether there is no money left. A quota that comes back by itself is a limit, even if the message speaks of billing.
fn is_budget(text: &str) -> bool {
    let comes_back = ["retry in", "retrydelay", "resource_exhausted", "try again"];
    BUDGET.iter().any(|word| text.contains(word))
        && !comes_back.iter().any(|word| text.contains(word))
}

/// The status of HTTP that a text in small letters names.
fn status_in(text: &str) -> Option<u16> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_status = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        let after = words.get(at + 1);
        before.is_some_and(|word| BEFORE_STATUS.contains(word))
            || after.is_some_and(|word| AFTER_STATUS.contains(word))
    };
    words.iter().enumerate().find_map(|(at, word)| {
        let status = word.parse().ok()?;
        (STATUSES.contains(&status) && is_status(at)).then_some(status)
    })
}

#[cfg(test)]
mod tests;
