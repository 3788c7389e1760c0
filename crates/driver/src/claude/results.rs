//! What came of the tools of Claude Code: how they ended, and which lines of which file they changed.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::order::DriverOrder;
use crate::{Entry, FileChange, ToolStatus};

#[derive(Debug, Clone)]
pub(super) struct ClaudeCall {
    pub(super) name: String,
    pub(super) input: Value,
}

pub(super) struct ResultDetails<'e> {
    /// What the tool itself tells.
    pub(super) told: &'e Value,
    /// What became of the call.
    pub(super) meta: &'e Value,
}

pub(super) fn status(block: &Value, beside: &ResultDetails) -> ToolStatus {
    if block["is_error"] != true {
        return ToolStatus::Ok;
    }
    let decision = &beside.meta["permission_decision"]["decision"];
    match (
        decision.as_str(),
        beside.meta["non_execution_kind"].as_str(),
    ) {
        (Some("reject" | "deny"), _) => ToolStatus::Denied,
        (_, Some(_)) => ToolStatus::Cancelled,
        _ => ToolStatus::Error,
    }
}

pub(super) fn output(block: &Value) -> String {
    match &block["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let text = |part: &Value| match part["text"].as_str() {
                Some(text) => text.to_owned(),
                None => format!("[{}]", part["type"].as_str().unwrap_or("something")),
            };
            let parts: Vec<String> = parts.iter().map(text).collect();
            parts.join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn exit_code(
    call: Option<&ClaudeCall>,
    status: ToolStatus,
    output: &str,
    told: &Value,
) -> Option<i64> {
    let is_command = call.is_some_and(|call| call.name == "Bash");
    let goes_on = !told["backgroundTaskId"].is_null();
    match status {
        ToolStatus::Ok => (is_command && !goes_on).then_some(0),
        ToolStatus::Error if is_command => {
            let code = output.strip_prefix("Exit code ")?;
            code.split_whitespace().next()?.parse().ok()
        }
        _ => None,
    }
}

/// The change of a file, if that is what the tool did.
pub(super) fn edit(call: Option<&ClaudeCall>, told: &Value, order: &DriverOrder) -> Option<Entry> {
    let call = call?;
    let is_edit = ["Write", "Edit", "MultiEdit", "NotebookEdit"].contains(&call.name.as_str());
    let input = &call.input;
    let places = [
        &told["filePath"],
        &told["notebook_path"],
        &input["file_path"],
        &input["notebook_path"],
    ];
    let path = places.iter().find_map(|place| place.as_str())?;
    let change = match told["type"].as_str() {
        Some("create") => FileChange::Add,
        _ => FileChange::Modify,
    };
    let diff = patch(&told["structuredPatch"])
        .or_else(|| {
            (change == FileChange::Add)
                .then(|| hunk("", told["content"].as_str()?))
                .flatten()
        })
        .or_else(|| hunk(input["old_string"].as_str()?, input["new_string"].as_str()?));
    is_edit.then(|| Entry::FileEdit {
        path: order.shown(path),
        change,
        diff,
    })
}

fn patch(hunks: &Value) -> Option<String> {
    let hunks = hunks.as_array().filter(|hunks| !hunks.is_empty())?;
    let mut patch = String::new();
    for hunk in hunks {
        let number = |key: &str| hunk[key].as_u64().unwrap_or(0);
        let (old, new) = ("oldStart", "newStart");
        let (old_lines, new_lines) = ("oldLines", "newLines");
        let _ = writeln!(
            patch,
            "@@ -{},{} +{},{} @@",
            number(old),
            number(old_lines),
            number(new),
            number(new_lines)
        );
        for line in hunk["lines"].as_array().into_iter().flatten() {
            patch.push_str(line.as_str().unwrap_or_default());
            patch.push('\n');
        }
    }
    Some(patch)
}

/// One text in place of another, as a patch that does not know where in the file that is.
fn hunk(old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let mut patch = match old {
        "" => format!("@@ -0,0 +1,{} @@\n", new.lines().count()),
        _ => "@@\n".to_owned(),
    };
    let lines = old.lines().map(|line| ('-', line));
    for (sign, line) in lines.chain(new.lines().map(|line| ('+', line))) {
        let _ = writeln!(patch, "{sign}{line}");
    }
    Some(patch)
}
