//! Claude Code: lines of JSON both ways.
//!
//! One prompt, one answer; its input stays open in between, so that it can be interrupted.

mod ending;
mod results;
mod tools;
mod usage;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use serde_json::{Value, json};

use self::results::{ClaudeCall, ResultDetails};
use self::usage::ClaudeUsage;
use super::order::DriverOrder;
use super::protocol::{NextStep, Protocol, ProtocolOutput};
use super::retry_budget::{ModelRetry, RetryBudget, RetryVerdict};
use super::trouble::{self, LastWords};
use crate::{Conclusion, Entry, Exit, Outcome, ToolStatus, Trouble};

/// Events that say nothing that anybody wants to read.
const BORING: &[&str] = &[
    "control_cancel_request",
    "control_response",
    "keep_alive",
    "prompt_suggestion",
    "stream_event",
    "tool_progress",
    "tool_use_summary",
    "transcript_mirror",
];

const BORING_OF_SYSTEM: &[&str] = &[
    "commands_changed",
    "compact_boundary",
    "files_persisted",
    "file_snapshot",
    "hook_progress",
    "hook_response",
    "hook_started",
    "memory_recall",
    "memory_saved",
    "permission_check_status",
    "permission_denied",
    "post_turn_summary",
    "session_metadata",
    "session_state_changed",
    "session_title_changed",
    "status",
    "stop_hook_summary",
    "task_notification",
    "task_progress",
    "task_started",
    "task_summary",
    "task_updated",
    "thinking",
    "thinking_tokens",
    "turn_duration",
    "vcs_state_changed",
];

#[derive(Debug)]
pub(super) struct Claude {
    order: DriverOrder,
    session: Option<Entry>,
    calls: HashMap<String, ClaudeCall>,
    silent: HashSet<String>,
    tally: ClaudeUsage,
    patience: RetryBudget,
    resets_at: Option<i64>,
    is_limited: bool,
    last_words: LastWords,
    result: Option<Value>,
    /// How many tasks it has in the background, at whose end it takes up its work again.
    tasks: usize,
    input: InputState,
    interrupts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InputState {
    Open,
    Closed,
}

/// The program and its arguments, with those that take the session up.
pub(super) fn words(order: &DriverOrder) -> Vec<String> {
    let mut words = order.words.clone();
    if let Some(session) = &order.session {
        words.extend(["--resume".to_owned(), session.clone()]);
    }
    words
}

impl Protocol for Claude {
    fn begin(&mut self, out: &mut ProtocolOutput) {
        let prompt = json!([{"type": "text", "text": self.order.first_words()}]);
        let message = json!({"role": "user", "content": prompt});
        out.write(json!({"type": "user", "message": message}).to_string());
    }

    fn hear(&mut self, line: &str, out: &mut ProtocolOutput) {
        let Ok(event @ Value::Object(_)) = serde_json::from_str::<Value>(line) else {
            return out.print_raw(line);
        };
        match event["type"].as_str().unwrap_or_default() {
            "system" => self.hear_system(&event, line, out),
            "assistant" => self.hear_assistant(&event, out),
            "user" => self.hear_user(&event, out),
            "rate_limit_event" => self.hear_limit(&event["rate_limit_info"], out),
            "control_request" => answer(&event, out),
            "result" => self.hear_result(event, out),
            kind if BORING.contains(&kind) => {}
            _ => out.print_raw(line),
        }
    }

    fn hear_error(&mut self, line: &str, out: &mut ProtocolOutput) {
        self.last_words.hear(line);
        out.print_raw(line);
    }

    fn interrupt(&mut self, out: &mut ProtocolOutput) {
        self.interrupts += 1;
        if self.input == InputState::Closed {
            out.next = NextStep::Signal;
            return;
        }
        let id = format!("interrupt-{}", self.interrupts);
        let request = json!({"subtype": "interrupt"});
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        out.write(line.to_string());
    }

    fn hear_nothing(&mut self, out: &mut ProtocolOutput) {
        if self.patience.give_up() == RetryVerdict::GiveUp {
            self.interrupt(out);
        }
    }

    fn conclude(&mut self, exit: Exit, out: &mut ProtocolOutput) -> Conclusion {
        let result = self.result.take();
        if self.order.session.is_some() && result.as_ref().is_some_and(ending::misses_session) {
            out.next = NextStep::BeginAnew;
        }
        if let Some(over) = self.patience.over() {
            return over.clone();
        }
        let Some(result) = result else {
            return match self.interrupts {
                0 => self.last_words.crash(exit),
                _ => trouble::interrupted("it was interrupted"),
            };
        };
        let mut conclusion = ending::conclusion(&result, self.resets_at);
        if self.is_limited && conclusion.outcome == Outcome::Failed(Trouble::Other) {
            // Whatever words it found for it.
            conclusion.outcome = Outcome::Failed(Trouble::Limit);
            conclusion.retry_after_ms = self.pause();
        }
        if conclusion.outcome == Outcome::Completed && !trouble::left(exit) {
            let denials = conclusion.denials;
            let crash = self.last_words.crash(exit);
            return Conclusion { denials, ..crash };
        }
        conclusion
    }
}

impl Claude {
    pub(super) fn new(order: &DriverOrder) -> Self {
        Self {
            order: order.clone(),
            session: None,
            calls: HashMap::new(),
            silent: HashSet::new(),
            tally: ClaudeUsage::new(order),
            patience: RetryBudget::default(),
            resets_at: None,
            is_limited: false,
            last_words: LastWords::default(),
            result: None,
            tasks: 0,
            input: InputState::Open,
            interrupts: 0,
        }
    }

    fn hear_system(&mut self, event: &Value, line: &str, out: &mut ProtocolOutput) {
        match event["subtype"].as_str().unwrap_or_default() {
            "init" => self.hear_init(event, out),
            "api_retry" => self.hear_retry(event, out),
            "background_tasks_changed" => {
                self.tasks = event["tasks"].as_array().map_or(0, Vec::len);
            }
            kind if BORING_OF_SYSTEM.contains(&kind) => {}
            _ => out.print_raw(line),
        }
    }

    /// Each turn begins with it.
    fn hear_init(&mut self, event: &Value, out: &mut ProtocolOutput) {
        self.last_words.begin();
        let text = |key: &str| event[key].as_str().map(str::to_owned);
        let session = Entry::Session {
            id: text("session_id"),
            model: text("model"),
            version: text("claude_code_version"),
        };
        if self.session.as_ref() != Some(&session) {
            self.session = Some(session.clone());
            out.print(session);
        }
    }

    fn hear_retry(&mut self, event: &Value, out: &mut ProtocolOutput) {
        let status = event["error_status"].as_u64();
        let status = status.and_then(|status| u16::try_from(status).ok());
        let word = event["error"].as_str().unwrap_or("unknown");
        let words = match word {
            "unknown" => "could not reach the model".to_owned(),
            word => word.replace('_', " "),
        };
        let attempt = event["attempt"].as_u64().unwrap_or(1);
        let again = ModelRetry {
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
            trouble: ending::kind_of_error(word, status),
            message: status.map_or(words.clone(), |status| format!("{words} ({status})")),
            delay: event["retry_delay_ms"].as_u64().map(Duration::from_millis),
        };
        if self.patience.again(again, out) == RetryVerdict::GiveUp {
            self.give_up(out);
        }
    }

    /// Cuts its own waiting short.
    fn give_up(&mut self, out: &mut ProtocolOutput) {
        self.interrupt(out);
        if self.input == InputState::Open {
            self.input = InputState::Closed;
            out.next = NextStep::Dismiss;
        }
    }

    fn hear_assistant(&mut self, event: &Value, out: &mut ProtocolOutput) {
        let message = &event["message"];
        // An error of the interface comes as if the model had said it.
        let error = event["error"].as_str();
        let is_error = error.is_some() || event["is_api_error_message"] == true;
        let usage = if is_error {
            None
        } else {
            self.tally.message(message)
        };
        if !is_error {
            self.patience.progress();
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str().unwrap_or_default() {
                "text" if is_error => api_error(event, block, out),
                "text" => say(block["text"].as_str(), |text| Entry::Text { text }, out),
                "thinking" => say(
                    block["thinking"].as_str(),
                    |text| Entry::Thinking { text },
                    out,
                ),
                "redacted_thinking" => {}
                "tool_use" | "server_tool_use" | "mcp_tool_use" => self.hear_call(block, out),
                kind if kind.ends_with("tool_result") => {
                    let beside = ResultDetails {
                        told: &Value::Null,
                        meta: &Value::Null,
                    };
                    self.hear_tool_result(block, &beside, out);
                }
                _ => out.print_raw(&block.to_string()),
            }
        }
        if let Some(usage) = usage {
            out.print(Entry::Usage(usage));
        }
    }

    fn hear_call(&mut self, block: &Value, out: &mut ProtocolOutput) {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let (id, name) = (text("id"), text("name"));
        let input = block["input"].clone();
        if name == tools::PLAN {
            let steps = tools::plan(&input);
            self.silent.insert(id);
            return out.print(Entry::Plan { steps });
        }
        out.print(Entry::ToolCall {
            id: id.clone(),
            tool: tools::kind(&name),
            title: tools::title(&name, &input, &self.order),
            name: name.clone(),
            input: input.clone(),
        });
        self.calls.insert(id, ClaudeCall { name, input });
    }

    fn hear_user(&mut self, event: &Value, out: &mut ProtocolOutput) {
        let blocks = event["message"]["content"].as_array().into_iter().flatten();
        for block in blocks.filter(|block| block["type"] == "tool_result") {
            let metas = event["tool_result_meta"].as_array().into_iter().flatten();
            let mut metas = metas.filter(|meta| meta["id"] == block["tool_use_id"]);
            let beside = ResultDetails {
                told: &event["tool_use_result"],
                meta: metas.next().unwrap_or(&Value::Null),
            };
            self.hear_tool_result(block, &beside, out);
        }
    }

    fn hear_tool_result(
        &mut self,
        block: &Value,
        beside: &ResultDetails,
        out: &mut ProtocolOutput,
    ) {
        let id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
        let status = results::status(block, beside);
        if self.silent.remove(&id) && status == ToolStatus::Ok {
            return;
        }
        let call = self.calls.remove(&id);
        let output = results::output(block);
        let exit_code = results::exit_code(call.as_ref(), status, &output, beside.told);
        out.print(Entry::ToolResult {
            id,
            status,
            output,
            exit_code,
        });
        let edit = results::edit(call.as_ref(), beside.told, &self.order);
        if let Some(edit) = edit.filter(|_| status == ToolStatus::Ok) {
            out.print(edit);
        }
    }

    /// How much of a subscription is used; told whenever that changes.
    fn hear_limit(&mut self, info: &Value, out: &mut ProtocolOutput) {
        self.resets_at = info["resetsAt"].as_i64().or(self.resets_at);
        self.is_limited = info["status"] == "rejected";
        if !self.is_limited {
            return;
        }
        let kind = info["rateLimitType"].as_str().unwrap_or("usage");
        out.print(Entry::Limit {
            message: format!("reached the {} limit", kind.replace('_', " ")),
            retry_after_ms: self.pause(),
        });
    }

    fn pause(&self) -> Option<u64> {
        trouble::pause(&self.resets_at?.to_string())
    }

    fn hear_result(&mut self, event: Value, out: &mut ProtocolOutput) {
        if let Some(usage) = self.tally.end(&event) {
            out.print(Entry::Usage(usage));
        }
        // It waits for its tasks by itself, and not for ever; with an open input it would wait for more to do as well.
        let goes_on = self.tasks > 0 && event["is_error"] != true;
        self.input = InputState::Closed;
        self.result = Some(event);
        out.next = if goes_on {
            NextStep::CloseInput
        } else {
            NextStep::Dismiss
        };
    }
}

fn say(text: Option<&str>, entry: impl Fn(String) -> Entry, out: &mut ProtocolOutput) {
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        out.print(entry(text.to_owned()));
    }
}

fn api_error(event: &Value, block: &Value, out: &mut ProtocolOutput) {
    let text = block["text"].as_str().unwrap_or_default();
    let status = event["api_error_status"].as_u64();
    let status = status.and_then(|status| u16::try_from(status).ok());
    let trouble = match (status, event["error"].as_str()) {
        (Some(status), _) => trouble::of_status(status, text),
        (None, Some(word)) if trouble::of_text(text) == Trouble::Other => {
            ending::kind_of_error(word, None)
        }
        _ => trouble::of_text(text),
    };
    let message = trouble::plain(text);
    out.print(Entry::Error { trouble, message });
}

/// Answers what it asks: it may use its tools, and everything else is not for us.
fn answer(event: &Value, out: &mut ProtocolOutput) {
    let request = &event["request"];
    let mut response = json!({"request_id": event["request_id"]});
    if request["subtype"] == "can_use_tool" {
        response["subtype"] = "success".into();
        response["response"] = json!({"behavior": "allow", "updatedInput": request["input"]});
    } else {
        response["subtype"] = "error".into();
        response["error"] = "no user is available to answer".into();
    }
    out.write(json!({"type": "control_response", "response": response}).to_string());
}
