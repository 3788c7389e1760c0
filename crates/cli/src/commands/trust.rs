//! `pleach trust`: a person lets a project do more than others may, for batches of the server.

use std::io::IsTerminal as _;
use std::path::Path;

use pleach_engine::config::{Layers, Settings};
use pleach_engine::plan_in_use::project_folder;
use pleach_engine::trust::TrustRequest;
use pleach_log::database::Database;
use pleach_system::state_folder::StateFolder;

use crate::args::TrustArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{one_line, print, tell_error};
use crate::questions::asks;

pub(crate) fn run(arguments: &TrustArgs) -> Result<Exit, Failures> {
    let openings = openings(&arguments.project)?;
    let project = one_line(&openings.folder.display().to_string());
    let mut database = Database::open(&StateFolder::of_user()?)?;
    if arguments.revoke {
        let was_trusted = openings.distrust(&mut database)?;
        let message = if was_trusted {
            "is no longer trusted"
        } else {
            "was not trusted"
        };
        print(format_args!("{project} {message}\n"));
        return Ok(Exit::Success);
    }
    if openings.are_none() {
        print(format_args!(
            "{project} needs no trust: its pleach.toml does not loosen the sandbox\n"
        ));
        return Ok(Exit::Success);
    }
    if openings.are_trusted(&database)? {
        print(format_args!("{project} is already trusted\n"));
        return Ok(Exit::Success);
    }
    tell_error(format_args!(
        "The pleach.toml of {project} loosens the sandbox for agents and tests:\n"
    ));
    for words in openings.in_words() {
        tell_error(format_args!("  {}\n", one_line(&words)));
    }
    if !arguments.yes {
        ask()?;
    }
    openings.trust(&mut database)?;
    print(format_args!(
        "{project} is trusted; revoke with: {} --revoke\n",
        one_line(&openings.command())
    ));
    Ok(Exit::Success)
}

fn openings(project: &Path) -> Result<TrustRequest, Failures> {
    let folder = project.canonicalize().map_err(|error| {
        let message = format!("could not find {}: {error}", project.display());
        Failure::new(Exit::Usage, "project_not_found", message)
            .hint("pass the path of the project's folder")
    })?;
    let folder = project_folder(&folder);
    let layers = Layers::load(&folder)?;
    let settings = Settings::of_layers(&layers, &folder)?;
    Ok(TrustRequest::find(&layers, &settings, &folder))
}

fn ask() -> Result<(), Failures> {
    let refused = |message: &str, hint: &str| {
        let failure = Failure::new(Exit::Environment, "not_trusted", message);
        Err(failure.hint(hint).into())
    };
    if !std::io::stdin().is_terminal() {
        return refused("no terminal to ask for trust", "pass --yes");
    }
    match asks("Allow `pleach serve` to run it with these settings?") {
        Some(true) => Ok(()),
        _ => refused("the project is not trusted", "answer y to trust it"),
    }
}
