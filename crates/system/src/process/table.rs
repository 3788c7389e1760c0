//! The system's table of processes, and a hold on one of them that no other can slip into.
//!
//! Knows nothing of who belongs to whom but by parents.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: Pid,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// Zero for a process without a terminal.
    pub(super) terminal: i32,
    pub(super) start_time: u64,
    pub(super) is_dead: bool,
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) enum ProcessLookup {
    Found(ProcessEntry),
    /// It went before its turn came.
    Gone,
}

/// Every process, dead ones that nobody has collected among them; each is looked at when its turn comes.
pub(super) fn lookups() -> io::Result<impl Iterator<Item = ProcessLookup>> {
    let numbers = fs::read_dir("/proc")?.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        name.to_str()?.parse().ok().and_then(Pid::from_raw)
    });
    Ok(
        numbers
            .map(|pid| ProcessEntry::load(pid).map_or(ProcessLookup::Gone, ProcessLookup::Found)),
    )
}

pub(super) fn living() -> io::Result<Vec<ProcessEntry>> {
    let seen = lookups()?.filter_map(|look| match look {
        ProcessLookup::Found(entry) if !entry.is_dead => Some(entry),
        _ => None,
    });
    Ok(seen.collect())
}

/// Those that are wanted, and whatever has one of them above it.
pub(super) fn with_descendants(
    living: Vec<ProcessEntry>,
    is_wanted: impl Fn(&ProcessEntry) -> bool,
) -> Vec<ProcessEntry> {
    let (mut family, mut others): (Vec<_>, Vec<_>) = living.into_iter().partition(is_wanted);
    let mut at = 0;
    while at < family.len() {
        let parent = family[at].number();
        family.extend(others.extract_if(.., |entry| entry.parent == parent));
        at += 1;
    }
    family
}

impl ProcessEntry {
    pub(super) fn load(pid: Pid) -> Option<Self> {
        Self::parse(pid, &fs::read(folder(pid).join("stat")).ok()?)
    }

    fn parse(pid: Pid, stat: &[u8]) -> Option<Self> {
        // The second field is a file name in brackets and may hold anything, brackets included.
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let rest = std::str::from_utf8(&stat[close + 1..]).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let threads: u32 = fields.get(17)?.parse().ok()?;
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            terminal: fields.get(4)?.parse().ok()?,
            start_time: fields.get(19)?.parse().ok()?,
            // One whose first thread alone has ended looks like a corpse, and is none.
            is_dead: matches!(*fields.first()?, "Z" | "X") && threads <= 1,
            name,
        })
    }

    pub(super) fn number(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// What no other process has in the life of the system.
    pub(super) fn key(&self) -> (i32, u64) {
        (self.number(), self.start_time)
    }

    /// Takes hold of the process that was looked at; nothing if it is gone, whoever has its number now.
    pub(super) fn hold(&self) -> Option<OwnedFd> {
        let pidfd = pidfd_open(self.pid, PidfdFlags::empty()).ok()?;
        // Looked at before and after: if it is the same one, it was there all the time.
        let now = Self::load(self.pid)?;
        (now.start_time == self.start_time && !now.is_dead).then_some(pidfd)
    }

    pub(super) fn describe(&self) -> String {
        format!("{} ({})", self.name, self.pid.as_raw_nonzero())
    }
}

pub(super) fn folder(pid: Pid) -> PathBuf {
    PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: i32, parent: i32) -> ProcessEntry {
        ProcessEntry {
            pid: Pid::from_raw(pid).unwrap(),
            parent,
            group: 1,
            terminal: 0,
            start_time: 1,
            is_dead: false,
            name: String::new(),
        }
    }

    #[test]
    fn a_family_is_whole_whatever_order_it_is_listed_in() {
        let living = [(5, 4), (2, 1), (4, 3), (3, 2), (9, 8), (8, 1)];
        let living = living.map(|(pid, parent)| entry(pid, parent)).to_vec();
        let family = with_descendants(living, |entry| entry.parent == 2);
        let mut numbers: Vec<i32> = family.iter().map(ProcessEntry::number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [3, 4, 5]);
    }

    #[test]
    fn a_name_may_hold_anything_and_a_process_outlives_its_first_thread() {
        let line = |state: char, threads: u32| {
            let rest = format!("1 7 7 34816 -1 0 0 0 0 0 0 0 0 0 20 0 {threads} 0 4711 0 0");
            let stat = format!("9 (a ) Z (b) {state} {rest}\n");
            ProcessEntry::parse(Pid::from_raw(9).unwrap(), stat.as_bytes()).unwrap()
        };
        let entry = line('S', 1);
        assert_eq!(entry.name, "a ) Z (b");
        assert_eq!((entry.parent, entry.group), (1, 7));
        assert_eq!((entry.terminal, entry.start_time), (34816, 4711));
        let is_dead = [('S', 1), ('Z', 1), ('Z', 2), ('X', 0)];
        let is_dead = is_dead.map(|(state, threads)| line(state, threads).is_dead);
        assert_eq!(is_dead, [false, true, false, true]);
    }

    #[test]
    fn one_that_is_looked_at_is_held_and_one_of_another_time_is_not() {
        let mut own = ProcessEntry::load(rustix::process::getpid()).unwrap();
        assert!(own.hold().is_some());
        own.start_time += 1;
        assert!(own.hold().is_none());
    }
}
