//! GitHub Copilot CLI, by the Agent Client Protocol.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, acp, file};

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: "copilot",
    arguments: &["--acp", "--allow-all"],
    last_arguments: &[],
    speaks: acp,
    model: ModelBy::Flag("--model"),
    variables: &[
        "COPILOT_GITHUB_TOKEN",
        "COPILOT_HOME",
        "COPILOT_MODEL",
        "COPILOT_OFFLINE",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_BASE_URL",
    ],
    sets: &[],
    login: Login {
        variables: &["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"],
        files: &[file(
            Some(("COPILOT_HOME", "config.json")),
            ".copilot/config.json",
        )],
        hint: "run `copilot` and log in there, or set COPILOT_GITHUB_TOKEN",
    },
    install: "npm install -g @github/copilot",
    tells_last_usage: false,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("COPILOT_HOME", "")),
        folders: &[".copilot", ".cache/copilot"],
        login: ".copilot/config.json",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".copilot",
            entries: &[
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
            own: &[],
        }],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".copilot"],
        paths: &[
            ".github/copilot-instructions.md",
            ".github/instructions/",
            ".github/agents/",
            ".github/prompts/",
            ".github/hooks/",
            ".github/skills/",
        ],
        ..RepositoryFiles::NONE
    },
};
