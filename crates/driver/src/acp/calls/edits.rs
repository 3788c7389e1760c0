//! The files that a call changed: as the agent tells them, or as its input means.

use serde_json::Value;

use super::super::lines;
use super::{AcpCall, title};
use crate::DriverOrder;
use crate::{Entry, FileChange, ToolKind};

/// How inputs name what is there before and after.
const BEFORE_AND_AFTER: &[(&str, &str)] = &[
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("before", "after"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
];

/// How inputs name the whole text of a file.
const WHOLE: &[&str] = &["content", "file_text", "fileText"];

/// The files that a call changed which ended well.
pub(super) fn edits(call: &AcpCall, output: &str, raw: &Value, order: &DriverOrder) -> Vec<Entry> {
    let native = native_hunks(raw).filter(|_| call.diffs.len() <= 1);
    if !call.diffs.is_empty() {
        let diffs = call.diffs.iter();
        return diffs.filter_map(|diff| told(diff, native, order)).collect();
    }
    let Some(path) = title::path(call) else {
        return Vec::new();
    };
    let (change, diff) = match call.tool() {
        ToolKind::Delete => (FileChange::Delete, None),
        ToolKind::Edit => meant(call, output, raw),
        _ => return Vec::new(),
    };
    vec![Entry::FileEdit {
        path: order.shown(path),
        change,
        diff: native.map(str::to_owned).or(diff),
    }]
}

/// A change that the agent tells with both texts; none if they are the same.
fn told(diff: &Value, native: Option<&str>, order: &DriverOrder) -> Option<Entry> {
    let path = diff["path"].as_str()?;
    let old = diff["oldText"].as_str().unwrap_or_default();
    let new = diff["newText"].as_str().unwrap_or_default();
    let change = match diff["_meta"]["kind"].as_str() {
        Some("add") => FileChange::Add,
        Some("delete") => FileChange::Delete,
        Some("modify") => FileChange::Modify,
        _ if old.is_empty() => FileChange::Add,
        _ => FileChange::Modify,
    };
    let hunks = lines::hunks(old, new)?;
    Some(Entry::FileEdit {
        path: order.shown(path),
        change,
        diff: Some(native.map_or(hunks, str::to_owned)),
    })
}

/// What the input of a call means for its file.
fn meant(call: &AcpCall, output: &str, raw: &Value) -> (FileChange, Option<String>) {
    let text = |name: &str| call.input[name].as_str();
    let mut pairs = BEFORE_AND_AFTER.iter();
    let pair = pairs.find_map(|(before, after)| Some((text(before)?, text(after)?)));
    if let Some((before, after)) = pair {
        return (FileChange::Modify, lines::hunks(before, after));
    }
    let is_new = raw["metadata"]["exists"] == false || output.starts_with("Created ");
    let whole = WHOLE.iter().find_map(|name| text(name));
    match whole {
        Some(whole) if is_new => (FileChange::Add, lines::hunks("", whole)),
        _ => (FileChange::Modify, None),
    }
}

/// The hunks of a patch that the agent gives in its own form, which knows the places in the file.
fn native_hunks(raw: &Value) -> Option<&str> {
    let patch = raw.pointer("/metadata/diff")?.as_str()?;
    patch.find("@@ ").map(|start| &patch[start..])
}
