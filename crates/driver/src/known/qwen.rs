//! Qwen Code, by the Agent Client Protocol.

use super::{HomePlaces, KnownAgent, Login, ModelBy, RepositoryFiles, SteeringFolder, file};
use crate::order::ProtocolKind;

pub(super) const AGENT: KnownAgent = KnownAgent {
    name: "qwen",
    title: "Qwen Code",
    program: "qwen",
    arguments: &["--acp"],
    last_arguments: &[],
    speaks: || ProtocolKind::Acp {
        mode: Some("yolo".to_owned()),
        errors_are_text: false,
    },
    model: ModelBy::Flag("-m"),
    variables: &[
        "DASHSCOPE_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OPENAI_MODEL",
        "QWEN_HOME",
    ],
    sets: &[],
    login: Login {
        variables: &["DASHSCOPE_API_KEY", "OPENAI_API_KEY"],
        files: &[file(
            Some(("QWEN_HOME", "oauth_creds.json")),
            ".qwen/oauth_creds.json",
        )],
        hint: "run `qwen` and log in there, or set OPENAI_API_KEY and OPENAI_BASE_URL",
    },
    install: "npm install -g @qwen-code/qwen-code",
    tells_last_usage: false,
    root_variable: None,
    home: HomePlaces {
        variable: Some(("QWEN_HOME", "")),
        folders: &[".qwen"],
        login: ".qwen/oauth_creds.json",
        programs: &[],
        steering: &[SteeringFolder {
            folder: ".qwen",
            entries: &[
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
            own: &[],
        }],
        notes: &[],
    },
    repository: RepositoryFiles {
        folders: &[".qwen"],
        files: &["QWEN.md"],
        ..RepositoryFiles::NONE
    },
};
