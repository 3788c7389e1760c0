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

#[cfg(test)]
mod tests {
    use super::*;

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
