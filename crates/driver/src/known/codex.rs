//! Codex, by its own stream of JSON.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, file};
use crate::order::ProtocolKind;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "codex",
    title: "Codex",
    program: "codex",
    arguments: &[
        "exec",
        "--json",
        "--dangerously-bypass-approvals-and-sandbox",
        "--skip-git-repo-check",
        "--disable",
        "plugins",
        "-c",
        "analytics.enabled=false",
    ],
    last_arguments: &["-"],
    speaks: || ProtocolKind::Codex,
    model: ModelBy::Flag("-m"),
    variables: &[
        "CODEX_API_KEY",
        "CODEX_HOME",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ],
    sets: &[],
    login: Login {
        // OPENAI_API_KEY alone is none: it is read where Codex's own configuration names it.
        variables: &["CODEX_API_KEY"],
        files: &[file(Some(("CODEX_HOME", "auth.json")), ".codex/auth.json")],
        hint: "run `codex login`, or set CODEX_API_KEY",
    },
    install: "npm install -g @openai/codex",
    tells_last_usage: false,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("CODEX_HOME", "")),
        folders: &[".codex"],
        login: ".codex/auth.json",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".codex",
            entries: &[
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
            own: &["skills/.system"],
        }],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".codex"],
        files: &["AGENTS.override.md", "codex.md"],
        ..RepositoryFiles::NONE
    },
};
