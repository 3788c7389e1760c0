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
use std::sync::Arc;
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
#[derive(Debug, Clone)]
pub struct Cancel {
    // Written once and never read, so they stay readable and wake every waiter.
    asked: Arc<OwnedFd>,
    at_once: Arc<OwnedFd>,
}

impl Cancel {
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

    /// Readable once somebody has cancelled.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.asked.as_fd()
    }

    /// Sleeps for a while, or until somebody cancels.
    pub fn sleep(&self, time: Duration) {
        let deadline = Instant::now().checked_add(time);
        // A system that cannot even wait is no reason to wait longer.
        let _ = wait_for_any(&[self.as_fd()], deadline);
    }

    pub fn is_cancelled(&self) -> bool {
        is_ready(&self.asked)
    }

    /// Whether it is to end without waiting for anybody to be ready.
    pub fn is_at_once(&self) -> bool {
        is_ready(&self.at_once)
    }
}

fn raise(flag: &OwnedFd) {
    // The only failure is a full counter, which is as readable as any other.
    let _ = rustix::io::write(flag, &1_u64.to_ne_bytes());
}

fn is_ready(fd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(n) if n > 0)
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
