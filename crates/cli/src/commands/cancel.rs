//! `pleach cancel`: stops a batch or a task, and answers when it has ended.

use pleach_domain::event::Rollback;
use pleach_domain::id::BatchNumber;
use pleach_engine::control::{ControlOutcome, cancelled};
use pleach_engine::run::{LoopNotice, Prepared, RunBatch};

use super::control::ControlledBatch;
use crate::args::CancelArgs;
use crate::failure::{Exit, Failures};
use crate::output::{Reader, one_line, tell_error};
use crate::waiting_line::WaitingLine;

pub(crate) fn run(arguments: &CancelArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    cancel(arguments, run_batch, reader).map_err(|failures| failures.told_to(reader))
}

fn cancel(arguments: &CancelArgs, run_batch: RunBatch, reader: Reader) -> Result<Exit, Failures> {
    let batch = arguments.batch;
    let controlled = ControlledBatch::find(batch)?;
    let control = controlled.control();
    let rollback = if arguments.rollback {
        Rollback::Remove
    } else {
        Rollback::Keep
    };
    let effect = if let Some(task) = &arguments.task {
        let _waiting = WaitingLine::tell(format!("cancelling task {task} of batch {batch}"));
        control.cancel_task(task)?
    } else {
        let _waiting = WaitingLine::tell(format!("cancelling batch {batch}"));
        control.cancel(rollback)?
    };
    let message = match effect {
        ControlOutcome::Done { message } => message,
        ControlOutcome::Run(prepared) => end(batch, *prepared, run_batch)?,
    };
    controlled.tell_done(&message, reader)
}

/// Brings a batch that nobody runs to its end.
pub(super) fn end(
    batch: BatchNumber,
    prepared: Prepared,
    run_batch: RunBatch,
) -> Result<String, Failures> {
    tell_error(format_args!(
        "batch {batch} is not running; cancelling it here\n"
    ));
    let summary = run_batch(prepared, &mut |told| {
        if let LoopNotice::Note(note) = told {
            tell_error(format_args!("note: {}\n", one_line(&note)));
        }
    })?;
    Ok(cancelled(batch, summary.status.as_str()))
}
