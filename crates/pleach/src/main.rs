//! The binary `pleach`: puts the parts together, and is the wrapper and the driver of agents when it is called as one.

mod driver;
mod shim;

use std::process::ExitCode;

use pleach_system::process::harden;

fn main() -> ExitCode {
    // It is below an agent's wrapper and has to be found by what `/proc` tells of it.
    if let Some(code) = driver::run_if_called_as_one() {
        return code;
    }
    harden();
    if let Some(code) = shim::run_if_called_as_one() {
        return code;
    }
    pleach_cli::run(pleach_loop::run_batch)
}
