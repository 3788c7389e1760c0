//! Asks about the first push of a project to an address.
//!
//! What was confirmed is remembered by the engine; the keyboard is read by the preview.

use std::io::IsTerminal as _;

use pleach_engine::run::Prepared;

use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, one_line, tell_error};
use crate::questions::asks;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PushConsent {
    /// Nothing is pushed, or this address was confirmed before.
    Known,
    Given,
    /// A person said no, and was told what that means.
    Refused,
}

#[derive(Debug)]
pub(crate) struct PushQuestion<'q> {
    /// What yes means.
    pub(crate) question: &'q str,
    pub(crate) after_no: &'q str,
    /// What to call where nobody can be asked.
    pub(crate) hint: &'q str,
}

/// Asks whether a project may push to where it never has; fails where nobody can be asked.
pub(crate) fn obtain(
    prepared: &mut Prepared,
    asking: &PushQuestion<'_>,
    reader: Reader,
) -> Result<PushConsent, Failures> {
    let Some(address) = prepared.unconfirmed_push()? else {
        return Ok(PushConsent::Known);
    };
    let address = one_line(&address);
    if reader == Reader::Program || !std::io::stdin().is_terminal() {
        let message = format!("the first push of this project, to {address}, is not confirmed");
        let failure = Failure::new(Exit::Environment, "push_unconfirmed", message);
        return Err(failure.hint(asking.hint).into());
    }
    tell_error(format_args!(
        "This project has never pushed to {address}.\n"
    ));
    if asks(asking.question) == Some(true) {
        prepared.confirm_push()?;
        return Ok(PushConsent::Given);
    }
    tell_error(format_args!("{}\n", asking.after_no));
    Ok(PushConsent::Refused)
}
