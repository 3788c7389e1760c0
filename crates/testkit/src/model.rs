//! A stand-in for the model behind a coding agent: it does what a script in the prompt says, and fails on request.
//!
//! Speaks the wire formats of Anthropic, `OpenAI` (Responses and Chat Completions) and Gemini. One server serves many
//! runs at once: how far a script has come is counted from the conversation, what goes wrong stands in the address.
//! A script is a list after the word `STUB:`, with the steps `{"write":["path","text"]}`, `{"run":"command"}`,
//! `{"say":"text"}`, `{"think":"text"}`, `{"call":["tool",{…}]}` and `{"fail":"429,times=2"}`. One wish is understood in plain words, that of
//! `pleach agents test`.

mod anthropic;
mod chat;
mod fault;
mod gemini;
mod reply;
mod responses;
mod script;
#[cfg(test)]
mod tests;
mod tools;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::anthropic::Anthropic;
use self::chat::Chat;
use self::fault::{Counters, FaultPlan, ModelFault};
use self::gemini::Gemini;
use self::reply::{ModelReply, Wire, failed, json_answer, spoken};
use self::responses::Responses;
use self::script::Next;
use crate::http::{Handler, HttpRequest, Listening, Reply, percent_decoded};

/// What is said where no script is.
const NOTHING_TO_DO: &str = "There is nothing to do.";

/// A request as it came in.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The path and the query, without the faults.
    pub path: String,
    /// The `id` of the address, or nothing.
    pub id: String,
    /// What was sent, or `null`.
    pub body: Value,
    pub at: Instant,
}

/// Serves models until it is dropped.
pub struct ModelStub {
    shared: Arc<Shared>,
    listening: Listening,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<Vec<Seen>>,
    came: Condvar,
    counters: Counters,
    calls: AtomicU64,
}

impl ModelStub {
    /// Starts a server on a free port of loopback.
    pub fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listening = Listening::start(Arc::clone(&shared) as Arc<dyn Handler>);
        Self { shared, listening }
    }

    /// The address for a run, with what shall go wrong in it, for example `id=run7,fail=429,times=2,retry_after=1`.
    ///
    /// `fail` is one of `429`, `529`, `500`, `401`, `400`, `context`, `hang`, `cut`, `sse` and `endless`; `times` says
    /// how often (without it for ever), `after` how many good answers come before, `usage=IN:OUT` the tokens of each
    /// answer. Runs that share an `id` share what is counted.
    pub fn base(&self, faults: &str) -> String {
        let host = self.listening.host();
        if faults.is_empty() {
            format!("http://{host}")
        } else {
            format!("http://{host}/~{faults}")
        }
    }

    /// All requests so far, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.shared.seen().clone()
    }

    /// Waits until so many requests of a run have come.
    ///
    /// # Panics
    ///
    /// If they do not come in time.
    #[track_caller]
    pub fn wait_for(&self, id: &str, count: usize, within: Duration) {
        let counted = |seen: &[Seen]| seen.iter().filter(|seen| seen.id == id).count();
        let seen = self.shared.seen();
        let (seen, _) = self
            .shared
            .came
            .wait_timeout_while(seen, within, |seen| counted(seen) < count)
            .unwrap_or_else(PoisonError::into_inner);
        let came = counted(&seen);
        assert!(
            came >= count,
            "{came} of {count} requests of `{id}` came within {within:?}"
        );
    }
}

impl Shared {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, seen: Seen) {
        self.seen().push(seen);
        self.came.notify_all();
    }

    /// The answer of a model to a conversation.
    fn speak(&self, wire: &dyn Wire, plan: &FaultPlan, body: &Value) -> Reply {
        let talk = wire.talk(body);
        let mut said =
            ModelReply::new(self.calls.fetch_add(1, Ordering::Relaxed), plan.usage, body);
        // Titles and summaries are asked for without tools.
        if talk.tools.is_empty() {
            said.text = Some("A scripted answer".to_owned());
            return spoken(wire, &said, talk.is_streamed);
        }
        if let Some(fault) = self.counters.next(plan, "") {
            return failed(wire, &fault, &said, talk.is_streamed);
        }
        let fault = |words: &str, script: &str| -> Option<ModelFault> {
            let inner = FaultPlan::parse(&format!("id={},fail={words}", plan.id));
            self.counters.next(&inner, script)
        };
        match script::next(&talk, &fault) {
            Next::Fail(fault) => return failed(wire, &fault, &said, talk.is_streamed),
            Next::Say { thought, text, act } => {
                said.thought = thought;
                said.call = act.and_then(|act| tools::call(&act, &talk.tools));
                said.text = text;
            }
            Next::Nothing => said.text = Some(NOTHING_TO_DO.to_owned()),
        }
        spoken(wire, &said, talk.is_streamed)
    }
}

impl Handler for Shared {
    fn answer(&self, asked: &HttpRequest) -> io::Result<Reply> {
        let target = percent_decoded(&asked.target);
        let (plan, path) = match target.strip_prefix("/~") {
            Some(rest) => {
                let (faults, path) = rest.split_once('/').unwrap_or((rest, ""));
                (FaultPlan::parse(faults), format!("/{path}"))
            }
            None => (FaultPlan::parse(""), target),
        };
        let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
        self.note(Seen {
            path: path.clone(),
            id: plan.id.clone(),
            body: body.clone(),
            at: Instant::now(),
        });
        let route = path.split('?').next().unwrap_or_default();
        Ok(match (asked.method.as_str(), route) {
            ("GET", _) if route.ends_with("/models") => json_answer(200, &[], &models()),
            ("POST", _) if route.ends_with("/count_tokens") => {
                json_answer(200, &[], &json!({"input_tokens": plan.usage.0}))
            }
            ("POST", _) if route.ends_with(":countTokens") => {
                json_answer(200, &[], &json!({"totalTokens": plan.usage.0}))
            }
            ("POST", _) if route.ends_with("/messages") => self.speak(&Anthropic, &plan, &body),
            ("POST", _) if route.ends_with("/responses") => self.speak(&Responses, &plan, &body),
            ("POST", _) if route.ends_with("/chat/completions") => self.speak(&Chat, &plan, &body),
            ("POST", _) if route.ends_with(":generateContent") => {
                self.speak(&Gemini::whole(), &plan, &body)
            }
            ("POST", _) if route.ends_with(":streamGenerateContent") => {
                self.speak(&Gemini::streamed(), &plan, &body)
            }
            _ => json_answer(
                404,
                &[],
                &json!({"error": {"message": "there is nothing here"}}),
            ),
        })
    }
}

/// The one model, as each of the providers lists it.
fn models() -> Value {
    json!({
        "object": "list",
        "data": [{"id": "stub-model", "object": "model", "type": "model", "display_name": "Stub",
            "created": 0, "created_at": "2026-01-01T00:00:00Z", "owned_by": "stub"}],
        "has_more": false,
        "models": [{"name": "models/stub-model", "displayName": "Stub", "inputTokenLimit": 200_000,
            "outputTokenLimit": 8192, "supportedGenerationMethods": ["generateContent"]}],
    })
}
