//! `pleach stop`: has a batch finish what runs and start nothing new.

use pleach_engine::control::{ControlOutcome, stopped};
use pleach_engine::run::RunBatch;
use pleach_log::database::{BatchScope, Database};
use pleach_log::scope::Scope;
use pleach_system::state_folder::StateFolder;

use super::cancel::end;
use super::control::ControlledBatch;
use super::status::find_batch;
use crate::args::StopArgs;
use crate::failure::{Exit, Failure, Failures};
use crate::output::Reader;
use crate::plan_source::current_folder;

pub(crate) fn run(arguments: &StopArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    stop(arguments, run_batch, reader).map_err(|failures| failures.told_to(reader))
}

fn stop(arguments: &StopArgs, run_batch: RunBatch, reader: Reader) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let id = match arguments.batch {
        Some(batch) => find_batch(&state, batch)?,
        None => last_open(&state)?,
    };
    let batch = ControlledBatch::new(state, id)?;
    let control = batch.control();
    let message = match control.stop()? {
        ControlOutcome::Done { message } => message,
        ControlOutcome::Run(prepared) => {
            end(control.number(), *prepared, run_batch)?;
            stopped(control.number())
        }
    };
    batch.tell_done(&message, reader)
}

fn last_open(state: &StateFolder) -> Result<u32, Failures> {
    let scope = Scope::of_folder(state, &current_folder()?)?;
    let open = scope.batches(&Database::open(state)?, BatchScope::Open)?;
    let last = open.first().map(|row| row.id);
    let nothing = || Failure::new(Exit::Usage, "nothing_running", "no batch is running here");
    Ok(last.ok_or_else(|| nothing().hint("`pleach status --all` lists all batches"))?)
}
