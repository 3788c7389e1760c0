//! What the tests of a batch said, and go on saying.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use pleach_domain::batch::BatchStatusWord;
use pleach_engine::validate::VALIDATE_LOG;
use pleach_log::batch_paths::{last_probe_log, probe_folder};
use pleach_log::view::Verdict;

use super::tail::{Printer, Tail};
use super::{BEAT, LOOK, SETUP_LOG};
use crate::args::LogsArgs;
use crate::commands::status::BatchSource;
use crate::failure::{Exit, Failure, Failures};
use crate::output::tell_error;

/// How long a batch that has just ended a run may take to begin the next.
const BETWEEN_RUNS: Duration = Duration::from_secs(1);

/// Prints what a run said, the last one if none is named.
pub(super) fn print(
    arguments: &LogsArgs,
    batch: u32,
    sight: &BatchSource,
) -> Result<Exit, Failures> {
    let runs = Runs {
        arguments,
        batch,
        sight,
    };
    if arguments.follow {
        runs.follow()?;
    } else {
        runs.print_one()?;
    }
    Ok(Exit::Success)
}

struct Runs<'a> {
    arguments: &'a LogsArgs,
    batch: u32,
    sight: &'a BatchSource,
}

impl Runs<'_> {
    fn folder(&self, log: u32) -> PathBuf {
        probe_folder(&self.sight.state.batch(self.batch), log)
    }

    /// The log of the run that is named, or the last one that began.
    fn log(&self) -> Result<Option<u32>, Failures> {
        let Some(run) = self.arguments.attempt else {
            return Ok(last_probe_log(&self.sight.state.batch(self.batch)));
        };
        let view = self.sight.load_one(self.batch)?;
        let known = view.validation.runs.iter();
        let mut known = known.filter(|known| known.number == Some(run));
        Ok(known.find_map(|known| known.log))
    }

    fn print_one(&self) -> Result<(), Failures> {
        let batch = self.arguments.batch;
        let log = self.log()?;
        if log.is_none() && self.arguments.attempt.is_none() {
            tell_error(format_args!("batch {batch} has not run any tests\n"));
            return Ok(());
        }
        if let Some(log) = log {
            let mut printer = Printer::new();
            // Where the tests never began, what came before them tells why.
            for name in [VALIDATE_LOG, SETUP_LOG] {
                if printer.print(&mut Tail::new(self.folder(log).join(name)))? {
                    return Ok(());
                }
            }
        }
        let run = self.arguments.attempt.map(|run| format!(" of run {run}"));
        let run = run.unwrap_or_default();
        let message = format!("no test output{run} for batch {batch}");
        Err(Failure::new(Exit::Usage, "no_transcript", message)
            .hint("the tests did not get that far, or `pleach gc` removed it")
            .into())
    }

    fn follow(&self) -> Result<(), Failures> {
        let mut printer = Printer::new();
        let mut current: Option<(u32, [Tail; 2])> = None;
        let mut looked: Option<Instant> = None;
        let mut ended: Option<Instant> = None;
        loop {
            let last = self.log()?;
            if let Some(last) =
                last.filter(|last| current.as_ref().is_none_or(|now| now.0 != *last))
            {
                // The one before is printed to its end first.
                if let Some((_, tails)) = &mut current {
                    print_all(&mut printer, tails)?;
                }
                tell_error(format_args!("the tests\n"));
                let of = |name: &str| Tail::new(self.folder(last).join(name));
                current = Some((last, [of(SETUP_LOG), of(VALIDATE_LOG)]));
            }
            if let Some((_, tails)) = &mut current {
                print_all(&mut printer, tails)?;
            }
            if looked.is_none_or(|looked| looked.elapsed() > BEAT) {
                looked = Some(Instant::now());
                ended = if self.goes_on()? {
                    None
                } else {
                    ended.or(looked)
                };
            }
            if ended.is_some_and(|ended| ended.elapsed() > BETWEEN_RUNS) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn goes_on(&self) -> Result<bool, Failures> {
        let view = self.sight.load_one(self.batch)?;
        let is_over = view.completed_at.is_some();
        let settled = !matches!(view.validation.verdict, Verdict::Unknown | Verdict::Running);
        let lands = settled && view.status == BatchStatusWord::Landing;
        Ok(!(is_over || view.interrupted || lands))
    }
}

fn print_all(printer: &mut Printer, tails: &mut [Tail; 2]) -> Result<(), Failures> {
    for tail in tails {
        printer.print(tail)?;
    }
    Ok(())
}
