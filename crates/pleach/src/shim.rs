//! The program as a wrapper of agents: the engine calls it by a name of its own.
//!
//! What a wrapper does is decided in the engine.

use std::path::Path;
use std::process::ExitCode;

use pleach_system::process::{SHIM, shim_main};

/// Wraps a program if the engine calls for it; otherwise this is no wrapper.
pub(crate) fn run_if_called_as_one() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    (Path::new(&name).file_name()? == SHIM).then(shim_main)
}
