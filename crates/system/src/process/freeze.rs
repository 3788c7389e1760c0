//! Stops processes and everything below them until nobody is left who runs, so that all can be killed at leisure.
//!
//! Knows nothing of who is wanted, or why.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Signal, pidfd_send_signal};

use super::table::{ProcessEntry, ProcessLookup, lookups};

/// Looks that find somebody new before those who were found have to do.
const MOST_LOOKS: usize = 100;

/// Looks in a row that find nobody, though somebody went while they lasted, who are likely to be strangers then.
const ENOUGH_LOOKS: usize = 5;

/// Processes that were stopped, each with a hold on it.
#[derive(Debug, Default)]
pub(super) struct Frozen {
    held: Vec<(ProcessEntry, OwnedFd)>,
    known: HashSet<(i32, u64)>,
    numbers: HashSet<i32>,
}

/// Stops those who are wanted and their descendants, but nobody who is spared.
pub(super) fn freeze(
    spared: &[i32],
    is_wanted: impl Fn(&ProcessEntry) -> bool,
) -> io::Result<Frozen> {
    let mut frozen = Frozen::default();
    let mut quiet_looks = 0;
    for _ in 0..MOST_LOOKS {
        let (mut found, mut vanished) = (false, false);
        for look in lookups()? {
            let ProcessLookup::Found(entry) = look else {
                // It may have handed over to a child that is not on this list.
                vanished = true;
                continue;
            };
            // Whoever is held keeps its number, so that its children are its own.
            let is_below = frozen.numbers.contains(&entry.parent);
            let is_known = frozen.known.contains(&entry.key());
            if is_known || spared.contains(&entry.number()) || !(is_below || is_wanted(&entry)) {
                continue;
            }
            found = true;
            // At once, for it may be about to hand over and go.
            frozen.stop(entry);
        }
        quiet_looks = if found { 0 } else { quiet_looks + 1 };
        // All were stopped before this look began, so nobody was born behind its back.
        if (!found && !vanished) || quiet_looks >= ENOUGH_LOOKS {
            break;
        }
    }
    Ok(frozen)
}

impl Frozen {
    fn stop(&mut self, entry: ProcessEntry) {
        if entry.is_dead {
            // Not collected yet; it is seen once, for it may have left somebody behind.
            self.known.insert(entry.key());
        } else if let Some(pidfd) = entry.hold() {
            tell(&pidfd, Signal::STOP);
            self.known.insert(entry.key());
            self.numbers.insert(entry.number());
            self.held.push((entry, pidfd));
        }
    }

    /// Kills them all, and returns them to be waited for.
    pub(super) fn kill(self) -> Vec<(ProcessEntry, OwnedFd)> {
        for (_, pidfd) in &self.held {
            tell(pidfd, Signal::KILL);
        }
        self.held
    }
}

pub(super) fn tell(pidfd: &OwnedFd, signal: Signal) {
    // It may be gone by now, which is what was wanted; one of another user is noticed by its staying.
    let _ = pidfd_send_signal(pidfd, signal);
}
