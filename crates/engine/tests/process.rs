//! Processes: every way one can end, and that nothing of it is left.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use pleach_engine::process::{Cancel, Ending, ProcessError, ProcessSpec, run};
use rustix::fs::{CWD, FileType, Mode};
use tempfile::TempDir;

/// Longer than any test takes; when it matters, something is broken.
const LONG: Duration = Duration::from_mins(10);

fn shell(folder: &TempDir, script: &str) -> ProcessSpec {
    let words = ["sh", "-c", script];
    let path = std::env::var_os("PATH").unwrap();
    ProcessSpec {
        argv: words.map(OsString::from).to_vec(),
        cwd: folder.path().to_owned(),
        env: vec![("PATH".into(), path)],
        stdin_file: None,
        log: folder.path().join("log"),
        timeout: LONG,
        grace: LONG,
    }
}

fn end_of(spec: &ProcessSpec) -> Ending {
    run(spec, &Cancel::new().unwrap()).unwrap()
}

fn log(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("log")).unwrap()
}

/// A named pipe: opening it waits for the other side, and reading ends when all writers are gone.
fn gate(folder: &TempDir, name: &str) -> std::path::PathBuf {
    let path = folder.path().join(name);
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    path
}

fn wait_until_closed(gate: &Path) {
    let mut gate = fs::File::open(gate).unwrap();
    gate.read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn exit_code_and_output_are_seen() {
    let folder = TempDir::new().unwrap();
    let spec = shell(&folder, "echo out; echo err >&2; exit 7");
    assert_eq!(end_of(&spec), Ending::Exited(7));
    assert_eq!(log(&folder), "out\nerr\n");
    end_of(&spec);
    assert_eq!(log(&folder), "out\nerr\nout\nerr\n");
}

#[test]
fn a_foreign_signal_is_told_apart_from_an_exit() {
    let folder = TempDir::new().unwrap();
    assert_eq!(end_of(&shell(&folder, "kill -9 $$")), Ending::Signalled(9));
}

#[test]
fn only_the_given_environment_is_there_and_input_ends_at_once() {
    let folder = TempDir::new().unwrap();
    let mut spec = shell(&folder, "echo \"[$HOME][$GIVEN]\"; cat");
    spec.env.push(("GIVEN".into(), "yes".into()));
    assert_eq!(end_of(&spec), Ending::Exited(0));
    assert_eq!(log(&folder), "[][yes]\n");
    let prompt = folder.path().join("prompt");
    fs::write(&prompt, "do it").unwrap();
    spec.stdin_file = Some(prompt);
    end_of(&spec);
    assert!(log(&folder).ends_with("[][yes]\ndo it"));
}

#[test]
fn time_runs_out() {
    let folder = TempDir::new().unwrap();
    let mut spec = shell(&folder, "exec sleep 1000");
    spec.timeout = Duration::from_millis(50);
    assert_eq!(end_of(&spec), Ending::TimedOut);
}

#[test]
fn a_program_that_ignores_the_polite_signal_dies_after_the_grace() {
    let folder = TempDir::new().unwrap();
    let started = gate(&folder, "started");
    let script = "trap '' TERM; : > started; while :; do sleep 1000; done";
    let mut spec = shell(&folder, script);
    spec.grace = Duration::from_millis(100);
    let cancel = Cancel::new().unwrap();
    let handle = cancel.clone();
    let canceller = thread::spawn(move || {
        wait_until_closed(&started);
        handle.cancel();
        Instant::now()
    });
    assert_eq!(run(&spec, &cancel).unwrap(), Ending::Cancelled);
    assert!(canceller.join().unwrap().elapsed() >= spec.grace / 2);
    assert!(processes_in(folder.path()).is_empty());
}

/// The grace is longer than any test may take, so only the second call can end it in time.
#[test]
fn a_program_that_ignores_the_polite_signal_can_be_ended_at_once() {
    let folder = TempDir::new().unwrap();
    let started = gate(&folder, "started");
    let script = "trap '' TERM; : > started; while :; do sleep 1000; done";
    let spec = shell(&folder, script);
    let cancel = Cancel::new().unwrap();
    let handle = cancel.clone();
    let canceller = thread::spawn(move || {
        wait_until_closed(&started);
        handle.cancel();
        handle.cancel_at_once();
    });
    assert_eq!(run(&spec, &cancel).unwrap(), Ending::Cancelled);
    canceller.join().unwrap();
    assert!(processes_in(folder.path()).is_empty());
}

#[test]
fn a_program_that_obeys_may_tidy_up() {
    let folder = TempDir::new().unwrap();
    let started = gate(&folder, "started");
    let script = format!(
        "trap 'echo bye; exit 0' TERM; : > {}; sleep 1000 & wait",
        started.display()
    );
    let spec = shell(&folder, &script);
    let cancel = Cancel::new().unwrap();
    let handle = cancel.clone();
    let begin = Instant::now();
    let canceller = thread::spawn(move || {
        wait_until_closed(&started);
        handle.cancel();
    });
    assert_eq!(run(&spec, &cancel).unwrap(), Ending::Cancelled);
    canceller.join().unwrap();
    assert_eq!(log(&folder), "bye\n");
    assert!(begin.elapsed() < LONG / 2);
}

#[test]
fn one_cancel_stops_everything_that_shares_it() {
    let folder = TempDir::new().unwrap();
    let cancel = Cancel::new().unwrap();
    let started = [gate(&folder, "one"), gate(&folder, "two")];
    thread::scope(|scope| {
        let runs = started.each_ref().map(|gate| {
            let spec = shell(&folder, &format!(": > {}; exec sleep 1000", gate.display()));
            let cancel = cancel.clone();
            scope.spawn(move || run(&spec, &cancel).unwrap())
        });
        for gate in &started {
            wait_until_closed(gate);
        }
        cancel.cancel();
        for run in runs {
            assert_eq!(run.join().unwrap(), Ending::Cancelled);
        }
    });
    assert!(cancel.is_cancelled());
    let spec = shell(&folder, "touch started-anyway");
    assert_eq!(run(&spec, &cancel).unwrap(), Ending::Cancelled);
    assert!(!folder.path().join("started-anyway").exists());
}

#[test]
fn nothing_of_the_group_is_left_after_a_normal_end() {
    let folder = TempDir::new().unwrap();
    gate(&folder, "held");
    // The last step waits until the child has opened the other side, so that it lives for sure.
    let child = "(trap '' TERM; exec 3> held; while :; do sleep 1000; done) &";
    let spec = shell(&folder, &format!("{child} exec 4< held; exit 0"));
    assert_eq!(end_of(&spec), Ending::Exited(0));
    assert!(processes_in(folder.path()).is_empty());
}

fn processes_in(folder: &Path) -> Vec<String> {
    let folder = folder.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn what_cannot_be_started_is_named() {
    let folder = TempDir::new().unwrap();
    let mut spec = shell(&folder, "");
    spec.argv = vec!["no-such-agent".into(), "--task".into()];
    let cancel = Cancel::new().unwrap();
    let error = run(&spec, &cancel).unwrap_err();
    assert!(matches!(error, ProcessError::NotFound { .. }));
    assert!(
        error.to_string().contains("no-such-agent --task"),
        "{error}"
    );
    spec.cwd = folder.path().join("nowhere");
    let error = run(&spec, &cancel).unwrap_err();
    assert!(matches!(error, ProcessError::NoFolder { .. }), "{error}");
    spec.argv.clear();
    let error = run(&spec, &cancel).unwrap_err();
    assert!(matches!(error, ProcessError::EmptyCommand), "{error}");
}
