//! Asks questions that are answered with yes or no.

use std::io::{BufRead as _, IsTerminal as _};

use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;

/// Asks a question; `hint` says what to pass where there is no terminal to ask it.
pub(crate) fn confirmed(question: &str, hint: &str) -> Result<bool, Failures> {
    asks(question).ok_or_else(|| {
        let message = "no terminal to ask for confirmation";
        Failure::new(Exit::Environment, "no_consent", message)
            .hint(hint)
            .into()
    })
}

/// Asks a question that is answered with yes or no; no answer, if nobody is there.
pub(crate) fn asks(question: &str) -> Option<bool> {
    if !std::io::stdin().is_terminal() {
        return None;
    }
    tell_error(format_args!("{question} [y/N] "));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let says_yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    Some(read.is_ok() && says_yes)
}
