//! Tells what agents write into their settings by themselves from what steers them.
//!
//! Codex notes that it trusts the folder it was started in, which is a worktree that goes. Claude Code and Cursor keep
//! notes of all kinds in the file that also names servers to start.

use std::path::{Path, PathBuf};

use pleach_driver::KNOWN_AGENTS;
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item};

/// Codex's settings, and what it notes there.
const SETTINGS: &str = "config.toml";
const PROJECTS: &str = "projects";

/// The file that Cursor rewrites all the time, with what of it steers; the rest is notes of its own.
const NOTES_OF_CURSOR: (&str, &[&str]) = (
    "cli-config.json",
    &[
        "approvalMode",
        "hooks",
        "mcpServers",
        "permissions",
        "sandbox",
    ],
);

/// Whether a file changed by nothing but what an agent notes for itself, or of folders that are its own.
pub(super) fn is_own(inside: &Path, before: &[u8], now: &[u8], folders: &[PathBuf]) -> bool {
    let known = KNOWN_AGENTS.iter().flat_map(|agent| agent.home.notes);
    let mut notes = known.chain([&NOTES_OF_CURSOR]);
    let notes = notes.find(|(name, _)| inside == Path::new(name));
    match notes {
        Some((_, steering)) => steers_as_before(before, now, steering, folders),
        None => inside == Path::new(SETTINGS) && is_trust(before, now, folders),
    }
}

/// Whether what steers is the same in two versions of a file of JSON.
fn steers_as_before(before: &[u8], now: &[u8], steering: &[&str], folders: &[PathBuf]) -> bool {
    let parsed = |bytes: &[u8]| match bytes.trim_ascii() {
        [] => Some(Map::new()),
        bytes => serde_json::from_slice::<Map<String, Value>>(bytes).ok(),
    };
    let parts = |object: &Map<String, Value>| -> Map<String, Value> {
        let steers = |name: &str, value: &Value| steering.contains(&name) && !is_nothing(value);
        let parts = object.iter().filter(|(name, value)| steers(name, value));
        parts
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let (Some(before), Some(now)) = (parsed(before), parsed(now)) else {
        return false;
    };
    let projects = |object: &Map<String, Value>| -> Map<String, Value> {
        let projects = object.get(PROJECTS).and_then(Value::as_object);
        let projects = projects.into_iter().flatten();
        let projects = projects.filter(|(name, _)| !is_within(name, folders));
        let parts = projects.map(|(name, project)| {
            let parts = project.as_object().map(&parts).unwrap_or_default();
            (name.clone(), Value::Object(parts))
        });
        parts.filter(|(_, project)| !is_nothing(project)).collect()
    };
    parts(&before) == parts(&now) && projects(&before) == projects(&now)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(values) => values.values().all(is_nothing),
        _ => false,
    }
}

fn is_within(name: &str, folders: &[PathBuf]) -> bool {
    let is_within = |folder: &PathBuf| Path::new(name).starts_with(folder);
    !name.contains("..") && folders.iter().any(is_within)
}

/// Whether nothing came but trust in folders that are the agent's own.
fn is_trust(before: &[u8], now: &[u8], folders: &[PathBuf]) -> bool {
    let parsed = |bytes| std::str::from_utf8(bytes).ok()?.parse::<DocumentMut>().ok();
    let (Some(mut before), Some(mut now)) = (parsed(before), parsed(now)) else {
        return false;
    };
    let (were, are) = (before.remove(PROJECTS), now.remove(PROJECTS));
    let named = |projects: &Option<Item>| -> Vec<(String, String)> {
        let table = projects.as_ref().and_then(Item::as_table_like);
        let entries = table.into_iter().flat_map(|table| table.iter());
        let entries = entries.map(|(name, entry)| (name.to_owned(), entry.to_string()));
        entries.collect()
    };
    let (were, are) = (named(&were), named(&are));
    let mut new = are.iter().filter(|entry| !were.contains(entry));
    new.all(|(name, _)| is_within(name, folders))
        && were.iter().all(|entry| are.contains(entry))
        && before.to_string().trim() == now.to_string().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: &str =
        "model = \"x\"\n\n[projects.\"/home/ada/mine\"]\ntrust_level = \"trusted\"\n";

    #[track_caller]
    fn check(before: &str, now: &str, expected: bool) {
        let folders = [PathBuf::from("/state")];
        let is = is_own(
            Path::new(SETTINGS),
            before.as_bytes(),
            now.as_bytes(),
            &folders,
        );
        assert_eq!(is, expected, "{now}");
    }

    #[test]
    fn trust_in_a_worktree_is_its_own_and_everything_else_is_not() {
        let trust = |folder: &str| format!("[projects.\"{folder}\"]\ntrust_level = \"trusted\"\n");
        let worktree = trust("/state/worktrees/a");
        check("", &worktree, true);
        check(MINE, &format!("{MINE}\n{worktree}"), true);
        check("", &trust("/home/ada/evil"), false);
        check("", &trust("/state/../home/ada/evil"), false);
        check(MINE, &worktree, false);
        check(
            MINE,
            &format!("{MINE}\n{worktree}[mcp_servers.x]\ncommand = \"x\"\n"),
            false,
        );
        check(MINE, &MINE.replace("\"x\"", "\"y\""), false);
        check("", &format!("projects = 3\n{worktree}"), false);
        check("", "x = [", false);
    }

    #[track_caller]
    fn check_notes(before: &str, now: &str, expected: bool) {
        let folders = [PathBuf::from("/state")];
        let name = Path::new(".claude.json");
        let is = is_own(name, before.as_bytes(), now.as_bytes(), &folders);
        assert_eq!(is, expected, "{now}");
    }

    #[test]
    fn notes_of_claude_are_its_own_and_servers_and_trust_are_not() {
        let mine = r#"{"numStartups":1,"mcpServers":{"a":{"command":"a"}},"projects":{"/home/ada/mine":{"hasTrustDialogAccepted":true}}}"#;
        check_notes(mine, &mine.replace(":1,", ":2,"), true);
        check_notes(
            mine,
            &mine.replace("\"command\":\"a\"", "\"command\":\"b\""),
            false,
        );
        check_notes(mine, &mine.replace("/mine", "/other"), false);
        check_notes(mine, "not json", false);
        check_notes("", r#"{"numStartups":1,"mcpServers":{}}"#, true);
        check_notes("", r#"{"mcpServers":{"a":{"command":"a"}}}"#, false);
        for (folder, expected) in [("/state/worktrees/a", true), ("/home/ada/evil", false)] {
            let now = format!(r#"{{"projects":{{"{folder}":{{"hasTrustDialogAccepted":true}}}}}}"#);
            check_notes("{}", &now, expected);
        }
        let quiet =
            r#"{"projects":{"/home/ada/new":{"allowedTools":[],"hasTrustDialogAccepted":false}}}"#;
        check_notes("{}", quiet, true);
    }
}
