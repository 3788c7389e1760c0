//! Everything that descends from this process, asked or made to end.
//!
//! This process adopts whatever loses its parent below it, so nobody can leave the family; it must have no thread that
//! starts other programs. Knows nothing of why they are to end.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process_group, pidfd_send_signal, wait,
};

use super::table::{Entry, living, with_descendants};

/// Scans that find somebody new before those who are known are killed all the same.
const MOST_SCANS: usize = 100;

/// Whether anybody is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Somebody,
    Nobody,
}

/// Collects the dead, telling of each, and whether anybody is left.
pub(super) fn collect(mut dead: impl FnMut(Pid, WaitStatus)) -> io::Result<Left> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => dead(pid, status),
            Ok(None) => return Ok(Left::Somebody),
            Err(Errno::CHILD) => return Ok(Left::Nobody),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Asks everybody to end, and returns who that is; the leader of a group, if it has not been collected, with its group.
pub(super) fn ask_to_end(leader: Option<Pid>) -> io::Result<Vec<Entry>> {
    let mut group = 0;
    if let Some(leader) = leader {
        group = leader.as_raw_nonzero().get();
        // An empty group is what was wanted.
        for signal in [Signal::TERM, Signal::CONT] {
            let _ = kill_process_group(leader, signal);
        }
    }
    let members = members()?;
    for member in members.iter().filter(|member| member.group != group) {
        if let Some(pidfd) = member.hold() {
            tell(&pidfd, Signal::TERM);
            // One that is stopped would not hear it.
            tell(&pidfd, Signal::CONT);
        }
    }
    Ok(members)
}

/// Kills everybody: first all are stopped, so that nobody is born behind our back.
pub(super) fn kill() -> io::Result<()> {
    let mut stopped: Vec<(Entry, OwnedFd)> = Vec::new();
    for _ in 0..MOST_SCANS {
        let known = |member: &Entry| {
            let mut stopped = stopped.iter();
            stopped
                .any(|(entry, _)| entry.pid == member.pid && entry.start_time == member.start_time)
        };
        let new: Vec<Entry> = members()?.into_iter().filter(|new| !known(new)).collect();
        if new.is_empty() {
            break;
        }
        for member in new {
            if let Some(pidfd) = member.hold() {
                tell(&pidfd, Signal::STOP);
                stopped.push((member, pidfd));
            }
        }
    }
    for (_, pidfd) in &stopped {
        tell(pidfd, Signal::KILL);
    }
    Ok(())
}

/// Everybody who descends from this process and lives.
pub(super) fn members() -> io::Result<Vec<Entry>> {
    let own = getpid().as_raw_nonzero().get();
    Ok(with_descendants(living()?, |entry| entry.parent == own))
}

fn tell(pidfd: &OwnedFd, signal: Signal) {
    // It may be gone by now, which is what was wanted; one of another user is reported as left.
    let _ = pidfd_send_signal(pidfd, signal);
}
