//! Gemini CLI, by the Agent Client Protocol.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, file};
use crate::order::ProtocolKind;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    arguments: &["--acp"],
    last_arguments: &[],
    speaks: || ProtocolKind::Acp {
        mode: Some("yolo".to_owned()),
        errors_are_text: false,
    },
    model: ModelBy::Flag("-m"),
    variables: &[
        "GEMINI_API_KEY",
        "GEMINI_CLI_HOME",
        "GEMINI_CLI_NO_RELAUNCH",
        "GEMINI_CLI_TRUST_WORKSPACE",
        "GEMINI_MODEL",
        "GOOGLE_API_KEY",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
    ],
    sets: &[
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    login: Login {
        variables: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
        files: &[
            file(
                Some(("GEMINI_CLI_HOME", ".gemini/oauth_creds.json")),
                ".gemini/oauth_creds.json",
            ),
            file(Some(("GEMINI_CLI_HOME", ".gemini/.env")), ".gemini/.env"),
        ],
        hint: "run `gemini` and log in there, or set GEMINI_API_KEY",
    },
    install: "npm install -g @google/gemini-cli",
    tells_last_usage: false,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("GEMINI_CLI_HOME", ".gemini")),
        folders: &[".gemini"],
        login: ".gemini/oauth_creds.json",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".gemini",
            entries: &[
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
            own: &[],
        }],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".gemini"],
        files: &["GEMINI.md"],
        ..RepositoryFiles::NONE
    },
};
