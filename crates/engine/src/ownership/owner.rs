//! Who holds a lock, written into the locked file: the lock may outlive its owner for a moment.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use crate::process::start_time;

/// A process number and a start time, with room to spare.
const LENGTH: usize = 48;

/// Notes this process in the file that it has locked.
pub(super) fn note(file: &File) -> io::Result<()> {
    let pid = std::process::id();
    let since = start_time(pid).unwrap_or_default();
    let line = format!("{pid} {since}\n");
    file.set_len(0)?;
    file.write_all_at(line.as_bytes(), 0)
}

/// Whether the process that is noted is there; one that is not noted yet is.
pub(super) fn is_alive(file: &File) -> bool {
    let mut bytes = [0; LENGTH];
    let Ok(length) = file.read_at(&mut bytes, 0) else {
        return true;
    };
    let line = String::from_utf8_lossy(&bytes[..length]);
    let Some((pid, since)) = line
        .strip_suffix('\n')
        .and_then(|line| line.split_once(' '))
    else {
        return true;
    };
    match (pid.parse(), since.parse::<u64>()) {
        (Ok(pid), Ok(since)) => start_time(pid) == Some(since),
        _ => true,
    }
}
