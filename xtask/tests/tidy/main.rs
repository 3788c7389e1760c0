//! The rules of the architecture, as tests.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

mod modules;
mod type_names;

use std::fs;
use std::path::{Path, PathBuf};

/// What a crate may depend on, besides what only its tests use.
const MAY_USE: [(&str, &[&str]); 12] = [
    (
        "domain",
        &[
            "clap",
            "compact_str",
            "serde",
            "strsim",
            "thiserror",
            "utoipa",
        ],
    ),
    (
        "formats",
        &[
            "compact_str",
            "pleach-domain",
            "pulldown-cmark",
            "serde",
            "serde_json",
            "thiserror",
        ],
    ),
    (
        "driver",
        &[
            "jiff",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "similar",
            "utoipa",
        ],
    ),
    (
        "system",
        &[
            "close_fds",
            "jiff",
            "landlock",
            "nix",
            "percent-encoding",
            "pleach-domain",
            "pleach-driver",
            "regex-automata",
            "rustix",
            "seccompiler",
            "serde",
            "serde_json",
            "sha2",
            "signal-hook",
            "tempfile",
            "thiserror",
            "toml_edit",
        ],
    ),
    (
        "git",
        &[
            "gix-hash",
            "gix-object",
            "gix-odb",
            "gix-zlib",
            "percent-encoding",
            "pleach-domain",
            "pleach-system",
            "rustix",
            "serde",
            "tempfile",
            "thiserror",
        ],
    ),
    (
        "log",
        &[
            "pleach-domain",
            "pleach-driver",
            "pleach-formats",
            "pleach-git",
            "pleach-system",
            "rusqlite",
            "rustix",
            "serde",
            "serde_json",
            "subtle",
            "thiserror",
            "utoipa",
        ],
    ),
    (
        "engine",
        &[
            "jiff",
            "pleach-domain",
            "pleach-driver",
            "pleach-formats",
            "pleach-git",
            "pleach-log",
            "pleach-system",
            "rustix",
            "serde",
            "serde_json",
            "tempfile",
            "thiserror",
            "toml_edit",
            "ureq",
            "utoipa",
        ],
    ),
    (
        "server",
        &[
            "axum",
            "hmac",
            "http-body-util",
            "hyper",
            "hyper-util",
            "memory-serve",
            "pleach-domain",
            "pleach-driver",
            "pleach-engine",
            "pleach-git",
            "pleach-log",
            "pleach-system",
            "rustix",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "sha2",
            "subtle",
            "thiserror",
            "tokio",
            "tokio-stream",
            "tower",
            "tracing",
            "utoipa",
            "utoipa-axum",
        ],
    ),
    (
        "cli",
        &[
            "anstream",
            "anstyle",
            "clap",
            "clap_complete",
            "jiff",
            "pleach-domain",
            "pleach-driver",
            "pleach-engine",
            "pleach-formats",
            "pleach-git",
            "pleach-log",
            "pleach-server",
            "pleach-system",
            "rustix",
            "serde",
            "serde_json",
            "signal-hook",
            "tempfile",
            "terminal_size",
            "tracing",
            "tracing-subscriber",
            "unicode-width",
        ],
    ),
    (
        "loop",
        &[
            "pleach-domain",
            "pleach-driver",
            "pleach-engine",
            "pleach-formats",
            "pleach-git",
            "pleach-log",
            "pleach-system",
            "rustix",
            "serde",
            "serde_json",
            "thiserror",
        ],
    ),
    (
        "pleach",
        &[
            "pleach-cli",
            "pleach-driver",
            "pleach-engine",
            "pleach-loop",
            "pleach-system",
        ],
    ),
    ("testkit", &["rustix", "serde_json", "tempfile", "vt100"]),
];

/// Files that may start programs, and why nobody else needs to.
const MAY_SPAWN: [&str; 20] = [
    "crates/system/src/detach.rs",
    "crates/driver/src/conversation.rs",
    "crates/git/src/git/call.rs",
    "crates/system/src/process/shim.rs",
    "crates/system/src/process/wrapper.rs",
    "crates/engine/src/cluster/command.rs",
    "crates/loop/src/node_runner.rs",
    "crates/cli/src/browser.rs",
    "crates/cli/src/editor.rs",
    "crates/cli/src/pager.rs",
    "xtask/src/agents.rs",
    "xtask/src/board.rs",
    "xtask/src/build_times.rs",
    "xtask/src/lines.rs",
    "xtask/src/main.rs",
    "xtask/src/memory.rs",
    "xtask/src/nightly.rs",
    "xtask/src/packages.rs",
    "xtask/src/schemathesis.rs",
    "xtask/src/tools.rs",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["crates", "xtask", "benches"] {
        rust_files(&root().join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 50, "the search for sources is broken");
    let relative = |path: &PathBuf| path.strip_prefix(root()).unwrap().display().to_string();
    files
        .iter()
        .map(|path| (relative(path), fs::read_to_string(path).unwrap()))
        .collect()
}

/// The part of a file that is not tests.
fn production(text: &str) -> &str {
    let tests = ["#[cfg(test)]", "mod tests {"].join("\n");
    text.split(&tests).next().unwrap_or(text)
}

#[test]
fn crates_depend_only_on_what_the_architecture_allows() {
    for (name, allowed) in MAY_USE {
        let manifest =
            fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        let after = manifest.split("\n[dependencies]\n").nth(1).unwrap();
        let section = after.split("\n[").next().unwrap();
        let used = section
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|word| !word.is_empty());
        for dependency in used {
            assert!(
                allowed.contains(&dependency),
                "{name} must not use {dependency}"
            );
        }
    }
}

#[test]
fn every_file_opens_with_its_duty_and_stays_under_500_lines() {
    for (path, text) in sources() {
        assert!(
            text.starts_with("//! "),
            "{path} does not say what it is for"
        );
        let lines = text.lines().count();
        assert!(lines <= 500, "{path} has {lines} lines");
    }
}

#[test]
fn the_core_touches_nothing_outside_itself() {
    let outside = [
        "std::fs",
        "std::process",
        "std::env",
        "std::net",
        "std::thread",
        "SystemTime",
        "Instant",
        "tokio",
    ];
    for (path, text) in sources() {
        let is_pure =
            path.starts_with("crates/domain/src") || path.starts_with("crates/formats/src");
        for word in outside.iter().filter(|_| is_pure) {
            assert!(!production(&text).contains(word), "{path} uses {word}");
        }
    }
}

#[test]
fn only_a_few_files_start_programs() {
    for (path, text) in sources() {
        let may = MAY_SPAWN.contains(&path.as_str())
            || path.contains("/tests/")
            || path.starts_with("crates/testkit/");
        let is_bench = path.starts_with("benches/");
        assert!(
            may || is_bench || !production(&text).contains("Command::new("),
            "{path} starts a program"
        );
    }
}

#[test]
fn nothing_is_switched_off_or_left_for_later() {
    let marks = [
        "#[allow(",
        "#![allow(",
        "todo!(",
        "unimplemented!(",
        "#[ignore",
        "clippy::too_many_lines",
        "FIXME",
    ];
    for (path, text) in sources()
        .into_iter()
        .filter(|(path, _)| path != "xtask/tests/tidy/main.rs")
    {
        for mark in marks {
            assert!(!text.contains(mark), "{path} contains {mark}");
        }
        assert!(
            !path.ends_with("/mod.rs"),
            "{path}: name the file after its module"
        );
    }
}

#[test]
fn packages_of_npm_are_known_by_their_hashes_and_come_from_no_address() {
    for folder in ["web", "xtask/agents/few", "xtask/agents/more"] {
        let path = root().join(folder).join("package-lock.json");
        let lock = fs::read_to_string(path).unwrap();
        let count = |start: &str| {
            let lines = lock.lines().map(str::trim_start);
            lines.filter(|line| line.starts_with(start)).count()
        };
        assert_eq!(
            count("\"resolved\":"),
            0,
            "{folder}: install with omit-lockfile-registry-resolved"
        );
        let packages = count("\"node_modules/");
        assert!(packages > 10, "{folder}: the search for packages is broken");
        assert_eq!(
            packages,
            count("\"integrity\": \"sha512-"),
            "{folder}: a hash is missing"
        );
    }
}
