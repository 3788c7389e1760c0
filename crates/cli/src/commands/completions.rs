//! `pleach completions`.

use clap::{Command as Program, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Arguments;
use crate::failure::Exit;

/// The program without the commands that nobody types.
fn shown(all: &Program) -> Program {
    let commands = all
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    Program::new("pleach")
        .args(all.get_arguments().cloned())
        .subcommands(commands.cloned())
}

pub(crate) fn run(shell: Shell) -> Exit {
    let mut command = shown(&Arguments::command());
    clap_complete::generate(shell, &mut command, "pleach", &mut std::io::stdout());
    Exit::Success
}
