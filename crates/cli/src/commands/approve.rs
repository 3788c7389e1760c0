//! `pleach approve`: lets the task that waits start.

use std::io::IsTerminal as _;

use pleach_engine::control::Control;
use pleach_log::view::BatchView;
use pleach_system::state_folder::StateFolder;
use serde_json::json;

use super::run::own_program;
use super::status::find_batch;
use crate::args::ApproveArgs;
use crate::consent::obtain_pending;
use crate::failure::{Exit, Failures};
use crate::output::{self, Reader, one_line};

pub(crate) fn run(arguments: &ApproveArgs) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    approve(arguments, reader).map_err(|failures| failures.told_to(reader))
}

fn approve(arguments: &ApproveArgs, reader: Reader) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let id = find_batch(&state, arguments.batch)?;
    let control = Control {
        state: &state,
        batch: id,
        program: &own_program()?,
    };
    let is_asked = reader == Reader::Person && !arguments.yes && std::io::stdin().is_terminal();
    let message = match control.pending_consent()? {
        Some(pending) if is_asked => {
            obtain_pending(arguments.batch, &pending)?;
            control.approve(Some(&pending.fingerprint))?
        }
        _ => control.approve(None)?,
    };
    tell_done(&state, id, &message, reader)?;
    Ok(Exit::Success)
}

pub(crate) fn tell_done(
    state: &StateFolder,
    batch: u32,
    message: &str,
    reader: Reader,
) -> Result<(), Failures> {
    match reader {
        Reader::Person => output::print(format_args!("{}\n", one_line(message))),
        Reader::Program => {
            let database = pleach_log::database::Database::open(state)?;
            let view = BatchView::load(state, &database, batch)?;
            let answer = json!({"message": message, "batch": view});
            output::print(format_args!("{answer:#}\n"));
        }
    }
    Ok(())
}
