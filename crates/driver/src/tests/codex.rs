//! What is understood of Codex.

use crate::{Entry, Exit, Outcome, ToolStatus, Trouble};

use super::super::codex::{Codex, words};
use super::super::order::{DriverOrder, ProtocolKind};
use super::super::protocol::{NextStep, Protocol, ProtocolOutput};
use super::shown::{Asked, order, replayed};

macro_rules! check {
    ($name:literal, $exit:expr) => {
        check!($name, $exit, Asked::Nothing)
    };
    ($name:literal, $exit:expr, $asked:expr) => {
        let stream = include_str!(concat!(
            "../../tests/fixtures/agents/codex/",
            $name,
            ".jsonl"
        ));
        let page = replayed(&mut codex(), stream, $asked, $exit);
        insta::with_settings!({
            snapshot_path => "../../tests/fixtures/agents/codex",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!($name, page);
        });
    };
}

const WELL: Exit = Exit::Code(0);
const BADLY: Exit = Exit::Code(1);

fn codex() -> Codex {
    let words = ["codex", "exec", "-m", "stub-model", "-"];
    Codex::new(&DriverOrder {
        words: words.map(str::to_owned).to_vec(),
        ..order(ProtocolKind::Codex)
    })
}

fn heard(codex: &mut Codex, line: &str) -> Vec<Entry> {
    let mut out = ProtocolOutput::default();
    codex.hear(line, &mut out);
    out.entries
}

/// How it ends that its turn failed with a message.
fn failed(message: &str) -> (Outcome, Option<u64>) {
    let mut codex = codex();
    let error = serde_json::json!({"type": "turn.failed", "error": {"message": message}});
    heard(&mut codex, &error.to_string());
    let end = codex.conclude(BADLY, &mut ProtocolOutput::default());
    (end.outcome, end.retry_after_ms)
}

#[test]
fn work_that_is_done_is_understood() {
    check!("edit", WELL);
    check!("resume", WELL);
    check!("thinking", WELL);
    check!("denied", WELL);
}

#[test]
fn what_passes_is_a_retry() {
    check!("limit-once", WELL);
    check!("cut-once", WELL);
}

#[test]
fn what_does_not_pass_is_a_failure() {
    check!("limit", BADLY);
    check!("overload", BADLY);
    check!("server-error", BADLY);
    check!("login", BADLY);
    check!("no-login", BADLY);
    check!("refused", BADLY);
    check!("cut", BADLY);
    check!("broken-stream", BADLY);
    check!("context", BADLY);
}

#[test]
fn who_is_interrupted_did_not_fail() {
    check!("interrupted", BADLY, Asked::ToStop);
    check!("endless", BADLY, Asked::ToStop);
    check!("limit-wait", Exit::Signal(9), Asked::ToStop);
}

#[test]
fn a_session_is_taken_up_after_all_other_words() {
    let resumed = DriverOrder {
        words: ["codex", "exec", "--json", "-"].map(str::to_owned).to_vec(),
        session: Some("01a1".to_owned()),
        ..order(ProtocolKind::Codex)
    };
    let expected = ["codex", "exec", "--json", "resume", "01a1", "-"];
    assert_eq!(words(&resumed), expected);
}

#[test]
fn a_session_that_is_not_there_begins_anew() {
    let mut codex = Codex::new(&DriverOrder {
        session: Some("01a1".to_owned()),
        ..order(ProtocolKind::Codex)
    });
    let said = "Error: thread/resume: thread/resume failed: no rollout found for thread id 01a1 (code -32600)";
    codex.hear_error(said, &mut ProtocolOutput::default());
    let mut out = ProtocolOutput::default();
    let end = codex.conclude(BADLY, &mut out);
    assert_eq!(out.next, NextStep::BeginAnew);
    assert!(matches!(end.outcome, Outcome::Failed(_)));
}

#[test]
fn a_limit_says_when_it_ends() {
    let limit = Outcome::Failed(Trouble::Limit);
    let said = "You've hit your usage limit. Upgrade to Pro (https://openai.com/pricing) or try again in 2 days 3 hours 5 minutes.";
    assert_eq!(failed(said), (limit, Some(183_900_000)));
    let (outcome, pause) = failed("You've hit your usage limit. Try again at 3:05 PM.");
    assert_eq!(outcome, limit);
    assert!(pause.is_some_and(|pause| pause <= 24 * 3_600_000));
    let (outcome, _) = failed("Quota exceeded. Check your plan and billing details.");
    assert_eq!(outcome, Outcome::Failed(Trouble::Budget));
}

#[test]
fn a_network_that_is_gone_is_not_waited_for_without_end() {
    let mut codex = codex();
    let line = r#"{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}"#;
    let mut out = ProtocolOutput::default();
    for _ in 0..30 {
        codex.hear(line, &mut out);
    }
    assert_eq!(out.next, NextStep::Signal);
    let end = codex.conclude(BADLY, &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Network));
    assert_eq!(end.message, "Connection failed: error sending request");
}

#[test]
fn an_end_without_a_word_is_a_crash() {
    let mut codex = codex();
    heard(&mut codex, r#"{"type":"turn.started"}"#);
    let end = codex.conclude(WELL, &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Crash));
}

#[test]
fn an_error_after_the_end_is_believed() {
    let mut codex = codex();
    heard(&mut codex, r#"{"type":"turn.completed","usage":{}}"#);
    heard(&mut codex, r#"{"type":"error","message":"disk full"}"#);
    let end = codex.conclude(WELL, &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Other));
    assert_eq!(end.message, "disk full");
}

#[test]
fn its_other_tools_are_shown() {
    let mut codex = codex();
    let list = r#"{"type":"item.started","item":{"id":"item_1","type":"todo_list","items":[{"text":"dig","completed":true},{"text":"plant","completed":false}]}}"#;
    let entries = heard(&mut codex, list);
    assert!(matches!(&entries[..], [Entry::Plan { steps }] if steps[0].status == "completed"));
    assert_eq!(heard(&mut codex, list), []);
    let call = r#"{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":"x"},"result":null,"error":{"message":"no such page"},"status":"failed"}}"#;
    let entries = heard(&mut codex, call);
    assert!(matches!(&entries[0], Entry::ToolCall { title, .. } if title == "docs find"));
    let failed = ToolStatus::Error;
    assert!(
        matches!(&entries[1], Entry::ToolResult { status, output, .. } if *status == failed && output == "no such page")
    );
    let search =
        r#"{"type":"item.completed","item":{"id":"item_3","type":"web_search","query":"hedges"}}"#;
    let entries = heard(&mut codex, search);
    assert!(
        matches!(&entries[0], Entry::ToolCall { title, .. } if title == "Search the web for hedges")
    );
}

#[test]
fn a_limit_that_is_waited_for_in_silence_is_given_up() {
    let mut codex = codex();
    let mut out = ProtocolOutput::default();
    let line = r#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 429 Too Many Requests)"}"#;
    codex.hear(line, &mut out);
    assert!(out.listen.is_some_and(|time| time.as_secs() >= 60));
    let mut out = ProtocolOutput::default();
    codex.hear_nothing(&mut out);
    assert_eq!(out.next, NextStep::Signal);
    let end = codex.conclude(Exit::Signal(2), &mut ProtocolOutput::default());
    assert_eq!(end.outcome, Outcome::Failed(Trouble::Limit));
    // Silence means nothing where nothing is waited for.
    let mut other = self::codex();
    let mut out = ProtocolOutput::default();
    other.hear_nothing(&mut out);
    assert_eq!(out.next, NextStep::GoOn);
}

#[test]
fn a_session_that_goes_on_is_not_charged_twice() {
    let mut codex = Codex::new(&DriverOrder {
        session: Some("s1".to_owned()),
        tokens_before: 3_150,
        ..order(ProtocolKind::Codex)
    });
    let line = r#"{"type":"turn.completed","usage":{"input_tokens":5000,"output_tokens":250}}"#;
    let entries = heard(&mut codex, line);
    assert!(matches!(entries[..], [Entry::Usage(usage)] if usage.tokens == 2_100));
}
