//! Gets a person's consent to what steers agents and Pleach, once for each state of a project.
//!
//! What was consented to is remembered by the engine; the keyboard is read by the preview.

use std::io::IsTerminal as _;

use anstyle::Style;
use pleach_engine::consent::{Change, ChangeKind, What};
use pleach_engine::run::Prepared;

use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, one_line, tell_error};
use crate::preview::asks;

const DIM: Style = Style::new().dimmed();

/// Nobody reads more on a screen.
const MOST_SHOWN: usize = 40;

/// So many are named where nobody can be asked.
const MOST_NAMED: usize = 10;

/// The longest text of a setting that is shown.
const LONGEST: usize = 200;

/// How a run came to be consented to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Exactly this was consented to before.
    Known,
    /// It was given just now.
    Given,
}

/// Gets consent to what a run is steered by, or fails; with `yes` it is given.
pub(crate) fn obtain(
    prepared: &mut Prepared,
    yes: bool,
    reader: Reader,
) -> Result<Consent, Failures> {
    let changes = prepared.unconsented()?;
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
    show(&changes);
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

fn nobody_to_ask(prepared: &Prepared, changes: &[Change]) -> Result<Consent, Failures> {
    let hint = "add --yes to consent to the agent and to the files that steer it";
    let message = if !changes.is_empty() {
        let mut names: Vec<String> = changes.iter().take(MOST_NAMED).map(named).collect();
        if changes.len() > MOST_NAMED {
            names.push(format!("and {} more", changes.len() - MOST_NAMED));
        }
        format!(
            "nobody is there to consent to this run, which needs it for {}",
            names.join(", ")
        )
    } else if prepared.design().tasks.len() > 1 {
        "nobody is there to consent to this run".to_owned()
    } else {
        return Ok(Consent::Known);
    };
    let failure = Failure::new(Exit::Environment, "no_consent", message);
    Err(failure.hint(hint).into())
}

/// A change in a few words.
fn named(change: &Change) -> String {
    let (What::Setting(name) | What::File(name)) = &change.what;
    format!("{} ({})", one_line(name), word(change.kind))
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::New => "new",
        ChangeKind::Changed => "changed",
        ChangeKind::Gone => "gone",
    }
}

/// Lists what steers this run and was not consented to in this state.
fn show(changes: &[Change]) {
    tell_error(format_args!(
        "  what steers agents or Pleach here needs your consent:\n"
    ));
    for change in changes.iter().take(MOST_SHOWN) {
        let (What::Setting(name) | What::File(name)) = &change.what;
        let kind = word(change.kind);
        tell_error(format_args!(
            "    {DIM}{kind:<8}{DIM:#}{}\n",
            one_line(name)
        ));
        let texts = [("was", &change.before), ("is", &change.now)];
        for (label, text) in texts {
            let Some(text) = text else { continue };
            let text: String = one_line(text).chars().take(LONGEST).collect();
            tell_error(format_args!("            {DIM}{label:<4}{DIM:#}{text}\n"));
        }
    }
    let more = changes.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        tell_error(format_args!("    and {more} more\n"));
    }
}
