//! Runs git: the only place of the project that starts it.
//!
//! Knows nothing of tasks and batches, and tells outcomes apart by exit codes alone.

mod address;
mod api_login;
mod beginning;
mod blobs;
mod checkout;
mod clone;
mod credential_helper;
mod credentials;
mod damage;
mod error;
mod excludes;
mod fast_forward;
mod fill;
mod ignored;
mod import;
mod lent;
mod names;
mod network;
mod object;
mod older_store;
mod origin;
mod pauses;
mod printed;
mod publish;
mod push;
pub(crate) mod read;
mod refs;
mod repack;
mod repository;
mod rooms;
mod settings;
mod shadow;
mod stale_locks;
pub mod store;
mod store_error;
mod target;
mod users_config;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, PipeWriter, Read, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::process::{Cancel, Woke, wait};

pub use address::{Address, BadAddress, UserInfo};
pub(crate) use beginning::Beginning;
pub(crate) use blobs::Objects;
pub(crate) use checkout::Checkout;
pub use credential_helper::answer as answer_git;
pub use credentials::{Login, Logins};
pub use damage::SetAside;
pub use error::GitError;
pub use fast_forward::{FastForwardError, FastForwarded};
pub(crate) use ignored::{ignored, loose_files};
pub(crate) use import::{names as names_in, open_folder, open_plain};
pub(crate) use lent::alternate_line;
pub use names::ref_segment;
pub use object::{BlobId, CommitId, NotAnId, TreeId};
pub use pauses::Pauses;
pub(crate) use printed::{nul_separated, os_str, parse_id};
pub use push::{PushError, Pushed};
pub use repository::{Named, Put, PutError, Repository};
pub use store::{Identity, Store};
pub use store_error::{LoginProblem, StoreError};

pub(crate) use address::{HttpHost, percent_decoded};
pub(crate) use credentials::{Wish, what_to_set};
pub(crate) use error::{plain_words, scrub};

/// From here on `merge-tree` takes `--merge-base`, also for each line of `--stdin`, and attributes
/// can be read from a tree.
const NEEDED: (u32, u32) = (2, 41);

const DEADLINE: Duration = Duration::from_mins(10);

/// How long a call that is stopped may take to put its files in order.
const GRACE: Duration = Duration::from_secs(2);

/// Switches off everything in a repository's configuration that runs programs or tidies up.
const QUIET: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "commit.gpgsign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "protocol.file.allow=always",
    "protocol.version=2",
];

/// A git program that is new enough.
#[derive(Debug, Clone)]
pub struct Git {
    program: PathBuf,
}

/// The repository that a call is made in, which decides whose configuration it follows.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A git folder that only Pleach writes to: no configuration but its own.
    Ours(&'a Path),
    /// Any folder of the user's repository: found and configured as the user's own git would.
    Users(&'a Path),
    /// A folder that is in no repository: the user's own configuration and nothing else.
    Nowhere(&'a Path),
}

/// Where the user's git looks for the user's configuration.
const USERS_CONFIG: [&str; 3] = [
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

impl Git {
    /// Finds git on the path and checks that it is new enough.
    pub fn find() -> Result<Self, GitError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Self::at(find_program(&path, "git").ok_or(GitError::NotInstalled)?)
    }

    /// Takes a certain git program if it is new enough.
    pub fn at(program: PathBuf) -> Result<Self, GitError> {
        let git = Self { program };
        let found = git.version()?;
        if version(&found).is_some_and(|version| version >= NEEDED) {
            Ok(git)
        } else {
            let needed = format!("{}.{}", NEEDED.0, NEEDED.1);
            Err(GitError::TooOld { found, needed })
        }
    }

    /// Its version, as it says it.
    pub(crate) fn version(&self) -> Result<String, GitError> {
        let printed = self.bare_call().arg("version").output()?;
        let said = String::from_utf8_lossy(&printed);
        Ok(said.trim().trim_start_matches("git version ").to_owned())
    }

    /// Begins a call.
    pub fn call(&self, place: Place<'_>) -> Call {
        let call = self.bare_call();
        match place {
            Place::Ours(git_dir) => call
                .folder(git_dir)
                .below(git_dir)
                .env("GIT_DIR", git_dir)
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_ATTR_NOSYSTEM", "1")
                // An agent could make every object look like another one.
                .env("GIT_NO_REPLACE_OBJECTS", "1"),
            Place::Users(folder) => call
                .folder(folder)
                .inherit(&USERS_CONFIG)
                .inherit(&["GIT_CEILING_DIRECTORIES"]),
            Place::Nowhere(folder) => call.folder(folder).below(folder).inherit(&USERS_CONFIG),
        }
    }

    fn bare_call(&self) -> Call {
        let mut call = Call::of(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                call.command.env_remove(name);
            }
        }
        call.command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "/bin/false")
            .env("GIT_SSH_COMMAND", network::SSH)
            .env("SSH_ASKPASS_REQUIRE", "never")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_EDITOR", ":")
            .env("GIT_PAGER", "cat");
        for setting in QUIET {
            call.command.args(["-c", setting]);
        }
        call
    }
}

/// Finds a program on a search path.
pub(crate) fn find_program(path: &OsStr, name: &str) -> Option<PathBuf> {
    // A relative entry would mean another program in every folder.
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}

/// One call of git that is being put together.
pub struct Call {
    command: Command,
    words: Vec<OsString>,
    stdin: Option<Vec<u8>>,
    /// A file that is held open as long as git runs, even if this process does not live that long.
    held: Option<File>,
    /// Where what is printed goes, if not into memory.
    printed: Option<PipeWriter>,
    deadline: Duration,
    stop: Option<Cancel>,
    secrets: Vec<String>,
}

/// Without the environment, which may hold secrets.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.what()).finish()
    }
}

/// What a call left behind, whatever its exit code.
#[derive(Debug)]
pub struct Output {
    /// The exit code, or 128 and the signal that ended it.
    pub code: i32,
    /// What was printed.
    pub stdout: Vec<u8>,
    stderr: Vec<u8>,
    what: String,
    secrets: Vec<String>,
}

impl Call {
    /// Begins a call of any program that answers questions about git.
    pub(crate) fn of(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env("LC_ALL", "C").process_group(0);
        Self {
            command,
            words: Vec::new(),
            stdin: None,
            held: None,
            printed: None,
            deadline: DEADLINE,
            stop: None,
            secrets: Vec::new(),
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self
    }

    /// Adds arguments.
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

    /// Uses a private index file.
    #[must_use]
    pub fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    /// Works on the files of a folder, with the git folder staying where it is.
    #[must_use]
    pub fn work_tree(self, folder: &Path) -> Self {
        self.folder(folder)
            .below(folder)
            .env("GIT_WORK_TREE", folder)
    }

    /// Follows the user's own configuration as well, which may say that a repository is safe.
    #[must_use]
    pub fn with_users_config(self) -> Self {
        self.withhold(&USERS_CONFIG).inherit(&USERS_CONFIG)
    }

    /// Sets an environment variable.
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
        self.deadline = deadline;
        self
    }

    /// Ends the call, and whatever it started, as soon as somebody cancels.
    #[must_use]
    pub(crate) fn stopped_by(mut self, stop: Option<&Cancel>) -> Self {
        self.stop = stop.cloned();
        self
    }

    /// Keeps git from looking for a repository above a folder.
    fn below(self, folder: &Path) -> Self {
        let above = folder.parent().unwrap_or(Path::new("/"));
        self.env("GIT_CEILING_DIRECTORIES", above)
    }

    fn folder(mut self, folder: &Path) -> Self {
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
        let deadline = self.deadline;
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
    fn what(&self) -> String {
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
        let mut child = self
            .command
            .args(&self.words)
            .stdin(stdin)
            .stdout(match self.printed.take() {
                Some(elsewhere) => elsewhere.into(),
                None => Stdio::from(stdout.try_clone()?),
            })
            .stderr(stderr.try_clone()?)
            .spawn()?;
        let pid = Pid::from_child(&child);
        let stop = self.stop.as_ref().map(Cancel::as_fd);
        let woke = pidfd_open(pid, PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|pidfd| {
                let woke = wait(pidfd.as_fd(), stop, deadline)?;
                if woke == Woke::Cancelled {
                    // It takes its lock files away.
                    let _ = kill_process_group(pid, Signal::TERM);
                    wait(pidfd.as_fd(), None, GRACE)?;
                }
                Ok(woke)
            });
        if !matches!(woke, Ok(Woke::Exited)) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let status = child.wait()?;
        if woke? != Woke::Exited {
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

fn memory_file() -> io::Result<File> {
    Ok(memfd_create("git", MemfdFlags::CLOEXEC)?.into())
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
