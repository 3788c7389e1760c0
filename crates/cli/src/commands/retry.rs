//! `pleach retry`: tries tasks again that did not make it.

use pleach_engine::control::{Control, ControlOutcome};
use pleach_system::detach;
use pleach_system::state_folder::StateFolder;

use super::approve::tell_done;
use super::run::{exit, own_program, start_detached};
use super::status::find_batch;
use super::watch::carry_out;
use crate::args::RetryArgs;
use crate::failure::{Exit, Failures};
use crate::output::Reader;

pub(crate) fn run(arguments: &RetryArgs) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    retry(arguments, reader).map_err(|failures| failures.told_to(reader))
}

fn retry(arguments: &RetryArgs, reader: Reader) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let program = own_program()?;
    if arguments.in_background {
        detach::leave_terminal();
    }
    let id = find_batch(&state, arguments.batch)?;
    let control = Control {
        state: &state,
        batch: id,
        program: &program,
    };
    match control.retry(&arguments.tasks)? {
        ControlOutcome::Done { message } => {
            tell_done(&state, id, &message, reader)?;
            Ok(Exit::Success)
        }
        ControlOutcome::Run(prepared) if arguments.detach => {
            // It lets go of the batch, for whoever goes on in the background.
            drop(prepared);
            start_detached(&state, &program, &[], reader)
        }
        ControlOutcome::Run(prepared) => {
            let summary = carry_out(*prepared, reader, |number| {
                if arguments.in_background {
                    detach::announce(&number.to_string());
                }
            })?;
            Ok(exit(&summary))
        }
    }
}
