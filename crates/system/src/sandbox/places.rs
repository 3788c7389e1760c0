//! What lies where in people's home folders: keys, what is run without asking, and the folders of tools.
//!
//! Lists and nothing else; all paths are meant from the home folder.

mod agents;
mod autorun;
mod keys;
mod stores;

pub(super) use agents::steering_folders;
pub(super) use autorun::{
    CLOSED_AMONG_AGENTS, GIT_SETTINGS, RUN_BY_THEMSELVES, RUN_FROM_CACHES, RUN_ONCE_THERE,
    START_FILES,
};
pub(super) use keys::{
    AGENT_LOGINS, EDITOR_SERVERS, EDITOR_TOKEN, KEYS, REGISTRY_LOGINS, SETTINGS_WITH_LOGINS,
};
pub(super) use stores::{PACKAGE_STORES, PackageStore};

use pleach_driver::KNOWN_AGENTS;

/// Folders that have a variable, and where they are without it.
pub(super) const XDG: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// Other folders, and files, that have a variable: it, what of its folder is meant, and where that is without it.
pub(super) const MOVED: &[(&str, &str, &str)] = &[
    ("ASDF_DATA_DIR", "", ".asdf"),
    ("AWS_CONFIG_FILE", "", ".aws"),
    ("AWS_SHARED_CREDENTIALS_FILE", "", ".aws"),
    ("AZURE_CONFIG_DIR", "", ".azure"),
    ("BUNDLE_USER_HOME", "", ".bundle"),
    ("BUN_INSTALL", "", ".bun"),
    ("CABAL_DIR", "", ".cabal"),
    ("CARGO_HOME", "", ".cargo"),
    ("CLOUDSDK_CONFIG", "", ".config/gcloud"),
    ("COMPOSER_HOME", "", ".config/composer"),
    ("CONTINUE_GLOBAL_DIR", "", ".continue"),
    ("DENO_INSTALL", "", ".deno"),
    ("DOCKER_CONFIG", "", ".docker"),
    ("GH_CONFIG_DIR", "", ".config/gh"),
    ("GLAB_CONFIG_DIR", "", ".config/glab-cli"),
    ("GNUPGHOME", "", ".gnupg"),
    ("GOOGLE_APPLICATION_CREDENTIALS", "", ".config/gcloud"),
    ("GRADLE_USER_HOME", "", ".gradle"),
    ("HEX_HOME", "", ".hex"),
    ("HF_HOME", "", ".cache/huggingface"),
    ("HISTFILE", "", ".bash_history"),
    ("KUBECONFIG", "", ".kube"),
    ("MIX_HOME", "", ".mix"),
    ("NPM_CONFIG_USERCONFIG", "", ".npmrc"),
    ("NVM_DIR", "", ".nvm"),
    ("OPAMROOT", "", ".opam"),
    ("PGPASSFILE", "", ".pgpass"),
    ("PIP_CONFIG_FILE", "", ".config/pip/pip.conf"),
    ("PNPM_HOME", "", ".local/share/pnpm"),
    ("PYENV_ROOT", "", ".pyenv"),
    ("RBENV_ROOT", "", ".rbenv"),
    ("RUSTUP_HOME", "", ".rustup"),
    ("SDKMAN_DIR", "", ".sdkman"),
    ("VOLTA_HOME", "", ".volta"),
    ("npm_config_userconfig", "", ".npmrc"),
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

/// Folders besides those of agents in which programs have to make files of any name, so that nothing in there can be
/// closed by opening what is beside it.
pub(super) const SHARED: &[&str] = &[
    ".android",
    ".cache",
    ".conan2",
    ".config/configstore",
    ".config/turborepo",
    ".hex",
    ".local/share/opencode",
];

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

pub(super) fn folders_of_tools() -> impl Iterator<Item = &'static str> {
    let tools = TOOLS.iter().flat_map(|tool| tool.folders);
    let agents = KNOWN_AGENTS.iter().flat_map(|agent| agent.home.folders);
    tools.chain(agents).copied()
}

/// Build tools, and agents that are not known by name; folders of others are found by being there.
///
/// Where something closed lies in a tool's folder, what it makes there is named one by one. An agent that writes single
/// files in the home folder is pointed at a folder of its own by its variable.
pub(super) const TOOLS: &[Tool] = &[
    tool("bazel", &[], &[".cache/bazel"]),
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
    tool("cs", &[("COURSIER_CACHE", "")], &[".cache/coursier"]),
    tool(
        "dotnet",
        &[("NUGET_PACKAGES", ""), ("DOTNET_CLI_HOME", "")],
        &[".nuget/packages", ".dotnet", ".local/share/NuGet"],
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
    tool("pnpm", &[], &[".local/state/pnpm"]),
    tool("poetry", &[("POETRY_CACHE_DIR", "")], &[".cache/pypoetry"]),
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
    tool("yarn", &[("YARN_CACHE_FOLDER", "")], &[".cache/yarn"]),
    tool("aider", &[], &[".aider"]),
    tool("cn", &[("CONTINUE_GLOBAL_DIR", "")], &[".continue"]),
    tool("cursor-agent", &[], &[".cursor", ".config/cursor"]),
    tool("droid", &[], &[".factory"]),
];
