//! Runs the programs of a cluster: with nothing of our environment that they do not need, and within a time.
//!
//! The only place that starts them.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use pleach_system::process::{WakeReason, wait};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::ClusterError;

/// How long a program of the cluster may take.
const DEADLINE: Duration = Duration::from_secs(30);

/// What they need of our environment; a job would have all of it, where others can read it.
const PASSED_ON: [&str; 6] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "SLURM_CONF"];

/// What is printed beyond this is not read.
const MOST_BYTES: u64 = 64 << 20;

/// Runs a program with a text as its input; what it printed.
pub(super) fn run(program: &Path, words: &[OsString], input: &str) -> Result<String, ClusterError> {
    call(program, words, input).map(|(printed, _)| printed)
}

/// The same with what it said besides.
pub(super) fn heard(
    program: &Path,
    words: &[OsString],
    input: &str,
) -> Result<String, ClusterError> {
    call(program, words, input).map(|(_, said)| said)
}

fn call(program: &Path, words: &[OsString], input: &str) -> Result<(String, String), ClusterError> {
    let name = program.file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    let failed = |source| ClusterError::NotRun {
        program: name.clone(),
        source,
    };
    let passed_on = PASSED_ON
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(program)
        .args(words)
        .env_clear()
        .envs(passed_on)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take();
    let input = input.to_owned();
    // One that does not want to hear it says why on its own.
    let say = thread::spawn(move || {
        stdin
            .take()
            .map(|mut stdin| stdin.write_all(input.as_bytes()))
    });
    let printed = hear(child.stdout.take());
    let said = hear(child.stderr.take());
    let pid = Pid::from_child(&child);
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let woke = wait(pidfd.as_fd(), None, DEADLINE).map_err(failed)?;
    if woke == WakeReason::Deadline {
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let _ = say.join();
    let printed = text_of(printed);
    let said = text_of(said);
    if woke == WakeReason::Deadline {
        return Err(failed(io::ErrorKind::TimedOut.into()));
    }
    if status.success() {
        return Ok((printed, said));
    }
    Err(ClusterError::Refused {
        program: name.clone(),
        said: said.trim().to_owned(),
    })
}

fn hear(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What came before an error is all there is.
            let _ = from.take(MOST_BYTES).read_to_end(&mut bytes);
        }
        bytes
    })
}

fn text_of(hearing: thread::JoinHandle<Vec<u8>>) -> String {
    let bytes = hearing.join().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
