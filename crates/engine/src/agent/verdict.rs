//! What the end of a command means, by the exit codes of `sysexits.h` and of the shell.
//!
//! Knows nothing of what is done about it.

use std::time::Duration;

use pleach_driver::Exit;
use pleach_system::text::last_line::{TAIL, last_line};

use crate::config::duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptVerdict {
    Succeeded {
        denials: u32,
    },
    /// It failed, and may succeed another time.
    Failed {
        error: String,
    },
    /// It failed, and would fail again.
    Hopeless {
        error: String,
    },
    /// What it talks to is overloaded, which is no failure of the task either.
    Overloaded {
        retry_after: Option<Duration>,
        error: String,
    },
    /// It may not work at the moment, which is no failure of the task.
    Limited {
        retry_after: Option<Duration>,
        error: String,
    },
}

const EX_UNAVAILABLE: i32 = 69;
const EX_TEMPFAIL: i32 = 75;
const EX_NOPERM: i32 = 77;
const EX_CONFIG: i32 = 78;
/// The shell found the program and could not run it.
const NOT_EXECUTABLE: i32 = 126;
/// The shell did not find the program.
const NOT_FOUND: i32 = 127;

impl AttemptVerdict {
    pub(crate) fn of_command(exit: Exit, tail: &[u8]) -> Self {
        let tail = &tail[tail.len().saturating_sub(TAIL)..];
        let line = last_line(tail);
        let error = |what: String| match &line {
            Some(line) => format!("{what}: {line}"),
            None => what,
        };
        let code = match exit {
            Exit::Code(code) => code,
            Exit::Signal(signal) => {
                let error = error(format!("the agent was killed by signal {signal}"));
                return Self::Failed { error };
            }
        };
        let said = |meaning: &str| error(format!("the agent exited with {code}{meaning}"));
        match code {
            0 => Self::Succeeded { denials: 0 },
            EX_UNAVAILABLE => Self::Overloaded {
                retry_after: line.as_deref().and_then(retry_after),
                error: said(" (service overloaded)"),
            },
            EX_TEMPFAIL => Self::Limited {
                retry_after: line.as_deref().and_then(retry_after),
                error: said(" (try again later)"),
            },
            EX_NOPERM => Self::Hopeless {
                error: said(" (not permitted)"),
            },
            EX_CONFIG => Self::Hopeless {
                error: said(" (misconfigured)"),
            },
            NOT_EXECUTABLE => Self::Hopeless {
                error: said(" (program not executable)"),
            },
            NOT_FOUND => Self::Hopeless {
                error: said(" (program not found)"),
            },
            _ => Self::Failed { error: said("") },
        }
    }
}

/// Reads the time out of a line that says `retry after 90s` or `retry at 2026-01-31T14:05:00Z`.
fn retry_after(line: &str) -> Option<Duration> {
    let line = line.to_ascii_lowercase();
    let word = |(_, rest): (&str, &'_ str)| rest.split_whitespace().next().map(str::to_owned);
    if let Some(after) = line.rsplit_once("retry after ").and_then(word) {
        return duration(&after);
    }
    let at = line.rsplit_once("retry at ").and_then(word)?;
    let at: jiff::Timestamp = at.to_ascii_uppercase().parse().ok()?;
    let pause = at.duration_since(jiff::Timestamp::now());
    // A time that has passed is now.
    Some(Duration::try_from(pause).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exit: Exit, tail: &str, expected: &str) {
        let shown = match AttemptVerdict::of_command(exit, tail.as_bytes()) {
            AttemptVerdict::Succeeded { .. } => "succeeded".to_owned(),
            AttemptVerdict::Failed { error } => format!("failed: {error}"),
            AttemptVerdict::Hopeless { error } => format!("hopeless: {error}"),
            AttemptVerdict::Limited { retry_after, error } => {
                format!("limited {retry_after:?}: {error}")
            }
            AttemptVerdict::Overloaded { retry_after, error } => {
                format!("overloaded {retry_after:?}: {error}")
            }
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn every_exit_code_has_a_meaning() {
        use Exit::{Code, Signal};
        check(Code(0), "error: no", "succeeded");
        check(Code(1), "", "failed: the agent exited with 1");
        check(Code(2), "a\nb\n", "failed: the agent exited with 2: b");
        check(Code(-1), "", "failed: the agent exited with -1");
        check(Code(76), "", "failed: the agent exited with 76");
        check(Code(128), "", "failed: the agent exited with 128");
        check(
            Signal(9),
            "x",
            "failed: the agent was killed by signal 9: x",
        );
        let hopeless = |code, meaning| {
            let expected = format!("hopeless: the agent exited with {code} ({meaning}): x");
            check(Code(code), "x", &expected);
        };
        hopeless(77, "not permitted");
        hopeless(78, "misconfigured");
        hopeless(126, "program not executable");
        hopeless(127, "program not found");
    }

    #[test]
    fn a_limit_may_say_when_it_ends() {
        let limited = |tail: &str, wanted: &str| {
            let line = if tail.is_empty() { "" } else { ": " };
            let expected =
                format!("limited {wanted}: the agent exited with 75 (try again later){line}{tail}");
            check(Exit::Code(75), tail, &expected);
        };
        limited("", "None");
        limited("too much", "None");
        limited("Usage limit; Retry after 90s please", "Some(90s)");
        limited("retry after 90s retry after soon", "None");
        limited("retry at 2001-01-31T14:05:00Z", "Some(0ns)");
        limited("retry at noon", "None");
        check(
            Exit::Code(69),
            "529, retry after 2s",
            "overloaded Some(2s): the agent exited with 69 (service overloaded): 529, retry after 2s",
        );
        let in_an_hour = jiff::Timestamp::now() + Duration::from_hours(1);
        let line = format!("come back, retry at {in_an_hour} or later");
        let verdict = AttemptVerdict::of_command(Exit::Code(75), line.as_bytes());
        let AttemptVerdict::Limited { retry_after, .. } = verdict else {
            panic!("{verdict:?}");
        };
        let seconds = retry_after.unwrap().as_secs();
        assert!((3_500..=3_600).contains(&seconds), "{seconds}");
    }

    #[test]
    fn only_the_end_of_the_output_is_looked_at() {
        let tail = ["early".to_owned(), "\n".repeat(TAIL)].concat();
        check(Exit::Code(1), &tail, "failed: the agent exited with 1");
        let tail = ["late".to_owned(), "\n".repeat(TAIL - 4)].concat();
        check(
            Exit::Code(1),
            &tail,
            "failed: the agent exited with 1: late",
        );
    }
}
