//! Runs one program to its end, in a process group of its own that nothing of it survives.
//!
//! Knows nothing of agents, tasks or git; a process that leaves its group is beyond its reach.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

/// How long a killed process may take to disappear before it is reported.
const DEATH: Duration = Duration::from_secs(10);

/// What to run, where, and for how long at most.
#[derive(Debug, Clone)]
pub struct ProcessSpec {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Its whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads from its standard input, which is empty without it.
    pub stdin_file: Option<PathBuf>,
    /// The file that its output and its errors are appended to.
    pub log: PathBuf,
    /// How long it may run.
    pub timeout: Duration,
    /// How long it may take to end once asked.
    pub grace: Duration,
}

/// The way a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this exit code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// Stopped by us, because its time was over.
    TimedOut,
    /// Stopped by us, because somebody cancelled it.
    Cancelled,
}

/// Why a program could not be run or ended.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no program of that name.
    #[error("could not start {program}: no such program (looked for it to run {line:?})")]
    NotFound {
        /// The name that was looked up.
        program: String,
        /// The whole command line.
        line: String,
    },
    /// The folder to run in is not there.
    #[error("could not start {program}: there is no folder {}", cwd.display())]
    NoFolder {
        /// The program that was to run.
        program: String,
        /// The folder it was to start in.
        cwd: PathBuf,
    },
    /// The command line has no words.
    #[error("could not start a program: the command is empty")]
    EmptyCommand,
    /// Killed processes did not go away.
    #[error("{program} left processes that do not die: {pids:?}")]
    Undead {
        /// The program that was run.
        program: String,
        /// What is still there.
        pids: Vec<i32>,
    },
    /// The system refused.
    #[error("could not {doing} for {program}")]
    Io {
        /// What was attempted.
        doing: &'static str,
        /// The program it was attempted for.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A handle that stops every program that was started with it, now or later.
#[derive(Debug, Clone)]
pub struct Cancel {
    // Written once and never read, so they stay readable and wake every waiter.
    asked: Arc<OwnedFd>,
    at_once: Arc<OwnedFd>,
}

impl Cancel {
    /// Makes a handle that is not cancelled.
    pub fn new() -> io::Result<Self> {
        let flag = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            asked: Arc::new(flag()?),
            at_once: Arc::new(flag()?),
        })
    }

    /// Asks everything that waits on this handle, or on a clone of it, to stop.
    pub fn cancel(&self) {
        raise(&self.asked);
    }

    /// Ends it without waiting for anybody to be ready.
    pub fn cancel_at_once(&self) {
        raise(&self.at_once);
        raise(&self.asked);
    }

    /// Whether somebody has cancelled.
    pub fn is_cancelled(&self) -> bool {
        let mut fds = [PollFd::new(&*self.asked, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&Timespec::default())), Ok(n) if n > 0)
    }
}

fn raise(flag: &OwnedFd) {
    // The only failure is a full counter, which is as readable as any other.
    let _ = rustix::io::write(flag, &1_u64.to_ne_bytes());
}

/// Runs a program to its end; afterwards no process of its group is left.
pub fn run(spec: &ProcessSpec, cancel: &Cancel) -> Result<Ending, ProcessError> {
    let program = program_name(spec)?;
    if cancel.is_cancelled() {
        return Ok(Ending::Cancelled);
    }
    let failed = |doing| {
        let program = program.clone();
        move |source| ProcessError::Io {
            doing,
            program,
            source,
        }
    };
    let mut child = start(spec, &program)?;
    let leader = Pid::from_child(&child);
    let woke = pidfd_open(leader, PidfdFlags::empty())
        .map_err(io::Error::from)
        .and_then(|pidfd| watch(&pidfd, leader, spec, cancel));
    // Before the leader is reaped, so that its number cannot belong to a stranger yet.
    let left = end_group(leader).map_err(failed("end the processes"))?;
    if !left.is_empty() {
        return Err(ProcessError::Undead {
            program,
            pids: left,
        });
    }
    let status = child.wait().map_err(failed("collect the exit status"))?;
    match woke.map_err(failed("wait for the end"))? {
        Woke::Exited => Ok(ending(status)),
        Woke::Cancelled => Ok(Ending::Cancelled),
        Woke::Deadline => Ok(Ending::TimedOut),
    }
}

fn program_name(spec: &ProcessSpec) -> Result<String, ProcessError> {
    let program = spec.argv.first().ok_or(ProcessError::EmptyCommand)?;
    Ok(program.to_string_lossy().into_owned())
}

fn start(spec: &ProcessSpec, program: &str) -> Result<Child, ProcessError> {
    let failed = |doing| {
        move |source| ProcessError::Io {
            doing,
            program: program.to_owned(),
            source,
        }
    };
    if !spec.cwd.is_dir() {
        return Err(ProcessError::NoFolder {
            program: program.to_owned(),
            cwd: spec.cwd.clone(),
        });
    }
    let log = File::options().create(true).append(true).open(&spec.log);
    let log = log.map_err(failed("open the log"))?;
    let errors = log.try_clone().map_err(failed("open the log"))?;
    let stdin = match &spec.stdin_file {
        Some(path) => File::open(path)
            .map_err(failed("open the input"))
            .map(Stdio::from)?,
        None => Stdio::null(),
    };
    let spawned = Command::new(&spec.argv[0])
        .args(&spec.argv[1..])
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .stdout(log)
        .stderr(errors)
        .process_group(0)
        .spawn();
    spawned.map_err(|source| match source.kind() {
        // A folder on the path that may not be read hides that there is nothing behind it.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied if !is_somewhere(spec) => {
            ProcessError::NotFound {
                program: program.to_owned(),
                line: command_line(&spec.argv),
            }
        }
        _ => failed("start")(source),
    })
}

/// Whether a file of the program's name is where it would be looked for.
fn is_somewhere(spec: &ProcessSpec) -> bool {
    let program = Path::new(&spec.argv[0]);
    if program.components().count() > 1 {
        return spec.cwd.join(program).exists();
    }
    let mut path = spec.env.iter().filter(|(name, _)| name == "PATH");
    path.any(|(_, folders)| {
        std::env::split_paths(folders).any(|folder| folder.join(program).exists())
    })
}

fn command_line(argv: &[OsString]) -> String {
    let words: Vec<_> = argv.iter().map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Waits for the end, or for a reason to bring it about; asks politely first.
fn watch(pidfd: &OwnedFd, leader: Pid, spec: &ProcessSpec, cancel: &Cancel) -> io::Result<Woke> {
    let woke = wait(pidfd.as_fd(), Some(cancel.asked.as_fd()), spec.timeout)?;
    if woke != Woke::Exited {
        // It may be gone by now, which is what was wanted.
        let _ = kill_process_group(leader, Signal::TERM);
        wait(pidfd.as_fd(), Some(cancel.at_once.as_fd()), spec.grace)?;
    }
    Ok(woke)
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
    }
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woke {
    Exited,
    Cancelled,
    Deadline,
}

/// Sleeps until a process ends, somebody cancels, or the time is over.
pub(crate) fn wait(
    pidfd: BorrowedFd<'_>,
    cancel: Option<BorrowedFd<'_>>,
    time: Duration,
) -> io::Result<Woke> {
    // A time beyond what the clock can hold is no limit.
    let deadline = Instant::now().checked_add(time);
    let mut fds = vec![PollFd::new(&pidfd, PollFlags::IN)];
    if let Some(cancel) = &cancel {
        fds.push(PollFd::new(cancel, PollFlags::IN));
    }
    loop {
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let timespec = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut fds, timespec.as_ref()) {
            Ok(0) => return Ok(Woke::Deadline),
            Ok(_) if !fds[0].revents().is_empty() => return Ok(Woke::Exited),
            Ok(_) => return Ok(Woke::Cancelled),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills a whole process group and returns, once they are dead, the ones that would not die.
///
/// The leader must not have been reaped yet.
pub(crate) fn end_group(leader: Pid) -> io::Result<Vec<i32>> {
    loop {
        let members = living_members(leader)?;
        // An empty group is no failure, and the next look tells whether anybody is left.
        let _ = kill_process_group(leader, Signal::KILL);
        if members.is_empty() {
            return Ok(Vec::new());
        }
        let mut undead = Vec::new();
        for (pid, pidfd) in members {
            if wait(pidfd.as_fd(), None, DEATH)? == Woke::Deadline {
                undead.push(pid.as_raw_nonzero().get());
            }
        }
        if !undead.is_empty() {
            return Ok(undead);
        }
    }
}

fn living_members(group: Pid) -> io::Result<Vec<(Pid, OwnedFd)>> {
    let mut members = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Some(pid) = Pid::from_raw(pid) else {
            continue;
        };
        if living_group(pid) != Some(group) {
            continue;
        }
        // One that has gone meanwhile needs no waiting for.
        if let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty()) {
            members.push((pid, pidfd));
        }
    }
    Ok(members)
}

/// The process group of a process that is not a zombie.
fn living_group(pid: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let stat = fs::read(Path::new(&path)).ok()?;
    // The second field is a file name in brackets and may hold anything, brackets included.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    Pid::from_raw(group)
}
