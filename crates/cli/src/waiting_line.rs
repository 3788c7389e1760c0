//! A line on the terminal that tells what is waited for, while something else takes its time.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::columns::{about, cut};
use crate::terminal::{self, TerminalSize};

/// What is over sooner needs no line.
const AT_ONCE: Duration = Duration::from_secs(1);
const BEAT: Duration = Duration::from_secs(1);

/// Tells until it is dropped.
pub(crate) struct WaitingLine {
    done: Option<Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl WaitingLine {
    /// Tells what is waited for, if standard error is a terminal.
    pub(crate) fn tell(what: String) -> Self {
        let (done, heard) = channel();
        let teller = terminal::can_draw(&std::io::stderr()).then(|| {
            std::thread::spawn(move || {
                let began = Instant::now();
                let mut pause = AT_ONCE;
                while heard.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                    pause = BEAT;
                    let line = format!("{what} … {}", about(began.elapsed()));
                    rewrite(&line);
                }
                if pause == BEAT {
                    rewrite("");
                }
            })
        });
        Self {
            done: Some(done),
            teller,
        }
    }
}

impl Drop for WaitingLine {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(teller) = self.teller.take() {
            // A line that stays is no reason to fail.
            let _ = teller.join();
        }
    }
}

fn rewrite(line: &str) {
    let line = cut(line, TerminalSize::of(std::io::stderr()).width());
    let mut output = std::io::stderr();
    let _ = write!(output, "\r\x1b[K{line}").and_then(|()| output.flush());
}
