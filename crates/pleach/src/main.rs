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
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|command| command == "node-run") {
        let words: Vec<_> = words.collect();
        return pleach_loop::node_run(&words);
    }
    pleach_cli::run(pleach_loop::run_batch, pleach_loop::examine_node)
}
