//! Runs programs under a wrapper of our own, so that whatever they start ends with them, and with us.
//!
//! Knows nothing of agents, tasks or git. The wrapper is this program itself under another name; the engine's side
//! of it is in `shim`, its own side in `wrapper`.

mod abandoned;
mod adopted;
mod confine;
mod eviction;
mod family;
mod filter;
mod freeze;
mod hardening;
mod identity;
mod isolation;
mod mounts;
mod order;
mod record;
mod relay;
mod shim;
mod sweep;
mod table;
mod wrapper;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

pub use abandoned::{STARTED_BY, end_abandoned, own_mark};
pub use confine::Confinement;
pub use confine::{can_refuse_tcp, holds_our_own, is_available, landlock_version, restrict_files};
pub use eviction::Eviction;
pub(crate) use filter::{can_refuse_calls, refusable_calls};
pub use hardening::harden;
pub use identity::start_time;
pub use identity::{ProcessIdentity, fresh_nonce};
pub use isolation::{HiddenFiles, Isolation, Network, SystemCalls};
pub(crate) use mounts::{SHARED_MEMORY, TERMINALS};
pub use record::{Ending, Output, ProcessRecord, load_record};
pub use shim::{SHIM, Shim, can_isolate};
pub use sweep::{SweepScope, end_leftovers, end_marked};
pub use wrapper::shim_main;

use crate::secrets::Secrets;

/// How much output of a program goes to its log unless somebody says otherwise.
pub const LOG_CAP: u64 = 256 << 20;

/// The variable that bears the wrapper's nonce, in whatever a program starts.
pub const NONCE: &str = "PLEACH_NONCE";

/// How long a killed process may take to disappear before it is reported.
const DEATH: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSpec {
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// Its whole environment, to which only the nonce is added.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads from its standard input, which is empty without it.
    pub stdin_file: Option<PathBuf>,
    /// The file that its output and its errors are appended to.
    pub log: PathBuf,
    /// The file that tells afterwards how it ended.
    pub record: PathBuf,
    pub timeout: Duration,
    pub stall: Option<Duration>,
    /// How long it may take to end once asked.
    pub grace: Duration,
    /// How many bytes of its output are logged from the beginning on; of the rest only the end is.
    pub log_cap: u64,
    pub hide: Secrets,
    /// What it may do with files, if the kernel is to hold it.
    pub sandbox: Option<Confinement>,
    pub isolation: Isolation,
    /// How long the program alone is asked to end, before everybody is that it started.
    pub polite: Option<Duration>,
}

#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("could not start the wrapper {}", program.display())]
    Launch { program: PathBuf, source: io::Error },
    #[error("could not kill these processes: {pids:?}")]
    Undead {
        /// What is still there.
        pids: Vec<i32>,
    },
    #[error("could not {doing}")]
    Io {
        doing: &'static str,
        source: io::Error,
    },
}

impl ProcessError {
    fn io<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Io {
            doing,
            source: error.into(),
        }
    }
}

/// A handle that stops every program that was started with it, now or later.
#[derive(Debug, Clone, Default)]
pub struct Cancel {
    asked: Arc<Flag>,
    at_once: Arc<Flag>,
}

/// Raised once, and never lowered.
#[derive(Debug, Default)]
struct Flag {
    is_raised: Mutex<bool>,
    /// Made for the first who waits: thousands of units of a cluster are followed of which nobody ever does.
    fd: OnceLock<OwnedFd>,
}

impl Cancel {
    /// Asks everything that waits on this handle, or on a clone of it, to stop.
    pub fn cancel(&self) {
        self.asked.raise();
    }

    /// Ends it without waiting for anybody to be ready.
    pub fn cancel_at_once(&self) {
        self.at_once.raise();
        self.asked.raise();
    }

    /// Readable once somebody has cancelled.
    pub fn as_fd(&self) -> io::Result<BorrowedFd<'_>> {
        self.asked.as_fd()
    }

    /// Sleeps for a while, or until somebody cancels.
    pub fn sleep(&self, time: Duration) {
        let deadline = Instant::now().checked_add(time);
        // A system that cannot even wait is no reason to wait longer.
        let _ = self.as_fd().and_then(|fd| wait_for_any(&[fd], deadline));
    }

    pub fn is_cancelled(&self) -> bool {
        *self.asked.is_raised()
    }

    /// Whether it is to end without waiting for anybody to be ready.
    pub fn is_at_once(&self) -> bool {
        *self.at_once.is_raised()
    }
}

impl Flag {
    fn is_raised(&self) -> MutexGuard<'_, bool> {
        self.is_raised
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self) {
        let mut is_raised = self.is_raised();
        *is_raised = true;
        if let Some(fd) = self.fd.get() {
            make_readable(fd);
        }
    }

    fn as_fd(&self) -> io::Result<BorrowedFd<'_>> {
        // Nobody raises it meanwhile.
        let is_raised = self.is_raised();
        if let Some(fd) = self.fd.get() {
            return Ok(fd.as_fd());
        }
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        if *is_raised {
            make_readable(&made);
        }
        Ok(self.fd.get_or_init(|| made).as_fd())
    }
}

/// It is written once and never read, so it stays readable and wakes everybody who waits.
fn make_readable(fd: &OwnedFd) {
    // The only failure is a full counter, which is as readable as any other.
    let _ = rustix::io::write(fd, &1_u64.to_ne_bytes());
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    Exited,
    Cancelled,
    Deadline,
}

/// Sleeps until a process ends, somebody cancels, or the time is over.
pub fn wait(
    pidfd: BorrowedFd<'_>,
    cancel: Option<BorrowedFd<'_>>,
    time: Duration,
) -> io::Result<WakeReason> {
    // A time beyond what the clock can hold is no limit.
    let deadline = Instant::now().checked_add(time);
    let mut fds = vec![pidfd];
    fds.extend(cancel);
    let ready = wait_for_any(&fds, deadline)?;
    Ok(match ready.first() {
        None => WakeReason::Deadline,
        Some(0) => WakeReason::Exited,
        Some(_) => WakeReason::Cancelled,
    })
}

/// Sleeps until there is something to read at some of the places; which, or none when the time is over.
fn wait_for_any(places: &[BorrowedFd<'_>], deadline: Option<Instant>) -> io::Result<Vec<usize>> {
    let mut fds: Vec<PollFd<'_>> = places
        .iter()
        .map(|fd| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN))
        .collect();
    loop {
        let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
        let timespec = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut fds, timespec.as_ref()) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let ready = (0..fds.len()).filter(|at| !fds[*at].revents().is_empty());
    Ok(ready.collect())
}

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn what_nobody_waits_for_can_be_cancelled_without_an_open_file() {
        let limit = getrlimit(Resource::Nofile);
        let few = Rlimit {
            current: Some(64),
            ..limit
        };
        setrlimit(Resource::Nofile, few).unwrap();
        let all: Vec<Cancel> = (0..100).map(|_| Cancel::default()).collect();
        all[0].cancel();
        all[1].cancel_at_once();
        let cancelled = all.iter().filter(|cancel| cancel.is_cancelled()).count();
        let at_once = all.iter().filter(|cancel| cancel.is_at_once()).count();
        assert_eq!((cancelled, at_once), (2, 1));
        // What is left of the limit was not used up.
        all[99].as_fd().unwrap();
    }

    #[test]
    fn whoever_waits_is_woken_by_what_was_cancelled_before_and_by_what_is_meanwhile() {
        let late = Some(Instant::now() + DEATH);
        let woken = |cancel: &Cancel| {
            let ready = wait_for_any(&[cancel.as_fd().unwrap()], late);
            ready.unwrap().len()
        };
        let before = Cancel::default();
        before.cancel();
        assert_eq!(woken(&before), 1);
        let meanwhile = Cancel::default();
        let asked = meanwhile.as_fd().unwrap();
        let ready = wait_for_any(&[asked], Some(Instant::now()));
        assert!(ready.unwrap().is_empty());
        meanwhile.clone().cancel();
        assert_eq!(woken(&meanwhile), 1);
    }
}
