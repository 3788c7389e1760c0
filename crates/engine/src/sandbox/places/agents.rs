//! What of agents' own folders steers them in every later session: settings, hooks, plugins, commands, memory.
//!
//! A table and nothing else; all paths are meant from the home folder.

/// The folder of an agent, which it writes to as it likes.
pub(in crate::sandbox) struct AgentFolder {
    pub(in crate::sandbox) folder: &'static str,
    /// What of it is compared and put back; in a name, a star stands for anything.
    pub(in crate::sandbox) steering: &'static [&'static str],
    /// What of that the agent writes by itself, whatever it is asked to do.
    pub(in crate::sandbox) own: &'static [&'static str],
}

const fn of(folder: &'static str, steering: &'static [&'static str]) -> AgentFolder {
    AgentFolder {
        folder,
        steering,
        own: &[],
    }
}

impl AgentFolder {
    const fn but(self, own: &'static [&'static str]) -> Self {
        Self { own, ..self }
    }
}

pub(in crate::sandbox) const AGENTS: &[AgentFolder] = &[
    of(
        ".claude",
        &[
            ".claude.json",
            ".config.json",
            "CLAUDE.md",
            "agents",
            "commands",
            "hooks",
            "keybindings.json",
            "local",
            "managed-settings.json",
            "output-styles",
            "plugins",
            "projects/*/memory",
            "rules",
            "settings.json",
            "settings.local.json",
            "skills",
            "statusline*",
        ],
    )
    .but(&["plugins/store"]),
    of(
        ".codex",
        &[
            "AGENTS.md",
            "AGENTS.override.md",
            "agents",
            "config.toml",
            "hooks",
            "hooks.json",
            "instructions.md",
            "managed_config.toml",
            "memories",
            "prompts",
            "rules",
            "skills",
        ],
    )
    .but(&["skills/.system"]),
    of(
        ".config/opencode",
        &[
            "AGENTS.md",
            "agent",
            "agents",
            "command",
            "commands",
            "config.json",
            "mode",
            "modes",
            "node_modules",
            "opencode.json",
            "opencode.jsonc",
            "plugin",
            "plugins",
            "skill",
            "skills",
            "tool",
            "tools",
        ],
    ),
    of(
        ".gemini",
        &[
            ".env",
            "AGENTS.md",
            "GEMINI.md",
            "agents",
            "commands",
            "extensions",
            "hooks",
            "policies",
            "settings.json",
            "skills",
            "system.md",
            "trustedFolders.json",
            "trusted_hooks.json",
        ],
    ),
    of(
        ".config/goose",
        &[
            ".goosehints",
            "config.yaml",
            "custom_providers",
            "memory",
            "permission.yaml",
            "plugins",
            "recipes",
            "skills",
        ],
    ),
    of(
        ".qwen",
        &[
            ".env",
            "AGENTS.md",
            "QWEN.md",
            "agents",
            "commands",
            "extensions",
            "hooks",
            "settings.json",
            "skills",
            "trustedFolders.json",
        ],
    ),
    of(
        ".copilot",
        &[
            "agents",
            "copilot-instructions.md",
            "hooks",
            "instructions",
            "lsp-config.json",
            "mcp-config.json",
            "pkg",
            "settings.json",
            "skills",
        ],
    ),
    of(
        ".cursor",
        &[
            "agents",
            "cli-config.json",
            "commands",
            "hooks",
            "hooks.json",
            "mcp.json",
            "rules",
            "skills",
        ],
    ),
    of(
        ".factory",
        &[
            "AGENTS.md",
            "commands",
            "droids",
            "hooks",
            "hooks.json",
            "mcp.json",
            "plugins",
            "settings.json",
            "skills",
        ],
    ),
    of(
        ".continue",
        &[
            "assistants",
            "config.json",
            "config.ts",
            "config.yaml",
            "mcpServers",
            "permissions.yaml",
            "prompts",
            "rules",
        ],
    ),
    of(
        ".config/amp",
        &["AGENTS.md", "commands", "settings.json", "skills"],
    ),
    of(".config/crush", &["crush.json", "skills"]),
    of(".local/share/crush", &["crush.json"]),
    of(".cache/opencode", &["node_modules"]),
];
