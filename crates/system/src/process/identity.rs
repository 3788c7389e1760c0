//! Who a wrapper is, in words that outlive it and us.
//!
//! A process number alone says nothing: the system gives it to somebody else.

use std::fmt::Write as _;
use std::io;

use rustix::process::Pid;
use rustix::rand::{GetRandomFlags, getrandom};
use serde::{Deserialize, Serialize};

use super::table::ProcessEntry;

/// Who a wrapper is; stored before the program starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub boot_id: String,
    pub pid: i32,
    /// When it started, in the system's ticks since it was booted.
    pub start_time: u64,
    /// A word that nobody else has, and that everything it starts bears in its environment.
    pub nonce: String,
}

impl ProcessIdentity {
    /// The identity of a child that has not been waited for.
    pub(super) fn of_child(pid: Pid) -> io::Result<Self> {
        let entry = ProcessEntry::load(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            boot_id: boot_id()?,
            pid: pid.as_raw_nonzero().get(),
            start_time: entry.start_time,
            nonce: fresh_nonce()?,
        })
    }

    /// Whether that is the process, or was until it ended.
    pub(super) fn is(&self, entry: &ProcessEntry) -> bool {
        entry.pid.as_raw_nonzero().get() == self.pid && entry.start_time == self.start_time
    }
}

/// When a living process started, in the system's ticks since it was booted.
pub fn start_time(pid: u32) -> Option<u64> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let entry = ProcessEntry::load(pid).filter(|entry| !entry.is_dead)?;
    Some(entry.start_time)
}

/// The name of the system's life, from one start to the next.
pub(super) fn boot_id() -> io::Result<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_owned())
}

/// A name that nobody else has, and nobody can guess.
pub fn fresh_nonce() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    // So few bytes come whole, or not at all.
    getrandom(&mut bytes[..], GetRandomFlags::empty())?;
    let mut nonce = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(nonce, "{byte:02x}").expect("a string takes every letter");
    }
    Ok(nonce)
}
