//! Hands over what came of a unit, however long the share takes to accept it.
//!
//! Knows nothing of what it hands over.

use std::io;
use std::thread;
use std::time::Duration;

use super::host_name;
use crate::spool::{Heartbeat, LogLengths, NodePhase, UnitEnding, UnitFolder, UnitResult};

/// Does something again and again until the share takes it, which may be full or gone for a while.
pub(super) fn until_taken<T>(
    pause: Duration,
    mut bring: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    loop {
        match bring() {
            // Without its folder nobody waits for it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(pause),
            taken_or_unwanted => return taken_or_unwanted,
        }
    }
}

/// Says that nothing can be done on this machine.
pub(super) fn tell_unfit(
    place: &UnitFolder,
    fence: String,
    why: String,
    pause: Duration,
) -> io::Result<()> {
    let node = host_name();
    let result = UnitResult {
        fence: fence.clone(),
        node: node.clone(),
        ended: UnitEnding::Unfit(why),
        has_bundle: false,
        was_evicted: false,
    };
    until_taken(pause, || place.put_result(&result))?;
    let heartbeat = Heartbeat {
        // One that heard secrets has said that it lives.
        beat: 1,
        fence,
        phase: NodePhase::Done,
        node,
        job: None,
        logs: LogLengths::new(),
        live: 0,
    };
    until_taken(pause, || place.beat(&heartbeat))
}
