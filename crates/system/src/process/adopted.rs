//! Orphans that come to the engine: whom a dead wrapper left behind, and the dead that nobody waits for.
//!
//! Never waits for a child that somebody else in this process may be waiting for.

use std::collections::HashSet;
use std::fs;
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, getpid, set_child_subreaper, waitid};

use super::table::{ProcessEntry, ProcessLookup, folder, lookups};

/// How long a dead child of our own takes at most to be collected by whoever started it.
const PATIENCE: Duration = Duration::from_mins(1);

/// Dead children, and when they were looked for.
struct SeenDead {
    at: Instant,
    keys: HashSet<(i32, u64)>,
}

/// Has whatever loses its wrapper come to this process, where it is found.
pub(super) fn adopt_orphans() {
    static ONCE: Once = Once::new();
    // A system that refuses leaves orphans to be found by their marks and folders.
    ONCE.call_once(|| {
        let _ = set_child_subreaper(Some(getpid()));
    });
}

/// Whether a process came to us from a wrapper that is dead.
///
/// What wrappers start is held by one more filter of system calls than we are, for good. Our own children are not; nor
/// are daemons that they leave, such as one of `ssh` that keeps a connection open.
pub(super) fn is_from_a_wrapper(entry: &ProcessEntry) -> bool {
    is_child(entry) && filters(entry.pid) > filters(getpid())
}

/// Collects one that was killed, unless it is somebody's own child here.
pub(super) fn collect_killed(entry: &ProcessEntry, pidfd: &OwnedFd, was_from_a_wrapper: bool) {
    if was_from_a_wrapper || !is_child(entry) {
        // Whoever is not our child by now was collected by another.
        let _ = waitid(WaitId::PidFd(pidfd.as_fd()), collecting());
    }
}

/// Collects orphans that ended by themselves, now and then.
///
/// A child of our own is collected at once by whoever waits for it. One that has been dead for a while is an orphan.
pub(super) fn collect_dead() {
    static DEAD: Mutex<Option<SeenDead>> = Mutex::new(None);
    let mut known = DEAD.lock().unwrap_or_else(PoisonError::into_inner);
    if known
        .as_ref()
        .is_some_and(|seen| seen.at.elapsed() < PATIENCE)
    {
        return;
    }
    let Ok(looks) = lookups() else { return };
    let dead: Vec<ProcessEntry> = looks
        .filter_map(|look| match look {
            ProcessLookup::Found(entry) if entry.is_dead && is_child(&entry) => Some(entry),
            _ => None,
        })
        .collect();
    let before = known.take().map(|seen| seen.keys).unwrap_or_default();
    for entry in dead.iter().filter(|entry| before.contains(&entry.key())) {
        let _ = waitid(WaitId::Pid(entry.pid), collecting());
    }
    *known = Some(SeenDead {
        at: Instant::now(),
        keys: dead.iter().map(ProcessEntry::key).collect(),
    });
}

fn collecting() -> WaitIdOptions {
    WaitIdOptions::EXITED | WaitIdOptions::NOHANG
}

fn is_child(entry: &ProcessEntry) -> bool {
    entry.parent == getpid().as_raw_nonzero().get()
}

/// How many filters of system calls hold a process; none where the kernel does not tell.
fn filters(pid: Pid) -> u32 {
    let status = fs::read_to_string(folder(pid).join("status")).unwrap_or_default();
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix("Seccomp_filters:"));
    count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or(0)
}
