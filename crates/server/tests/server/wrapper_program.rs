//! The wrapper of agents as a program by itself, for tests of batches.

use std::process::ExitCode;

fn main() -> ExitCode {
    pleach_system::process::shim_main()
}
