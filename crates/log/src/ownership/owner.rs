//! Who holds a lock, written into the locked file: the lock may outlive its owner for a moment.
//!
//! The owner's key stands there as well: the file is private, and no sandbox of ours opens it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use pleach_system::process::start_time;

use super::key::{self, Key};

/// A process number, a start time and a key, with room to spare.
const LENGTH: usize = 48 + key::LENGTH;

/// Notes this process and its key in the file that it has locked.
pub(super) fn note(file: &File, key: &Key) -> io::Result<()> {
    let pid = std::process::id();
    let since = start_time(pid).unwrap_or_default();
    let line = format!("{pid} {since} {}\n", key.as_str());
    file.set_len(0)?;
    file.write_all_at(line.as_bytes(), 0)
}

/// Whether the process that is noted is there; one that is not noted yet is.
pub(super) fn is_alive(file: &File) -> bool {
    let Ok(line) = read(file) else {
        return true;
    };
    let Some(line) = line.strip_suffix('\n') else {
        return true;
    };
    let mut words = line.split(' ');
    let mut number = || words.next()?.parse::<u64>().ok();
    match (number().and_then(|pid| pid.try_into().ok()), number()) {
        (Some(pid), Some(since)) => start_time(pid) == Some(since),
        _ => true,
    }
}

/// The key of the process that is noted; one of a version that knew no keys has none.
pub(super) fn key(file: &File) -> io::Result<Option<Key>> {
    let line = read(file)?;
    let key = line.strip_suffix('\n').and_then(|line| {
        let word = line.split(' ').nth(2)?;
        Key::parse(word)
    });
    Ok(key)
}

fn read(file: &File) -> io::Result<String> {
    let mut bytes = [0; LENGTH];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}
