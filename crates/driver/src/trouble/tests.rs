//! What all kinds of words mean, and when one may try again by them.

use std::time::Duration;

use jiff::Zoned;

use super::{of_status, of_text, plain, retry_after};
use crate::Trouble::{
    self, Budget, Configuration, Context, Limit, Login, Network, Other, Overload, Refused,
};

#[track_caller]
fn means(text: &str, expected: Trouble) {
    assert_eq!(of_text(text), expected, "{text}");
}

#[test]
fn what_claude_says_has_a_meaning() {
    means("API Error: Request rejected (429) · Rate limited", Limit);
    means("Claude AI usage limit reached|1731772800", Limit);
    means("You've hit your limit · resets 3pm (Europe/Berlin)", Limit);
    means("5-hour limit reached ∙ resets 3pm", Limit);
    means("Credit balance is too low", Budget);
    means("Invalid API key · Please run /login", Login);
    means("Not logged in · Please run /login", Login);
    means("API Error: 401 {\"error\":{\"message\":\"no\"}}", Login);
    means(
        "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
        Overload,
    );
    means("API Error (529 overloaded)", Overload);
    means("Prompt is too long", Context);
    means(
        "There's an issue with the selected model (x). It may not exist",
        Configuration,
    );
    means(
        "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy",
        Refused,
    );
    means(
        "API Error: Unable to connect to API (ECONNREFUSED)",
        Network,
    );
}

#[test]
fn what_codex_says_has_a_meaning() {
    means(
        "exceeded retry limit, last status: 429 Too Many Requests",
        Limit,
    );
    means(
        "We're currently experiencing high demand, which may cause temporary errors.",
        Overload,
    );
    means(
        "You've hit your usage limit. Upgrade to Pro or try again in 2 days 3 hours 5 minutes.",
        Limit,
    );
    means(
        "Quota exceeded. Check your plan and billing details.",
        Budget,
    );
    means(
        "Reconnecting... 1/5 (unexpected status 401 Unauthorized: no)",
        Login,
    );
    means(
        "Reconnecting... 2/5 (stream disconnected before completion: gone)",
        Network,
    );
    means(
        "unexpected status 500 Internal Server Error: oops",
        Overload,
    );
    means(
        "Codex ran out of room in the model's context window.",
        Context,
    );
    means("Missing environment variable: `STUB_KEY`.", Login);
    means(
        "Selected model is at capacity. Please try a different model.",
        Overload,
    );
    means("The model `gpt-9` does not exist", Configuration);
}

#[test]
fn what_the_others_say_has_a_meaning() {
    means(
        "[API Error: {\"error\":{\"code\":529,\"message\":\"x\"}}]",
        Overload,
    );
    means(
        "You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s.",
        Limit,
    );
    means(
        "{\"error\":{\"type\":\"insufficient_quota\",\"code\":429}}",
        Budget,
    );
    means("Network error: Stream decode error", Network);
    means("Server error (503 Service Unavailable)", Overload);
    means("Ran into this error: Authentication error: no", Login);
}

#[test]
fn a_number_alone_is_no_status() {
    means("wrote 500 lines", Other);
    means("it has 429 tests", Other);
    means("something odd", Other);
    means("", Other);
}

#[test]
fn a_status_means_something_with_the_words_beside_it() {
    assert_eq!(
        of_status(400, "invalid_request_error: bad tool"),
        Configuration
    );
    assert_eq!(
        of_status(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        Context
    );
    assert_eq!(of_status(400, "Your credit balance is too low"), Budget);
    assert_eq!(of_status(400, "API key not valid"), Login);
    assert_eq!(of_status(404, "model: x"), Configuration);
    assert_eq!(of_status(403, ""), Login);
    assert_eq!(of_status(500, "please run /login"), Overload);
    assert_eq!(of_status(0, "overloaded"), Overload);
}

#[track_caller]
fn waits(text: &str, expected: Option<u64>) {
    let now: Zoned = "2026-11-16T13:00:00+01:00[Europe/Berlin]".parse().unwrap();
    let expected = expected.map(Duration::from_secs);
    assert_eq!(retry_after(text, &now), expected, "{text}");
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

#[test]
fn spans_are_understood() {
    waits("try again in 20s", Some(20));
    waits("Please try again in 5m.", Some(5 * MINUTE));
    waits(
        "try again in 2 hours 3 minutes",
        Some(2 * HOUR + 3 * MINUTE),
    );
    waits(
        "or try again in 2 days 3 hours 5 minutes.",
        Some(2 * DAY + 3 * HOUR + 5 * MINUTE),
    );
    waits(
        "try again in 1 hour, 2 minutes and 3 seconds",
        Some(HOUR + 2 * MINUTE + 3),
    );
    waits(
        "Your quota will reset after 3h12m5s.",
        Some(3 * HOUR + 12 * MINUTE + 5),
    );
    waits("retry-after: 30", Some(30));
    waits("retry after 90 seconds", Some(90));
    waits("\"retryDelay\": \"39s\"", Some(39));
    waits("try again in a moment", None);
    waits("waited 3 times", None);
    waits("try again in 900 days", None);
}

#[test]
fn parts_of_seconds_are_understood() {
    let now = Zoned::now();
    let pause = retry_after("Please retry in 34.5s.", &now);
    assert_eq!(pause, Some(Duration::from_millis(34_500)));
    assert_eq!(
        retry_after("try again in 120ms", &now),
        Some(Duration::from_millis(120))
    );
}

#[test]
fn moments_are_understood() {
    // 2026-11-16T12:00:00Z is now.
    waits("Claude AI usage limit reached|1794834000", Some(HOUR));
    waits("Claude AI usage limit reached|1794830399", Some(0));
    waits("reset 1794830460000", Some(MINUTE));
    waits("retry at 2026-11-16T12:30:00Z", Some(30 * MINUTE));
    waits("resets 2026-11-16T13:30:00+01:00.", Some(30 * MINUTE));
    waits("order 1234567890", None);
}

#[test]
fn times_of_day_are_understood() {
    waits(
        "You've hit your limit · resets 3pm (Europe/Berlin)",
        Some(2 * HOUR),
    );
    waits("resets 3pm", Some(2 * HOUR));
    waits("resets at 3:30pm", Some(2 * HOUR + 30 * MINUTE));
    waits("resets 3pm (UTC)", Some(3 * HOUR));
    waits("resets 12am", Some(11 * HOUR));
    waits("resets 11am", Some(22 * HOUR));
    waits("resets 1pm", Some(0));
    waits("try again at 3:05 PM.", Some(2 * HOUR + 5 * MINUTE));
    waits("try again at 15:05", Some(2 * HOUR + 5 * MINUTE));
    waits(
        "try again at Nov 17th, 2026 3:05 PM.",
        Some(DAY + 2 * HOUR + 5 * MINUTE),
    );
    waits(
        "resets Nov 18 at 3pm (Europe/Berlin)",
        Some(2 * DAY + 2 * HOUR),
    );
    waits("resets Nov 18, 3pm", Some(2 * DAY + 2 * HOUR));
    waits("resets Jan 2, 1pm", Some(47 * DAY));
    waits("resets soon", None);
    waits("resets 3", None);
}

#[test]
fn a_message_is_taken_out_of_its_json() {
    let wrapped = r#"API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is\ntoo long"}}"#;
    assert_eq!(plain(wrapped), "API Error: 400 prompt is too long");
    let twice =
        r#"[API Error: {"error":{"code":529,"message":"{\"error\":{\"message\":\"too much\"}}"}}]"#;
    assert_eq!(plain(twice), "API Error: too much");
    assert_eq!(plain("use {x} here"), "use {x} here");
    assert_eq!(plain(&"é".repeat(1000)).chars().count(), 400);
}
