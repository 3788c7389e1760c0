//! `pleach land`: brings the result of a batch to the server, or to a local branch.

use pleach_domain::batch::{LandingRequest, LandingResult};
use pleach_engine::run::RunBatch;

use super::control::ControlledBatch;
use super::watch::carry_out;
use crate::args::LandArgs;
use crate::failure::{Exit, Failures};
use crate::output::Reader;
use crate::push_consent::{self, PushConsent, PushQuestion};

pub(crate) fn run(arguments: &LandArgs, run_batch: RunBatch) -> Result<Exit, Failures> {
    let reader = Reader::from_flag(arguments.json);
    land(arguments, run_batch, reader).map_err(|failures| failures.told_to(reader))
}

fn land(arguments: &LandArgs, run_batch: RunBatch, reader: Reader) -> Result<Exit, Failures> {
    let batch = ControlledBatch::find(arguments.batch)?;
    let mut prepared = batch.control().land(LandingRequest {
        into: arguments.into.clone(),
        despite_findings: arguments.despite_findings,
        unproved: arguments.unproved,
        prove_again: arguments.prove_again,
    })?;
    if arguments.yes {
        prepared.confirm_push()?;
    }
    let number = arguments.batch;
    let asking = PushQuestion {
        question: &format!("Push batch {number} there?"),
        after_no: &format!(
            "Nothing was pushed. `pleach land {number} --into BRANCH` fast-forwards a local branch instead."
        ),
        hint: "pass --yes to confirm it; `pleach config set land pr` confirms pushes for all projects",
    };
    if push_consent::obtain(&mut prepared, &asking, reader)? == PushConsent::Refused {
        return Ok(Exit::Success);
    }
    let summary = carry_out(*prepared, run_batch, reader, |_| {})?;
    Ok(match summary.landed {
        Some(LandingResult::Landed) => Exit::Success,
        _ if summary.landing_was_stopped => Exit::Interrupted,
        _ => Exit::SomeTaskFailed,
    })
}
