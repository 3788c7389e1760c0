//! The names of files that steer agents or Pleach, wherever in the tree they are.
//!
//! Instructions, settings, hooks and servers that agents take from a repository, and what Pleach itself takes from it.
//! What merely steers a build is part of the work like any other source.

/// Everything in folders of these names.
const FOLDERS: [&str; 21] = [
    ".agents",
    ".aider",
    ".amazonq",
    ".augment",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".copilot",
    ".cursor",
    ".gemini",
    ".githooks",
    ".goose",
    ".husky",
    ".junie",
    ".kiro",
    ".lefthook",
    ".opencode",
    ".qwen",
    ".roo",
    ".windsurf",
];

/// Files of these names.
const FILES: [&str; 27] = [
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
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    "codex.md",
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "opencode.json",
    "opencode.jsonc",
    "mcp.json",
    crate::config::FILE_NAME,
];

/// What names begin with: settings of an environment, and those of an agent.
const STARTS: [&str; 3] = [".env", ".goose", ".lefthook"];

/// Ends of whole paths, of folders that hold many other things.
const PATHS: [&str; 5] = [
    ".github/copilot-instructions.md",
    ".github/instructions/",
    ".github/agents/",
    ".github/prompts/",
    ".github/hooks/",
];

/// Whether a file of that path steers agents or Pleach, wherever in the tree it is.
pub fn is_steering(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    // The last part too: a link of that name leads to a folder.
    let mut parts = path.split('/');
    let is_within = |known: &&str| path.starts_with(*known) || path.contains(&format!("/{known}"));
    FILES.iter().any(|file| name.eq_ignore_ascii_case(file))
        || STARTS.iter().any(|start| name.starts_with(start))
        || parts.any(|folder| FOLDERS.contains(&folder))
        || PATHS.iter().any(is_within)
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
    /// By the path of a file.
    pub(super) fn of_file(path: &str) -> Self {
        let path = path.to_ascii_lowercase();
        let name = path.rsplit('/').next().unwrap_or(&path);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let mut folders = path.split('/');
        if name.contains("mcp") {
            Self::Servers
        } else if folders.any(|folder| HOOK_FOLDERS.contains(&folder))
            || HOOK_STARTS.iter().any(|start| name.starts_with(start))
            || SCRIPTS.contains(&ending)
        {
            Self::Hooks
        } else if SETTINGS.contains(&ending)
            || SETTINGS.contains(&name)
            || STARTS.iter().any(|start| name.starts_with(start))
        {
            Self::Settings
        } else if FILES.iter().any(|file| name.eq_ignore_ascii_case(file))
            || name == "copilot-instructions.md"
        {
            Self::Instructions
        } else {
            Self::Other
        }
    }
}

/// Folders whose files are run.
const HOOK_FOLDERS: [&str; 6] = [
    ".githooks",
    ".husky",
    ".lefthook",
    "hooks",
    "plugin",
    "plugins",
];

/// What names of files begin with that say what is run.
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
        if is_folder && FOLDERS.contains(&name.as_str()) {
            break;
        }
    }
    if end == 0 { "./" } else { &path[..end] }
}

/// Whether a file of that path may import others: texts of instructions may.
pub(super) fn reads_imports(path: &[u8]) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(b".md") || path.ends_with(b".mdc")
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
            (".cursor/rules/a.mdc", Role::Other),
            (".claude/skills/x/data.bin", Role::Other),
        ] {
            assert_eq!(Role::of_file(path), role, "{path}");
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
            ".claude",
            ".Codex/config.toml",
            ".vscode/mcp.json",
            ".goosehints",
            ".github/copilot-instructions.md",
            "sub/.github/instructions/x.md",
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
