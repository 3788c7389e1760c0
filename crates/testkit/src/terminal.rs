//! A program at a terminal of its own: what it shows, what is typed, and how it ends.
//!
//! Knows nothing of the program.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

const SOON: Duration = Duration::from_mins(1);

/// Characters of a row that look alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub column: u16,
    pub columns: u16,
    /// The characters.
    pub text: String,
    /// Which of the terminal's colours they have, if not the usual one.
    pub colour: Option<u8>,
    pub bold: bool,
    pub dim: bool,
}

/// What a terminal shows after everything that was written to it.
pub struct Screen(vt100::Parser);

impl Screen {
    pub fn new(columns: u16, rows: u16) -> Self {
        Self(vt100::Parser::new(some(rows), some(columns), 0))
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.0.process(bytes);
    }

    /// Takes another size, without moving anything, as a simple terminal does.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.0.screen_mut().set_size(some(rows), some(columns));
    }

    /// Its lines without the spaces behind them and the empty ones below.
    pub fn text(&self) -> String {
        let (_, columns) = self.0.screen().size();
        let rows = self.0.screen().rows(0, columns.get());
        let lines: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Everything on it, row by row.
    pub fn spans(&self) -> Vec<Vec<Span>> {
        let (rows, columns) = self.0.screen().size();
        let row = |row: u16| {
            let mut spans: Vec<Span> = Vec::new();
            for column in 0..columns.get() {
                let Some(cell) = self.0.screen().cell(row, column) else {
                    continue;
                };
                let colour = match cell.fgcolor() {
                    vt100::Color::Idx(colour) => Some(colour),
                    _ => None,
                };
                let (bold, dim) = (cell.bold(), cell.dim());
                let text = match cell.contents() {
                    "" if cell.is_wide_continuation() => "",
                    "" => " ",
                    text => text,
                };
                match spans.last_mut() {
                    Some(span) if (span.colour, span.bold, span.dim) == (colour, bold, dim) => {
                        span.columns += 1;
                        span.text.push_str(text);
                    }
                    _ => spans.push(Span {
                        column,
                        columns: 1,
                        text: text.to_owned(),
                        colour,
                        bold,
                        dim,
                    }),
                }
            }
            spans
        };
        (0..rows.get()).map(row).collect()
    }

    pub fn shows_cursor(&self) -> bool {
        !self.0.screen().hide_cursor()
    }

    /// The row and column of the cursor.
    pub fn cursor(&self) -> (u16, u16) {
        self.0.screen().cursor_position()
    }
}

/// A program at a terminal; it ends with the test at the latest.
pub struct Terminal {
    child: Child,
    seat: File,
    written: Receiver<Vec<u8>>,
    screen: Screen,
    transcript: Vec<u8>,
}

impl Terminal {
    /// Starts a program at a terminal of that size. It has the variables that the command sets and no others.
    pub fn spawn(command: &Command, columns: u16, rows: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let seat = openpt(flags).expect("there are terminals");
        unlockpt(&seat).expect("a new terminal can be used");
        tcsetwinsize(&seat, size(columns, rows)).expect("a new terminal takes any size");
        let end = ioctl_tiocgptpeer(&seat, flags).expect("a terminal has another end");
        let other_end = || Stdio::from(end.try_clone().expect("a file can be held twice"));
        // Only whoever leads a session of its own hears what is typed as signals.
        let mut leader = Command::new("setsid");
        leader.arg("--ctty").arg(command.get_program());
        leader.args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                leader.env(name, value);
            }
        }
        if let Some(folder) = command.get_current_dir() {
            leader.current_dir(folder);
        }
        leader.stdin(other_end()).stdout(other_end());
        let child = leader.stderr(other_end()).spawn();
        let child = child.expect("setsid is part of every system");
        drop((leader, end));
        let seat = File::from(seat);
        let mut reading = seat.try_clone().expect("a file can be held twice");
        let (say, written) = channel();
        std::thread::spawn(move || {
            let mut piece = vec![0; 1 << 16];
            // A terminal whose other end is closed ends with an error.
            while let Ok(length @ 1..) = reading.read(&mut piece) {
                if say.send(piece[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            seat,
            written,
            screen: Screen::new(columns, rows),
            transcript: Vec::new(),
        }
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait_until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen shows what is wanted.
    #[track_caller]
    pub fn wait_until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) {
        let until = Instant::now() + SOON;
        while !wanted(&self.screen.text()) {
            let left = until.saturating_duration_since(Instant::now());
            match self.written.recv_timeout(left) {
                Ok(piece) => self.take_in(&piece),
                Err(why) => panic!("no {what}: {why}:\n{}", self.screen.text()),
            }
        }
    }

    fn take_in(&mut self, piece: &[u8]) {
        self.screen.write(piece);
        self.transcript.extend(piece);
    }

    /// Types something; `\r` is the enter key, `\x03` is Ctrl-C.
    pub fn type_in(&mut self, keys: &str) {
        let typed = self.seat.write_all(keys.as_bytes());
        typed.expect("a terminal takes what is typed");
    }

    /// Gives it another size; the program is told.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.resize(columns, rows);
        tcsetwinsize(&self.seat, size(columns, rows)).expect("a terminal takes any size");
    }

    pub fn screen(&mut self) -> String {
        while let Ok(piece) = self.written.try_recv() {
            self.take_in(&piece);
        }
        self.screen.text()
    }

    /// The same with its colours, row by row.
    pub fn spans(&mut self) -> Vec<Vec<Span>> {
        self.screen();
        self.screen.spans()
    }

    /// Waits a while for more to be written, and says whether anything was.
    pub fn listen(&mut self, pause: Duration) -> bool {
        match self.written.recv_timeout(pause) {
            Ok(piece) => {
                self.take_in(&piece);
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    /// Everything that was written so far, as it was written.
    pub fn transcript(&self) -> String {
        String::from_utf8_lossy(&self.transcript).into_owned()
    }

    /// Whether what is typed is shown and lines are put together, as a shell wants to find a terminal.
    pub fn is_as_found(&self) -> bool {
        let modes = tcgetattr(&self.seat).expect("a terminal has modes");
        let usual = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        modes.local_modes.contains(usual) && self.screen.shows_cursor()
    }

    pub fn signal(&self, signal: Signal) {
        let sent = kill_process(Pid::from_child(&self.child), signal);
        sent.expect("the program is there");
    }

    /// Waits until it ends; its exit code, or -1 if a signal ended it.
    #[track_caller]
    pub fn end(&mut self) -> i32 {
        let until = Instant::now() + SOON;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.written.recv_timeout(left) {
                Ok(piece) => self.take_in(&piece),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end:\n{}", self.screen.text())
                }
            }
        }
        let status = self.child.wait().expect("the program can be waited for");
        status.code().unwrap_or(-1)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended in all tests but those that failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn some(number: u16) -> NonZeroU16 {
    number.try_into().unwrap_or(NonZeroU16::MIN)
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}
