//! The commands of the README: `cargo xtask demo`, `cargo xtask test`, `cargo xtask bench`.
//!
//! Starts other programs and stops at the first that fails.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "it tells people which step is under way, and prints figures"
)]

mod agents;
mod board;
mod build_times;
mod lines;
mod memory;
mod nightly;
mod packages;
mod schemathesis;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use agents::Agents;
use memory::step_in_memory;
use schemathesis::Effort;
use tools::{DENY, NEXTEST};

const HELP: &str = "cargo xtask COMMAND

  demo      builds Pleach and shows a whole run with the built-in agent
  test      runs the gate: format, lints, dependencies, all tests, documentation
  nightly   runs everything slow or randomized: the tests with the most cases, then
            clusters, fuzz, simulate, crash, api, agents all, all benchmarks, and advisories on dependencies
  bench     runs the benchmarks, each printing a ratio; `bench weave` runs one of plans, makespan,
            bisect, worktrees, weave, conflicts, relay, run, serve, cluster
  clusters  runs batches on a real Slurm whose owners, nodes and controller are killed, and prints what each check showed
  fuzz      tests properties of plans and batches, with 200,000 cases each, and weaving on many repositories
  simulate  simulates 1,000,000 batches with cancels, retries and crashes (PLEACH_CASES)
  crash     kills `pleach run` at 2,000 random moments and checks the result (PLEACH_CRASHES)
  api       tests the server with schemathesis, 200 cases for each operation (PLEACH_CASES)
  agents    installs real agents (Claude Code, Codex, Goose) below the target folder and has the tests drive them;
            `agents all` adds OpenCode and Gemini
  board     builds the board, with npm; `board test` tests it in Chromium, `board types` updates the types of
            the API, `board bench` measures its pages, `board pictures` takes the screenshots of the guide
  build-times
            measures a rebuild after a change of one file; `build-times REV` compares it with a revision
  lines     counts lines of source and of tests; `lines REV` compares them with a revision
  pictures  draws the pictures of the guide, and records a run
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let done = match command.as_str() {
        "demo" => demo(),
        "test" => test(),
        "bench" => bench(std::env::args().skip(2)),
        "nightly" => nightly::run(),
        "fuzz" => nightly::fuzz(),
        "simulate" => nightly::simulate(),
        "clusters" => nightly::clusters(),
        "crash" => nightly::crash(),
        "api" => nightly::api(),
        "agents" => real_agents(),
        "board" => board::run(std::env::args().nth(2).as_deref()),
        "build-times" => build_times::run(std::env::args().nth(2).as_deref()),
        "lines" => lines::run(std::env::args().nth(2).as_deref()),
        "pictures" => pictures(),
        _ => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn bench(chosen: impl IntoIterator<Item = String>) -> Result<(), String> {
    let packages = ["--package", "pleach", "--package", "pleach-bench"];
    cargo(&[&["build", "--release", "--locked"], &packages[..]].concat())?;
    let chosen: Vec<String> = chosen.into_iter().collect();
    if chosen.iter().any(|name| name == "cluster") {
        packages::slurm()?;
    }
    step(Command::new(target().join("release/pleach-bench")).args(chosen))
}

fn demo() -> Result<(), String> {
    board::build_if_possible();
    cargo(&[
        "build",
        "--profile",
        "demo",
        "--locked",
        "--package",
        "pleach",
    ])?;
    step(Command::new(target().join("demo/pleach")).arg("demo"))
}

fn real_agents() -> Result<(), String> {
    match std::env::args().nth(2).as_deref() {
        None => agents::run(Agents::Few),
        Some("all") => agents::run(Agents::All),
        Some(_) => Err(HELP.to_owned()),
    }
}

/// The test suite tells when they are stale.
fn pictures() -> Result<(), String> {
    cargo(&["build", "--release", "--locked", "--package", "pleach"])?;
    let guide = root().join("docs/guide");
    let picture = std::fs::File::create(guide.join("plan.svg"))
        .map_err(|error| format!("plan.svg: {error}"))?;
    let mut draw = Command::new(target().join("release/pleach"));
    draw.args(["plan", "greenhouse.md", "--format", "svg"])
        .stdout(picture);
    step_in(&guide, &mut draw)?;
    record()
}

/// A recording of a real run at a terminal; it differs a little each time, as runs do.
fn record() -> Result<(), String> {
    let mut record = Command::new("cargo");
    let example = ["--package", "pleach-testkit", "--example", "record"];
    record.args(["run", "--quiet", "--locked"]).args(example);
    record.arg("--").arg(target().join("release/pleach"));
    step(record.arg(root().join("docs/guide/run.svg")))
}

fn test() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    board::check()?;
    cargo(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ])?;
    step(
        DENY.command()?
            .args(["--locked", "check", "licenses", "bans", "sources"]),
    )?;
    packages::slurm()?;
    let home = agents::install(Agents::Few)?;
    let mut tests = all_tests(&test_threads())?;
    tests.args(["--filterset", &format!("not {}", agents::NEED_ALL)]);
    step_in_memory(tests.env("PLEACH_AGENTS", home))?;
    schemathesis::run(Effort::Short)?;
    board::try_in_chromium()?;
    let mut docs = Command::new("cargo");
    docs.args([
        "doc",
        "--workspace",
        "--no-deps",
        "--locked",
        "--document-private-items",
    ]);
    step(docs.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The runner of all tests of all crates, so many at once, with a home folder of nobody.
fn all_tests(threads: &str) -> Result<Command, String> {
    let mut tests = NEXTEST.command()?;
    tests.args(["run", "--workspace", "--locked", "--no-fail-fast"]);
    tests.args(["--test-threads", threads]);
    without_home(&mut tests)?;
    Ok(tests)
}

/// Two more than there are processors: tests of processes wait more than they work, those of clusters most of the time.
fn test_threads() -> String {
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    (processors + 2).to_string()
}

/// Gives tests an empty home folder, so that nobody's git configuration has a say in them.
fn without_home(command: &mut Command) -> Result<&mut Command, String> {
    let empty = target().join("empty-home");
    std::fs::create_dir_all(&empty).map_err(|error| format!("{}: {error}", empty.display()))?;
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            if std::env::var_os(name).is_none() {
                command.env(name, home.join(folder));
            }
        }
    }
    Ok(command.env("HOME", empty).env_remove("XDG_CONFIG_HOME"))
}

/// The program that is tried from outside: the one that the tests have built, so that nothing is built twice.
fn tried_program() -> PathBuf {
    root().join(target()).join("debug/pleach")
}

/// Builds that program where no tests ran before.
fn build_tried() -> Result<(), String> {
    cargo(&["build", "--locked", "--package", "pleach"])
}

fn target() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    set.unwrap_or_else(|| root().join("target"))
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate has a folder above it")
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    step(Command::new("cargo").args(arguments))
}

fn step(command: &mut Command) -> Result<(), String> {
    step_in(root(), command)
}

fn step_in(folder: &Path, command: &mut Command) -> Result<(), String> {
    command.current_dir(folder);
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .collect();
    let line: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let line = line.join(" ");
    eprintln!("── {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{line}: {status}")),
        Err(error) => Err(format!("{line}: {error}")),
    }
}
