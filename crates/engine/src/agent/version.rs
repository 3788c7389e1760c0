//! Asks agents that are installed for their versions, a moment each, and remembers the answers for a while.
//!
//! Only programs of presets are asked; what a repository names is never run for this.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pleach_system::process::{Cancel, ProcessSpec, Shim, SweepScope};
use pleach_system::sandbox::ProbeSandbox;
use pleach_system::secrets::Secrets;
use pleach_system::variables::is_allowed_to_all;

use super::presence::{Presence, is_own_program};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer is taken for true.
const FRESH: Duration = Duration::from_mins(1);

/// More of what a program says is not looked at.
const LONGEST_ANSWER: u64 = 16 << 10;

const LONGEST_VERSION: usize = 40;

/// How far above a program the file that describes its package may be.
const PACKAGE_ABOVE: usize = 4;

/// The versions of programs, as far as they were asked for lately.
#[derive(Debug)]
pub struct Versions {
    /// Pleach's own program.
    wrapper: PathBuf,
    known: Mutex<HashMap<PathBuf, (Instant, Option<String>)>>,
}

impl Versions {
    /// Versions that nobody has asked for yet; who asks is Pleach's own program, as a wrapper.
    pub fn asked_by(wrapper: PathBuf) -> Self {
        Self {
            wrapper,
            known: Mutex::default(),
        }
    }

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
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known().get(path).cloned();
        if let Some((at, version)) = fresh
            && at.elapsed() < FRESH
        {
            return version;
        }
        let version = packaged(agent.install?, path).or_else(|| self.ask(path, &agent.passed_on));
        known().insert(path.to_owned(), (Instant::now(), version.clone()));
        version
    }

    /// What a program says itself: what is on the `PATH` may have been put there by anybody, so it is held.
    fn ask(&self, program: &Path, passed_on: &[String]) -> Option<String> {
        let folder = tempfile::tempdir().ok()?;
        let temporary = folder.path().join("tmp");
        fs::create_dir(&temporary).ok()?;
        let is_allowed =
            |name: &str| is_allowed_to_all(name) || passed_on.iter().any(|own| own == name);
        let env = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_allowed));
        let mut env: Vec<_> = env.filter(|(name, _)| name != "TMPDIR").collect();
        env.push(("TMPDIR".into(), temporary.clone().into()));
        let sandbox = ProbeSandbox::new(&env, &temporary, &self.wrapper)?;
        let log = folder.path().join("log");
        let spec = ProcessSpec {
            argv: ["/bin/sh", "-c", "exec \"$0\" --version 2> /dev/null"]
                .map(OsString::from)
                .into_iter()
                .chain([program.into()])
                .collect(),
            // Where no file of a project steers it.
            cwd: "/".into(),
            sandbox: sandbox.confinement,
            isolation: sandbox.isolation,
            env,
            stdin_file: None,
            log: log.clone(),
            record: folder.path().join("exit.json"),
            timeout: PATIENCE,
            stall: None,
            grace: Duration::ZERO,
            log_cap: LONGEST_ANSWER,
            hide: Secrets::default(),
            polite: None,
        };
        let shim = Shim::launch(&self.wrapper)
            .ok()?
            .sweeping(SweepScope::Marked);
        shim.run(&spec, &Cancel::default()).ok()?;
        in_text(&String::from_utf8_lossy(&fs::read(log).ok()?))
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
