//! The names of files that steer agents or Pleach, wherever in the tree they are.
//!
//! Instructions, settings, hooks and servers that agents take from a repository, and what Pleach itself takes from it.
//! What merely steers a build is part of the work like any other source.

use pleach_driver::KNOWN_AGENTS;

use super::files::EXECUTABLE;

/// Everything in folders of these names.
const FOLDERS: [&str; 14] = [
    ".agents",
    ".aider",
    ".amazonq",
    ".augment",
    ".clinerules",
    ".continue",
    ".cursor",
    ".githooks",
    ".husky",
    ".junie",
    ".kiro",
    ".lefthook",
    ".roo",
    ".windsurf",
];

const FILES: [&str; 19] = [
    ".aider.conf.yml",
    ".cursorrules",
    ".gitmodules",
    ".goosehints",
    ".mcp.json",
    ".pre-commit-config.yaml",
    ".pre-commit-config.yml",
    ".roorules",
    ".rules",
    ".windsurfrules",
    ".worktreeinclude",
    "AGENT.md",
    "AGENTS.md",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "mcp.json",
    crate::config::FILE_NAME,
];

/// What names begin with: settings of an environment.
const STARTS: [&str; 2] = [".env", ".lefthook"];

fn is_folder_of_settings(name: &str) -> bool {
    let mut known = KNOWN_AGENTS.iter();
    FOLDERS.contains(&name) || known.any(|agent| agent.repository.folders.contains(&name))
}

fn is_file_of_settings(name: &str) -> bool {
    let known = KNOWN_AGENTS.iter();
    let known = known.flat_map(|agent| agent.repository.files);
    let mut all = FILES.iter().chain(known);
    all.any(|file| name.eq_ignore_ascii_case(file))
}

fn begins_as_settings(name: &str) -> bool {
    let known = KNOWN_AGENTS.iter();
    let known = known.flat_map(|agent| agent.repository.starts);
    let mut all = STARTS.iter().chain(known);
    all.any(|start| name.starts_with(start))
}

/// Whether a file of that path steers agents or Pleach, wherever in the tree it is.
pub(crate) fn is_steering(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    // The last part too: a link of that name leads to a folder.
    let mut parts = path.split('/');
    let is_within = |known: &&str| path.starts_with(*known) || path.contains(&format!("/{known}"));
    let mut known = KNOWN_AGENTS.iter();
    is_file_of_settings(name)
        || begins_as_settings(name)
        || parts.any(is_folder_of_settings)
        || known.any(|agent| agent.repository.paths.iter().any(is_within))
}

/// What a steering file does, the more it can do by itself the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It sets how agents, hooks or Pleach behave.
    Settings,
    /// It names servers that agents start or ask.
    Servers,
    /// It is run, or says what is.
    Hooks,
    /// It tells agents what to do, by its name.
    Instructions,
    /// It is one of the other files in a folder of settings.
    Other,
}

impl Role {
    /// By the path of a file and what is known of its contents, where nobody knows what leads to it.
    pub(super) fn of_entry(path: &str, hash: Option<&str>) -> Self {
        match Self::of_file(path) {
            Self::Other if hash.is_some_and(|hash| hash.starts_with(EXECUTABLE)) => Self::Hooks,
            Self::Other if !is_steering(path) => Self::Instructions,
            role => role,
        }
    }

    pub(crate) fn of_file(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut folders = path.split('/');
        if name.contains("mcp") {
            Self::Servers
        } else if ending == "rules" && folders.clone().any(|folder| folder == ".codex") {
            Self::Settings
        } else if folders.any(|folder| HOOK_FOLDERS.contains(&folder))
            || is_among_programs(&path)
            || HOOK_STARTS.iter().any(|start| name.starts_with(start))
            || SCRIPTS.contains(&ending)
        {
            Self::Hooks
        } else if SETTINGS.contains(&ending) || SETTINGS.contains(&name) || begins_as_settings(name)
        {
            Self::Settings
        } else if is_file_of_settings(name) || name == "copilot-instructions.md" {
            Self::Instructions
        } else {
            Self::Other
        }
    }
}

/// Whether a file is in a folder of programs within a folder of settings.
fn is_among_programs(path: &str) -> bool {
    let mut folders = path.split('/').rev().skip(1);
    let is_known = |folder: &str| is_folder_of_settings(folder) || folder == ".github";
    folders.any(|folder| matches!(folder, "bin" | "scripts")) && folders.any(is_known)
}

const HOOK_FOLDERS: [&str; 6] = [
    ".githooks",
    ".husky",
    ".lefthook",
    "hooks",
    "plugin",
    "plugins",
];

const HOOK_STARTS: [&str; 3] = [".lefthook", ".pre-commit", "lefthook"];

/// Endings of programs.
const SCRIPTS: [&str; 14] = [
    "bash", "cjs", "fish", "js", "lua", "mjs", "mts", "php", "pl", "py", "rb", "sh", "ts", "zsh",
];

/// Endings and names of settings.
const SETTINGS: [&str; 12] = [
    ".gitmodules",
    ".worktreeinclude",
    "cfg",
    "conf",
    "ini",
    "json",
    "json5",
    "jsonc",
    "toml",
    "xml",
    "yaml",
    "yml",
];

/// The folder of settings that a file lies in, wherever in it; for others, the folder that it is in.
pub(super) fn folder(path: &str) -> &str {
    let mut end = 0;
    for part in path.split_inclusive('/') {
        let is_folder = part.ends_with('/');
        end += if is_folder { part.len() } else { 0 };
        let name = part.trim_end_matches('/').to_ascii_lowercase();
        if is_folder && is_folder_of_settings(&name) {
            break;
        }
    }
    if end == 0 { "./" } else { &path[..end] }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ReferenceStyle {
    /// As a text of instructions, by imports.
    Imports,
    /// As settings, by words that name files.
    References,
}

/// Names of instructions without an ending.
const RULES: [&str; 5] = [
    ".clinerules",
    ".cursorrules",
    ".roorules",
    ".rules",
    ".windsurfrules",
];

fn is_rule_of_agent(name: &str) -> bool {
    let mut files = KNOWN_AGENTS.iter().flat_map(|agent| agent.repository.files);
    files.any(|file| file.rfind('.') == Some(0) && name == *file)
}

/// Settings whose words are commands of the project itself, or values.
const NOT_READ: [&str; 3] = [crate::config::FILE_NAME, ".gitmodules", ".worktreeinclude"];

impl ReferenceStyle {
    pub(super) fn of_file(path: &[u8]) -> Option<Self> {
        let path = String::from_utf8_lossy(path).to_ascii_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut folders = path.split('/');
        if matches!(ending, "md" | "mdc" | "txt")
            || RULES.contains(&name)
            || is_rule_of_agent(name)
            || folders.clone().any(|folder| RULES.contains(&folder))
        {
            return Some(Self::Imports);
        }
        // Skills bring data along.
        let is_settings = SETTINGS.contains(&ending)
            && !NOT_READ.contains(&name)
            && !name.starts_with(".env")
            && !folders.any(|folder| folder == "skills");
        is_settings.then_some(Self::References)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_or_sets_something_is_told_from_what_only_says_something() {
        for (path, role) in [
            (".claude/settings.json", Role::Settings),
            (".claude/settings.local.json", Role::Settings),
            (".codex/config.toml", Role::Settings),
            (".env.local", Role::Settings),
            ("pleach.toml", Role::Settings),
            (".mcp.json", Role::Servers),
            (".vscode/mcp.json", Role::Servers),
            (".claude/hooks/stop", Role::Hooks),
            (".husky/pre-commit", Role::Hooks),
            (".opencode/plugin/x.ts", Role::Hooks),
            ("lefthook.yml", Role::Hooks),
            ("web/CLAUDE.md", Role::Instructions),
            (".cursorrules", Role::Instructions),
            (".codex/rules/default.rules", Role::Settings),
            (".rules", Role::Instructions),
            (".claude/skills/x/scripts/run", Role::Hooks),
            (".github/skills/x/bin/run", Role::Hooks),
            ("scripts/.cursor/a", Role::Other),
            (".cursor/rules/a.mdc", Role::Other),
            (".claude/skills/x/data.bin", Role::Other),
        ] {
            assert_eq!(Role::of_file(path), role, "{path}");
        }
    }

    #[test]
    fn instructions_lead_on_by_imports_and_settings_by_words() {
        for path in [".goosehints", "web/.cursorrules", ".clinerules/a", "a.MD"] {
            let reading = ReferenceStyle::of_file(path.as_bytes());
            assert_eq!(reading, Some(ReferenceStyle::Imports), "{path}");
        }
        for path in [".mcp.json", "lefthook.yml", ".codex/config.toml"] {
            let reading = ReferenceStyle::of_file(path.as_bytes());
            assert_eq!(reading, Some(ReferenceStyle::References), "{path}");
        }
        for path in [
            "pleach.toml",
            ".env.json",
            ".claude/skills/x/a.json",
            "a.sh",
        ] {
            assert_eq!(ReferenceStyle::of_file(path.as_bytes()), None, "{path}");
        }
    }

    #[test]
    fn files_are_grouped_by_their_folder_of_settings() {
        for (path, expected) in [
            (".aaa/.cursor/rules/deep/1.md", ".aaa/.cursor/"),
            (".claude/skills/x/y.md", ".claude/"),
            ("docs/imported/a.md", "docs/imported/"),
            ("a.md", "./"),
        ] {
            assert_eq!(folder(path), expected);
        }
    }

    #[test]
    fn files_that_steer_are_told_from_others() {
        for path in [
            ".claude/settings.json",
            "web/.claude/hooks/x.sh",
            "AGENTS.md",
            "deep/agents.md",
            ".cursorrules",
            ".worktreeinclude",
            ".env",
            ".env.local",
            ".envrc",
            "pleach.toml",
            ".mcp.json",
            ".Codex/config.toml",
            ".vscode/mcp.json",
            ".goosehints",
            ".github/copilot-instructions.md",
            "sub/.github/instructions/x.md",
            ".github/skills/x/SKILL.md",
            ".husky/pre-commit",
            "lefthook.yml",
            ".lefthook-local.yml",
        ] {
            assert!(is_steering(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "docs/agents-guide.md",
            "claude/notes.md",
            "environment.md",
            ".npmrc",
            ".cargo/config.toml",
            ".vscode/tasks.json",
            ".github/workflows/ci.yml",
            "package.json",
            "not.github/agents/x",
        ] {
            assert!(!is_steering(path), "{path}");
        }
    }
}
