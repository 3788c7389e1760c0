//! `pleach approve`: lets the task that waits start.

use std::io::IsTerminal as _;

use super::control::ControlledBatch;
use crate::args::ApproveArgs;
use crate::consent::obtain_pending;
use crate::failure::{Exit, Failures};
use crate::output::Reader;

pub(crate) fn run(arguments: &ApproveArgs) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    approve(arguments, reader).map_err(|failures| failures.told_to(reader))
}

fn approve(arguments: &ApproveArgs, reader: Reader) -> Result<Exit, Failures> {
    let batch = ControlledBatch::find(arguments.batch)?;
    let control = batch.control();
    let is_asked = reader == Reader::Person && !arguments.yes && std::io::stdin().is_terminal();
    let message = match control.pending_consent()? {
        Some(pending) if is_asked => {
            obtain_pending(arguments.batch, &pending)?;
            control.approve(Some(&pending.fingerprint))?
        }
        _ => control.approve(None)?,
    };
    batch.tell_done(&message, reader)
}
