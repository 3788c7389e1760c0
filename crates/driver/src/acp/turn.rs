//! A turn: what an agent says and does after the prompt, what it asks for, and how it ends.

use serde_json::{Value, json};

use super::calls::CallUpdate;
use super::speech::{SpeechKind, SpokenLines};
use super::usage::AcpUsage;
use super::{Acp, LastAct, PendingError, RpcError, faults, wire};
use crate::retry_budget::{ModelRetry, RetryVerdict};
use crate::{Conclusion, Entry, Outcome, PlanStep, ToolStatus, Trouble};
use crate::{NextStep, ProtocolOutput};

/// So often an agent is asked to go on whose turn ended in mid-work.
const MOST_ASKED_ON: u32 = 2;

/// Updates that say nothing of the work.
const BORING: &[&str] = &[
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "session_info_update",
    "user_message_chunk",
];

/// How Gemini tells its mode, as if it said it.
const MODE_WORDS: &str = "[MODE_UPDATE]";

/// Permissions that are given, the best first.
const ALLOW: &[&str] = &["allow_always", "allow_once"];

/// Permissions that are not given, the mildest first.
const REJECT: &[&str] = &["reject_once", "reject_always"];

pub(super) fn interrupted() -> Conclusion {
    Conclusion {
        outcome: Outcome::Interrupted,
        message: "it was interrupted".to_owned(),
        retry_after_ms: None,
        denials: 0,
    }
}

impl Acp {
    pub(super) fn updated(&mut self, params: &Value, line: &str, out: &mut ProtocolOutput) {
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let is_ours =
            self.session.is_some() && params["sessionId"].as_str() == self.session.as_deref();
        if !matches!(self.asked, Some((_, super::PendingRequest::Prompt))) {
            self.replayed(kind, update);
            return;
        }
        if !is_ours {
            self.raw(line, out);
            return;
        }
        self.hear_codex(&update["_meta"], out);
        match kind {
            "agent_message_chunk" => self.hear_chunk(SpeechKind::Saying, update, line, out),
            "agent_thought_chunk" => self.hear_chunk(SpeechKind::Thinking, update, line, out),
            "tool_call" | "tool_call_update" => self.hear_call(update, out),
            "plan" => {
                self.end_speech(out);
                out.print(plan(&update["entries"]));
            }
            "usage_update" => {
                let usage = self.tally.update(update);
                out.entries.extend(usage.map(Entry::Usage));
            }
            _ if BORING.contains(&kind) => {}
            _ => self.raw(line, out),
        }
    }

    /// Something of the time before the prompt: what was before, or nothing that matters.
    fn replayed(&mut self, kind: &str, update: &Value) {
        let says_mode = update["content"]["text"].as_str();
        let says_mode = says_mode.is_some_and(|text| text.starts_with(MODE_WORDS));
        if kind == "usage_update" {
            self.tally.before(update);
        } else if !says_mode && (kind == "user_message_chunk" || !BORING.contains(&kind)) {
            self.replay.has_past = true;
            self.replay.is_going_on = true;
        }
    }

    fn hear_chunk(
        &mut self,
        voice: SpeechKind,
        update: &Value,
        line: &str,
        out: &mut ProtocolOutput,
    ) {
        let content = &update["content"];
        let Some(text) = content["text"].as_str().or(content["uri"].as_str()) else {
            self.raw(line, out);
            return;
        };
        if text.is_empty() {
            let usage = self.tally.add(&update["_meta"]["usage"]);
            out.entries.extend(usage.map(Entry::Usage));
        }
        if text.is_empty() || text.starts_with(MODE_WORDS) {
            return;
        }
        let message = update["messageId"].as_str();
        let begins = !self.speech.is_in(voice, message);
        let is_error = self.errors_are_text && begins && faults::is_error(text);
        let is_error = is_error || matches!(self.wrong, PendingError::Unreported);
        if voice == SpeechKind::Saying && is_error {
            self.end_speech(out);
            let error = faults::of_text(text);
            out.print(entry_of(&error));
            self.wrong = PendingError::Reported(error);
            return;
        }
        self.works(match voice {
            // A thought after a tool is no answer.
            SpeechKind::Thinking if self.deed == LastAct::Used => LastAct::Used,
            SpeechKind::Saying | SpeechKind::Thinking => LastAct::Said,
        });
        self.tally.answer(text.len());
        for lines in self.speech.hear(voice, message, text) {
            out.print(spoken(lines));
        }
    }

    fn hear_call(&mut self, update: &Value, out: &mut ProtocolOutput) {
        self.end_speech(out);
        self.works(LastAct::Used);
        let before = out.entries.len();
        match self.calls.update(update, &self.order, out) {
            CallUpdate::Began(bytes) => self.tally.answer(bytes),
            CallUpdate::Ended(bytes) => self.tally.tool(bytes),
            CallUpdate::Nothing => {}
        }
        if self.is_stopping {
            // What ends now was broken off, whatever the agent calls it.
            for entry in &mut out.entries[before..] {
                if let Entry::ToolResult { status, .. } = entry {
                    *status = ToolStatus::Cancelled;
                }
            }
        }
    }

    /// It goes on, so what was wrong before is no more.
    fn works(&mut self, deed: LastAct) {
        self.deed = deed;
        self.wrong = PendingError::Nothing;
        self.patience.progress();
    }

    fn hear_codex(&mut self, meta: &Value, out: &mut ProtocolOutput) {
        match faults::is_broken_codex(meta) {
            Some(true) => self.wrong = PendingError::Unreported,
            Some(false) => self.wrong = PendingError::Nothing,
            None => {}
        }
        if let Some(again) = faults::again_of_codex(meta) {
            self.end_speech(out);
            self.tries_again(again, out);
        }
    }

    fn tries_again(&mut self, again: ModelRetry, out: &mut ProtocolOutput) {
        if self.patience.again(again, out) == RetryVerdict::GiveUp {
            self.cancel(out);
            out.next = NextStep::Dismiss;
        }
    }

    /// Takes in a line of its standard error.
    pub(super) fn complained(&mut self, line: &str, out: &mut ProtocolOutput) {
        let words = line.trim();
        let is_trace = words.starts_with("at ") || !words.contains(char::is_alphabetic);
        if !is_trace {
            self.complaint = Some(words.to_owned());
        }
        match faults::again(line).filter(|_| self.is_working()) {
            Some(again) => {
                self.end_speech(out);
                self.tries_again(again, out);
            }
            None => self.raw(line, out),
        }
    }

    pub(super) fn requested(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
        line: &str,
        out: &mut ProtocolOutput,
    ) {
        if method != "session/request_permission" {
            self.raw(line, out);
            out.write(wire::unknown(id, method));
            return;
        }
        let call = &params["toolCall"];
        let is_ours =
            self.session.is_some() && params["sessionId"].as_str() == self.session.as_deref();
        if is_ours && call["toolCallId"].is_string() {
            self.hear_call(call, out);
        }
        let outcome = self.permit(params);
        out.write(wire::answer(id, json!({"outcome": outcome})));
    }

    /// What is answered to a question for a permission. Nobody sits there, so it is given where it can be.
    fn permit(&mut self, params: &Value) -> Value {
        let options = params["options"].as_array();
        let options = options.map(Vec::as_slice).unwrap_or_default();
        let of_kind = |kinds: &[&str]| {
            let mut found = kinds.iter().filter_map(|kind| {
                let option = options.iter().find(|option| option["kind"] == *kind)?;
                option["optionId"].as_str()
            });
            found.next().map(str::to_owned)
        };
        if self.is_stopping || self.patience.over().is_some() {
            return json!({"outcome": "cancelled"});
        }
        if let Some(option) = of_kind(ALLOW) {
            return json!({"outcome": "selected", "optionId": option});
        }
        let call = params["toolCall"]["toolCallId"].as_str();
        self.calls.deny(call.unwrap_or_default());
        match of_kind(REJECT) {
            Some(option) => json!({"outcome": "selected", "optionId": option}),
            None => json!({"outcome": "cancelled"}),
        }
    }

    pub(super) fn finish(&mut self, answer: Result<Value, RpcError>, out: &mut ProtocolOutput) {
        self.end_speech(out);
        let conclusion = match answer {
            Err(_) if self.is_stopping => interrupted(),
            Err(fault) => faults::of_fault(&fault, &self.about.logins),
            Ok(result) => {
                let usage = self.tally.end(&result);
                out.entries.extend(usage.map(Entry::Usage));
                self.stopped(&result)
            }
        };
        // Some end their turn when something was not allowed, which is no accident.
        let is_in_work = self.deed == LastAct::Used && self.calls.denials == 0;
        if conclusion.outcome == Outcome::Completed && is_in_work {
            if self.asked_on < MOST_ASKED_ON {
                return self.ask_on(out);
            }
            let message = "its turns keep ending without a message";
            return self.conclude_early(Conclusion::failed(Trouble::Network, message), out);
        }
        if conclusion.outcome == Outcome::Interrupted {
            self.calls.cancel(&self.order, out);
        }
        self.conclude_early(conclusion, out);
    }

    fn stopped(&self, result: &Value) -> Conclusion {
        let reason = result["stopReason"].as_str().unwrap_or_default();
        let failed = |trouble, message: &str| Conclusion::failed(trouble, message);
        match reason {
            _ if self.is_stopping => interrupted(),
            "cancelled" => interrupted(),
            "end_turn" => match &self.wrong {
                PendingError::Reported(error) => error.clone(),
                PendingError::Unreported => failed(Trouble::Other, "its model failed"),
                PendingError::Nothing if self.deed == LastAct::Nothing => {
                    failed(Trouble::Other, "it ended its turn without a message")
                }
                PendingError::Nothing if AcpUsage::is_broken(result) => {
                    failed(Trouble::Network, "the connection to its model was lost")
                }
                PendingError::Nothing => Conclusion {
                    outcome: Outcome::Completed,
                    message: self.speech.last(),
                    retry_after_ms: None,
                    denials: 0,
                },
            },
            "refusal" => {
                let said = self.speech.last();
                let said = Some(said).filter(|said| !said.is_empty());
                let said = said.unwrap_or_else(|| "its model refuses the task".to_owned());
                failed(Trouble::Refused, &said)
            }
            "max_tokens" => failed(
                Trouble::Context,
                "its model reached its output limit (max_tokens)",
            ),
            "max_turn_requests" => failed(
                Trouble::Budget,
                "it reached its limit of model requests (max_turn_requests)",
            ),
            _ => failed(Trouble::Other, &format!("it stopped: {reason}")),
        }
    }

    pub(super) fn end_speech(&mut self, out: &mut ProtocolOutput) {
        out.entries.extend(self.speech.end().map(spoken));
    }

    pub(super) fn raw(&mut self, line: &str, out: &mut ProtocolOutput) {
        self.end_speech(out);
        let text = line.to_owned();
        out.print(Entry::Raw { text });
    }
}

fn spoken(SpokenLines { voice, text }: SpokenLines) -> Entry {
    match voice {
        SpeechKind::Saying => Entry::Text { text },
        SpeechKind::Thinking => Entry::Thinking { text },
    }
}

fn entry_of(error: &Conclusion) -> Entry {
    let message = error.message.clone();
    match error.outcome {
        Outcome::Failed(Trouble::Limit) => Entry::Limit {
            message,
            retry_after_ms: error.retry_after_ms,
        },
        Outcome::Failed(trouble) => Entry::Error { trouble, message },
        Outcome::Completed | Outcome::Interrupted => Entry::Text { text: message },
    }
}

fn plan(entries: &Value) -> Entry {
    let entries = entries.as_array().into_iter().flatten();
    let steps = entries.map(|entry| PlanStep {
        text: entry["content"].as_str().unwrap_or_default().to_owned(),
        status: entry["status"].as_str().unwrap_or("pending").to_owned(),
    });
    Entry::Plan {
        steps: steps.collect(),
    }
}
