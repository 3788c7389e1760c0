//! Goes on in the background: the same program once more, in a session of its own.
//!
//! Knows nothing of what it is to do there.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pipe::{PipeFlags, pipe_with};

/// Starts a program in the background and returns the line by which it says that all is well; none, if it ended
/// without one.
pub fn start(program: &Path, words: &[OsString], log: &Path) -> io::Result<Option<String>> {
    let (hear, say) = pipe_with(PipeFlags::CLOEXEC)?;
    let log = File::options()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(log)?;
    let errors = log.try_clone()?;
    let mut child = Command::new(program)
        .args(words)
        // What it has to say to us goes out where others are spoken to: nobody speaks to it.
        .stdin(Stdio::from(say))
        .stdout(log)
        .stderr(errors)
        .process_group(0)
        .spawn()?;
    let mut line = String::new();
    BufReader::new(File::from(hear)).read_line(&mut line)?;
    if line.ends_with('\n') {
        return Ok(Some(line.trim_end().to_owned()));
    }
    child.wait()?;
    Ok(None)
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
