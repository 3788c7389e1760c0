//! What the last word of Claude Code means.

use serde_json::Value;

use super::super::trouble;
use crate::{Conclusion, Outcome, Trouble};

const NO_SESSION: &[&str] = &[
    "No conversation found with session ID",
    "--resume requires a valid session ID",
];

pub(super) fn conclusion(result: &Value, resets_at: Option<i64>) -> Conclusion {
    let text = text(result);
    let reason = result["terminal_reason"].as_str().unwrap_or_default();
    let denials = result["permission_denials"].as_array().map_or(0, Vec::len);
    let denials = u32::try_from(denials).unwrap_or(u32::MAX);
    let outcome = if reason.starts_with("aborted") {
        Outcome::Interrupted
    } else if result["stop_reason"] == "refusal" {
        Outcome::Failed(Trouble::Refused)
    } else if is_error(result) {
        Outcome::Failed(reason_of(result, reason, &text))
    } else {
        Outcome::Completed
    };
    let message = match outcome {
        Outcome::Completed => text.clone(),
        Outcome::Interrupted => "it was interrupted".to_owned(),
        Outcome::Failed(_) => trouble::plain(&text),
    };
    let may_pass = matches!(outcome, Outcome::Failed(Trouble::Limit | Trouble::Overload));
    let is_limit = outcome == Outcome::Failed(Trouble::Limit);
    let resets = resets_at.filter(|_| is_limit).map(|at| at.to_string());
    let pause = || trouble::pause(&text).or_else(|| trouble::pause(&resets?));
    Conclusion {
        outcome,
        message,
        retry_after_ms: may_pass.then(pause).flatten(),
        denials,
    }
}

pub(super) fn misses_session(result: &Value) -> bool {
    let text = text(result);
    is_error(result) && NO_SESSION.iter().any(|words| text.contains(words))
}

/// Whether it failed; some versions tell of an end before the work was done by its kind only.
fn is_error(result: &Value) -> bool {
    let kind = result["subtype"].as_str().unwrap_or_default();
    result["is_error"] == true || kind.starts_with("error")
}

fn text(result: &Value) -> String {
    if let Some(text) = result["result"].as_str().filter(|text| !text.is_empty()) {
        return text.to_owned();
    }
    let errors = result["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(Value::as_str).collect();
    if errors.is_empty() {
        let words = result["subtype"].as_str().unwrap_or("no message");
        return words.replace('_', " ");
    }
    errors.join("; ")
}

fn reason_of(result: &Value, reason: &str, text: &str) -> Trouble {
    match (reason, result["subtype"].as_str().unwrap_or_default()) {
        (_, "error_max_turns" | "error_max_budget_usd") | ("max_turns" | "budget_exhausted", _) => {
            return Trouble::Budget;
        }
        ("prompt_too_long" | "blocking_limit" | "rapid_refill_breaker", _) => {
            return Trouble::Context;
        }
        ("stop_hook_prevented" | "hook_stopped", _) => return Trouble::Refused,
        _ => {}
    }
    let status = result["api_error_status"].as_u64();
    let status = status.and_then(|status| u16::try_from(status).ok());
    let kind = result["api_error_type"].as_str().unwrap_or_default();
    match status {
        Some(status) => trouble::of_status(status, &format!("{kind} {text}")),
        None => trouble::of_text(text),
    }
}

/// What a short word for an error means, as it is told when it asks once more.
pub(super) fn kind_of_error(word: &str, status: Option<u16>) -> Trouble {
    match word {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => Trouble::Login,
        "billing_error" => Trouble::Budget,
        "rate_limit" => Trouble::Limit,
        "overloaded" => Trouble::Overload,
        "model_not_found" | "invalid_request" => Trouble::Configuration,
        _ => match status {
            Some(status) => trouble::of_status(status, word),
            // Nothing came back at all.
            None => Trouble::Network,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_end_before_the_work_was_done_is_no_success_whatever_it_is_called() {
        let result = json!({"is_error": false, "subtype": "error_max_turns"});
        let conclusion = conclusion(&result, None);
        assert_eq!(conclusion.outcome, Outcome::Failed(Trouble::Budget));
    }

    #[test]
    fn who_only_talks_of_missing_sessions_misses_none() {
        let text = format!("I fixed {:?}.", NO_SESSION[0]);
        let talk = json!({"is_error": false, "subtype": "success", "result": text});
        assert!(!misses_session(&talk));
        assert!(misses_session(
            &json!({"is_error": true, "errors": [NO_SESSION[0]]})
        ));
    }
}
