//! Claude Code, by its own stream of JSON.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, file};
use crate::order::ProtocolKind;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    arguments: &[
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "--permission-mode",
        "bypassPermissions",
    ],
    last_arguments: &[],
    speaks: || ProtocolKind::Claude,
    model: ModelBy::Flag("--model"),
    variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "API_TIMEOUT_MS",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "CLAUDE_CODE_MAX_RETRIES",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CONFIG_DIR",
        "IS_SANDBOX",
    ],
    sets: &[
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("CLAUDE_CODE_MAX_RETRIES", "4"),
    ],
    login: Login {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[file(
            Some(("CLAUDE_CONFIG_DIR", ".credentials.json")),
            ".claude/.credentials.json",
        )],
        hint: "run `claude auth login`, or set ANTHROPIC_API_KEY",
    },
    install: "npm install -g @anthropic-ai/claude-code",
    tells_last_usage: false,
    root_variable: Some("IS_SANDBOX"),
    home: HomePlaces {
        variable: Some(("CLAUDE_CONFIG_DIR", "")),
        folders: &[".claude"],
        login: ".claude/.credentials.json",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".claude",
            entries: &[
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
            own: &["plugins/store"],
        }],
        notes: &[
            (".claude.json", STEERING_KEYS),
            (".config.json", STEERING_KEYS),
        ],
    },
    repository: RepositoryFiles {
        folders: &[".claude"],
        files: &["CLAUDE.local.md", "CLAUDE.md"],
        ..RepositoryFiles::NONE
    },
};

/// What of Claude Code's notes steers it, for all projects or for one.
const STEERING_KEYS: &[&str] = &[
    "allowedTools",
    "apiKeyHelper",
    "customApiKeyResponses",
    "enableAllProjectMcpServers",
    "enabledMcpServers",
    "enabledMcpjsonServers",
    "env",
    "hasClaudeMdExternalIncludesApproved",
    "hasTrustDialogAccepted",
    "hooks",
    "mcpServers",
    "permissions",
    "statusLine",
];
