//! The program as the driver of an agent: the wrapper calls it by a word of its own.
//!
//! What a driver does is decided in the engine.

use std::process::ExitCode;

use pleach_driver::drive;
use pleach_engine::agent::DRIVE;

/// Drives an agent if the engine calls for it; otherwise this is no driver.
pub(crate) fn run_if_called_as_one() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let is_one = words.next()? == DRIVE && words.next().is_none();
    is_one.then(drive)
}
