//! The commands of `pleach` and what they print: reads the command line, runs one command, and turns failures into words
//! and exit codes.

mod amounts;
mod args;
mod browser;
mod columns;
mod commands;
mod consent;
mod draw;
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
mod summary;
mod terminal;
mod waiting_line;

use std::process::ExitCode;

use clap::Parser as _;
use pleach_engine::doctor::ExamineNode;
use pleach_engine::run::RunBatch;

use crate::args::{Arguments, Command};
use crate::failure::{Exit, Failures};

/// Reads the command line and runs one command, which runs batches with this loop and looks at nodes with its help.
pub fn run(run_batch: RunBatch, examine_node: ExamineNode) -> ExitCode {
    let arguments = Arguments::parse();
    let answer = std::panic::catch_unwind(|| run_command(arguments, run_batch, examine_node));
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

fn run_command(
    arguments: Arguments,
    run_batch: RunBatch,
    examine_node: ExamineNode,
) -> Result<Exit, Failures> {
    match arguments.command {
        Command::Plan(arguments) => commands::plan::run(&arguments),
        Command::Next(arguments) => commands::next::run(&arguments),
        Command::Mark(arguments) => commands::mark::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments, run_batch),
        Command::Resume(arguments) => commands::run::resume(&arguments, run_batch),
        Command::Weave(arguments) => commands::weave::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Progress(arguments) => commands::progress::run(&arguments),
        Command::Logs(arguments) => commands::logs::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Approve(arguments) => commands::approve::run(&arguments),
        Command::Stop(arguments) => commands::stop::run(&arguments, run_batch),
        Command::Cancel(arguments) => commands::cancel::run(&arguments, run_batch),
        Command::Retry(arguments) => commands::retry::run(&arguments, run_batch),
        Command::Land(arguments) => commands::land::run(&arguments, run_batch),
        Command::Resolve(arguments) => commands::resolve::run(&arguments, run_batch),
        Command::Recover(arguments) => commands::recover::run(&arguments),
        Command::Gc(arguments) => commands::gc::run(&arguments),
        Command::Worktrees(arguments) => commands::worktrees::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Agents(arguments) => commands::agents::run(&arguments, run_batch),
        Command::Config(arguments) => commands::config::run(&arguments),
        Command::Trust(arguments) => commands::trust::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments, run_batch),
        Command::Doctor(arguments) => commands::doctor::run(&arguments, examine_node),
        Command::Demo => commands::demo::run(run_batch),
        Command::Completions { shell } => Ok(commands::completions::run(shell)),
        Command::DemoAgent => Ok(commands::demo_agent::run()),
        Command::GitCredential { operation } => Ok(commands::git_credential::run(&operation)),
    }
}
