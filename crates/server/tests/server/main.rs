//! What the server answers, asked through its router: no socket, real git, files and agents.

#![expect(clippy::unwrap_used, reason = "tests say what is wrong by panicking")]

mod batches;
mod board;
mod clusters;
mod conflicts;
mod document;
mod document_served;
mod door;
mod events;
mod fetch;
mod folders;
mod ids;
mod mixed;
mod pages;
mod parallel;
mod preview;
mod refusals;
mod secrets;
mod serving;
mod standing;
mod table;
mod told;
mod transcript;
mod validation;

use pleach_loop::BASE_CHECK;
use pleach_testkit::in_own_process;

/// Runs a test with a home folder of its own.
#[track_caller]
fn alone<T: FnOnce()>(test: T) {
    alone_with(&[], test);
}

/// The same with variables in its environment.
#[track_caller]
fn alone_with<T: FnOnce()>(variables: &[(&str, &str)], test: T) {
    // Most tests know how often theirs run.
    let all = [variables, &[(BASE_CHECK, "off")]].concat();
    in_own_process(&all, test);
}
