//! Goes on in the background: the same program once more, in a session of its own.
//!
//! Knows nothing of what it is to do there.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::crash_point::DIE_AT;
use rustix::pipe::{PipeFlags, pipe_with};

#[derive(Debug)]
pub enum DetachedStart {
    /// It says by this line that all is well.
    Running(String),
    /// It ended without one.
    Ended {
        /// Its exit code; none, if a signal ended it.
        code: Option<i32>,
        /// What it wrote to its log.
        said: String,
    },
}

/// Starts a program in the background and waits until it says that all is well, or ends.
pub fn start(program: &Path, words: &[OsString], log: &Path) -> io::Result<DetachedStart> {
    let (hear, say) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut said = File::options()
        .create(true)
        .append(true)
        .read(true)
        .mode(0o600)
        .open(log)?;
    let before = said.metadata()?.len();
    let (log, errors) = (said.try_clone()?, said.try_clone()?);
    let mut child = Command::new(program)
        .args(words)
        // What it has to say to us goes out where others are spoken to: nobody speaks to it.
        .stdin(Stdio::from(say))
        .stdout(log)
        .stderr(errors)
        .spawn()?;
    let mut line = String::new();
    BufReader::new(File::from(hear)).read_line(&mut line)?;
    if line.ends_with('\n') {
        return Ok(DetachedStart::Running(line.trim_end().to_owned()));
    }
    let code = child.wait()?.code();
    let mut bytes = Vec::new();
    said.seek(SeekFrom::Start(before))?;
    said.read_to_end(&mut bytes)?;
    let said = String::from_utf8_lossy(&bytes).into_owned();
    Ok(DetachedStart::Ended { code, said })
}

/// Starts a program that nobody waits for, with nothing of this one's environment but where it is to die.
pub fn spawn_alone(program: &Path, words: &[OsString]) -> io::Result<u32> {
    let dies_at = std::env::var_os(DIE_AT).map(|point| (DIE_AT, point));
    let mut child = Command::new(program)
        .args(words)
        .env_clear()
        .envs(dies_at)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let pid = child.id();
    // Collected when it ends, if this process is still there.
    std::thread::spawn(move || child.wait());
    Ok(pid)
}

/// Leaves the terminal of whoever started this program in the background.
pub fn leave_terminal() {
    // It fails only for who leads a group already, and that one is in no terminal's foreground.
    let _ = rustix::process::setsid();
}

/// Says to whoever started this program in the background that all is well.
pub fn announce(line: &str) {
    let text = format!("{line}\n");
    // Whoever does not wait any more does not want to know.
    let _ = rustix::io::write(rustix::stdio::stdin(), text.as_bytes());
}
