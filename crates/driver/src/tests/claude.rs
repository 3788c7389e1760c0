//! What is understood of Claude Code.

use crate::{Entry, Exit, FileChange, Outcome, Trouble};

use super::super::claude::{Claude, words};
use super::super::order::{DriverOrder, ProtocolKind};
use super::super::protocol::{NextStep, Protocol, ProtocolOutput};
use super::shown::{Asked, order, replayed};

macro_rules! check {
    ($name:literal, $exit:literal) => {
        check!($name, $exit, Asked::Nothing)
    };
    ($name:literal, $exit:literal, $asked:expr) => {
        let stream = include_str!(concat!(
            "../../tests/fixtures/agents/claude/",
            $name,
            ".jsonl"
        ));
        let page = replayed(&mut claude(), stream, $asked, Exit::Code($exit));
        insta::with_settings!({
            snapshot_path => "../../tests/fixtures/agents/claude",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!($name, page);
        });
    };
}

fn claude() -> Claude {
    Claude::new(&order(ProtocolKind::Claude))
}

fn heard(claude: &mut Claude, line: &str) -> ProtocolOutput {
    let mut out = ProtocolOutput::default();
    claude.hear(line, &mut out);
    out
}

#[test]
fn work_that_is_done_is_understood() {
    check!("edit", 0);
    check!("resume", 0);
    check!("two-turns", 0);
    check!("thinking", 0);
}

#[test]
fn what_passes_is_a_retry() {
    check!("limit-once", 0);
    check!("cut-once", 0);
}

#[test]
fn what_does_not_pass_is_a_failure() {
    check!("limit", 1);
    check!("limit-wait", 1);
    check!("overload", 1);
    check!("server-error", 1);
    check!("login", 1);
    check!("no-login", 1);
    check!("refused", 1);
    check!("cut", 1);
    check!("broken-stream", 1);
    check!("context", 1);
}

#[test]
fn what_was_not_allowed_is_counted() {
    check!("denied", 0);
    check!("asked", 0);
}

#[test]
fn who_is_interrupted_did_not_fail() {
    check!("interrupted", 1, Asked::ToStop);
    check!("interrupted-signal", 0, Asked::ToStop);
    check!("endless", 1, Asked::ToStop);
}

#[test]
fn a_session_that_is_not_there_begins_anew() {
    check!("unknown-session", 1);
    let resumed = DriverOrder {
        session: Some("11111111-2222-4333-8444-555555555555".to_owned()),
        ..order(ProtocolKind::Claude)
    };
    let expected = ["agent", "--resume", "11111111-2222-4333-8444-555555555555"];
    assert_eq!(words(&resumed), expected);
    let mut claude = Claude::new(&resumed);
    let stream = include_str!("../../tests/fixtures/agents/claude/unknown-session.jsonl");
    heard(&mut claude, stream.trim());
    let mut out = ProtocolOutput::default();
    claude.conclude(Exit::Code(1), &mut out);
    assert_eq!(out.next, NextStep::BeginAnew);
}

#[test]
fn an_end_without_a_word_is_a_crash() {
    let mut claude = claude();
    claude.hear_error("Bus error", &mut ProtocolOutput::default());
    let end = claude.conclude(Exit::Code(0), &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Crash));
    assert_eq!(end.message, "the agent exited with 0: Bus error");
}

#[test]
fn an_exit_that_contradicts_its_words_is_believed() {
    let mut claude = claude();
    heard(
        &mut claude,
        r#"{"type":"result","is_error":false,"result":"done"}"#,
    );
    let end = claude.conclude(Exit::Code(1), &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Crash));
}

#[test]
fn its_own_long_waits_are_cut_short() {
    let mut claude = claude();
    let retry = |status: u16, word: &str, delay: u32| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":{delay},"error_status":{status},"error":"{word}"}}"#
        )
    };
    let out = heard(&mut claude, &retry(429, "rate_limit", 3_600_000));
    assert_eq!(out.next, NextStep::Dismiss);
    assert!(out.lines[0].contains("interrupt"), "{:?}", out.lines);
    // What it says of the interruption changes nothing.
    heard(
        &mut claude,
        r#"{"type":"result","is_error":true,"terminal_reason":"aborted_streaming"}"#,
    );
    let end = claude.conclude(Exit::Code(1), &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Limit));
    assert_eq!(end.retry_after_ms, Some(3_600_000));
}

#[test]
fn tasks_in_the_background_are_waited_for() {
    let mut claude = claude();
    let tasks = |tasks: &str| {
        format!(r#"{{"type":"system","subtype":"background_tasks_changed","tasks":[{tasks}]}}"#)
    };
    let done =
        r#"{"type":"result","is_error":false,"terminal_reason":"completed","result":"done"}"#;
    assert_eq!(
        heard(&mut claude, &tasks(r#"{"task_id":"b1"}"#)).entries,
        []
    );
    assert_eq!(heard(&mut claude, done).next, NextStep::CloseInput);
    // It cannot be told to stop any more.
    let mut out = ProtocolOutput::default();
    claude.interrupt(&mut out);
    assert_eq!((out.next, out.lines), (NextStep::Signal, vec![]));
    heard(&mut claude, &tasks(""));
    assert_eq!(heard(&mut claude, done).next, NextStep::Dismiss);
}

#[test]
fn what_it_asks_is_allowed() {
    let ask = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Write","input":{"file_path":"a"}}}"#;
    let out = heard(&mut claude(), ask);
    let answer: serde_json::Value = serde_json::from_str(&out.lines[0]).unwrap();
    assert_eq!(answer["response"]["request_id"], "r1");
    assert_eq!(answer["response"]["response"]["behavior"], "allow");
    assert_eq!(
        answer["response"]["response"]["updatedInput"]["file_path"],
        "a"
    );
    let other = r#"{"type":"control_request","request_id":"r2","request":{"subtype":"odd"}}"#;
    let out = heard(&mut claude(), other);
    assert!(out.lines[0].contains("error"), "{:?}", out.lines);
}

#[test]
fn a_list_of_things_to_do_is_a_plan() {
    let mut claude = claude();
    let call = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"TodoWrite","input":{"todos":[{"content":"dig","status":"in_progress","activeForm":"digging"}]}}]}}"#;
    let out = heard(&mut claude, call);
    assert!(matches!(&out.entries[..], [Entry::Plan { steps }] if steps[0].text == "dig"));
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}}"#;
    assert_eq!(heard(&mut claude, result).entries, []);
}

#[test]
fn an_edit_is_told_with_its_lines() {
    let mut claude = claude();
    let call = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"/home/tree/src/a.rs","old_string":"one","new_string":"two"}}]}}"#;
    heard(&mut claude, call);
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"tool_use_result":{"filePath":"/home/tree/src/a.rs","structuredPatch":[{"oldStart":3,"oldLines":2,"newStart":3,"newLines":2,"lines":[" zero","-one","+two"]}]}}"#;
    let out = heard(&mut claude, result);
    let expected = Entry::FileEdit {
        path: "src/a.rs".to_owned(),
        change: FileChange::Modify,
        diff: Some("@@ -3,2 +3,2 @@\n zero\n-one\n+two\n".to_owned()),
    };
    assert_eq!(out.entries[1], expected);
}

#[test]
fn a_limit_of_a_subscription_is_told() {
    let mut claude = claude();
    let now = jiff::Timestamp::now().as_second();
    let event = format!(
        r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{},"rateLimitType":"five_hour"}}}}"#,
        now + 3600
    );
    let out = heard(&mut claude, &event);
    assert!(matches!(
        &out.entries[..],
        [Entry::Limit {
            retry_after_ms: Some(_),
            ..
        }]
    ));
    heard(
        &mut claude,
        r#"{"type":"result","is_error":true,"api_error_status":429,"result":"You've hit your limit"}"#,
    );
    let end = claude.conclude(Exit::Code(1), &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Limit));
    let pause = end.retry_after_ms.unwrap();
    assert!((3_500_000..=3_600_000).contains(&pause), "{pause}");
}

#[test]
fn a_model_that_refuses_and_money_that_is_gone_are_failures() {
    let ends = [
        (
            r#"{"type":"result","is_error":false,"stop_reason":"refusal","result":"I cannot"}"#,
            Trouble::Refused,
        ),
        (
            r#"{"type":"result","is_error":true,"subtype":"error_max_budget_usd","errors":["Reached maximum budget"]}"#,
            Trouble::Budget,
        ),
        (
            r#"{"type":"result","is_error":true,"subtype":"error_max_turns"}"#,
            Trouble::Budget,
        ),
        (
            r#"{"type":"result","is_error":true,"result":"Credit balance is too low"}"#,
            Trouble::Budget,
        ),
    ];
    for (line, trouble) in ends {
        let mut claude = claude();
        heard(&mut claude, line);
        let end = claude.conclude(Exit::Code(1), &mut ProtocolOutput::default());
        assert_eq!(end.outcome, Outcome::Failed(trouble), "{line}");
    }
}

#[test]
fn a_limit_of_the_plan_is_a_limit_whatever_words_it_ends_in() {
    let mut claude = Claude::new(&order(ProtocolKind::Claude));
    let mut out = ProtocolOutput::default();
    let resets_at = jiff::Timestamp::now().as_second() + 3_600;
    let info = serde_json::json!({"status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour"});
    let event = serde_json::json!({"type": "rate_limit_event", "rate_limit_info": info});
    claude.hear(&event.to_string(), &mut out);
    let result = serde_json::json!({"type": "result", "is_error": true, "result": "Come back later, friend"});
    claude.hear(&result.to_string(), &mut out);
    let end = claude.conclude(Exit::Code(1), &mut out);
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Limit));
    let pause = end.retry_after_ms.unwrap();
    assert!((3_500_000..=3_600_000).contains(&pause), "{pause}");
}
