//! Goose, by the Agent Client Protocol.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, file};
use crate::order::ProtocolKind;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "goose",
    title: "Goose",
    program: "goose",
    arguments: &["acp", "--with-builtin", "developer"],
    last_arguments: &[],
    speaks: || ProtocolKind::Acp {
        mode: Some("auto".to_owned()),
        errors_are_text: true,
    },
    model: ModelBy::Variable("GOOSE_MODEL"),
    variables: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_HOST",
        "DATABRICKS_HOST",
        "DATABRICKS_TOKEN",
        "GOOGLE_API_KEY",
        "GOOSE_DISABLE_KEYRING",
        "GOOSE_MODE",
        "GOOSE_MODEL",
        "GOOSE_PATH_ROOT",
        "GOOSE_PROVIDER",
        "GOOSE_TELEMETRY_ENABLED",
        "OPENAI_API_KEY",
        "OPENAI_BASE_PATH",
        "OPENAI_HOST",
        "OPENROUTER_API_KEY",
    ],
    sets: &[("GOOSE_MODE", "auto"), ("GOOSE_TELEMETRY_ENABLED", "false")],
    login: Login {
        variables: &["GOOSE_PROVIDER"],
        files: &[
            file(
                Some(("GOOSE_PATH_ROOT", "config/config.yaml")),
                ".config/goose/config.yaml",
            ),
            file(
                Some(("XDG_CONFIG_HOME", "goose/config.yaml")),
                ".config/goose/config.yaml",
            ),
        ],
        hint: "run `goose configure`, or set GOOSE_PROVIDER, GOOSE_MODEL and the provider's key",
    },
    install: "curl -fsSL https://github.com/aaif-goose/goose/releases/download/stable/download_cli.sh | bash",
    tells_last_usage: true,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("GOOSE_PATH_ROOT", "config")),
        folders: &[".config/goose", ".local/share/goose", ".local/state/goose"],
        login: ".config/goose/secrets.yaml",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".config/goose",
            entries: &[
                ".goosehints",
                "config.yaml",
                "custom_providers",
                "memory",
                "permission.yaml",
                "plugins",
                "recipes",
                "skills",
            ],
            own: &[],
        }],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".goose"],
        files: &[".goosehints"],
        starts: &[".goose"],
        ..RepositoryFiles::NONE
    },
};
