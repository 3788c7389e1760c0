//! The agents that Pleach knows by name: how they are started, what they need, and how one gets them.
//!
//! A table and nothing else; who uses it is `preset_agent` and `presence`.

use pleach_driver::Speaks;

/// An agent that is known by name.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name in the configuration.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its program.
    pub program: &'static str,
    /// The first words after it, before those of the user.
    pub(super) words: &'static [&'static str],
    /// The words after those of the user.
    pub(super) last_words: &'static [&'static str],
    /// How it is talked to.
    pub(super) speaks: fn() -> Speaks,
    /// How it is told which model to use.
    pub(super) model: ModelBy,
    /// Variables that are its own: passed on to it, and hidden in logs where they are secret.
    pub variables: &'static [&'static str],
    /// Variables that it gets so that it works unattended, unless the user sets them.
    pub(super) sets: &'static [(&'static str, &'static str)],
    /// How one can see that it is logged in.
    pub login: Login,
    /// The command that installs it.
    pub install: &'static str,
}

/// How one can see that an agent is logged in, without asking anybody.
#[derive(Debug, Clone, Copy)]
pub struct Login {
    /// Any of these variables is a login.
    pub variables: &'static [&'static str],
    /// Any of these files is one: from the folder that a variable names, or else from the home folder.
    pub files: &'static [LoginFile],
    /// What to do where there is none.
    pub hint: &'static str,
}

/// A file that an agent keeps its login in.
#[derive(Debug, Clone, Copy)]
pub struct LoginFile {
    /// The variable that says where the agent's folder is, and the file in that folder.
    pub moved: Option<(&'static str, &'static str)>,
    /// The file in the home folder.
    pub at_home: &'static str,
}

/// How an agent is told which model to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelBy {
    /// By a word before its name.
    Flag(&'static str),
    /// By a variable.
    Variable(&'static str),
    /// In the conversation.
    Protocol,
}

const fn file(moved: Option<(&'static str, &'static str)>, at_home: &'static str) -> LoginFile {
    LoginFile { moved, at_home }
}

fn acp() -> Speaks {
    Speaks::Acp {
        mode: None,
        errors_are_text: false,
    }
}

/// All of them, those that most people use first.
pub const PRESETS: [Preset; 7] = [
    Preset {
        name: "claude",
        title: "Claude Code",
        program: "claude",
        words: &[
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--permission-mode",
            "bypassPermissions",
        ],
        last_words: &[],
        speaks: || Speaks::Claude,
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
    },
    Preset {
        name: "codex",
        title: "Codex",
        program: "codex",
        words: &[
            "exec",
            "--json",
            "--dangerously-bypass-approvals-and-sandbox",
            "--skip-git-repo-check",
            "--disable",
            "plugins",
            "-c",
            "analytics.enabled=false",
        ],
        last_words: &["-"],
        speaks: || Speaks::Codex,
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
    },
    Preset {
        name: "opencode",
        title: "OpenCode",
        program: "opencode",
        words: &["acp"],
        last_words: &[],
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
    },
    Preset {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        words: &["--acp"],
        last_words: &[],
        speaks: || Speaks::Acp {
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
    },
    Preset {
        name: "goose",
        title: "Goose",
        program: "goose",
        words: &["acp", "--with-builtin", "developer"],
        last_words: &[],
        speaks: || Speaks::Acp {
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
    },
    Preset {
        name: "qwen",
        title: "Qwen Code",
        program: "qwen",
        words: &["--acp"],
        last_words: &[],
        speaks: || Speaks::Acp {
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
    },
    Preset {
        name: "copilot",
        title: "GitHub Copilot CLI",
        program: "copilot",
        words: &["--acp", "--allow-all"],
        last_words: &[],
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
    },
];

/// How a command that speaks the Agent Client Protocol is named.
pub(super) const ACP: &str = "acp:";

/// The one of that name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}
