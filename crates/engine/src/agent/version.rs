//! Asks agents that are installed for their versions, a moment each, and remembers the answers for a while.
//!
//! Only programs of presets are asked; what a repository names is never run for this.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::is_allowed_to_all;
use super::presence::{Presence, is_own_program};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer is taken for true.
const FRESH: Duration = Duration::from_mins(1);

/// More of what a program says is not looked at.
const LONGEST_ANSWER: u64 = 16 << 10;

/// The longest version that is shown.
const LONGEST_VERSION: usize = 40;

/// How far above a program the file that describes its package may be.
const PACKAGE_ABOVE: usize = 4;

/// The versions of programs, as far as they were asked for lately.
#[derive(Debug, Default)]
pub struct Versions(Mutex<HashMap<PathBuf, (Instant, Option<String>)>>);

impl Versions {
    /// Finds out the versions of those that are installed, all at once.
    pub fn fill(&self, agents: &mut [Presence]) {
        std::thread::scope(|scope| {
            for agent in agents {
                if let Some(path) = agent.path.clone().filter(|_| is_own_program(agent)) {
                    scope.spawn(move || agent.version = self.version(agent, &path));
                }
            }
        });
    }

    fn version(&self, agent: &Presence, path: &Path) -> Option<String> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known().get(path).cloned();
        if let Some((at, version)) = fresh
            && at.elapsed() < FRESH
        {
            return version;
        }
        let version = packaged(agent.install?, path).or_else(|| asked(path, &agent.passed_on));
        known().insert(path.to_owned(), (Instant::now(), version.clone()));
        version
    }
}

/// What the package says that a program came in: some take seconds to say it themselves.
fn packaged(install: &str, program: &Path) -> Option<String> {
    let package = install.strip_prefix("npm install -g ")?;
    let file = fs::canonicalize(program).ok()?;
    let folders = file.ancestors().skip(1).take(PACKAGE_ABOVE);
    let version = |folder: &Path| {
        let text = fs::read_to_string(folder.join("package.json")).ok()?;
        let described: serde_json::Value = serde_json::from_str(&text).ok()?;
        let is_it = described["name"] == package;
        let version = described["version"].as_str().filter(|_| is_it)?;
        in_text(version)
    };
    folders.into_iter().find_map(version)
}

/// What a program says itself.
fn asked(program: &Path, passed_on: &[String]) -> Option<String> {
    let is_allowed =
        |name: &str| is_allowed_to_all(name) || passed_on.iter().any(|own| own == name);
    let env = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_allowed));
    let mut child = Command::new(program)
        .arg("--version")
        // Where no file of a project steers it.
        .current_dir("/")
        .env_clear()
        .envs(env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    wait(&child);
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let answer = answer(&mut child);
    // It has ended by now, one way or the other.
    let _ = child.wait();
    in_text(&answer?)
}

/// Waits until a program has ended, or for as long as there is patience.
fn wait(child: &Child) {
    let Ok(pidfd) = pidfd_open(Pid::from_child(child), PidfdFlags::empty()) else {
        return;
    };
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        let mut polled = [PollFd::new(&pidfd, PollFlags::IN)];
        match poll(&mut polled, Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            _ => return,
        }
    }
}

/// What is in the pipe: whoever else holds it open is not waited for.
fn answer(child: &mut Child) -> Option<String> {
    let out = child.stdout.take()?;
    fcntl_setfl(&out, OFlags::NONBLOCK).ok()?;
    let mut bytes = Vec::new();
    // What was read before an error stays.
    let _ = out.take(LONGEST_ANSWER).read_to_end(&mut bytes);
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first word that looks like a version.
fn in_text(text: &str) -> Option<String> {
    let looks_like_one = |word: &&str| {
        let mut numbers = word.split('.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        let begins = numbers.next().is_some_and(is_number);
        let follows = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        begins && numbers.next().is_some_and(follows) && word.chars().all(is_plain)
    };
    let words = text.split_whitespace();
    let words = words.map(|word| {
        word.trim_start_matches('v')
            .trim_end_matches([',', ';', ')', '.'])
    });
    let found = words.into_iter().find(looks_like_one)?;
    Some(found.chars().take(LONGEST_VERSION).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_version_is_found_among_other_words() {
        for (text, version) in [
            ("2.1.325 (Claude Code)\n", "2.1.325"),
            ("codex-cli 0.166.0\n", "0.166.0"),
            (" 1.52.0", "1.52.0"),
            (
                "WARNING: 3 things in /tmp/1.2\nv24.1.0-rc.1, built today",
                "24.1.0-rc.1",
            ),
        ] {
            assert_eq!(in_text(text).as_deref(), Some(version), "{text}");
        }
        for text in [
            "",
            "no version",
            "usage: x [1]",
            "1.x",
            "...",
            "\u{1b}[1m1.0\u{7}",
        ] {
            assert_eq!(in_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_program_is_asked_once_in_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        let count = folder.path().join("count");
        let script = format!(
            "#!/bin/sh\necho x >> {}\necho \"$1 1.2.3\"\n",
            count.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = crate::settings::Settings::of([], folder.path()).unwrap();
        let mut claude = Presence::named(&settings, "claude");
        claude.path = Some(program);
        let versions = Versions::default();
        for _ in 0..2 {
            claude.version = None;
            versions.fill(std::slice::from_mut(&mut claude));
            assert_eq!(claude.version.as_deref(), Some("1.2.3"));
        }
        assert_eq!(fs::read_to_string(count).unwrap(), "x\n");
    }

    #[test]
    fn a_package_says_the_version_of_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("node_modules/@google/gemini-cli");
        fs::create_dir_all(package.join("bundle")).unwrap();
        let about = "{\"name\": \"@google/gemini-cli\", \"version\": \"0.61.0\"}";
        fs::write(package.join("package.json"), about).unwrap();
        fs::write(package.join("bundle/gemini.js"), "").unwrap();
        let link = folder.path().join("gemini");
        std::os::unix::fs::symlink(package.join("bundle/gemini.js"), &link).unwrap();
        let version = |package: &str| packaged(&format!("npm install -g {package}"), &link);
        assert_eq!(version("@google/gemini-cli").as_deref(), Some("0.61.0"));
        assert_eq!(version("other"), None);
    }
}
