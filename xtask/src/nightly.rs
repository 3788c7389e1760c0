//! Everything that takes long or is left to chance, for a machine that has the night.
//!
//! Goes on when something fails, and says at the end what did.

use std::process::Command;

use crate::agents::{self, Agents};
use crate::schemathesis::{self, Effort};
use crate::tools::DENY;
use crate::{all_tests, bench, board, build_tried, step, without_home};

/// One part of the night, by its name.
type Part = (&'static str, fn() -> Result<(), String>);

/// What nothing else waits for comes last.
const PARTS: [Part; 8] = [
    ("every test with all it can try", thorough),
    ("fuzz", fuzz),
    ("simulate", simulate),
    ("crash", crash),
    ("api", api),
    ("agents all", || agents::run(Agents::All)),
    ("bench", bench),
    ("advisories", advisories),
];

pub(crate) fn run() -> Result<(), String> {
    let mut failed = Vec::new();
    for (name, part) in PARTS {
        eprintln!("══ {name}");
        if let Err(error) = part() {
            eprintln!("{error}");
            failed.push(name);
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    Err(format!("failed: {}", failed.join(", ")))
}

/// The tests of the gate without its limits; what drives agents and what weaves has a part of its own.
fn thorough() -> Result<(), String> {
    board::build()?;
    let mut tests = all_tests()?;
    let elsewhere = "test(/^(real_agents|more_agents|weave_like_git)::/)";
    tests.args(["--filterset", &format!("not {elsewhere}")]);
    tests.args(["--profile", "nightly"]);
    step(tests.env("PLEACH_THOROUGH", "1"))
}

/// The same properties as in the test suite, on far more cases.
pub(crate) fn fuzz() -> Result<(), String> {
    let mut properties = Command::new("cargo");
    properties.args(["test", "--release", "--locked"]);
    properties.args(["--package", "pleach-formats", "--package", "pleach-domain"]);
    properties.args(["--tests", "--", "never", "every", "respect", "round_trip"]);
    properties.args(["written_status", "any_"]);
    step(properties.env("PLEACH_CASES", "200000"))?;
    let mut weaving = Command::new("cargo");
    weaving.args(["test", "--release", "--locked"]);
    weaving.args(["--package", "pleach-engine", "--test", "engine", "--"]);
    weaving.args(["weave_like_git::", "--nocapture"]);
    step(without_home(&mut weaving)?.env("PLEACH_THOROUGH", "1"))
}

/// The same histories as in the test suite, and many more.
pub(crate) fn simulate() -> Result<(), String> {
    let mut tests = Command::new("cargo");
    tests.args(["test", "--release", "--locked"]);
    tests.args(["--package", "pleach-domain", "--test", "simulation"]);
    tests.args(["--", "--nocapture"]);
    let cases = std::env::var("PLEACH_CASES").unwrap_or_else(|_| "1000000".to_owned());
    step(tests.env("PLEACH_CASES", cases))
}

/// The same deaths as in the test suite, and many more.
pub(crate) fn crash() -> Result<(), String> {
    let mut tests = Command::new("cargo");
    tests.args(["test", "--release", "--locked"]);
    tests.args(["--package", "pleach", "--test", "cli", "--"]);
    tests.args(["a_run_may_be_killed", "--nocapture"]);
    let crashes = std::env::var("PLEACH_CRASHES").unwrap_or_else(|_| "2000".to_owned());
    let tests = without_home(&mut tests)?.env("PLEACH_CRASHES", crashes);
    step(tests.env("PLEACH_THOROUGH", "1"))
}

/// Schemathesis, with all the cases it has.
pub(crate) fn api() -> Result<(), String> {
    build_tried()?;
    schemathesis::run(Effort::Thorough)
}

/// What is known to be wrong with dependencies, as far as this machine can learn of it.
fn advisories() -> Result<(), String> {
    if let Err(error) = step(DENY.command()?.args(["--locked", "fetch", "db"])) {
        eprintln!("{error}\n── left out: the database of advisories cannot be had from here");
        return Ok(());
    }
    step(DENY.command()?.args(["--locked", "check", "advisories"]))
}
