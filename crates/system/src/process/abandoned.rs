//! Programs that we start without a wrapper, whose Pleach was killed: known by a variable that names it, and ended.
//!
//! Most end by themselves in a moment; one that waits at a pipe would not. Knows nothing of what they do.

use std::fs;
use std::os::fd::AsFd as _;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::getpid;

use super::freeze::freeze;
use super::identity::start_time;
use super::table::{ProcessEntry, folder, living};
use super::{DEATH, ProcessError, wait};

/// The variable that names the process which started a program and waits for it.
pub const STARTED_BY: &str = "PLEACH_STARTED_BY";

/// How often those are looked at who may still end by themselves.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What this process is called there.
pub fn own_mark() -> &'static str {
    static MARK: OnceLock<String> = OnceLock::new();
    MARK.get_or_init(|| {
        let number = std::process::id();
        format!("{number}:{}", start_time(number).unwrap_or_default())
    })
}

/// Ends programs of a certain name whose process is gone, and whatever they started, unless they end in time.
pub fn end_abandoned(name: &str, patience: Duration) -> Result<(), ProcessError> {
    let is_wanted = |entry: &ProcessEntry| entry.name.starts_with(name) && is_abandoned(entry);
    let looked = ProcessError::io("list processes");
    let began = Instant::now();
    while began.elapsed() < patience {
        let living = living().map_err(ProcessError::io("list processes"))?;
        if !living.iter().any(is_wanted) {
            return Ok(());
        }
        thread::sleep(LOOK_AGAIN);
    }
    let own = getpid().as_raw_nonzero().get();
    for (_, pidfd) in freeze(&[own], is_wanted).map_err(looked)?.kill() {
        wait(pidfd.as_fd(), None, DEATH).map_err(ProcessError::io("wait for processes to exit"))?;
    }
    Ok(())
}

fn is_abandoned(entry: &ProcessEntry) -> bool {
    // Another user's cannot be read, and is not ours either.
    let environment = fs::read(folder(entry.pid).join("environ")).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    let mark = variables.find_map(|variable| {
        let value = variable.strip_prefix(STARTED_BY.as_bytes())?;
        std::str::from_utf8(value.strip_prefix(b"=")?).ok()
    });
    let Some((number, started)) = mark.and_then(|mark| mark.split_once(':')) else {
        return false;
    };
    match (number.parse(), started.parse()) {
        (Ok(number), Ok(started)) => start_time(number) != Some(started),
        _ => false,
    }
}
