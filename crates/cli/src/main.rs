//! The binary `pleach`: reads the command line, runs one command, and turns failures into words and
//! exit codes.

mod amounts;
mod args;
mod browser;
mod columns;
mod commands;
mod consent;
mod draw;
mod driver;
mod editor;
mod failure;
mod keys;
mod line;
mod live;
mod output;
mod pager;
mod picker;
mod plan_source;
mod plan_states;
mod preview;
mod push_consent;
mod questions;
mod region;
mod rehearsal;
mod report;
mod sanitize;
mod shim;
mod summary;
mod terminal;
mod waiting_line;

use std::process::ExitCode;

use clap::Parser as _;
use pleach_system::process::harden;

use crate::args::{Arguments, Command};
use crate::failure::{Exit, Failures};

fn main() -> ExitCode {
    // It is below an agent's wrapper and has to be found by what `/proc` tells of it.
    if let Some(code) = driver::run_if_called_as_one() {
        return code;
    }
    harden();
    if let Some(code) = shim::run_if_called_as_one() {
        return code;
    }
    let arguments = Arguments::parse();
    let answer = std::panic::catch_unwind(|| run(arguments));
    let exit = match answer {
        Ok(Ok(exit)) => exit,
        Ok(Err(failures)) => {
            failures.print();
            failures.exit()
        }
        Err(_) => Exit::Bug,
    };
    exit.into()
}

fn run(arguments: Arguments) -> Result<Exit, Failures> {
    match arguments.command {
        Command::Plan(arguments) => commands::plan::run(&arguments),
        Command::Next(arguments) => commands::next::run(&arguments),
        Command::Mark(arguments) => commands::mark::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Resume(arguments) => commands::run::resume(&arguments),
        Command::Weave(arguments) => commands::weave::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Progress(arguments) => commands::progress::run(&arguments),
        Command::Logs(arguments) => commands::logs::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Approve(arguments) => commands::approve::run(&arguments),
        Command::Stop(arguments) => commands::stop::run(&arguments),
        Command::Cancel(arguments) => commands::cancel::run(&arguments),
        Command::Retry(arguments) => commands::retry::run(&arguments),
        Command::Land(arguments) => commands::land::run(&arguments),
        Command::Resolve(arguments) => commands::resolve::run(&arguments),
        Command::Recover(arguments) => commands::recover::run(&arguments),
        Command::Gc(arguments) => commands::gc::run(&arguments),
        Command::Worktrees(arguments) => commands::worktrees::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Agents(arguments) => commands::agents::run(&arguments),
        Command::Config(arguments) => commands::config::run(&arguments),
        Command::Trust(arguments) => commands::trust::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments),
        Command::Demo => commands::demo::run(),
        Command::Completions { shell } => Ok(commands::completions::run(shell)),
        Command::DemoAgent => Ok(commands::demo_agent::run()),
        Command::GitCredential { operation } => Ok(commands::git_credential::run(&operation)),
    }
}
