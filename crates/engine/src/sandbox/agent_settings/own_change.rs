//! Tells what agents write into their settings by themselves from what steers them.
//!
//! Codex notes that it trusts the folder it was started in, which is a worktree that goes.

use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

/// Codex's settings, and what it notes there.
const SETTINGS: &str = "config.toml";
const PROJECTS: &str = "projects";

/// Whether a file changed by nothing but what an agent notes of folders that are its own.
pub(super) fn is_own(inside: &Path, before: &[u8], now: &[u8], folders: &[PathBuf]) -> bool {
    if inside != Path::new(SETTINGS) {
        return false;
    }
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
    let is_ours = |name: &str| {
        let is_within = |folder: &PathBuf| Path::new(name).starts_with(folder);
        !name.contains("..") && folders.iter().any(is_within)
    };
    let mut new = are.iter().filter(|entry| !were.contains(entry));
    new.all(|(name, _)| is_ours(name))
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
}
