//! `OpenCode`, by the Agent Client Protocol.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, acp, file};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    arguments: &["acp"],
    last_arguments: &[],
    speaks: acp,
    model: ModelBy::Protocol,
    variables: &[
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENAI_API_KEY",
        "OPENCODE_API_KEY",
        "OPENCODE_CONFIG",
        "OPENCODE_CONFIG_CONTENT",
        "OPENCODE_CONFIG_DIR",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENROUTER_API_KEY",
    ],
    sets: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
    login: Login {
        variables: &[
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_API_KEY",
            "OPENCODE_CONFIG",
            "OPENCODE_CONFIG_CONTENT",
            "OPENROUTER_API_KEY",
        ],
        files: &[
            file(
                Some(("XDG_DATA_HOME", "opencode/auth.json")),
                ".local/share/opencode/auth.json",
            ),
            file(
                Some(("XDG_CONFIG_HOME", "opencode/opencode.json")),
                ".config/opencode/opencode.json",
            ),
        ],
        hint: "run `opencode auth login`",
    },
    install: "npm install -g opencode-ai",
    tells_last_usage: true,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("OPENCODE_CONFIG_DIR", "")),
        folders: &[
            ".config/opencode",
            ".local/share/opencode",
            ".local/state/opencode",
            ".cache/opencode",
        ],
        login: ".local/share/opencode/auth.json",
        programs: &[".opencode/bin", ".opencode/plugin"],
        steering: &[
            SteeringFolder {
                folder: ".config/opencode",
                entries: &[
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
                own: &[],
            },
            SteeringFolder {
                folder: ".cache/opencode",
                entries: &["node_modules"],
                own: &[],
            },
        ],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".opencode"],
        files: &["opencode.json", "opencode.jsonc"],
        ..RepositoryFiles::NONE
    },
};
