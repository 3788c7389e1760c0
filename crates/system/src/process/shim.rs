//! The engine's side of a wrapper: starts it, tells it what to run, waits for its end and reads its record.
//!
//! Believes nothing but the record.

use std::io::{self, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::adopted::{adopt_orphans, collect_dead};
use super::isolation::PROBE;
use super::order::{self, STOP, STOP_AT_ONCE};
use super::record::{Ending, ProcessRecord, load_record};
use super::sweep::{SweepScope, sweep};
use super::table::ProcessEntry;
use super::{Cancel, ProcessError, ProcessIdentity, ProcessSpec, wait, wait_for_any};

/// The name under which our program is a wrapper.
pub const SHIM: &str = "pleach-shim";

/// How much later than it should a wrapper may end; one that takes longer hangs.
const LATE: Duration = Duration::from_secs(30);

/// A wrapper that was started and has not been told what to run.
#[derive(Debug)]
pub struct Shim {
    child: Child,
    /// The wrapper ends when this does, in whatever way.
    lifeline: Option<UnixStream>,
    identity: ProcessIdentity,
    sweeps: SweepScope,
}

impl Shim {
    /// Starts a wrapper, which is Pleach's own program.
    pub fn launch(program: &Path) -> Result<Self, ProcessError> {
        let launched = launch(program);
        launched.map_err(|source| ProcessError::Launch {
            program: program.to_owned(),
            source,
        })
    }

    /// Who the wrapper is, to be noted before it runs anything.
    pub fn identity(&self) -> &ProcessIdentity {
        &self.identity
    }

    /// The same, with other rules for what is ended where the wrapper cannot do it.
    #[must_use]
    pub fn sweeping(mut self, sweeps: SweepScope) -> Self {
        self.sweeps = sweeps;
        self
    }

    /// Has it run a program, and waits until nothing of that is left.
    pub fn run(
        mut self,
        spec: &ProcessSpec,
        cancel: &Cancel,
    ) -> Result<ProcessRecord, ProcessError> {
        let nonce = self.identity.nonce.clone();
        if cancel.is_cancelled() {
            return Ok(ProcessRecord::bare(&nonce, Ending::Cancelled));
        }
        if let Some(lifeline) = &mut self.lifeline {
            let sent = lifeline
                .set_write_timeout(Some(LATE))
                .and_then(|()| order::send(lifeline, &nonce, spec));
            if sent.is_err() {
                // Half an order is none, and the wrapper goes if it has not gone already.
                self.lifeline = None;
            }
        }
        let in_time = self
            .wait_for_end(spec, cancel)
            .map_err(ProcessError::io("wait for the wrapper"))?;
        let swept = match in_time {
            EndedInTime::No => sweep(&self.identity, &spec.cwd, self.sweeps)?,
            EndedInTime::Yes => Vec::new(),
        };
        self.lifeline = None;
        collect_dead();
        let status = self.child.wait();
        let status = status.map_err(ProcessError::io("reap the wrapper"))?;
        if let Some(record) = load_record(&spec.record, &nonce) {
            return Ok(record);
        }
        let mut record = ProcessRecord::bare(&nonce, Ending::Vanished);
        if is_before_it_listened(status) {
            record.ending = Ending::Cancelled;
            return Ok(record);
        }
        let rest = sweep(&self.identity, &spec.cwd, self.sweeps)?;
        record.leaked = swept
            .iter()
            .chain(&rest)
            .map(ProcessEntry::describe)
            .collect();
        Ok(record)
    }

    fn wait_for_end(&self, spec: &ProcessSpec, cancel: &Cancel) -> io::Result<EndedInTime> {
        let pidfd = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        // A time beyond what the clock can hold is no limit.
        let after = |time: Option<Duration>| Instant::now().checked_add(time?);
        let mut deadline = after((spec.timeout.checked_add(spec.grace)).map(|time| time + LATE));
        let mut flags = vec![
            (cancel.at_once.as_fd()?, STOP_AT_ONCE, Duration::ZERO),
            (cancel.asked.as_fd()?, STOP, spec.grace),
        ];
        loop {
            let mut places = vec![pidfd.as_fd()];
            places.extend(flags.iter().map(|(flag, ..)| *flag));
            let Some(first) = wait_for_any(&places, deadline)?.first().copied() else {
                return Ok(EndedInTime::No);
            };
            if first == 0 {
                return Ok(EndedInTime::Yes);
            }
            let (_, sign, grace) = flags.remove(first - 1);
            if let Some(mut lifeline) = self.lifeline.as_ref() {
                // A wrapper that does not take it has ended, which is seen next.
                let _ = lifeline.write_all(&[sign]);
            }
            let sooner = after(grace.checked_add(LATE));
            deadline = deadline.into_iter().chain(sooner).min();
        }
    }
}

impl Drop for Shim {
    fn drop(&mut self) {
        self.lifeline = None;
        // It ends by itself now, unless it hangs; one that is not collected is a corpse in the table, no more.
        if let Ok(None) = self.child.try_wait()
            && let Ok(pidfd) = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())
        {
            let _ = wait(pidfd.as_fd(), None, LATE);
            let _ = self.child.try_wait();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndedInTime {
    Yes,
    No,
}

/// Whether this system lets us keep programs apart by namespaces; asked of a wrapper once, for there is no other way to know.
pub fn can_isolate(program: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let asked = Command::new(program)
            .arg0(SHIM)
            .arg(PROBE)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    })
}

fn launch(program: &Path) -> io::Result<Shim> {
    adopt_orphans();
    let (lifeline, other_end) = UnixStream::pair()?;
    let mut child = Command::new(program)
        .arg0(SHIM)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(other_end))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    match ProcessIdentity::of_child(Pid::from_child(&child)) {
        Ok(identity) => Ok(Shim {
            child,
            lifeline: Some(lifeline),
            identity,
            sweeps: SweepScope::MarkedAndThere,
        }),
        Err(error) => {
            drop(lifeline);
            child.wait()?;
            Err(error)
        }
    }
}

/// Whether a wrapper went for a polite signal: it does so only as long as it has started nothing.
///
/// Ctrl-C reaches one that has not left our session yet.
fn is_before_it_listened(status: ExitStatus) -> bool {
    let signal = status.signal();
    signal.is_some_and(|signal| [SIGINT, SIGTERM, SIGHUP, SIGQUIT].contains(&signal))
}
