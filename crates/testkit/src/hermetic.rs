//! Git as a command that no configuration of this machine reaches.
//!
//! Knows nothing of what is asked of it.

use std::path::Path;
use std::process::{Command, Output};

/// Git in a folder, with fixed identity, dates and language, and nothing else of the environment.
pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/dev/null")
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_MERGE_AUTOEDIT", "no")
        // Each commit starts two more gits otherwise, to find that nothing is to be packed.
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "maintenance.auto")
        .env("GIT_CONFIG_VALUE_0", "false");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Tess Tester")
            .env(format!("GIT_{role}_EMAIL"), "tess@example.com")
            .env(format!("GIT_{role}_DATE"), "2024-01-01T00:00:00Z");
    }
    command
}

/// Runs git to its end, whatever that is.
pub(crate) fn attempt(folder: &Path, args: &[&str]) -> Output {
    git(folder).args(args).output().expect("git is installed")
}

/// What git prints, without the last line break; panics when it fails.
#[track_caller]
pub(crate) fn ask(folder: &Path, args: &[&str]) -> String {
    let output = attempt(folder, args);
    assert!(output.status.success(), "{}", told(args, &output));
    let text = String::from_utf8_lossy(&output.stdout);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// A run of git in words, for panics.
pub(crate) fn told(args: &[&str], output: &Output) -> String {
    format!(
        "git {args:?} ended with {}: {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
