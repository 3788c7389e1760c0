//! Everything that descends from this process, asked or made to end.
//!
//! This process adopts whatever loses its parent below it, so nobody can leave the family; it must have no thread that
//! starts other programs. Knows nothing of why they are to end.

use std::io;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait,
};

use super::freeze::{freeze, tell};
use super::table::{ProcessEntry, living, with_descendants};

/// Whether anybody is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descendants {
    Remain,
    Gone,
}

/// Collects the dead, telling of each, and whether anybody is left.
pub(super) fn collect(mut dead: impl FnMut(Pid, WaitStatus)) -> io::Result<Descendants> {
    loop {
        // Any child, adopted ones too: a thread that waited for a child of its own would find it collected.
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => dead(pid, status),
            Ok(None) => return Ok(Descendants::Remain),
            Err(Errno::CHILD) => return Ok(Descendants::Gone),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Asks one process to end that has not been collected, and nobody else.
pub(super) fn ask_one_to_end(pid: Pid) {
    for signal in [Signal::TERM, Signal::CONT] {
        // One that has gone already is what was wanted.
        let _ = kill_process(pid, signal);
    }
}

/// Asks everybody to end, and returns who that is; the leader of a group, if it has not been collected, with its group.
pub(super) fn ask_to_end(leader: Option<Pid>) -> io::Result<Vec<ProcessEntry>> {
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

pub(super) fn kill() -> io::Result<()> {
    let own = own_number();
    freeze(&[], |entry| entry.parent == own)?.kill();
    Ok(())
}

/// Everybody who descends from this process and lives.
pub(super) fn members() -> io::Result<Vec<ProcessEntry>> {
    let own = own_number();
    Ok(with_descendants(living()?, |entry| entry.parent == own))
}

fn own_number() -> i32 {
    getpid().as_raw_nonzero().get()
}
