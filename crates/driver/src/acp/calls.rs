//! The uses of tools: what is told of them bit by bit becomes a call, its result, and the files that it changed.

mod edits;
mod title;

use std::collections::HashMap;

use serde_json::Value;

use super::faults;
use crate::{DriverOrder, ProtocolOutput};
use crate::{Entry, ToolKind, ToolStatus};

#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, AcpCall>,
    /// In which order they began.
    order: Vec<String>,
    pub(super) denials: u32,
}

#[derive(Debug, Clone, Default)]
struct AcpCall {
    kind: Option<ToolKind>,
    /// The tool, as the agent calls it.
    name: Option<String>,
    title: String,
    input: Value,
    paths: Vec<String>,
    /// What it changes in files, as far as it was told.
    diffs: Vec<Value>,
    output: Option<String>,
    is_told: bool,
    is_denied: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallUpdate {
    /// A tool is to be used, with so many bytes of input.
    Began(usize),
    /// It has ended, and said so many bytes.
    Ended(usize),
    Nothing,
}

impl Calls {
    /// Takes in an update of a call, or the call that a permission is asked for.
    pub(super) fn update(
        &mut self,
        update: &Value,
        order: &DriverOrder,
        out: &mut ProtocolOutput,
    ) -> CallUpdate {
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        if !self.open.contains_key(&id) {
            self.order.push(id.clone());
        }
        let call = self.open.entry(id.clone()).or_default();
        call.take(&id, update);
        let status = update["status"].as_str();
        let has_ended = matches!(status, Some("completed" | "failed"));
        let waits = status == Some("pending") && call.input_is_empty();
        let mut change = CallUpdate::Nothing;
        if !call.is_told && !waits {
            call.is_told = true;
            change = CallUpdate::Began(call.input.to_string().len());
            out.print(call.entry(&id, order));
        }
        if has_ended {
            let call = self.open.remove(&id).unwrap_or_default();
            self.order.retain(|open| *open != id);
            return self.end(&id, &call, update, order, out);
        }
        change
    }

    pub(super) fn deny(&mut self, id: &str) {
        self.denials += 1;
        if let Some(call) = self.open.get_mut(id) {
            call.is_denied = true;
        }
    }

    pub(super) fn cancel(&mut self, order: &DriverOrder, out: &mut ProtocolOutput) {
        for id in std::mem::take(&mut self.order) {
            let Some(call) = self.open.remove(&id) else {
                continue;
            };
            if !call.is_told {
                out.print(call.entry(&id, order));
            }
            out.print(Entry::ToolResult {
                id,
                status: ToolStatus::Cancelled,
                output: call.output.unwrap_or_default(),
                exit_code: None,
            });
        }
    }

    fn end(
        &mut self,
        id: &str,
        call: &AcpCall,
        update: &Value,
        order: &DriverOrder,
        out: &mut ProtocolOutput,
    ) -> CallUpdate {
        let raw = &update["rawOutput"];
        let output = said(&update["content"]).or_else(|| raw_text(raw));
        let output = output.or_else(|| call.output.clone()).unwrap_or_default();
        let exit_code = exit_code(raw);
        let failed = update["status"] == "failed" || exit_code.is_some_and(|code| code != 0);
        let is_denied = call.is_denied || (failed && faults::is_denial(&output));
        if is_denied && !call.is_denied {
            self.denials += 1;
        }
        let status = match failed {
            _ if is_denied => ToolStatus::Denied,
            true => ToolStatus::Error,
            false => ToolStatus::Ok,
        };
        if status == ToolStatus::Ok {
            for edit in edits::edits(call, &output, raw, order) {
                out.print(edit);
            }
        }
        let bytes = output.len();
        out.print(Entry::ToolResult {
            id: id.to_owned(),
            status,
            output,
            exit_code,
        });
        CallUpdate::Ended(bytes)
    }
}

impl AcpCall {
    /// Takes in what an update says, which leaves out what has not changed.
    fn take(&mut self, id: &str, update: &Value) {
        if let Some(kind) = update["kind"].as_str() {
            self.kind = Some(title::kind_of(kind)).filter(|kind| *kind != ToolKind::Other);
        }
        if let Some(text) = update["title"].as_str().filter(|text| !text.is_empty()) {
            text.clone_into(&mut self.title);
        }
        if self.name.is_none() {
            self.name = title::name_of(id, update);
        }
        let input = &update["rawInput"];
        if !input.is_null() && (self.input_is_empty() || !is_empty(input)) {
            self.input = input.clone();
        }
        if let Some(places) = update["locations"].as_array().filter(|all| !all.is_empty()) {
            let paths = places.iter().filter_map(|place| place["path"].as_str());
            self.paths = paths.map(str::to_owned).collect();
        }
        let content = update["content"].as_array().into_iter().flatten();
        let diffs: Vec<_> = content.filter(|part| part["type"] == "diff").collect();
        if !diffs.is_empty() {
            self.diffs = diffs.into_iter().cloned().collect();
        }
        // What is told with the call itself is what it means to do.
        if update["sessionUpdate"] == "tool_call_update" {
            self.output = said(&update["content"]).or(self.output.take());
        }
    }

    fn input_is_empty(&self) -> bool {
        is_empty(&self.input)
    }

    /// What kind of tool it is, as the agent says, or as its name does.
    fn tool(&self) -> ToolKind {
        let by_name = || title::kind_of_name(self.name.as_deref().unwrap_or_default());
        self.kind.unwrap_or_else(by_name)
    }

    fn entry(&self, id: &str, order: &DriverOrder) -> Entry {
        let tool = self.tool();
        let name = self.name.as_deref();
        Entry::ToolCall {
            id: id.to_owned(),
            tool,
            title: title::title(self, tool, order),
            name: name.unwrap_or_else(|| title::name_of_kind(tool)).to_owned(),
            input: self.input.clone(),
        }
    }
}

/// Whether an input or an output says nothing; where a command runs and how it ended is nothing yet.
fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(all) => all.keys().all(|key| key == "cwd" || key == "exit_code"),
        _ => false,
    }
}

/// The text of what a tool gave, where that was told.
fn said(content: &Value) -> Option<String> {
    let parts = content.as_array()?.iter();
    let texts = parts.filter_map(|part| part["content"]["text"].as_str());
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// The text of what a tool gave, in the agent's own form.
fn raw_text(raw: &Value) -> Option<String> {
    if let Some(text) = raw.as_str() {
        return Some(text.to_owned());
    }
    let names = [
        "output",
        "aggregated_output",
        "formatted_output",
        "stdout",
        "message",
        "error",
    ];
    let text = names.iter().find_map(|name| raw[*name].as_str());
    match text {
        Some(text) => Some(text.to_owned()),
        None if is_empty(raw) => None,
        None => Some(raw.to_string()),
    }
}

fn exit_code(raw: &Value) -> Option<i64> {
    let places = [
        "/exit_code",
        "/exitCode",
        "/metadata/exit",
        "/metadata/exitCode",
    ];
    places.iter().find_map(|place| raw.pointer(place)?.as_i64())
}
