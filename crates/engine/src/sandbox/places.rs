//! What lies where in people's home folders: keys, what is run without asking, and the folders of tools.
//!
//! Lists and nothing else; all paths are meant from the home folder.

/// Keys and passwords: neither read nor written.
pub(super) const KEYS: [&str; 36] = [
    ".aws",
    ".azure",
    ".boto",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/containers",
    ".config/doctl",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/microsoft-edge",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".netrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pki",
    ".s3cfg",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".vault-token",
    ".zowe",
];

/// What shells, desktops, editors and git run by themselves: read, not written.
pub(super) const RUN_BY_THEMSELVES: [&str; 46] = [
    ".bash_completion.d",
    ".bash_it",
    ".bashrc.d",
    ".cfg",
    ".config/autostart",
    ".config/autostart-scripts",
    ".config/bash",
    ".config/direnv",
    ".config/emacs",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/hypr",
    ".config/i3",
    ".config/nushell",
    ".config/nvim",
    ".config/openbox",
    ".config/plasma-workspace",
    ".config/pleach",
    ".config/sway",
    ".config/systemd",
    ".config/tmux",
    ".config/user-tmpfiles.d",
    ".config/xonsh",
    ".config/zsh",
    ".doom.d",
    ".dotfiles",
    ".emacs.d",
    ".git",
    ".githooks",
    ".local/bin",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".local/share/systemd",
    ".oh-my-bash",
    ".oh-my-zsh",
    ".profile.d",
    ".tmux",
    ".vim",
    ".vscode",
    ".vscode-server",
    ".zfunc",
    ".zinit",
    ".zplug",
    ".zprezto",
    ".zsh",
];

/// Folders that have a variable, and where they are without it.
pub(super) const XDG: [(&str, &str); 4] = [
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// A tool that keeps something of its own.
pub(super) struct Tool {
    pub(super) program: &'static str,
    /// Variables that say where, and what of that place it writes to.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Where it makes folders if nobody says.
    pub(super) folders: &'static [&'static str],
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
    }
}

/// Build tools and agents; folders of others are found by being there.
///
/// An agent that writes single files in the home folder is pointed at a folder of its own by its variable.
pub(super) const TOOLS: [Tool; 44] = [
    tool("bazel", &[], &[".cache/bazel"]),
    tool("bun", &[("BUN_INSTALL", "")], &[".bun"]),
    tool("bundle", &[("BUNDLE_USER_HOME", "")], &[".bundle"]),
    tool("cabal", &[("CABAL_DIR", "")], &[".cabal"]),
    tool("cargo", &[("CARGO_HOME", "")], &[".cargo"]),
    tool("ccache", &[("CCACHE_DIR", "")], &[".cache/ccache"]),
    tool(
        "composer",
        &[("COMPOSER_HOME", "")],
        &[".config/composer", ".cache/composer"],
    ),
    tool("conan", &[("CONAN_HOME", "")], &[".conan2"]),
    tool("conda", &[], &[".conda"]),
    tool("cs", &[("COURSIER_CACHE", "")], &[".cache/coursier"]),
    tool("deno", &[("DENO_DIR", "")], &[".cache/deno"]),
    tool(
        "dotnet",
        &[("NUGET_PACKAGES", ""), ("DOTNET_CLI_HOME", "")],
        &[".nuget", ".dotnet", ".local/share/NuGet"],
    ),
    tool("gem", &[("GEM_HOME", "")], &[".gem"]),
    tool("ghcup", &[], &[".ghcup"]),
    tool(
        "go",
        &[("GOPATH", "pkg"), ("GOCACHE", ""), ("GOMODCACHE", "")],
        &["go/pkg", ".cache/go-build", ".config/go"],
    ),
    tool("gradle", &[("GRADLE_USER_HOME", "")], &[".gradle"]),
    tool("java", &[], &[".java"]),
    tool(
        "mix",
        &[("MIX_HOME", ""), ("HEX_HOME", "")],
        &[".mix", ".hex"],
    ),
    tool("mvn", &[], &[".m2"]),
    tool(
        "npm",
        &[("npm_config_cache", ""), ("NPM_CONFIG_CACHE", "")],
        &[".npm", ".cache/node", ".cache/node-gyp"],
    ),
    tool("opam", &[("OPAMROOT", "")], &[".opam"]),
    tool("pip", &[("PIP_CACHE_DIR", "")], &[".cache/pip"]),
    tool("pip3", &[], &[".cache/pip"]),
    tool(
        "pnpm",
        &[("PNPM_HOME", "")],
        &[".local/share/pnpm", ".local/state/pnpm", ".cache/pnpm"],
    ),
    tool("poetry", &[("POETRY_CACHE_DIR", "")], &[".cache/pypoetry"]),
    tool(
        "pre-commit",
        &[("PRE_COMMIT_HOME", "")],
        &[".cache/pre-commit"],
    ),
    tool("rustup", &[("RUSTUP_HOME", "")], &[".rustup"]),
    tool("sbt", &[], &[".sbt", ".ivy2", ".cache/coursier"]),
    tool("sccache", &[("SCCACHE_DIR", "")], &[".cache/sccache"]),
    tool("stack", &[("STACK_ROOT", "")], &[".stack"]),
    tool("swift", &[], &[".swiftpm", ".cache/org.swift.swiftpm"]),
    tool(
        "uv",
        &[("UV_CACHE_DIR", "")],
        &[".cache/uv", ".local/share/uv"],
    ),
    tool(
        "yarn",
        &[("YARN_CACHE_FOLDER", "")],
        &[".yarn", ".cache/yarn"],
    ),
    tool("aider", &[], &[".aider"]),
    tool("claude", &[("CLAUDE_CONFIG_DIR", "")], &[".claude"]),
    tool("cn", &[("CONTINUE_GLOBAL_DIR", "")], &[".continue"]),
    tool("codex", &[("CODEX_HOME", "")], &[".codex"]),
    tool("copilot", &[], &[".copilot", ".cache/copilot"]),
    tool("cursor-agent", &[], &[".cursor"]),
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
    tool("qwen", &[], &[".qwen"]),
];
