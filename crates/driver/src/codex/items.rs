//! The tools of Codex, as they are shown.

use serde_json::{Value, json};

use super::super::one_line::on_one_line;
use super::super::order::DriverOrder;
use crate::{Entry, FileChange, PlanStep, ToolKind, ToolStatus};

/// How a shell is called around a command.
const SHELLS: &[&str] = &[
    "/bin/bash -lc ",
    "bash -lc ",
    "/bin/sh -lc ",
    "/bin/zsh -lc ",
    "/usr/bin/bash -lc ",
    "/usr/bin/zsh -lc ",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemStage {
    Started,
    Updated,
    Completed,
}

pub(super) fn call(id: &str, item: &Value, order: &DriverOrder) -> Option<Entry> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let (tool, name, title, input) = match text("type") {
        "command_execution" => {
            let command = command(text("command"));
            let title = format!("$ {}", on_one_line(&command));
            (
                ToolKind::Execute,
                "shell".to_owned(),
                title,
                json!({"command": command}),
            )
        }
        "file_change" => {
            let input = json!({"changes": item["changes"]});
            (
                ToolKind::Edit,
                "apply_patch".to_owned(),
                edits(item, order),
                input,
            )
        }
        "mcp_tool_call" => {
            let name = format!("{} {}", text("server"), text("tool"));
            (
                ToolKind::Other,
                name.clone(),
                name,
                item["arguments"].clone(),
            )
        }
        "web_search" => {
            let title = format!("Search the web for {}", on_one_line(text("query")));
            let input = json!({"query": item["query"]});
            (ToolKind::Fetch, "web_search".to_owned(), title, input)
        }
        "collab_tool_call" => {
            let name = text("tool").to_owned();
            let title = format!("Agent: {} {}", name, on_one_line(text("prompt")));
            (
                ToolKind::Think,
                name,
                title.trim_end().to_owned(),
                json!({"prompt": item["prompt"]}),
            )
        }
        _ => return None,
    };
    let id = id.to_owned();
    Some(Entry::ToolCall {
        id,
        tool,
        name,
        title,
        input,
    })
}

pub(super) fn result(id: &str, item: &Value, order: &DriverOrder) -> Vec<Entry> {
    let status = match item["status"].as_str() {
        Some("failed") => ToolStatus::Error,
        Some("declined") => ToolStatus::Denied,
        Some("in_progress") => ToolStatus::Cancelled,
        _ => ToolStatus::Ok,
    };
    let mut entries = vec![Entry::ToolResult {
        id: id.to_owned(),
        status,
        output: output(item),
        exit_code: item["exit_code"].as_i64(),
    }];
    if item["type"] == "file_change" && status == ToolStatus::Ok {
        entries.extend(changes(item).map(|(path, change)| Entry::FileEdit {
            path: order.shown(path),
            change,
            diff: None,
        }));
    }
    entries
}

pub(super) fn plan(item: &Value) -> Vec<PlanStep> {
    let steps = item["items"].as_array().into_iter().flatten();
    let step = |step: &Value| PlanStep {
        text: step["text"].as_str().unwrap_or_default().to_owned(),
        status: match step["completed"].as_bool() {
            Some(true) => "completed".to_owned(),
            _ => "pending".to_owned(),
        },
    };
    steps.map(step).collect()
}

fn output(item: &Value) -> String {
    let texts = [&item["aggregated_output"], &item["error"]["message"]];
    if let Some(text) = texts.iter().find_map(|text| text.as_str()) {
        return text.to_owned();
    }
    let parts = item["result"]["content"].as_array().into_iter().flatten();
    let parts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    parts.join("\n")
}

fn changes(item: &Value) -> impl Iterator<Item = (&str, FileChange)> {
    let changes = item["changes"].as_array().into_iter().flatten();
    changes.filter_map(|change| {
        let kind = match change["kind"].as_str() {
            Some("add") => FileChange::Add,
            Some("delete") => FileChange::Delete,
            _ => FileChange::Modify,
        };
        Some((change["path"].as_str()?, kind))
    })
}

/// What is done with which files, on one line.
fn edits(item: &Value, order: &DriverOrder) -> String {
    let mut verbs: Vec<&str> = Vec::new();
    let mut paths: Vec<String> = Vec::new();
    for (path, change) in changes(item) {
        verbs.push(match change {
            FileChange::Add => "Write",
            FileChange::Modify => "Edit",
            FileChange::Delete => "Delete",
        });
        paths.push(order.shown(path));
    }
    verbs.dedup();
    let verb = match verbs[..] {
        [verb] => verb,
        _ => "Edit",
    };
    on_one_line(&format!("{verb} {}", paths.join(", ")))
}

/// A command without the shell around it.
fn command(text: &str) -> String {
    let inner = SHELLS.iter().find_map(|shell| text.strip_prefix(shell));
    let Some(inner) = inner else {
        return text.to_owned();
    };
    let quoted = |quote: char| inner.strip_prefix(quote)?.strip_suffix(quote);
    match (quoted('\''), quoted('"')) {
        // A quote in a command ends the text, is quoted alone, and begins the text anew.
        (Some(inner), _) => inner.replace(r#"'"'"'"#, "'").replace(r"'\''", "'"),
        (None, Some(inner)) => unescaped(inner),
        (None, None) => inner.to_owned(),
    }
}

/// A text in double quotes, without the backslashes that a shell takes away.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let escaped = rest.next_if(|next| c == '\\' && "\\\"$`".contains(*next));
        plain.push(escaped.unwrap_or(c));
    }
    plain
}
