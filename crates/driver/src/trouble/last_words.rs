//! What an agent told last on its standard error, for when nothing else says why it ended.

use std::collections::VecDeque;

use super::{of_text, plain};
use crate::{Conclusion, Exit, Outcome, Trouble};

/// So many lines are remembered.
const MOST: usize = 20;

/// Lines that begin so do not say what went wrong.
const BESIDE: &[&str] = &[
    "at ",
    "Caused by",
    "note:",
    "}",
    "stack backtrace",
    "WARN",
    "warning",
];

#[derive(Debug, Default)]
pub(in super::super) struct LastWords {
    lines: VecDeque<String>,
    /// Whether its work has begun: what it says of logins then may be about anything.
    has_begun: bool,
}

impl LastWords {
    pub(in super::super) fn hear(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if self.lines.len() == MOST {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
    }

    pub(in super::super) fn begin(&mut self) {
        self.has_begun = true;
    }

    pub(in super::super) fn say(&self, words: &str) -> bool {
        self.lines.iter().any(|line| line.contains(words))
    }

    fn last(&self) -> Option<&str> {
        let mut lines = self.lines.iter().rev().map(String::as_str);
        let says = |line: &&str| !BESIDE.iter().any(|beside| line.starts_with(beside));
        lines.find(says)
    }

    /// What it means that an agent ended without having said how.
    pub(in super::super) fn crash(&self, exit: Exit) -> Conclusion {
        let end = match exit {
            Exit::Code(code) => format!("the agent exited with {code}"),
            Exit::Signal(signal) => format!("the agent was killed by signal {signal}"),
        };
        let Some(last) = self.last() else {
            return Conclusion::failed(Trouble::Crash, end + " and gave no reason");
        };
        // Whoever is not logged in often hears that before anything else begins.
        let trouble = match of_text(last) {
            trouble @ (Trouble::Login | Trouble::Configuration) if !self.has_begun => trouble,
            _ => Trouble::Crash,
        };
        Conclusion::failed(trouble, format!("{end}: {}", plain(last)))
    }
}

/// Whether an exit is no error of an agent that has said that it is done: it left, or it was told to.
pub(in super::super) fn left(exit: Exit) -> bool {
    const TOLD_TO: [i32; 3] = [2, 9, 15];
    match exit {
        Exit::Code(0) => true,
        Exit::Code(code) => TOLD_TO.contains(&code.wrapping_sub(128)),
        Exit::Signal(signal) => TOLD_TO.contains(&signal),
    }
}

pub(in super::super) fn interrupted(message: impl Into<String>) -> Conclusion {
    Conclusion {
        outcome: Outcome::Interrupted,
        message: message.into(),
        retry_after_ms: None,
        denials: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_is_told_by_what_was_said_last() {
        let mut words = LastWords::default();
        let nothing = words.crash(Exit::Code(0));
        assert_eq!(nothing.outcome, Outcome::Failed(Trouble::Crash));
        for line in ["TypeError: x is not a function", "   at y (z.js:1)", ""] {
            words.hear(line);
        }
        let said = words.crash(Exit::Signal(11));
        assert_eq!(
            said.message,
            "the agent was killed by signal 11: TypeError: x is not a function"
        );
    }

    #[test]
    fn a_missing_login_is_no_crash() {
        let mut words = LastWords::default();
        words.hear("Not logged in. Please run /login");
        let said = words.crash(Exit::Code(1));
        assert_eq!(said.outcome, Outcome::Failed(Trouble::Login));
        words.begin();
        words.hear("TypeError: cannot read login.ts");
        let said = words.crash(Exit::Code(1));
        assert_eq!(said.outcome, Outcome::Failed(Trouble::Crash));
    }

    #[test]
    fn who_was_told_to_leave_has_left() {
        let told = [Exit::Code(0), Exit::Code(143), Exit::Signal(15)];
        assert!(told.into_iter().all(left));
        let broken = [Exit::Code(1), Exit::Signal(11), Exit::Code(i32::MIN)];
        assert!(!broken.into_iter().any(left));
    }
}
