//! Starts a command once more, in the background, and tells which batch runs there.

use std::ffi::OsString;
use std::path::Path;

use pleach_domain::id::BatchNumber;
use pleach_system::detach::{self, DetachedStart};
use pleach_system::state_folder::StateFolder;

use serde_json::json;

use crate::commands::status::find_batch;
use crate::failure::{Exit, Failure, Failures};
use crate::output::{Reader, tell};

/// Starts the same command once more, in the background and with further words.
pub(crate) fn start_detached(
    state: &StateFolder,
    program: &Path,
    further: &[&str],
    reader: Reader,
) -> Result<Exit, Failures> {
    let switches = ["--detach", "--yes", "--autonomous"];
    let is_switch = |word: &OsString| switches.iter().any(|switch| word == switch);
    let mut given = std::env::args_os().skip(1);
    // Right behind the command: what comes later may be taken for something else.
    let command = given.next().into_iter();
    let words: Vec<OsString> = command
        .chain(further.iter().map(OsString::from))
        .chain(["--in-background".into()])
        .chain(given.filter(|word| !is_switch(word)))
        .collect();
    let log = state.detached_log();
    let more = format!("see {}", log.display());
    let failed = |message: String| Failure::new(Exit::Environment, "detach", message).hint(&*more);
    let started = detach::start(program, &words, &log)
        .map_err(|error| failed(format!("could not start in the background: {error}")))?;
    let number = match started {
        DetachedStart::Running(number) => number,
        DetachedStart::Ended { code, said } => return Err(not_begun(code, &said, &more).into()),
    };
    match reader {
        Reader::Program => {
            let number: Option<BatchNumber> = number.parse().ok();
            let id = number.map(|number| find_batch(state, number)).transpose()?;
            tell(format_args!(
                "{}\n",
                json!({"batchId": id, "number": number})
            ));
        }
        Reader::Person => tell(format_args!(
            "batch {number} is running in the background\n  follow  pleach status {number} --watch\n  cancel  \
             pleach cancel {number}\n"
        )),
    }
    Ok(Exit::Success)
}

/// Why there is no run in the background, by what it said of that itself.
fn not_begun(code: Option<i32>, said: &str, more: &str) -> Failure {
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start));
    let why = line("error: ").map(|why| format!(": {why}"));
    let message = format!(
        "the background run did not start{}",
        why.unwrap_or_default()
    );
    let exit = match code {
        Some(2) => Exit::Usage,
        _ => Exit::Environment,
    };
    Failure::new(exit, "detach", message).hint(line("hint: ").unwrap_or(more))
}
