//! Gets a person's consent to what steers agents and Pleach, once for each state of a project.
//!
//! What was consented to is remembered by the engine; the keyboard is read by the preview.

mod fold;
mod render;

use std::io::IsTerminal as _;

use pleach_domain::id::BatchNumber;
use pleach_engine::consent::{PendingConsent, SteeringChange, SteeringSubject};
use pleach_engine::run::Prepared;
use pleach_system::text::shell_words::quoted;

pub(crate) use self::fold::few_names;
use self::fold::{fold, word};
use self::render::{git_show, show};
use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, one_line};
use crate::questions::asks;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Exactly this was consented to before.
    Known,
    Given,
}

/// Gets consent to what a run is steered by, or fails; with `yes` it is given.
pub(crate) fn obtain(
    prepared: &mut Prepared,
    yes: bool,
    reader: Reader,
) -> Result<Consent, Failures> {
    let mut changes = prepared.unconsented()?;
    let is_known = changes.is_empty();
    if yes {
        if !is_known {
            prepared.consent()?;
        }
        return Ok(Consent::Given);
    }
    if reader == Reader::Program || !std::io::stdin().is_terminal() {
        return nobody_to_ask(prepared, &changes);
    }
    if is_known {
        return Ok(Consent::Known);
    }
    prepared.show_contents(&mut changes)?;
    let see = prepared
        .base_in_repository()
        .and_then(|base| git_show(base.as_str(), &changes));
    show(
        "These files control the agents. Review them:",
        &changes,
        "pleach run --dry-run --json",
        see.as_deref(),
    );
    if asks("Consent and run?") != Some(true) {
        return Err(
            Failure::new(Exit::Environment, "no_consent", "nothing was run")
                .hint("answer y to consent")
                .into(),
        );
    }
    prepared.consent()?;
    Ok(Consent::Given)
}

fn nobody_to_ask(prepared: &Prepared, changes: &[SteeringChange]) -> Result<Consent, Failures> {
    let hint = "pass --yes to consent to the agent and to the files that control it";
    let message = if !changes.is_empty() {
        let (shown, folded) = fold(changes);
        let mut names: Vec<String> = shown.into_iter().map(named).collect();
        names.extend(folded.iter().map(ToString::to_string));
        format!(
            "no terminal to ask for consent, which is needed for {}",
            names.join(", ")
        )
    } else if prepared.design().tasks.len() > 1 {
        "no terminal to ask for consent".to_owned()
    } else {
        return Ok(Consent::Known);
    };
    let failure = Failure::new(Exit::Environment, "no_consent", message);
    Err(failure.hint(hint).into())
}

/// Gets consent to what tasks before one that waits have changed, or fails.
pub(crate) fn obtain_pending(batch: BatchNumber, pending: &PendingConsent) -> Result<(), Failures> {
    let task = one_line(pending.task.as_str());
    let heading =
        format!("Tasks before {task} changed files that control the agents. Review them:");
    let see = format!("pleach diff {batch}");
    show(&heading, &pending.changes, &see, Some(&see));
    if asks(&format!("Consent and start {task}?")) == Some(true) {
        return Ok(());
    }
    let message = format!("task {task} is still waiting for consent");
    let failure = Failure::new(Exit::Environment, "no_consent", message);
    Err(failure
        .hint(format!(
            "`pleach cancel {batch} {}` leaves the task out",
            quoted(&task)
        ))
        .into())
}

fn named(change: &SteeringChange) -> String {
    let (SteeringSubject::Setting(name) | SteeringSubject::File(name)) = &change.what;
    format!("{} ({})", one_line(name), word(change.kind))
}
