//! One call of git: put together, kept within its bounds and its time, and judged by its exit code alone.
//!
//! Knows nothing of whose repository it is in.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, PipeWriter, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pleach_system::process::{Cancel, STARTED_BY, WakeReason, own_mark, wait};
use pleach_system::variables::is_allowed_to_all;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group,
};

use super::bounds::{self, Bounds, ReadScope};
use super::{GitError, USERS_CONFIG, scrub};

pub(super) const DEADLINE: Duration = Duration::from_mins(10);

/// Calls that look up or write down a name or two, however large the repository is, and how long one may take: what
/// hangs there hangs on something that was planted.
const BRIEF: [&str; 9] = [
    "check-ref-format",
    "commit-tree",
    "config",
    "for-each-ref",
    "rev-parse",
    "show-ref",
    "symbolic-ref",
    "update-ref",
    "version",
];
const BRIEF_DEADLINE: Duration = Duration::from_mins(1);

/// What git may need besides what agents see: to find what it is made of, to know whose repositories it may trust, and
/// to read the user's settings.
const PASSED_ON: [&str; 4] = [
    "LD_LIBRARY_PATH",
    "SUDO_UID",
    "XDG_CONFIG_DIRS",
    "XDG_STATE_HOME",
];

/// How long a call that is stopped may take to put its files in order.
const GRACE: Duration = Duration::from_secs(2);

/// How often what was killed is looked for; where nobody reaps orphans it never goes.
const LOOKS_AT_THE_DYING: usize = 100;

pub struct Call {
    command: Command,
    words: Vec<OsString>,
    stdin: Option<Vec<u8>>,
    /// A file that is held open as long as git runs, even if this process does not live that long.
    held: Option<File>,
    /// Where what is printed goes, if not into memory.
    pub(super) printed: Option<PipeWriter>,
    deadline: Option<Duration>,
    stop: Option<Cancel>,
    secrets: Vec<String>,
    bounds: Bounds,
}

/// Without the environment, which may hold secrets.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.what()).finish()
    }
}

#[derive(Debug)]
pub struct Output {
    /// The exit code, or 128 and the signal that ended it.
    pub code: i32,
    pub stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    what: String,
    pub(super) secrets: Vec<String>,
}

impl Call {
    /// Begins a call of any program that answers questions about servers and logins.
    pub(crate) fn of(program: &Path) -> Self {
        Self::within(program, ReadScope::Servers).with_servers()
    }

    pub(super) fn within(program: &Path, reach: ReadScope) -> Self {
        let mut command = Command::new(program);
        command
            .env("LC_ALL", "C")
            .env(STARTED_BY, own_mark())
            .process_group(0);
        Self {
            command,
            words: Vec::new(),
            stdin: None,
            held: None,
            printed: None,
            deadline: None,
            stop: None,
            secrets: Vec::new(),
            bounds: Bounds::new(reach),
        }
    }

    /// Sets something for this call alone; it stands before the words that say what is called.
    pub(super) fn setting(mut self, setting: &str) -> Self {
        self.command.args(["-c", setting]);
        self
    }

    /// Keeps a variable of our own environment from it.
    pub(super) fn without(mut self, name: &OsStr) -> Self {
        self.command.env_remove(name);
        self
    }

    #[must_use]
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self
    }

    #[must_use]
    pub fn args<W: AsRef<OsStr>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(|word| word.as_ref().to_owned());
        self.words.extend(words);
        self
    }

    /// Gives the call something to read; without it, it reads nothing.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Lets git hold an empty file open while it runs, in place of an input: whoever finds the lock on
    /// that file free knows that git has ended as well.
    #[must_use]
    pub(crate) fn holding(mut self, file: Option<File>) -> Self {
        self.held = file;
        self
    }

    /// Lets it read something, with everything beneath; a link is not followed.
    #[must_use]
    pub(crate) fn reading(mut self, path: &Path) -> Self {
        self.bounds.read(path);
        self
    }

    /// Lets it read and write something, with everything beneath; a link is not followed.
    #[must_use]
    pub fn writing(mut self, path: &Path) -> Self {
        self.bounds.write(path);
        self
    }

    pub(super) fn reaching(mut self, reach: ReadScope) -> Self {
        self.bounds.widen(reach);
        self
    }

    /// Lets it read what the user has set up, wherever that is; not the keys.
    #[must_use]
    pub(crate) fn with_users_settings(self) -> Self {
        self.reaching(ReadScope::Settings)
    }

    /// Lets it run programs besides that the user has set up, which make temporary files.
    #[must_use]
    pub(crate) fn with_users_programs(self) -> Self {
        let call = self.with_users_settings();
        match bounds::temporary_files() {
            Some(folder) => call.writing(&folder),
            None => call,
        }
    }

    /// Lets it speak to servers, and log in there as the user would.
    #[must_use]
    pub(crate) fn with_servers(self) -> Self {
        // Helpers leave others behind, on purpose, who remember logins for a while.
        self.reaching(ReadScope::Servers).withhold(&[STARTED_BY])
    }

    /// Uses a private index file, whose folder it writes to.
    #[must_use]
    pub fn index(self, file: &Path) -> Self {
        let folder = file.parent().unwrap_or(file);
        self.writing(folder).env("GIT_INDEX_FILE", file)
    }

    /// Reads the files of a folder, with the git folder staying where it is.
    #[must_use]
    pub(crate) fn work_tree(self, folder: &Path) -> Self {
        self.reading(folder)
            .folder(folder)
            .below(folder)
            .env("GIT_WORK_TREE", folder)
    }

    /// Follows the user's own configuration as well, which may say that a repository is safe.
    #[must_use]
    pub(crate) fn with_users_config(self) -> Self {
        self.reaching(ReadScope::Settings)
            .withhold(&USERS_CONFIG)
            .inherit(&USERS_CONFIG)
    }

    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets an environment variable that no message may repeat.
    #[must_use]
    pub(crate) fn secret_env(mut self, name: &str, value: &str) -> Self {
        self.secrets.push(value.to_owned());
        self.env(name, value)
    }

    /// Lets variables of our own environment through after all.
    #[must_use]
    pub(crate) fn inherit(mut self, names: &[&str]) -> Self {
        for name in names {
            if let Some(value) = std::env::var_os(name) {
                self.command.env(name, value);
            }
        }
        self
    }

    /// Keeps variables of our own environment from it.
    #[must_use]
    pub(crate) fn withhold(mut self, names: &[&str]) -> Self {
        for name in names {
            self.command.env_remove(name);
        }
        self
    }

    /// Replaces the time after which the call is killed.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Ends the call, and whatever it started, as soon as somebody cancels.
    #[must_use]
    pub(crate) fn stopped_by(mut self, stop: Option<&Cancel>) -> Self {
        self.stop = stop.cloned();
        self
    }

    /// Keeps git from looking for a repository above a folder.
    pub(super) fn below(self, folder: &Path) -> Self {
        let above = folder.parent().unwrap_or(Path::new("/"));
        self.env("GIT_CEILING_DIRECTORIES", above)
    }

    pub(super) fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs the call and returns what it printed; any exit code but 0 is an error.
    pub fn output(self) -> Result<Vec<u8>, GitError> {
        let output = self.run()?;
        match output.code {
            0 => Ok(output.stdout),
            _ => Err(output.failure()),
        }
    }

    /// Runs a call that answers yes or no by exit code 0 or 1.
    pub fn answer(self) -> Result<bool, GitError> {
        let output = self.run()?;
        match output.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(output.failure()),
        }
    }

    /// Runs the call; any exit code is for the caller to judge.
    pub fn run(self) -> Result<Output, GitError> {
        let what = self.what();
        let deadline = self.deadline.unwrap_or_else(|| usual_deadline(&self.words));
        let stop = self.stop.clone();
        let output = self
            .run_within(deadline, &what)
            .map_err(|source| GitError::Io {
                what: what.clone(),
                source,
            })?;
        output.ok_or_else(|| match stop {
            Some(stop) if stop.is_cancelled() => GitError::Stopped { what },
            _ => GitError::TimedOut { what },
        })
    }

    /// The command and what it is about, without the contents it is fed.
    pub(super) fn what(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|w| w.to_string_lossy()).collect();
        scrub(&words.join(" "), &self.secrets)
    }

    /// Files in memory instead of pipes: nothing can block on a full one, and a descendant that
    /// keeps one open cannot hold up the end.
    fn run_within(mut self, deadline: Duration, what: &str) -> io::Result<Option<Output>> {
        let (mut stdout, mut stderr) = (memory_file()?, memory_file()?);
        let stdin = match (&self.stdin, self.held.take()) {
            (Some(bytes), _) => {
                let mut file = memory_file()?;
                file.write_all(bytes)?;
                file.rewind()?;
                Stdio::from(file)
            }
            (None, Some(held)) => held.into(),
            (None, None) => Stdio::null(),
        };
        self.command
            .args(&self.words)
            .stdin(stdin)
            .stdout(match self.printed.take() {
                Some(elsewhere) => elsewhere.into(),
                None => Stdio::from(stdout.try_clone()?),
            })
            .stderr(stderr.try_clone()?);
        if self.bounds.is_local() {
            withhold_secrets(&mut self.command);
        }
        let mut child = self.bounds.spawn(&mut self.command)?;
        let pid = Pid::from_child(&child);
        let woke = pidfd_open(pid, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|pidfd| {
                let stop = self.stop.as_ref().map(Cancel::as_fd).transpose()?;
                let woke = wait(pidfd.as_fd(), stop, deadline)?;
                if woke == WakeReason::Cancelled {
                    // It takes its lock files away.
                    let _ = kill_process_group(pid, Signal::TERM);
                    wait(pidfd.as_fd(), None, GRACE)?;
                }
                Ok(woke)
            });
        if !matches!(woke, Ok(WakeReason::Exited)) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let status = child.wait()?;
        if woke? != WakeReason::Exited {
            wait_until_gone(pid);
            return Ok(None);
        }
        let signalled = || 128 + status.signal().unwrap_or_default();
        Ok(Some(Output {
            code: status.code().unwrap_or_else(signalled),
            stdout: contents(&mut stdout)?,
            stderr: contents(&mut stderr)?,
            what: what.to_owned(),
            secrets: self.secrets,
        }))
    }
}

/// Waits for what a git that was killed had started: dying takes the kernel a moment, and nobody is told of the end of
/// another's child.
fn wait_until_gone(group: Pid) {
    for _ in 0..LOOKS_AT_THE_DYING {
        if test_kill_process_group(group).is_err() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Output {
    /// Makes an error of an exit code that nobody expected.
    pub fn failure(&self) -> GitError {
        let stderr = String::from_utf8_lossy(&self.stderr);
        GitError::Failed {
            what: self.what.clone(),
            code: self.code,
            stderr: scrub(stderr.trim(), &self.secrets),
        }
    }
}

/// Leaves of our own environment what agents see as well: tokens are for servers, and git can be led to read its own
/// environment.
fn withhold_secrets(command: &mut Command) {
    let said: HashSet<OsString> = command
        .get_envs()
        .map(|(name, _)| name.to_owned())
        .collect();
    let is_passed_on = |name: &str| is_allowed_to_all(name) || PASSED_ON.contains(&name);
    for (name, _) in std::env::vars_os() {
        if !said.contains(&name) && !name.to_str().is_some_and(is_passed_on) {
            command.env_remove(name);
        }
    }
}

fn usual_deadline(words: &[OsString]) -> Duration {
    let is_brief = words
        .first()
        .is_some_and(|word| BRIEF.iter().any(|brief| word == brief));
    if is_brief { BRIEF_DEADLINE } else { DEADLINE }
}

fn memory_file() -> io::Result<File> {
    Ok(memfd_create("git", MemfdFlags::CLOEXEC)?.into())
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
