//! `pleach retry`: tries tasks again that did not make it.

use pleach_engine::control::ControlOutcome;
use pleach_system::detach;

use super::control::ControlledBatch;
use super::run::{exit, start_detached};
use super::watch::carry_out;
use crate::args::RetryArgs;
use crate::failure::{Exit, Failures};
use crate::output::Reader;

pub(crate) fn run(arguments: &RetryArgs) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    retry(arguments, reader).map_err(|failures| failures.told_to(reader))
}

fn retry(arguments: &RetryArgs, reader: Reader) -> Result<Exit, Failures> {
    if arguments.in_background {
        detach::leave_terminal();
    }
    let batch = ControlledBatch::find(arguments.batch)?;
    match batch.control().retry(&arguments.tasks)? {
        ControlOutcome::Done { message } => batch.tell_done(&message, reader),
        ControlOutcome::Run(prepared) if arguments.detach => {
            // It lets go of the batch, for whoever goes on in the background.
            drop(prepared);
            start_detached(&batch.state, &batch.program, &[], reader)
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
