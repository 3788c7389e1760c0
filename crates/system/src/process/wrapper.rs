//! The wrapper's side: runs one program, carries its output, ends its whole family, writes how it ended.
//!
//! Listens to the engine as long as there is one. Knows nothing of what the program is for.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Pid, WaitStatus, getpid, set_child_subreaper, setsid};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::confine::{refuse_tcp, restrict};
use super::family::{self, Descendants};
use super::filter::refuse_calls;
use super::hardening::{give_up_rights, while_dumpable};
use super::isolation::{self, PROBE};
use super::order::{self, STOP, STOP_AT_ONCE, WrapperOrder};
use super::record::{Ending, ProcessRecord, unix_ms};
use super::relay::{CHUNK, Relay};
use super::table::ProcessEntry;
use super::{DEATH, NONCE, Network, ProcessSpec, SystemCalls, wait_for_any};

/// How long the program may take to end when there is no engine any more.
const GRACE_ALONE: Duration = Duration::from_secs(2);

/// How long what a program leaves behind may take to end.
const GRACE_OF_LEFTOVERS: Duration = Duration::from_secs(1);

/// How long killed processes take at least.
const DYING: Duration = Duration::from_millis(20);

/// How long output may still come when everybody is dead.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How much sooner than the wrapper the system may pick the program when memory runs out.
const EXPENDABLE: i32 = 500;

/// Waits for an order on standard input and carries it out.
pub fn shim_main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == PROBE) {
        return match isolation::probe() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    // Nobody is there to be told why: what the engine sees is that there is no record.
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    // Only the leader of a group is refused, and it stands for itself already.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let Some(order) = order::receive(&mut control)? else {
        return Ok(());
    };
    let WrapperOrder { nonce, spec } = order;
    let mut record = ProcessRecord::bare(&nonce, Ending::Vanished);
    match Supervisor::begin(&spec, &nonce, control) {
        Ok(watch) => watch.until_the_end(&mut record)?,
        Err(reason) => record.ending = Ending::NotStarted(reason),
    }
    record.ended_at = unix_ms();
    record.store(&spec.record)
}

/// A program that runs, and everything that may happen to it.
struct Supervisor<'s> {
    spec: &'s ProcessSpec,
    program: Pid,
    /// None once it has been collected: its number may be somebody else's then.
    leader: Option<Pid>,
    /// None once the engine is gone.
    control: Option<UnixStream>,
    signals: Signals,
    relay: Relay,
    /// None for a time beyond what the clock can hold.
    timeout_at: Option<Instant>,
    /// Decided by the first that happens.
    ending: Option<Ending>,
    /// When everybody is asked to end, where the program was asked alone.
    ask_all_at: Option<Instant>,
    kill_at: Option<Instant>,
    killing_since: Option<Instant>,
    leaked: Vec<String>,
}

impl<'s> Supervisor<'s> {
    fn begin(spec: &'s ProcessSpec, nonce: &str, control: UnixStream) -> Result<Self, String> {
        let failed = |doing: &'static str| move |error: io::Error| format!("{doing}: {error}");
        // First of all: whoever has threads stays in the namespaces that it is in.
        isolation::enter(&spec.isolation).map_err(failed("could not set up the sandbox"))?;
        // Before anything is started, so that no end of it is missed.
        let signals = Signals::watch().map_err(failed("could not watch for signals"))?;
        control
            .set_nonblocking(true)
            .map_err(failed("could not listen for the engine"))?;
        let mut log = File::options();
        let log = log.create(true).append(true).mode(0o600).open(&spec.log);
        let log = log.map_err(failed("could not open the log"))?;
        let (pipe, program) = start(spec, nonce)?;
        Ok(Self {
            spec,
            program,
            leader: Some(program),
            control: Some(control),
            signals,
            relay: Relay::new(pipe, log, spec.log_cap, &spec.hide),
            timeout_at: Instant::now().checked_add(spec.timeout),
            ending: None,
            ask_all_at: None,
            kill_at: None,
            killing_since: None,
            leaked: Vec::new(),
        })
    }

    fn until_the_end(mut self, record: &mut ProcessRecord) -> io::Result<()> {
        while self.step()? == Descendants::Remain {}
        let last_words = Instant::now() + LAST_WORDS;
        while let Some(source) = self.relay.source() {
            if wait_for_any(&[source], Some(last_words))?.is_empty() {
                break;
            }
            self.relay.carry();
            if Instant::now() >= last_words {
                break;
            }
        }
        record.output = self.relay.finish();
        record.leaked = self.leaked;
        record.ending = self.ending.unwrap_or(Ending::Vanished);
        if self.killing_since.is_some() && family::collect(|_, _| ())? == Descendants::Remain {
            let left = family::members()?;
            record.survivors = left.iter().map(ProcessEntry::describe).collect();
        }
        record.cpu_ms = cpu_of_the_dead().unwrap_or_default();
        Ok(())
    }

    /// Sleeps until something happens and does what follows from it.
    fn step(&mut self) -> io::Result<Descendants> {
        let happened = self.sleep()?;
        if happened.output {
            self.relay.carry();
        }
        if happened.death && self.collect()? == Descendants::Gone {
            return Ok(Descendants::Gone);
        }
        if happened.message {
            self.listen()?;
        }
        if happened.term {
            self.signals.forget_term();
            self.end(Ending::Abandoned, self.spec.grace.min(GRACE_ALONE))?;
        }
        let now = Instant::now();
        let is_over = |time: Option<Instant>| time.is_some_and(|time| now >= time);
        if is_over(self.gives_up_at()) {
            return Ok(Descendants::Gone);
        }
        if is_over(self.ask_all_at) {
            self.ask_all_at = None;
            family::ask_to_end(self.leader)?;
        }
        if is_over(self.kill_at) {
            family::kill()?;
            // Those who are dying are looked for again, ever later: somebody may have been missed.
            let began = *self.killing_since.get_or_insert(now);
            self.kill_at = Some(now + DYING.max(now - began));
        } else if is_over(self.timeout_at) {
            self.end(Ending::TimedOut, self.spec.grace)?;
        } else if is_over(self.stalls_at()) {
            self.end(Ending::Stalled, self.spec.grace)?;
        }
        Ok(Descendants::Remain)
    }

    fn sleep(&self) -> io::Result<WakeCauses> {
        let now = Instant::now();
        let rests_until = self.relay.rests_until().filter(|time| *time > now);
        let output = self.relay.source().filter(|_| rests_until.is_none());
        let deadlines = [
            rests_until,
            self.ask_all_at,
            self.kill_at,
            self.gives_up_at(),
            self.timeout_at,
            self.stalls_at(),
        ];
        let deadline = deadlines.into_iter().flatten().min();
        let mut places: Vec<BorrowedFd<'_>> =
            vec![self.signals.death.as_fd(), self.signals.term.as_fd()];
        places.extend(output);
        places.extend(self.control.as_ref().map(AsFd::as_fd));
        let ready = wait_for_any(&places, deadline)?;
        let is_ready = |at: usize| ready.contains(&at);
        let control_at = 2 + usize::from(output.is_some());
        Ok(WakeCauses {
            death: is_ready(0),
            term: is_ready(1),
            output: output.is_some() && is_ready(2),
            message: is_ready(control_at),
        })
    }

    fn stalls_at(&self) -> Option<Instant> {
        let stall = self.spec.stall.filter(|_| self.ending.is_none())?;
        self.relay.heard_at().checked_add(stall)
    }

    fn gives_up_at(&self) -> Option<Instant> {
        self.killing_since.map(|began| began + DEATH)
    }

    fn collect(&mut self) -> io::Result<Descendants> {
        self.signals.forget_death();
        let mut status = None;
        let left = family::collect(|pid, ended| {
            if pid == self.program {
                status = Some(ended);
            }
        })?;
        // Only the first: the number may have come back to one of its descendants.
        let Some(status) = status.filter(|_| self.leader.is_some()) else {
            return Ok(left);
        };
        self.leader = None;
        // Who is left has nothing to wait for any more, and little time.
        self.ask_all_at = self.ask_all_at.map(|_| Instant::now());
        let ended_by_itself = self.ending.is_none();
        self.end_by(Instant::now() + GRACE_OF_LEFTOVERS);
        if ended_by_itself {
            self.ending = Some(ending(status));
            self.timeout_at = None;
            if left == Descendants::Remain {
                self.leaked = family::ask_to_end(None)?
                    .iter()
                    .map(ProcessEntry::describe)
                    .collect();
            }
        }
        Ok(left)
    }

    fn listen(&mut self) -> io::Result<()> {
        let Some(control) = &mut self.control else {
            return Ok(());
        };
        let mut sign = [0];
        match control.read(&mut sign) {
            Ok(1) if sign[0] == STOP => self.end(Ending::Cancelled, self.spec.grace),
            Ok(1) if sign[0] == STOP_AT_ONCE => self.end(Ending::Cancelled, Duration::ZERO),
            Ok(1) => Ok(()),
            Err(error) if is_for_later(&error) => Ok(()),
            // An engine that cannot be heard is as good as gone.
            Ok(_) | Err(_) => {
                self.control = None;
                self.end(Ending::Abandoned, self.spec.grace.min(GRACE_ALONE))
            }
        }
    }

    /// Begins to end the family, or makes the end that has begun come sooner.
    fn end(&mut self, ending: Ending, grace: Duration) -> io::Result<()> {
        if let Some(by) = Instant::now().checked_add(grace) {
            self.end_by(by);
        }
        if self.ending.is_none() {
            self.ending = Some(ending);
            self.timeout_at = None;
            match (self.leader, self.spec.polite) {
                _ if grace.is_zero() => {}
                (Some(leader), Some(polite)) => {
                    family::ask_one_to_end(leader);
                    // Half of the time is for those who are asked later.
                    self.ask_all_at = Instant::now().checked_add(polite.min(grace / 2));
                }
                (leader, _) => family::ask_to_end(leader).map(drop)?,
            }
        }
        Ok(())
    }

    fn end_by(&mut self, time: Instant) {
        self.kill_at = Some(self.kill_at.map_or(time, |before| before.min(time)));
    }
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent, and any of them may be so"
)]
struct WakeCauses {
    death: bool,
    term: bool,
    output: bool,
    message: bool,
}

/// Signals as something to read.
struct Signals {
    death: UnixStream,
    term: UnixStream,
}

impl Signals {
    fn watch() -> io::Result<Self> {
        let (death, for_death) = UnixStream::pair()?;
        let (term, for_term) = UnixStream::pair()?;
        for stream in [&death, &term] {
            stream.set_nonblocking(true)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, for_death)?;
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            signal_hook::low_level::pipe::register(signal, for_term.try_clone()?)?;
        }
        Ok(Self { death, term })
    }

    fn forget_death(&mut self) {
        forget(&mut self.death);
    }

    fn forget_term(&mut self) {
        forget(&mut self.term);
    }
}

fn forget(signals: &mut UnixStream) {
    let mut bytes = [0; 64];
    while matches!(signals.read(&mut bytes), Ok(length) if length == bytes.len()) {}
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

/// Starts the program; where its output can be read, or why it does not start.
fn start(spec: &ProcessSpec, nonce: &str) -> Result<(OwnedFd, Pid), String> {
    let program = spec.argv.first().ok_or("the command is empty")?;
    let failed = |doing: &'static str| move |error: io::Error| format!("{doing}: {error}");
    if !spec.cwd.is_dir() {
        return Err(format!("the folder {} does not exist", spec.cwd.display()));
    }
    let stdin = match &spec.stdin_file {
        Some(path) => File::open(path)
            .map(Stdio::from)
            .map_err(failed("could not open the input"))?,
        None => Stdio::null(),
    };
    let (pipe, output) = output_pipe().map_err(failed("could not create a pipe"))?;
    let errors = output
        .try_clone()
        .map_err(failed("could not create a pipe"))?;
    let mut command = Command::new(program);
    command
        .args(&spec.argv[1..])
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(NONCE, nonce)
        .stdin(stdin)
        .stdout(output)
        .stderr(errors)
        .process_group(0);
    let spawned = while_expendable(|| spawn(&mut command, spec))?;
    let child = spawned.map_err(|error| match error.kind() {
        // A folder on the path that may not be read hides that there is nothing behind it.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied if !is_somewhere(spec) => {
            format!("no such program: {}", program.display())
        }
        _ => format!("could not start {}: {error}", program.display()),
    })?;
    Ok((pipe, Pid::from_child(&child)))
}

/// Starts it, held by the kernel if it is to be; what cannot be held is not started.
fn spawn(command: &mut Command, spec: &ProcessSpec) -> Result<io::Result<Child>, String> {
    let without_tcp = spec.isolation.network == Network::WithoutTcp;
    if spec.sandbox.is_none() && !without_tcp {
        return Ok(command.spawn());
    }
    let hold = || {
        if without_tcp {
            refuse_tcp()?;
        }
        match &spec.sandbox {
            None => Ok(()),
            Some(sandbox) => {
                give_up_rights();
                restrict(sandbox)?;
                match spec.isolation.calls {
                    SystemCalls::Filtered => refuse_calls(),
                    SystemCalls::All => Ok(()),
                }
            }
        }
    };
    let failed = |why: &str| format!("could not set up the sandbox: {why}");
    // On a thread of its own: whoever is held stays so, and we must still write the log and end the family.
    let spawned = std::thread::scope(|scope| {
        let spawn = || hold().map(|()| command.spawn());
        let thread = std::thread::Builder::new().spawn_scoped(scope, spawn);
        let thread = thread.map_err(|error| error.to_string())?;
        thread
            .join()
            .unwrap_or_else(|_| Err("it panicked".to_owned()))
    });
    spawned.map_err(|why| failed(&why))
}

fn output_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    // The reading end alone: the program must not find its output to be in a hurry.
    rustix::io::ioctl_fionbio(&read, true)?;
    // A smaller one does as well, at some cost.
    let _ = fcntl_setpipe_size(&write, CHUNK);
    Ok((read, write))
}

/// Starts something that the system ends rather than us when memory runs out.
fn while_expendable<T>(start: impl FnOnce() -> T) -> T {
    let path = Path::new("/proc/self/oom_score_adj");
    let own = fs::read_to_string(path).ok();
    let own = own.and_then(|text| text.trim().parse::<i32>().ok());
    // Opened before anything runs that we hold.
    let file = while_dumpable(|| File::options().write(true).open(path)).ok();
    // All of this is a wish that the system may refuse.
    let set = |score: i32| {
        let text = score.to_string();
        file.as_ref().map(|file| file.write_at(text.as_bytes(), 0))
    };
    if let Some(own) = own {
        let _ = set((own + EXPENDABLE).min(1000));
    }
    let started = start();
    if let Some(own) = own {
        let _ = set(own);
    }
    started
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

fn ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
    }
}

/// What all that have been collected took of processors, in milliseconds.
fn cpu_of_the_dead() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_ascii_whitespace().skip(13).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(ticks * 1000 / rustix::param::clock_ticks_per_second())
}
