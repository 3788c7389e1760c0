//! `pleach retry`: tries tasks again that did not make it.

use pleach_engine::control::ControlOutcome;
use pleach_engine::run::RunBatch;
use pleach_system::detach;

use super::control::ControlledBatch;
use super::run::{exit, start_detached};
use super::watch::carry_out;
use crate::args::RetryArgs;
use crate::failure::{Exit, Failures};
use crate::output::Reader;

pub(crate) fn run(arguments: &RetryArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    retry(arguments, run_batch, reader).map_err(|failures| failures.told_to(reader))
}

fn retry(arguments: &RetryArgs, run_batch: RunBatch, reader: Reader) -> Result<Exit, Failures> {
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
            let summary = carry_out(*prepared, run_batch, reader, |number| {
                if arguments.in_background {
                    detach::announce(&number.to_string());
                }
            })?;
            Ok(exit(&summary))
        }
    }
}
