//! The terminal: its size, whether anything can be drawn on it, and modes that are borrowed and given back.
//!
//! Knows nothing of what is drawn.

use std::io::{IsTerminal as _, Write as _};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use rustix::process::getpgrp;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalSize {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

impl TerminalSize {
    /// The size of a terminal; a usual one, if nobody knows.
    pub(crate) fn of(terminal: impl AsFd) -> Self {
        let known = terminal_size::terminal_size_of(terminal);
        let known = known.filter(|(columns, rows)| columns.0 > 0 && rows.0 > 0);
        known.map_or(
            Self {
                columns: 80,
                rows: 24,
            },
            |(columns, rows)| Self {
                columns: columns.0.into(),
                rows: rows.0.into(),
            },
        )
    }

    /// The columns that can be written to without the cursor standing behind the last one.
    pub(crate) fn width(self) -> usize {
        self.columns.saturating_sub(1)
    }
}

pub(crate) fn can_draw(terminal: &impl std::io::IsTerminal) -> bool {
    let kind = std::env::var_os("TERM").unwrap_or_default();
    terminal.is_terminal() && !kind.is_empty() && kind != "dumb" && is_in_front()
}

pub(crate) fn has_colours(terminal: &impl RawStream) -> bool {
    AutoStream::choice(terminal) != ColorChoice::Never
}

/// Whether the terminal is ours at the moment: who is in the background may neither draw nor change its modes.
fn is_in_front() -> bool {
    let (input, output) = (std::io::stdin(), std::io::stdout());
    let mut terminals = [input.as_fd(), output.as_fd()].into_iter();
    // What is no terminal is nobody's.
    terminals.all(|terminal| tcgetpgrp(terminal).map_or(true, |front| front == getpgrp()))
}

/// What is borrowed at the moment: the modes to be given back.
static BORROWED: Mutex<Option<Termios>> = Mutex::new(None);

fn borrowed() -> MutexGuard<'static, Option<Termios>> {
    BORROWED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Modes of the terminal that are given back when it is dropped, or when somebody panics.
#[derive(Debug)]
pub(crate) struct BorrowedModes(());

impl BorrowedModes {
    /// What is typed is not shown; it would stand in the middle of what is drawn.
    pub(crate) fn without_echo() -> Option<Self> {
        Self::with(|modes| modes.local_modes.remove(LocalModes::ECHO))
    }

    /// Keys come one by one, and none of them is a signal.
    pub(crate) fn for_keys() -> Option<Self> {
        Self::with(|modes| {
            let usual =
                LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
            modes.local_modes.remove(usual);
            modes
                .input_modes
                .remove(InputModes::IXON | InputModes::ICRNL);
        })
    }

    fn with(change: impl FnOnce(&mut Termios)) -> Option<Self> {
        let input = std::io::stdin();
        if !input.is_terminal() || !is_in_front() {
            return None;
        }
        let found = tcgetattr(&input).ok()?;
        let mut modes = found.clone();
        change(&mut modes);
        give_back_on_panic();
        *borrowed() = Some(found);
        let changed = tcsetattr(&input, OptionalActions::Now, &modes);
        if changed.is_err() {
            *borrowed() = None;
        }
        changed.ok().map(|()| Self(()))
    }
}

impl Drop for BorrowedModes {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives back what is borrowed; says whether anything was.
pub(crate) fn give_back() -> bool {
    let Some(found) = borrowed().take() else {
        return false;
    };
    if is_in_front() {
        // A terminal that is gone needs nothing back.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &found);
    }
    true
}

/// Whether a signal that ends programs ends this one at once.
static ENDS_AT_ONCE: AtomicBool = AtomicBool::new(true);

/// Gives back what is borrowed when a signal ends the program.
pub(crate) fn give_back_on_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) else {
            return;
        };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                if ENDS_AT_ONCE.load(Ordering::SeqCst) {
                    give_back();
                    let _ = emulate_default_handler(signal);
                }
            }
        });
    });
}

/// From now on somebody else hears the signals, and ends the program in an orderly way.
pub(crate) fn leave_signals_to_others() {
    ENDS_AT_ONCE.store(false, Ordering::SeqCst);
}

/// What a bug has to say stands on lines of its own, and the terminal is as it was.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |why| {
            if give_back() {
                let _ = std::io::stderr().write_all(b"\r\n");
            }
            before(why);
        }));
    });
}
