//! What the result record of an attempt means for its task.
//!
//! Believes the record; what an exit code says is the agent's business.

use std::path::Path;
use std::time::Duration;

use pleach_domain::batch::AttemptEnding;

use super::Finished;
use pleach_driver::Exit;
use pleach_engine::agent::{Agent, AttemptVerdict, no_changes_needed};
use pleach_engine::batch_record::AttemptSettings;
use pleach_system::process::{Ending, ProcessRecord};
use pleach_system::text::last_line::{last_line, tail};

pub(super) enum AgentVerdict {
    /// There may be work to take.
    Succeeded {
        denials: u32,
        /// Why nothing had to be changed, if it said so.
        unneeded: Option<String>,
    },
    Ended(AttemptEnding),
}

pub(super) fn verdict(
    agent: &dyn Agent,
    ending: &Ending,
    log: &Path,
    settings: &AttemptSettings,
) -> AgentVerdict {
    let exit = match ending {
        Ending::Exited(code) => Exit::Code(*code),
        Ending::Signalled(signal) => Exit::Signal(*signal),
        other => return AgentVerdict::Ended(without_exit(other, settings.stall)),
    };
    // Whatever an agent says, it is not waited for until the end of days: after that it is simply tried again.
    let bounded = |pause: Duration| milliseconds(pause.min(settings.limit_wait));
    let output = tail(log);
    AgentVerdict::Ended(match agent.verdict(exit, &output) {
        AttemptVerdict::Succeeded { denials } => {
            let unneeded = no_changes_needed(&output);
            return AgentVerdict::Succeeded { denials, unneeded };
        }
        AttemptVerdict::Failed { error } => AttemptEnding::Failed(error),
        AttemptVerdict::Hopeless { error } => AttemptEnding::Hopeless(error),
        AttemptVerdict::Limited { retry_after, error } => {
            AttemptEnding::Limited(error, retry_after.map(bounded))
        }
        AttemptVerdict::Overloaded { retry_after, error } => {
            AttemptEnding::Overloaded(error, retry_after.map(bounded))
        }
    })
}

/// What the end of an agent means, given what it said and whether it was allowed to do everything: one that changed
/// nothing for that has failed.
pub(super) fn with_words(
    ending: AttemptEnding,
    denials: u32,
    unneeded: Option<String>,
    finished: &mut Finished,
) -> AttemptEnding {
    let ending = match ending {
        AttemptEnding::Unchanged(_) => AttemptEnding::Unchanged(unneeded),
        other => other,
    };
    if denials == 0 {
        return ending;
    }
    let times = match denials {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    let what = format!("the agent was denied permission {times}");
    if ending == AttemptEnding::Unchanged(None) {
        return AttemptEnding::Hopeless(format!("{what}, and changed nothing"));
    }
    finished.notes.push(what);
    ending
}

fn milliseconds(pause: Duration) -> u64 {
    u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)
}

fn without_exit(ending: &Ending, stall: Duration) -> AttemptEnding {
    match ending {
        Ending::TimedOut => AttemptEnding::TimedOut,
        Ending::Stalled => {
            let seconds = stall.as_secs_f64();
            AttemptEnding::Failed(format!(
                "the agent printed nothing for {seconds} s (stall_timeout)"
            ))
        }
        Ending::Cancelled => AttemptEnding::Stopped,
        Ending::NotStarted(reason) => {
            AttemptEnding::Hopeless(format!("the agent could not be started: {reason}"))
        }
        Ending::Vanished => AttemptEnding::Failed("the agent's wrapper was killed".to_owned()),
        Ending::Abandoned | Ending::Exited(_) | Ending::Signalled(_) => AttemptEnding::Interrupted,
    }
}

pub(super) fn setup(
    record: &ProcessRecord,
    command: &str,
    log: &Path,
) -> Result<(), AttemptEnding> {
    let how = match &record.ending {
        Ending::Exited(0) => return Ok(()),
        Ending::Exited(code) => format!("exited with {code}"),
        Ending::Signalled(signal) => format!("was killed by signal {signal}"),
        Ending::Stalled => "printed nothing for too long".to_owned(),
        Ending::TimedOut => "took too long".to_owned(),
        other => return Err(without_exit(other, Duration::ZERO)),
    };
    let said = last_line(&tail(log));
    let said = said.map(|line| format!(": {line}")).unwrap_or_default();
    Err(AttemptEnding::Failed(format!(
        "setup ({command}) {how}{said}"
    )))
}

pub(super) fn note(record: &ProcessRecord, notes: &mut Vec<String>) {
    if !record.leaked.is_empty() {
        let leaked = record.leaked.join(", ");
        notes.push(format!(
            "killed processes that the agent left running: {leaked}"
        ));
    }
    if !record.survivors.is_empty() {
        let survivors = record.survivors.join(", ");
        notes.push(format!(
            "could not kill processes of the agent: {survivors}"
        ));
    }
    if record.output.left_out > 0 {
        let bytes = record.output.left_out;
        notes.push(format!(
            "the middle of the agent's output, {bytes} bytes, is not logged"
        ));
    }
    if record.output.unwritten > 0 {
        let bytes = record.output.unwritten;
        notes.push(format!(
            "no space left to log {bytes} bytes of the agent's output"
        ));
    }
}
