//! Finds and ends what a wrapper could not: by its nonce, by the folder it works in, and by descent.
//!
//! Signals nobody without a hold on that very process. Knows nothing of why the wrapper could not.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid};

use super::adopted::{collect_killed, is_from_a_wrapper};
use super::freeze::{freeze, tell};
use super::identity::boot_id;
use super::table::{ProcessEntry, folder};
use super::{DEATH, NONCE, ProcessError, ProcessIdentity, WakeReason, wait};

/// How long a wrapper may take after it was asked: its own grace when it is alone, and some more.
const ASKED: Duration = Duration::from_secs(5);

/// Which processes are taken for the work of a wrapper that cannot tell any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepScope {
    /// Those that bear its mark, and those that work in its folder, where nobody else has any business.
    MarkedAndThere,
    /// Those that bear its mark: the folder is the user's.
    Marked,
}

/// What the system appends to the name of a folder that is gone.
const GONE: &[u8] = b" (deleted)";

/// Ends what is left of a wrapper whose engine is gone, and returns the numbers of those that had to be killed.
pub fn end_leftovers(
    identity: &ProcessIdentity,
    worktree: &Path,
    patience: Duration,
) -> Result<Vec<i32>, ProcessError> {
    end(identity, worktree, SweepScope::MarkedAndThere, patience)
}

/// The same where the folder is the user's, who may be at work there: only what bears the wrapper's mark is ended.
pub fn end_marked(
    identity: &ProcessIdentity,
    patience: Duration,
) -> Result<Vec<i32>, ProcessError> {
    end(identity, Path::new(""), SweepScope::Marked, patience)
}

fn end(
    identity: &ProcessIdentity,
    worktree: &Path,
    sweeps: SweepScope,
    patience: Duration,
) -> Result<Vec<i32>, ProcessError> {
    let boot = boot_id().map_err(ProcessError::io("read the boot id"))?;
    if boot != identity.boot_id {
        return Ok(Vec::new());
    }
    let wrapper = Pid::from_raw(identity.pid).and_then(ProcessEntry::load);
    let wrapper = wrapper.filter(|entry| identity.is(entry));
    if let Some(pidfd) = wrapper.and_then(|entry| entry.hold()) {
        await_end(&pidfd, patience).map_err(ProcessError::io("wait for a wrapper"))?;
    }
    let swept = sweep(identity, worktree, sweeps)?;
    Ok(swept.iter().map(ProcessEntry::number).collect())
}

/// Waits for a wrapper that is ending by itself, because its engine is gone; asks it after a while.
fn await_end(pidfd: &OwnedFd, patience: Duration) -> io::Result<()> {
    if wait(pidfd.as_fd(), None, patience)? == WakeReason::Deadline {
        // It may be gone by now, which is what was wanted; if not, the sweep takes it along. One that is stopped would
        // not hear it.
        for signal in [Signal::TERM, Signal::CONT] {
            tell(pidfd, signal);
        }
        wait(pidfd.as_fd(), None, ASKED)?;
    }
    Ok(())
}

/// Kills a wrapper, whatever is marked as its work, and everything below; those are returned.
pub(super) fn sweep(
    identity: &ProcessIdentity,
    worktree: &Path,
    sweeps: SweepScope,
) -> Result<Vec<ProcessEntry>, ProcessError> {
    let worktree = resolved(worktree);
    let frozen = freeze(&own_line(), |entry| {
        // Nobody that the wrapper started is older than it.
        entry.start_time >= identity.start_time
            && (identity.is(entry)
                || bears(entry, &identity.nonce)
                || is_from_a_wrapper(entry)
                || sweeps == SweepScope::MarkedAndThere && is_lost_in(entry, &worktree))
    });
    let held = frozen.map_err(ProcessError::io("list processes"))?.kill();
    // Looked at while they can be: of the dead, the system tells less.
    let orphans: Vec<bool> = held
        .iter()
        .map(|(entry, _)| is_from_a_wrapper(entry))
        .collect();
    let mut undead = Vec::new();
    for (entry, pidfd) in &held {
        let woke = wait(pidfd.as_fd(), None, DEATH);
        if woke.map_err(ProcessError::io("wait for processes to exit"))? == WakeReason::Deadline {
            undead.push(entry.number());
        }
    }
    for ((entry, pidfd), was_orphan) in held.iter().zip(orphans) {
        // The wrapper itself is collected by whoever started it.
        if !identity.is(entry) {
            collect_killed(entry, pidfd, was_orphan);
        }
    }
    if undead.is_empty() {
        Ok(held.into_iter().map(|(entry, _)| entry).collect())
    } else {
        Err(ProcessError::Undead { pids: undead })
    }
}

/// This process and all above it.
fn own_line() -> Vec<i32> {
    let own = ProcessEntry::load(getpid());
    let line = std::iter::successors(own, |entry| {
        ProcessEntry::load(Pid::from_raw(entry.parent)?)
    });
    line.map(|entry| entry.number()).collect()
}

fn bears(entry: &ProcessEntry, nonce: &str) -> bool {
    let wanted = format!("{NONCE}={nonce}");
    // Another user's cannot be read, and is not ours either.
    let environment = fs::read(folder(entry.pid).join("environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == wanted.as_bytes())
}

/// Whether a process works in a folder, and not for somebody who looks around there at a terminal.
fn is_lost_in(entry: &ProcessEntry, worktree: &Path) -> bool {
    if entry.terminal != 0 {
        return false;
    }
    let Ok(cwd) = fs::read_link(folder(entry.pid).join("cwd")) else {
        return false;
    };
    let gone = cwd.as_os_str().as_bytes().strip_suffix(GONE);
    // The root, or a path that says nothing, would be everybody's.
    let is_place = worktree.is_absolute() && worktree.parent().is_some();
    is_place
        && (cwd.starts_with(worktree)
            || gone.is_some_and(|gone| Path::new(OsStr::from_bytes(gone)).starts_with(worktree)))
}

/// A path as the system tells it, with the part that is there resolved.
fn resolved(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| {
        let resolved = above.canonicalize().ok()?;
        Some((above, resolved))
    });
    match existing {
        Some((above, resolved)) => match path.strip_prefix(above) {
            Ok(rest) if rest.as_os_str().is_empty() => resolved,
            Ok(rest) => resolved.join(rest),
            Err(_) => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_as_far_as_it_is_there() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap();
        let link = real.join("link");
        fs::create_dir(real.join("real")).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        assert_eq!(resolved(&link), real.join("real"));
        assert_eq!(resolved(&link.join("gone/too")), real.join("real/gone/too"));
    }
}
