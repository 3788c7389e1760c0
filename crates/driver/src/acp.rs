//! Talks to an agent by the Agent Client Protocol: opens a session, gives it the prompt, and tells what it does.
//!
//! Where agents differ, it goes by what they say, not by who they are.

mod calls;
mod faults;
mod lines;
mod session_options;
mod speech;
mod turn;
mod usage;
mod wire;

use serde_json::{Value, json};

use super::order::GO_ON_OR_SAY;
use super::retry_budget::RetryBudget;
use super::{DriverOrder, NextStep, Protocol, ProtocolKind, ProtocolOutput};
use crate::{Conclusion, Entry, Exit, Outcome, Trouble};
use calls::Calls;
use session_options::SessionOptions;
use speech::Speech;
use usage::AcpUsage;
use wire::{RpcError, RpcMessage};

/// The method by which a session is taken up that tells of what was.
const LOAD: &str = "session/load";

/// So many times a loaded session is waited for until it has told all that was before.
const MOST_ROUNDS: u32 = 500;

const MOST_MODELS: usize = 20;

const CLIENT: &str = "pleach";

/// Exit codes of those that were ended by a signal, as shells tell them.
const ENDED_BY_SIGNAL: std::ops::RangeInclusive<i32> = 129..=159;

#[derive(Debug)]
pub(crate) struct Acp {
    order: DriverOrder,
    mode: Option<String>,
    errors_are_text: bool,
    asked: Option<(u64, PendingRequest)>,
    questions: u64,
    about: AgentInfo,
    session: Option<String>,
    offer: SessionOptions,
    replay: Replay,
    speech: Speech,
    calls: Calls,
    tally: AcpUsage,
    patience: RetryBudget,
    wrong: PendingError,
    deed: LastAct,
    /// How often it was asked to go on, because a turn ended like that.
    asked_on: u32,
    is_stopping: bool,
    end: Option<Conclusion>,
    /// The last line of its standard error that says something.
    complaint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastAct {
    Nothing,
    Said,
    /// It used a tool, and has said nothing since.
    Used,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PendingRequest {
    Initialize,
    Load,
    New,
    Mode,
    Model,
    Prompt,
}

/// What went wrong, with nothing done after it.
#[derive(Debug)]
enum PendingError {
    Nothing,
    /// Something; what it says next is what.
    Unreported,
    Reported(Conclusion),
}

#[derive(Debug, Default)]
struct AgentInfo {
    version: Option<String>,
    /// The method by which it takes a session up again.
    loads_by: Option<&'static str>,
    logins: Vec<String>,
}

/// What a loaded session tells of what was before. Some go on with it after they said that it is loaded.
#[derive(Debug, Default)]
struct Replay {
    is_loaded: bool,
    /// Whether anything came at all: a session may be there and know nothing of what was.
    has_past: bool,
    /// Whether anything came since it was last asked for.
    is_going_on: bool,
    rounds: u32,
}

impl Acp {
    pub(crate) fn new(order: &DriverOrder) -> Self {
        let (mode, errors_are_text) = match &order.speaks {
            ProtocolKind::Acp {
                mode,
                errors_are_text,
            } => (mode.clone(), *errors_are_text),
            ProtocolKind::Claude | ProtocolKind::Codex => (None, false),
        };
        Self {
            order: order.clone(),
            mode,
            errors_are_text,
            asked: None,
            questions: 0,
            about: AgentInfo::default(),
            session: None,
            offer: SessionOptions::default(),
            replay: Replay::default(),
            speech: Speech::default(),
            calls: Calls::default(),
            tally: AcpUsage::default(),
            patience: RetryBudget::default(),
            wrong: PendingError::Nothing,
            deed: LastAct::Nothing,
            asked_on: 0,
            is_stopping: false,
            end: None,
            complaint: None,
        }
    }

    fn ask(&mut self, ask: PendingRequest, method: &str, params: Value, out: &mut ProtocolOutput) {
        self.questions += 1;
        self.asked = Some((self.questions, ask));
        out.write(wire::request(self.questions, method, params));
    }

    fn answered(
        &mut self,
        ask: PendingRequest,
        answer: Result<Value, RpcError>,
        out: &mut ProtocolOutput,
    ) {
        if self.is_stopping && ask != PendingRequest::Prompt {
            out.next = NextStep::Dismiss;
            return;
        }
        match (ask, answer) {
            (PendingRequest::Initialize, Ok(about)) => {
                let name = about["agentInfo"]["name"].as_str();
                self.tally.meet(name.unwrap_or_default());
                self.about = AgentInfo::parse(&about);
                self.open(out);
            }
            (PendingRequest::Load, Ok(session)) => {
                let id = self.order.session.clone();
                self.replay.is_loaded = true;
                self.opened(id, &session, out);
            }
            (PendingRequest::New, Ok(session)) => {
                let id = session["sessionId"].as_str().map(str::to_owned);
                self.tally.begin();
                self.opened(id, &session, out);
            }
            (PendingRequest::Load, Err(fault)) => self.not_loaded(&fault, out),
            // A mode that cannot be set is made up for by permissions.
            (PendingRequest::Mode, _) => self.settle(out),
            (PendingRequest::Model, Ok(_)) => self.prompt(out),
            (PendingRequest::Model, Err(fault)) => self.refuse_model(&fault, out),
            (PendingRequest::Prompt, answer) => self.finish(answer, out),
            (PendingRequest::Initialize | PendingRequest::New, Err(fault)) => {
                self.fail(&fault, out);
            }
        }
    }

    /// Opens the session that is to go on, or a new one.
    fn open(&mut self, out: &mut ProtocolOutput) {
        let folder = self.order.folder.to_string_lossy();
        let mut params = json!({"cwd": folder, "mcpServers": []});
        let session = self.order.session.clone();
        match (session, self.about.loads_by) {
            (Some(id), Some(method)) if self.session.is_none() => {
                params["sessionId"] = json!(id);
                // What it tells of the past is of this session.
                self.session = Some(id);
                self.ask(PendingRequest::Load, method, params, out);
            }
            _ => {
                self.session = None;
                self.ask(PendingRequest::New, "session/new", params, out);
            }
        }
    }

    fn not_loaded(&mut self, fault: &RpcError, out: &mut ProtocolOutput) {
        let conclusion = faults::of_fault(fault, &self.about.logins);
        if conclusion.outcome == Outcome::Failed(Trouble::Login) {
            self.conclude_early(conclusion, out);
            return;
        }
        let id = self.session.as_deref().unwrap_or_default();
        let text = format!(
            "could not load session {id}; starting a new one: {}",
            conclusion.message
        );
        out.print(Entry::Raw { text });
        self.open(out);
    }

    fn opened(&mut self, id: Option<String>, session: &Value, out: &mut ProtocolOutput) {
        let Some(id) = id else {
            let message = "it created a session without an id";
            self.conclude_early(Conclusion::failed(Trouble::Other, message), out);
            return;
        };
        self.offer = SessionOptions::from_session(session);
        let current = self.offer.model.as_ref();
        let current = current.and_then(|model| model.current.clone());
        out.print(Entry::Session {
            id: Some(id.clone()),
            model: self.order.model.clone().or(current),
            version: self.about.version.clone(),
        });
        self.session = Some(id);
        self.set_mode(out);
    }

    /// Sets the mode. For a loaded session that is also how to learn that it has told all of its past.
    fn set_mode(&mut self, out: &mut ProtocolOutput) {
        let (Some(choice), Some(session)) = (&self.offer.mode, &self.session) else {
            self.set_model(out);
            return;
        };
        let wanted = self.mode.as_deref().filter(|mode| choice.has(mode));
        let value = match wanted {
            Some(mode) if self.replay.is_loaded || !choice.is(mode) => Some(mode),
            None if self.replay.is_loaded => choice.current.as_deref(),
            _ => None,
        };
        let Some(value) = value else {
            self.set_model(out);
            return;
        };
        let (method, params) = choice.set(session, ("session/set_mode", "modeId"), value);
        self.replay.is_going_on = false;
        self.replay.rounds += 1;
        self.ask(PendingRequest::Mode, method, params, out);
    }

    fn settle(&mut self, out: &mut ProtocolOutput) {
        let Replay {
            is_loaded,
            is_going_on,
            rounds,
            ..
        } = self.replay;
        if is_loaded && (rounds == 1 || is_going_on) && rounds < MOST_ROUNDS {
            self.set_mode(out);
        } else {
            self.set_model(out);
        }
    }

    fn set_model(&mut self, out: &mut ProtocolOutput) {
        let choice = self.offer.model.clone().unwrap_or_default();
        let session = self.session.clone().unwrap_or_default();
        let model = self.order.model.as_deref();
        match model.map(|model| choice.value_of(model)) {
            Some(model) if !choice.is(&model) => {
                let own = ("session/set_model", "modelId");
                let (method, params) = choice.set(&session, own, &model);
                self.ask(PendingRequest::Model, method, params, out);
            }
            _ => self.prompt(out),
        }
    }

    fn refuse_model(&mut self, fault: &RpcError, out: &mut ProtocolOutput) {
        let model = self.order.model.clone().unwrap_or_default();
        let mut known = self.offer.model.clone().unwrap_or_default().values;
        let is_cut = known.len() > MOST_MODELS;
        known.truncate(MOST_MODELS);
        if is_cut {
            known.push("…".to_owned());
        }
        let message = if known.is_empty() {
            let why = faults::of_fault(fault, &[]).message;
            format!("could not set the model {model}: {why}")
        } else {
            format!("unknown model {model}; available: {}", known.join(", "))
        };
        self.conclude_early(Conclusion::failed(Trouble::Configuration, message), out);
    }

    fn prompt(&mut self, out: &mut ProtocolOutput) {
        let is_told = self.about.loads_by == Some(LOAD);
        let knows_task = self.replay.is_loaded && (self.replay.has_past || !is_told);
        let text = match &self.order.session {
            Some(_) if knows_task => self.order.words_to_go_on().to_owned(),
            Some(_) => self.order.told_anew(),
            None => self.order.prompt.clone(),
        };
        self.say(&text, out);
    }

    fn say(&mut self, text: &str, out: &mut ProtocolOutput) {
        let prompt = json!([{"type": "text", "text": text}]);
        let params = json!({"sessionId": self.session, "prompt": prompt});
        self.ask(PendingRequest::Prompt, "session/prompt", params, out);
    }

    /// Asks an agent to go on whose turn ended in mid-work: its connection may have broken without a word.
    fn ask_on(&mut self, out: &mut ProtocolOutput) {
        self.asked_on += 1;
        self.deed = LastAct::Said;
        self.tally.next_turn();
        let text =
            "its turn ended after a tool call without a message; asking it to continue".to_owned();
        out.print(Entry::Raw { text });
        self.say(GO_ON_OR_SAY, out);
    }

    fn fail(&mut self, fault: &RpcError, out: &mut ProtocolOutput) {
        let conclusion = faults::of_fault(fault, &self.about.logins);
        self.conclude_early(conclusion, out);
    }

    fn conclude_early(&mut self, conclusion: Conclusion, out: &mut ProtocolOutput) {
        self.end.get_or_insert(conclusion);
        out.next = NextStep::Dismiss;
    }

    fn is_working(&self) -> bool {
        matches!(self.asked, Some((_, PendingRequest::Prompt))) && self.end.is_none()
    }

    fn cancel(&mut self, out: &mut ProtocolOutput) {
        let params = json!({"sessionId": self.session});
        out.write(wire::notice("session/cancel", params));
    }

    /// What it means that it has ended without an answer.
    fn crashed(&self, exit: Exit) -> Conclusion {
        let how = match exit {
            Exit::Code(code) => format!("it exited with code {code}"),
            Exit::Signal(signal) => format!("it was killed by signal {signal}"),
        };
        let message = self.complaint.clone().unwrap_or(how);
        let said = faults::of_text(&message);
        // One that never answered says on its standard error that nobody is logged in.
        let wants_login = said.outcome == Outcome::Failed(Trouble::Login);
        if wants_login && self.about.version.is_none() && self.session.is_none() {
            return said;
        }
        Conclusion::failed(Trouble::Crash, message)
    }
}

impl AgentInfo {
    fn parse(about: &Value) -> Self {
        let can = &about["agentCapabilities"];
        let loads_by = if can["loadSession"] == true {
            Some(LOAD)
        } else if can["sessionCapabilities"]["resume"].is_object() {
            Some("session/resume")
        } else {
            None
        };
        let logins = about["authMethods"].as_array().into_iter().flatten();
        let logins = logins.filter_map(|login| login["name"].as_str().or(login["id"].as_str()));
        Self {
            version: about["agentInfo"]["version"].as_str().map(str::to_owned),
            loads_by,
            logins: logins.map(str::to_owned).collect(),
        }
    }
}

impl Protocol for Acp {
    fn begin(&mut self, out: &mut ProtocolOutput) {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
            },
            "clientInfo": {"name": CLIENT, "version": env!("CARGO_PKG_VERSION")},
        });
        self.ask(PendingRequest::Initialize, "initialize", params, out);
    }

    fn hear(&mut self, line: &str, out: &mut ProtocolOutput) {
        match wire::read(line) {
            Some(RpcMessage::Request { id, method, params }) => {
                self.requested(&id, &method, &params, line, out);
            }
            Some(RpcMessage::Notice { method, params }) if method == "session/update" => {
                self.updated(&params, line, out);
            }
            Some(RpcMessage::Reply { id, answer }) => match self.asked {
                Some((asked, ask)) if asked == id && self.end.is_none() => {
                    self.answered(ask, answer, out);
                }
                _ => self.raw(line, out),
            },
            _ => self.raw(line, out),
        }
    }

    fn hear_error(&mut self, line: &str, out: &mut ProtocolOutput) {
        self.complained(line, out);
    }

    fn interrupt(&mut self, out: &mut ProtocolOutput) {
        self.is_stopping = true;
        if self.is_working() {
            self.cancel(out);
        } else {
            out.next = NextStep::Dismiss;
        }
    }

    fn conclude(&mut self, exit: Exit, out: &mut ProtocolOutput) -> Conclusion {
        self.end_speech(out);
        let is_well = match exit {
            Exit::Code(code) => code == 0 || ENDED_BY_SIGNAL.contains(&code),
            // It was dismissed, and did not leave by itself.
            Exit::Signal(_) => true,
        };
        let mut conclusion = match (self.patience.over(), self.end.take()) {
            (Some(over), _) => over.clone(),
            (_, Some(end)) if end.outcome != Outcome::Completed || is_well => end,
            (_, None) if self.is_stopping => turn::interrupted(),
            _ => self.crashed(exit),
        };
        if conclusion.outcome != Outcome::Completed {
            self.calls.cancel(&self.order, out);
        }
        conclusion.denials = self.calls.denials;
        conclusion
    }
}

#[cfg(test)]
mod tests;
