//! Codex: a prompt in, lines of JSON out.
//!
//! It cannot be told anything once it works; it is stopped by a signal.

mod items;

use std::collections::HashSet;

use serde_json::Value;

use self::items::ItemStage;
use super::order::DriverOrder;
use super::protocol::{NextStep, Protocol, ProtocolOutput};
use super::retry_budget::{ModelRetry, RetryBudget, RetryVerdict};
use super::trouble::{self, LastWords};
use crate::{Conclusion, Entry, Exit, Outcome, PlanStep, Trouble, Usage};

/// Events that say nothing that anybody wants to read.
const BORING: &[&str] = &["turn.started"];

/// What it writes to standard error without a cause.
const BORING_OF_ERROR: &[&str] = &[
    "Reading prompt from stdin",
    "Reading additional input from stdin",
    "WARNING: proceeding, even though we could not create PATH aliases",
];

const NO_SESSION: &str = "no rollout found for thread id";

const AGAIN: &str = "Reconnecting... ";

#[derive(Debug)]
pub(super) struct Codex {
    order: DriverOrder,
    started: HashSet<String>,
    plan: Vec<PlanStep>,
    patience: RetryBudget,
    retries: u32,
    /// What it waits for, while it asks once more.
    waits_for: Option<String>,
    last_words: LastWords,
    said: String,
    error: Option<String>,
    end: Option<TurnEnd>,
    is_interrupted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TurnEnd {
    Completed,
    Failed(String),
}

/// The program and its arguments, with those that take the session up.
pub(super) fn words(order: &DriverOrder) -> Vec<String> {
    let mut words = order.words.clone();
    if let Some(session) = &order.session {
        // Its own arguments come first, so that all that `exec` knows is understood.
        words.pop_if(|last| last == "-");
        words.extend(["resume", session, "-"].map(str::to_owned));
    }
    words
}

impl Protocol for Codex {
    fn begin(&mut self, out: &mut ProtocolOutput) {
        out.write(self.order.first_words());
        out.next = NextStep::CloseInput;
    }

    fn hear(&mut self, line: &str, out: &mut ProtocolOutput) {
        let Ok(event @ Value::Object(_)) = serde_json::from_str::<Value>(line) else {
            return out.print_raw(line);
        };
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => self.hear_session(&event, out),
            "item.started" => self.hear_item(&event["item"], ItemStage::Started, line, out),
            "item.updated" => self.hear_item(&event["item"], ItemStage::Updated, line, out),
            "item.completed" => self.hear_item(&event["item"], ItemStage::Completed, line, out),
            "turn.completed" => self.hear_end(&event["usage"], out),
            "turn.failed" => self.hear_failure(&event["error"], out),
            "error" => self.hear_trouble(&event, out),
            kind if BORING.contains(&kind) => {}
            _ => out.print_raw(line),
        }
    }

    fn hear_error(&mut self, line: &str, out: &mut ProtocolOutput) {
        if !BORING_OF_ERROR
            .iter()
            .any(|boring| line.starts_with(boring))
        {
            self.last_words.hear(line);
            out.print_raw(line);
        }
    }

    fn interrupt(&mut self, out: &mut ProtocolOutput) {
        self.is_interrupted = true;
        out.next = NextStep::Signal;
    }

    fn hear_nothing(&mut self, out: &mut ProtocolOutput) {
        if self.patience.give_up() == RetryVerdict::GiveUp {
            self.interrupt(out);
        }
    }

    fn conclude(&mut self, exit: Exit, out: &mut ProtocolOutput) -> Conclusion {
        if self.order.session.is_some() && self.end.is_none() && self.last_words.say(NO_SESSION) {
            out.next = NextStep::BeginAnew;
        }
        if let Some(over) = self.patience.over() {
            return over.clone();
        }
        match self.end.take() {
            Some(TurnEnd::Completed) if trouble::left(exit) => Conclusion {
                outcome: Outcome::Completed,
                message: std::mem::take(&mut self.said),
                retry_after_ms: None,
                denials: 0,
            },
            Some(TurnEnd::Failed(error)) => failure(&error),
            None if self.is_interrupted => trouble::interrupted(match &self.waits_for {
                Some(what) => format!("it was interrupted while waiting: {what}"),
                None => "it was interrupted".to_owned(),
            }),
            Some(TurnEnd::Completed) | None => match self.error.take() {
                Some(error) => failure(&error),
                None => self.last_words.crash(exit),
            },
        }
    }
}

impl Codex {
    pub(super) fn new(order: &DriverOrder) -> Self {
        Self {
            order: order.clone(),
            started: HashSet::new(),
            plan: Vec::new(),
            patience: RetryBudget::default(),
            retries: 0,
            waits_for: None,
            last_words: LastWords::default(),
            said: String::new(),
            error: None,
            end: None,
            is_interrupted: false,
        }
    }

    fn hear_session(&mut self, event: &Value, out: &mut ProtocolOutput) {
        self.last_words.begin();
        out.print(Entry::Session {
            id: event["thread_id"].as_str().map(str::to_owned),
            model: self
                .order
                .model
                .clone()
                .or_else(|| model_in(&self.order.words)),
            version: None,
        });
    }

    fn hear_item(&mut self, item: &Value, stage: ItemStage, line: &str, out: &mut ProtocolOutput) {
        let kind = item["type"].as_str().unwrap_or_default();
        if kind == "error" {
            // A notice; what fails is told by the turn.
            let message = told(item["message"].as_str().unwrap_or_default());
            let trouble = Trouble::Other;
            return out.print(Entry::Error { trouble, message });
        }
        self.patience.progress();
        self.retries = 0;
        self.waits_for = None;
        let text = || item["text"].as_str().unwrap_or_default().to_owned();
        match kind {
            "agent_message" if stage == ItemStage::Completed => {
                self.said = text();
                out.print(Entry::Text { text: text() });
            }
            "reasoning" if stage == ItemStage::Completed => {
                out.print(Entry::Thinking { text: text() });
            }
            "agent_message" | "reasoning" => {}
            "todo_list" => self.hear_plan(item, out),
            _ => self.hear_tool(item, stage, line, out),
        }
    }

    /// Each time the whole plan.
    fn hear_plan(&mut self, item: &Value, out: &mut ProtocolOutput) {
        let steps = items::plan(item);
        if self.plan != steps {
            self.plan.clone_from(&steps);
            out.print(Entry::Plan { steps });
        }
    }

    fn hear_tool(&mut self, item: &Value, stage: ItemStage, line: &str, out: &mut ProtocolOutput) {
        let id = item["id"].as_str().unwrap_or_default();
        let Some(call) = items::call(id, item, &self.order) else {
            return out.print_raw(line);
        };
        if self.started.insert(id.to_owned()) {
            out.print(call);
        }
        if stage == ItemStage::Completed {
            // Ids begin anew with each turn.
            self.started.remove(id);
            out.entries.extend(items::result(id, item, &self.order));
        }
    }

    fn hear_end(&mut self, usage: &Value, out: &mut ProtocolOutput) {
        out.print(Entry::Usage(taken(usage, self.order.tokens_before)));
        self.end = Some(TurnEnd::Completed);
        self.error = None;
        out.next = NextStep::Dismiss;
    }

    fn hear_failure(&mut self, error: &Value, out: &mut ProtocolOutput) {
        let text = error["message"].as_str().unwrap_or("the turn failed");
        self.tell(text, out);
        self.end = Some(TurnEnd::Failed(text.to_owned()));
        out.next = NextStep::Dismiss;
    }

    /// A message that is told, of which nobody says what it is: that it asks once more, or that it gives up.
    fn hear_trouble(&mut self, event: &Value, out: &mut ProtocolOutput) {
        let text = event["message"].as_str().unwrap_or_default();
        let Some(again) = text.strip_prefix(AGAIN) else {
            self.tell(text, out);
            // Nothing good that came before it counts.
            if self.end == Some(TurnEnd::Completed) {
                self.end = None;
            }
            return;
        };
        let (count, why) = again.split_once('(').unwrap_or((again, again));
        let why = told(why.strip_suffix(')').unwrap_or(why));
        self.retries = self.retries.saturating_add(1);
        let count = count.split('/').next().and_then(|count| count.parse().ok());
        self.waits_for = Some(why.clone());
        let again = ModelRetry {
            attempt: count.unwrap_or(self.retries),
            trouble: trouble::of_text(&why),
            message: why,
            delay: None,
        };
        if self.patience.again(again, out) == RetryVerdict::GiveUp {
            self.interrupt(out);
        }
    }

    /// Prints an error, which comes twice.
    fn tell(&mut self, text: &str, out: &mut ProtocolOutput) {
        if self.error.as_deref() != Some(text) {
            self.error = Some(text.to_owned());
            let trouble = trouble::of_text(text);
            let message = told(text);
            out.print(Entry::Error { trouble, message });
        }
    }
}

fn failure(error: &str) -> Conclusion {
    let trouble = trouble::of_text(error);
    let may_pass = matches!(trouble, Trouble::Limit | Trouble::Overload);
    Conclusion {
        retry_after_ms: may_pass.then(|| trouble::pause(error)).flatten(),
        ..Conclusion::failed(trouble, told(error))
    }
}

/// An error in words for people, without the address that was asked.
fn told(text: &str) -> String {
    let plain = trouble::plain(text);
    match plain.split_once(", url: ") {
        Some((what, _)) => what.trim_end_matches('.').to_owned(),
        None => plain,
    }
}

/// What was taken; when a session goes on, it counts what it took before as well.
fn taken(usage: &Value, before: u64) -> Usage {
    let number = |key: &str| usage[key].as_u64().unwrap_or(0);
    let (input, output) = (number("input_tokens"), number("output_tokens"));
    Usage {
        tokens: input.saturating_add(output).saturating_sub(before),
        input,
        output,
        cached: number("cached_input_tokens"),
        usd: None,
    }
}

fn model_in(words: &[String]) -> Option<String> {
    let mut words = words.iter();
    words.find(|word| ["-m", "--model"].contains(&word.as_str()))?;
    words.next().cloned()
}
