//! What a tool is and does, on one line, whatever the agent calls it.

use serde_json::Value;

use super::AcpCall;
use crate::DriverOrder;
use crate::ToolKind;

/// A title is no longer than this, in characters.
const LONGEST: usize = 160;

/// What stands between the name of a tool and what it is given, in the titles of Goose.
const BETWEEN: &str = " · ";

/// Parts of the names of tools, and what kind they are; the first that fits.
const NAMES: &[(&str, ToolKind)] = &[
    ("shell", ToolKind::Execute),
    ("bash", ToolKind::Execute),
    ("exec", ToolKind::Execute),
    ("terminal", ToolKind::Execute),
    ("fetch", ToolKind::Fetch),
    ("web", ToolKind::Fetch),
    ("delete", ToolKind::Delete),
    ("remove", ToolKind::Delete),
    ("move", ToolKind::Move),
    ("rename", ToolKind::Move),
    ("write", ToolKind::Edit),
    ("edit", ToolKind::Edit),
    ("replace", ToolKind::Edit),
    ("patch", ToolKind::Edit),
    ("create", ToolKind::Edit),
    ("read", ToolKind::Read),
    ("view", ToolKind::Read),
    ("grep", ToolKind::Search),
    ("glob", ToolKind::Search),
    ("search", ToolKind::Search),
    ("find", ToolKind::Search),
    ("list", ToolKind::Search),
    ("tree", ToolKind::Search),
    ("think", ToolKind::Think),
    ("todo", ToolKind::Think),
    ("plan", ToolKind::Think),
];

pub(super) fn kind_of(kind: &str) -> ToolKind {
    match kind {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "fetch" => ToolKind::Fetch,
        "think" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

pub(super) fn kind_of_name(name: &str) -> ToolKind {
    let name = name.to_lowercase();
    let found = NAMES.iter().find(|(part, _)| name.contains(part));
    found.map_or(ToolKind::Other, |(_, kind)| *kind)
}

pub(super) fn name_of_kind(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Fetch => "fetch",
        ToolKind::Think => "think",
        ToolKind::Other => "other",
    }
}

pub(super) fn name_of(id: &str, update: &Value) -> Option<String> {
    let meta = update["_meta"].as_object().into_iter().flatten();
    let in_meta = meta.filter_map(|(_, own)| {
        let call = own.pointer("/toolCall/toolName");
        call.or_else(|| own.get("toolName"))?.as_str()
    });
    let in_meta = update["_meta"]["toolName"]
        .as_str()
        .into_iter()
        .chain(in_meta);
    let in_title = || {
        let title = update["title"].as_str()?;
        let (name, _) = title.split_once(BETWEEN).unwrap_or((title, ""));
        Some(name).filter(|name| is_name(name))
    };
    // Gemini and its kin begin the id with it.
    let in_id = || id.split_once("__").map(|(name, _)| name);
    let in_id = || in_id().filter(|name| is_name(name));
    let name = in_meta.into_iter().next().or_else(in_id).or_else(in_title);
    name.map(str::to_owned)
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_part)
}

/// What a call does, in the same words for all agents.
pub(super) fn title(call: &AcpCall, kind: ToolKind, order: &DriverOrder) -> String {
    let input = &call.input;
    let given = |names: &[&str]| names.iter().find_map(|name| input[*name].as_str());
    let (_, own) = call.title.split_once(BETWEEN).unwrap_or(("", &call.title));
    let path = path(call).map(|path| order.shown(path));
    let path = path.filter(|path| *path != order.folder.to_string_lossy());
    let title = match (kind, path) {
        (ToolKind::Execute, _) => format!("$ {}", command(input).as_deref().unwrap_or(own)),
        (ToolKind::Edit, Some(path)) if is_whole(call) => format!("Write {path}"),
        (ToolKind::Edit, Some(path)) => format!("Edit {path}"),
        (ToolKind::Read, Some(path)) => format!("Read {path}"),
        (ToolKind::Delete, Some(path)) => format!("Delete {path}"),
        (ToolKind::Move, Some(path)) => format!("Move {path}"),
        (ToolKind::Search, _) => {
            format!(
                "Search {}",
                given(&["pattern", "query", "path"]).unwrap_or(own)
            )
        }
        (ToolKind::Fetch, _) => format!("Fetch {}", given(&["url", "query"]).unwrap_or(own)),
        _ if own.is_empty() => call.name.clone().unwrap_or_default(),
        _ => call.title.clone(),
    };
    one_line(&inside(&title, order))
}

pub(super) fn path(call: &AcpCall) -> Option<&str> {
    let names = ["path", "file_path", "filePath", "abs_path", "filename"];
    let given = names.iter().find_map(|name| call.input[*name].as_str());
    let told = call.diffs.first().and_then(|diff| diff["path"].as_str());
    given.or(told).or(call.paths.first().map(String::as_str))
}

fn is_whole(call: &AcpCall) -> bool {
    let name = call.name.as_deref().unwrap_or_default().to_lowercase();
    let is_given = ["content", "file_text"]
        .iter()
        .any(|name| call.input[*name].is_string());
    is_given || name.contains("write") || name.contains("create") || call.title.starts_with("Writ")
}

/// The command that is run, which is a text or its words.
fn command(input: &Value) -> Option<String> {
    let command = ["command", "cmd", "script"];
    let command = command.iter().map(|name| &input[*name]);
    let command = command.into_iter().find(|command| !command.is_null())?;
    if let Some(words) = command.as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return Some(words.join(" "));
    }
    command.as_str().map(str::to_owned)
}

/// A text with the paths of the worktree as they are inside it.
fn inside(text: &str, order: &DriverOrder) -> String {
    match order.folder.to_str() {
        Some(folder) if folder.len() > 1 => text.replace(&format!("{folder}/"), ""),
        _ => text.to_owned(),
    }
}

fn one_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default();
    let has_more = lines.next().is_some() || line.chars().count() > LONGEST;
    let mut line: String = line.chars().take(LONGEST).collect();
    if has_more {
        line.push('…');
    }
    line
}
