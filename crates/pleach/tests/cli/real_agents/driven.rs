//! The agents that are driven: how each is pointed at a stand-in for its model, and what it can do.
//!
//! Knows nothing of what is tried with them.

use std::path::{Path, PathBuf};

use serde_json::json;

/// Some agents hide their key wherever it stands, so that it must not be part of a word.
const KEY: &str = "stub-3f9c1d7e58a24b60-key";

/// Nobody listens there, so that whatever an agent sends elsewhere comes back at once.
const NOWHERE: &str = "http://127.0.0.1:9";

/// A variable of an agent.
pub(super) type Variable = (&'static str, String);

/// An agent, and how it is used here.
pub(crate) struct Driven {
    /// Its name, which is also that of its program.
    pub(super) name: &'static str,
    install: &'static str,
    pub(super) model: Option<&'static str>,
    /// Variables that point it at a model.
    variables: fn(base: &str) -> Vec<Variable>,
    /// Arguments that do so.
    pub(super) args: fn(base: &str) -> Vec<String>,
    /// Arguments by which a user forbids it to write.
    pub(super) forbidding: &'static [&'static str],
    /// Files in its home, as JSON.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// How many seconds it may say nothing when it starts, on a machine that is busy.
    pub(super) starts_within: u64,
    /// What makes it store what it stores once; two that do so at the same moment stumble over each other.
    pub(super) first: Option<&'static [&'static str]>,
    /// So many times it or Pleach asks the model again before an end is made of it.
    pub(super) patience: u32,
    lacks: &'static [Lack],
}

/// What is not to be had of every agent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Cost,
    /// What each answer took.
    Tokens,
    /// What its tools say.
    Outputs,
    Session,
}

impl Driven {
    pub(super) fn lacks(&self, what: Lack) -> bool {
        self.lacks.contains(&what)
    }

    /// The folder of its program.
    ///
    /// # Panics
    ///
    /// If it is not installed, with the line that does so.
    #[track_caller]
    pub(super) fn folder(&self) -> PathBuf {
        let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agents");
        let home = std::env::var_os("PLEACH_AGENTS").map_or_else(usual, PathBuf::from);
        let folder = home.join("bin");
        assert!(
            folder.join(self.name).exists(),
            "{} is not in {}; `{}` installs it",
            self.name,
            folder.display(),
            self.install
        );
        folder
    }

    pub(super) fn variables(&self, base: &str) -> Vec<Variable> {
        let mut variables = (self.variables)(base);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            variables.push((name, NOWHERE.to_owned()));
        }
        for name in ["NO_PROXY", "no_proxy"] {
            variables.push((name, "127.0.0.1".to_owned()));
        }
        variables
    }
}

pub(crate) const CLAUDE: Driven = Driven {
    name: "claude",
    install: "cargo xtask agents",
    model: None,
    variables: |base| {
        vec![
            ("ANTHROPIC_BASE_URL", base.to_owned()),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            // Where no sandbox holds it, it would refuse to work for root.
            ("IS_SANDBOX", "1".to_owned()),
        ]
    },
    args: |_| Vec::new(),
    forbidding: &["--permission-mode", "default"],
    files: &[],
    starts_within: 3,
    first: None,
    patience: 3,
    lacks: &[],
};

/// It tells nothing of requests that it repeats below the stream, so that it does not do so here. A model that it knows would make it use other tools.
pub(crate) const CODEX: Driven = Driven {
    name: "codex",
    install: "cargo xtask agents",
    model: Some("stub-model"),
    variables: |_| vec![("STUB_KEY", KEY.to_owned())],
    args: |base| {
        let stub = format!(
            "model_providers.stub={{name=\"stub\",base_url=\"{base}/v1\",env_key=\"STUB_KEY\",\
             wire_api=\"responses\",request_max_retries=0}}"
        );
        let words = ["-c", "model_provider=stub", "-c", &stub];
        words.map(str::to_owned).to_vec()
    },
    forbidding: &[],
    files: &[],
    starts_within: 3,
    first: None,
    patience: 3,
    lacks: &[Lack::Cost],
};

pub(crate) const GOOSE: Driven = Driven {
    name: "goose",
    install: "cargo xtask agents",
    model: Some("stub-model"),
    variables: |base| {
        let (host, faults) = split(base);
        vec![
            ("GOOSE_PROVIDER", "openai".to_owned()),
            ("GOOSE_DISABLE_KEYRING", "1".to_owned()),
            ("OPENAI_API_KEY", KEY.to_owned()),
            ("OPENAI_HOST", host),
            ("OPENAI_BASE_PATH", format!("{faults}v1/chat/completions")),
        ]
    },
    args: |_| Vec::new(),
    forbidding: &[],
    files: &[],
    starts_within: 3,
    first: None,
    patience: 4,
    lacks: &[Lack::Cost],
};

/// It takes long to start, and tells what the last answer of a turn took.
pub(crate) const OPENCODE: Driven = Driven {
    name: "opencode",
    install: "cargo xtask agents all",
    model: None,
    variables: |base| {
        let model = json!({"tool_call": true, "cost": {"input": 3, "output": 15},
            "limit": {"context": 200_000, "output": 8192}});
        let config = json!({
            "model": "stub/stub-model",
            "small_model": "stub/stub-model",
            "permission": "allow",
            "share": "disabled",
            "provider": {"stub": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("{base}/v1"), "apiKey": KEY},
                "models": {"stub-model": model},
            }},
        });
        vec![
            ("OPENCODE_CONFIG_CONTENT", config.to_string()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
        ]
    },
    args: |_| Vec::new(),
    forbidding: &[],
    files: &[],
    starts_within: 25,
    first: Some(&["session", "list"]),
    patience: 6,
    lacks: &[Lack::Tokens],
};

/// It would ask ten times in four minutes, and say nothing of it until it has ended. It names sessions by the minute
/// they began in, and empties the one that it is to go on with if that is still the same.
pub(crate) const GEMINI: Driven = Driven {
    name: "gemini",
    install: "cargo xtask agents all",
    model: Some("gemini-2.5-flash"),
    variables: |base| {
        vec![
            ("GEMINI_API_KEY", KEY.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", base.to_owned()),
        ]
    },
    args: |_| Vec::new(),
    forbidding: &[],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false, "maxAttempts": 1}}"#,
    )],
    starts_within: 6,
    first: None,
    patience: 1,
    lacks: &[Lack::Cost, Lack::Outputs, Lack::Session],
};

/// The host of an address, and what comes after it, with its end.
fn split(base: &str) -> (String, String) {
    match base.split_once("/~") {
        Some((host, faults)) => (host.to_owned(), format!("~{faults}/")),
        None => (base.to_owned(), String::new()),
    }
}
