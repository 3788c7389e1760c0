//! The tools of Claude Code, as they are shown.

use serde_json::Value;

use super::super::one_line::on_one_line;
use super::super::order::DriverOrder;
use crate::{PlanStep, ToolKind};

/// The tool by which it writes down what it means to do.
pub(super) const PLAN: &str = "TodoWrite";

pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "Read" | "NotebookRead" | "BashOutput" | "TaskOutput" => ToolKind::Read,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Grep" | "Glob" | "LS" | "ToolSearch" | "LSP" => ToolKind::Search,
        "Bash" | "PowerShell" | "KillShell" | "Monitor" => ToolKind::Execute,
        "WebFetch" | "WebSearch" | "web_search" | "web_fetch" => ToolKind::Fetch,
        "Task" | "Agent" | "ExitPlanMode" | "EnterPlanMode" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

pub(super) fn title(name: &str, input: &Value, order: &DriverOrder) -> String {
    let given = |key: &str| input[key].as_str().unwrap_or_default();
    let path = |key: &str| order.shown(given(key));
    match name {
        "Bash" | "PowerShell" => format!("$ {}", on_one_line(given("command"))),
        "MultiEdit" => format!("Edit {}", path("file_path")),
        "NotebookEdit" => format!("Edit {}", path("notebook_path")),
        "Grep" | "Glob" => format!("Search {}", on_one_line(given("pattern"))),
        "LS" => format!("List {}", path("path")),
        "WebFetch" => format!("Fetch {}", on_one_line(given("url"))),
        "WebSearch" => format!("Search the web for {}", on_one_line(given("query"))),
        "Task" | "Agent" => format!("Agent: {}", on_one_line(given("description"))),
        _ if !given("file_path").is_empty() => format!("{name} {}", path("file_path")),
        _ => other(name, input),
    }
}

/// The name of a tool that nobody knows, and the first text that it is given.
fn other(name: &str, input: &Value) -> String {
    let name = name
        .strip_prefix("mcp__")
        .unwrap_or(name)
        .replace("__", " ");
    let mut given = input.as_object().into_iter().flatten();
    let text = given.find_map(|(_, value)| value.as_str());
    match text.map(on_one_line) {
        Some(text) if !text.is_empty() => format!("{name}: {text}"),
        _ => name,
    }
}

pub(super) fn plan(input: &Value) -> Vec<PlanStep> {
    let steps = input["todos"].as_array().into_iter().flatten();
    let step = |step: &Value| PlanStep {
        text: step["content"].as_str().unwrap_or_default().to_owned(),
        status: step["status"].as_str().unwrap_or("pending").to_owned(),
    };
    steps.map(step).collect()
}
