//! What a person is shown and asked before a batch begins.

use std::path::Path;

use pleach_engine::run::Prepared;

use crate::args::RunArgs;
use crate::consent::{self, Consent};
use crate::failure::Failures;
use crate::output::{Reader, tell_error};
use crate::preview::PreviewInput;
use crate::push_consent::{self, PushConsent, PushQuestion};
use crate::questions::confirmed;

const PUSH: PushQuestion<'_> = PushQuestion {
    question: "Run, and push the result there?",
    after_no: "Nothing was run. `pleach run --no-pr` runs without pushing.",
    hint: "pass --yes or --pr to confirm it, or --no-pr to push nothing; `pleach config set land pr` confirms \
           pushes for all projects",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Run,
    /// A person does not want it.
    Nothing,
}

pub(super) fn show(shown: &PreviewInput, prepared: &mut Prepared, program: &Path) {
    // Without them there is no estimate.
    let past = prepared.past_durations().unwrap_or_default();
    let builds_on = prepared.builds_on();
    let agent = shown.agent(program);
    let preview = shown.preview(&*agent, &past);
    let preview = preview.pushing(prepared.unpushed().as_ref());
    let preview = preview.pushing_to(prepared.push_address());
    let preview = preview.noting(prepared.take_notes());
    preview.building_on(&builds_on).print();
}

/// Asks what has to be asked: consent to what steers agents, the first push, and more than one task.
pub(super) fn ask(
    prepared: &mut Prepared,
    arguments: &RunArgs,
    reader: Reader,
) -> Result<Answer, Failures> {
    let consent = consent::obtain(prepared, arguments.yes, reader)?;
    if arguments.yes || arguments.pr {
        prepared.confirm_push()?;
    }
    match push_consent::obtain(prepared, &PUSH, reader)? {
        PushConsent::Refused => return Ok(Answer::Nothing),
        PushConsent::Given => return Ok(Answer::Run),
        PushConsent::Known => {}
    }
    if consent == Consent::Known && prepared.design().tasks.len() > 1 {
        let goes_on = confirmed("Run?", "pass --yes to run without asking")?;
        if !goes_on {
            tell_error(format_args!("Nothing was run.\n"));
            return Ok(Answer::Nothing);
        }
    }
    Ok(Answer::Run)
}
