//! `pleach completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::failure::Exit;

/// Prints the completions for a shell.
pub(crate) fn run(shell: Shell) -> Exit {
    let mut command = Arguments::command();
    clap_complete::generate(shell, &mut command, "pleach", &mut std::io::stdout());
    Exit::Success
}
