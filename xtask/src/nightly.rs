//! Everything that takes long or is left to chance, for a machine that has the night.
//!
//! Goes on when something fails, and says at the end what did, and what could not be tried.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::agents::{self, Agents};
use crate::memory::step_in_memory;
use crate::packages;
use crate::schemathesis::{self, Effort};
use crate::tools::DENY;
use crate::{all_tests, bench, board, build_tried, root, step, test_threads, without_home};

/// One part of the night, by its name.
type Part = (&'static str, fn() -> Result<Night, String>);

/// How a part went that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Night {
    Passed,
    /// It could not be tried, for this reason.
    Skipped(&'static str),
}

/// What nothing else waits for comes last.
const PARTS: [Part; 10] = [
    ("every test with all it can try", || passed(thorough)),
    ("clusters", || passed(clusters)),
    ("fuzz", || passed(fuzz)),
    ("simulate", || passed(simulate)),
    ("crash", || passed(crash)),
    ("api", || passed(api)),
    ("agents all", || passed(|| agents::run(Agents::All))),
    ("bench", || passed(|| bench([]))),
    ("bench cluster", || passed(|| bench(["cluster".to_owned()]))),
    ("advisories", advisories),
];

pub(crate) fn run() -> Result<(), String> {
    let went = PARTS.map(|(name, part)| {
        eprintln!("══ {name}");
        let night = part();
        match &night {
            Ok(Night::Passed) => {}
            Ok(Night::Skipped(why)) => eprintln!("skipped: {why}"),
            Err(error) => eprintln!("{error}"),
        }
        (name, night)
    });
    let (summary, has_failed) = summary(&went);
    if has_failed {
        return Err(summary);
    }
    eprintln!("══ {summary}");
    Ok(())
}

/// What to say in the morning, and whether something failed.
fn summary(went: &[(&str, Result<Night, String>)]) -> (String, bool) {
    let names = |is_so: fn(&Result<Night, String>) -> bool| {
        let those = went.iter().filter(move |(_, night)| is_so(night));
        those.map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    let all = [
        ("passed", names(|night| matches!(night, Ok(Night::Passed)))),
        (
            "skipped",
            names(|night| matches!(night, Ok(Night::Skipped(_)))),
        ),
        ("failed", names(Result::is_err)),
    ];
    let has_failed = !all[2].1.is_empty();
    let said = all.iter().filter(|(_, names)| !names.is_empty());
    let said: Vec<String> = said
        .map(|(word, names)| format!("{word}: {names}"))
        .collect();
    (said.join("; "), has_failed)
}

fn passed(part: impl FnOnce() -> Result<(), String>) -> Result<Night, String> {
    part().map(|()| Night::Passed)
}

/// The tests of the gate without its limits; what drives agents and what weaves has a part of its own.
fn thorough() -> Result<(), String> {
    board::build()?;
    let mut tests = all_tests(&test_threads())?;
    let elsewhere = "test(/^(real_agents|more_agents|weave_like_git|cluster\\w*)::/)";
    tests.args(["--filterset", &format!("not {elsewhere}")]);
    tests.args(["--profile", "nightly"]);
    step_in_memory(tests.env("PLEACH_THOROUGH", "1"))
}

/// Batches on a real Slurm with all there is to try; at the end, what each check has shown.
pub(crate) fn clusters() -> Result<(), String> {
    packages::slurm()?;
    packages::bindfs()?;
    // One cluster at a time: what a test expects within seconds has the machine to itself.
    let mut tests = all_tests("1")?;
    tests.args(["--profile", "nightly"]);
    tests.args(["--filterset", "test(/^cluster\\w*::/)"]);
    tests.args(["--success-output", "immediate"]);
    tests.env("PLEACH_THOROUGH", "1").stderr(Stdio::piped());
    let failed = |error: std::io::Error| format!("the tests of clusters: {error}");
    let mut child = tests.current_dir(root()).spawn().map_err(failed)?;
    let said = child.stderr.take();
    let mut shown = Vec::new();
    for line in { said.into_iter() }.flat_map(|said| BufReader::new(said).lines()) {
        let line = line.map_err(failed)?;
        eprintln!("{line}");
        shown.extend(line.trim_start().strip_prefix("check ").map(str::to_owned));
    }
    let status = child.wait().map_err(failed)?;
    shown.sort();
    for line in shown {
        eprintln!("check {line}");
    }
    if status.success() {
        Ok(())
    } else {
        Err(format!("the tests of clusters: {status}"))
    }
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
    weaving.args(["--package", "pleach-git", "--test", "git", "--"]);
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
fn advisories() -> Result<Night, String> {
    if let Err(error) = step(DENY.command()?.args(["--locked", "fetch", "db"])) {
        eprintln!("{error}");
        return Ok(Night::Skipped("could not download the advisory database"));
    }
    let mut check = DENY.command()?;
    passed(|| step(check.args(["--locked", "check", "advisories"])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_skipped_has_not_passed() {
        let skipped = Ok(Night::Skipped("no network"));
        let mut went = vec![("fuzz", Ok(Night::Passed)), ("advisories", skipped)];
        let told = summary(&went);
        assert_eq!(
            told,
            ("passed: fuzz; skipped: advisories".to_owned(), false)
        );
        went.push(("bench", Err("slow".to_owned())));
        let told = summary(&went);
        assert_eq!(
            told,
            (
                "passed: fuzz; skipped: advisories; failed: bench".to_owned(),
                true
            )
        );
    }
}
