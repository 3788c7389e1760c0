//! `pleach land`: brings the result of a batch to the server, or to a local branch.

use pleach_domain::batch::{Landed, LandingAsked};
use pleach_engine::control::Control;
use pleach_engine::state_folder::StateFolder;

use super::run::own_program;
use super::status::find_batch;
use super::watch::carry_out;
use crate::args::LandArgs;
use crate::failure::{Exit, Failures};
use crate::output::Reader;

/// Lands a batch.
pub(crate) fn run(arguments: &LandArgs) -> Result<Exit, Failures> {
    let reader = Reader::of(arguments.json);
    land(arguments, reader).map_err(|failures| failures.told_to(reader))
}

fn land(arguments: &LandArgs, reader: Reader) -> Result<Exit, Failures> {
    let state = StateFolder::of_user()?;
    let id = find_batch(&state, arguments.batch)?;
    let control = Control {
        state: &state,
        batch: id,
        program: &own_program()?,
    };
    let prepared = control.land(LandingAsked {
        into: arguments.into.clone(),
        despite_findings: arguments.despite_findings,
        unproved: arguments.unproved,
        prove_again: arguments.prove_again,
    })?;
    let summary = carry_out(*prepared, reader, |_| {})?;
    Ok(match summary.landed {
        Some(Landed::There) => Exit::Success,
        _ if summary.landing_was_stopped => Exit::Interrupted,
        _ => Exit::SomeTaskFailed,
    })
}
