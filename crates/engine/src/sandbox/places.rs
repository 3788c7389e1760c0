//! What lies where in people's home folders: keys, what is run without asking, and the folders of tools.
//!
//! Lists and nothing else; all paths are meant from the home folder.

mod agents;
mod keys;
mod run_by_themselves;

pub(super) use agents::AGENTS;
pub(super) use keys::{KEYS, REGISTRY_LOGINS};
pub(super) use run_by_themselves::{RUN_BY_THEMSELVES, START_FILES};

/// Folders that have a variable, and where they are without it.
pub(super) const XDG: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// Other folders that have a variable: it, what of its folder is meant, and where that is without it.
pub(super) const MOVED: &[(&str, &str, &str)] = &[
    ("ASDF_DATA_DIR", "", ".asdf"),
    ("BUNDLE_USER_HOME", "", ".bundle"),
    ("BUN_INSTALL", "", ".bun"),
    ("CABAL_DIR", "", ".cabal"),
    ("CARGO_HOME", "", ".cargo"),
    ("CLAUDE_CONFIG_DIR", "", ".claude"),
    ("CODEX_HOME", "", ".codex"),
    ("COMPOSER_HOME", "", ".config/composer"),
    ("CONTINUE_GLOBAL_DIR", "", ".continue"),
    ("COPILOT_HOME", "", ".copilot"),
    ("DENO_INSTALL", "", ".deno"),
    ("GEMINI_CLI_HOME", ".gemini", ".gemini"),
    ("GOOSE_PATH_ROOT", "config", ".config/goose"),
    ("GRADLE_USER_HOME", "", ".gradle"),
    ("NVM_DIR", "", ".nvm"),
    ("OPAMROOT", "", ".opam"),
    ("OPENCODE_CONFIG_DIR", "", ".config/opencode"),
    ("PNPM_HOME", "", ".local/share/pnpm"),
    ("PYENV_ROOT", "", ".pyenv"),
    ("QWEN_HOME", "", ".qwen"),
    ("RBENV_ROOT", "", ".rbenv"),
    ("RUSTUP_HOME", "", ".rustup"),
    ("SDKMAN_DIR", "", ".sdkman"),
    ("VOLTA_HOME", "", ".volta"),
];

/// Folders in which nothing is open but what tools and agents are known to keep there: most of what is in them is
/// settings of programs, and programs.
pub(super) const OPENED_BY_NAME: &[&str] = &[".config", ".local"];

/// What is open there besides the folders of tools, if it exists.
pub(super) const OPEN_BY_NAME: &[&str] = &[
    ".config/amp",
    ".config/configstore",
    ".config/crush",
    ".config/matplotlib",
    ".config/nextjs-nodejs",
    ".config/turborepo",
    ".local/share/R",
    ".local/share/amazon-q",
    ".local/share/amp",
    ".local/share/crush",
    ".local/share/gem",
    ".local/share/hatch",
    ".local/share/renv",
    ".local/share/virtualenv",
    ".local/share/virtualenvs",
    ".local/state/cabal",
    ".local/state/claude",
];

/// Caches within folders that are closed because programs lie beside them.
pub(super) const CACHES_AMONG_PROGRAMS: &[&str] = &[".local/share/pnpm/store"];

/// A tool that keeps something of its own.
pub(super) struct Tool {
    pub(super) program: &'static str,
    /// Variables that say where, and what of that place it writes to.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Where it makes folders if nobody says.
    pub(super) folders: &'static [&'static str],
    /// Files that it makes beside something closed.
    pub(super) files: &'static [&'static str],
}

const fn tool(
    program: &'static str,
    variables: &'static [(&'static str, &'static str)],
    folders: &'static [&'static str],
) -> Tool {
    Tool {
        program,
        variables,
        folders,
        files: &[],
    }
}

impl Tool {
    const fn with_files(self, files: &'static [&'static str]) -> Self {
        Self { files, ..self }
    }
}

/// Build tools and agents; folders of others are found by being there.
///
/// Where something closed lies in a tool's folder, what it makes there is named one by one. An agent that writes single
/// files in the home folder is pointed at a folder of its own by its variable.
pub(super) const TOOLS: &[Tool] = &[
    tool("bazel", &[], &[".cache/bazel"]),
    tool("bun", &[], &[".bun/install/cache"]),
    tool("bundle", &[], &[".bundle/cache"]),
    tool(
        "cabal",
        &[],
        &[".cabal/logs", ".cabal/packages", ".cabal/store"],
    ),
    // Its locks, and the list of what was used last.
    tool("cargo", &[], &[".cargo/git", ".cargo/registry"]).with_files(&[
        ".cargo/.global-cache",
        ".cargo/.package-cache",
        ".cargo/.package-cache-mutate",
    ]),
    tool("ccache", &[("CCACHE_DIR", "")], &[".cache/ccache"]),
    tool("composer", &[], &[".cache/composer"]),
    tool("conan", &[("CONAN_HOME", "")], &[".conan2"]),
    tool("conda", &[], &[".conda"]),
    tool("cs", &[("COURSIER_CACHE", "")], &[".cache/coursier"]),
    tool("deno", &[("DENO_DIR", "")], &[".cache/deno"]),
    tool(
        "dotnet",
        &[("NUGET_PACKAGES", ""), ("DOTNET_CLI_HOME", "")],
        &[".nuget", ".dotnet", ".local/share/NuGet"],
    ),
    tool("gem", &[("GEM_HOME", "")], &[".gem/ruby", ".gem/specs"]),
    tool(
        "go",
        &[("GOPATH", "pkg"), ("GOCACHE", ""), ("GOMODCACHE", "")],
        &["go/pkg", ".cache/go-build", ".config/go/telemetry"],
    ),
    tool(
        "gradle",
        &[],
        &[
            ".gradle/.tmp",
            ".gradle/caches",
            ".gradle/daemon",
            ".gradle/jdks",
            ".gradle/native",
            ".gradle/notifications",
            ".gradle/workers",
            ".gradle/wrapper",
        ],
    ),
    tool("java", &[], &[".java", ".gradle/wrapper", ".m2/wrapper"]),
    tool(
        "mix",
        &[("MIX_HOME", ""), ("HEX_HOME", "")],
        &[".mix", ".hex"],
    ),
    tool(
        "mvn",
        &[],
        &[".m2/build-cache", ".m2/repository", ".m2/wrapper"],
    ),
    tool(
        "npm",
        &[("npm_config_cache", ""), ("NPM_CONFIG_CACHE", "")],
        &[".npm", ".cache/node", ".cache/node-gyp"],
    ),
    tool("opam", &[], &[".opam/download-cache", ".opam/log"])
        .with_files(&[".opam/config.lock", ".opam/lock"]),
    tool("pip", &[("PIP_CACHE_DIR", "")], &[".cache/pip"]),
    tool("pip3", &[], &[".cache/pip"]),
    tool(
        "pnpm",
        &[],
        &[
            ".local/share/pnpm/store",
            ".local/state/pnpm",
            ".cache/pnpm",
        ],
    ),
    tool("poetry", &[("POETRY_CACHE_DIR", "")], &[".cache/pypoetry"]),
    tool(
        "pre-commit",
        &[("PRE_COMMIT_HOME", "")],
        &[".cache/pre-commit"],
    ),
    tool(
        "sbt",
        &[],
        &[
            ".cache/coursier",
            ".ivy2/cache",
            ".ivy2/local",
            ".sbt/1.0/dependency",
            ".sbt/1.0/server",
            ".sbt/1.0/staging",
            ".sbt/1.0/zinc",
            ".sbt/boot",
            ".sbt/launchers",
        ],
    )
    .with_files(&[".ivy2/.sbt.ivy.lock"]),
    tool("sccache", &[("SCCACHE_DIR", "")], &[".cache/sccache"]),
    tool("stack", &[("STACK_ROOT", "")], &[".stack"]),
    tool("swift", &[], &[".swiftpm", ".cache/org.swift.swiftpm"]),
    tool("uv", &[("UV_CACHE_DIR", "")], &[".cache/uv"]),
    tool(
        "yarn",
        &[("YARN_CACHE_FOLDER", "")],
        &[".yarn/berry", ".cache/yarn"],
    ),
    tool("aider", &[], &[".aider"]),
    tool("claude", &[("CLAUDE_CONFIG_DIR", "")], &[".claude"]),
    tool("cn", &[("CONTINUE_GLOBAL_DIR", "")], &[".continue"]),
    tool("codex", &[("CODEX_HOME", "")], &[".codex"]),
    tool(
        "copilot",
        &[("COPILOT_HOME", "")],
        &[".copilot", ".cache/copilot"],
    ),
    tool("cursor-agent", &[], &[".cursor", ".config/cursor"]),
    tool("droid", &[], &[".factory"]),
    tool("gemini", &[("GEMINI_CLI_HOME", "")], &[".gemini"]),
    tool(
        "goose",
        &[("GOOSE_PATH_ROOT", "")],
        &[".config/goose", ".local/share/goose", ".local/state/goose"],
    ),
    // The same by its name in npm.
    tool(
        "opencode",
        &[("OPENCODE_CONFIG_DIR", "")],
        &[
            ".config/opencode",
            ".local/share/opencode",
            ".local/state/opencode",
            ".cache/opencode",
        ],
    ),
    tool("qwen", &[("QWEN_HOME", "")], &[".qwen"]),
];
