//! Keys as a terminal sends them.
//!
//! Knows bytes, not what a key is for.

use std::io::Read as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The rest of a sequence follows at once, or there is none.
const AT_ONCE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Character(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C, or Ctrl-D.
    Interrupt,
    /// Empties a line, Ctrl-U.
    Empty,
    Other,
}

/// The keys that are typed within a while; none if nothing is, and nothing at all if nobody can type any more.
pub(crate) fn read(pause: Duration) -> Option<Vec<Key>> {
    let mut bytes = Vec::new();
    if !is_typed(pause) {
        return Some(Vec::new());
    }
    loop {
        let mut piece = [0; 256];
        match std::io::stdin().lock().read(&mut piece) {
            Ok(0) | Err(_) => return None,
            Ok(length) => bytes.extend(&piece[..length]),
        }
        if !is_begun(&bytes) || !is_typed(AT_ONCE) {
            return Some(keys(&bytes));
        }
    }
}

fn is_typed(pause: Duration) -> bool {
    let input = std::io::stdin();
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    let pause = Timespec::try_from(pause).ok();
    // A signal that interrupts it is no key.
    poll(&mut fds, pause.as_ref()).is_ok_and(|ready| ready > 0)
}

/// Whether the last key may be the start of a longer sequence.
fn is_begun(bytes: &[u8]) -> bool {
    let Some(at) = bytes.iter().rposition(|byte| *byte == 0x1b) else {
        return std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    };
    match &bytes[at + 1..] {
        [] | [b'[' | b'O'] => true,
        [b'[', rest @ ..] => rest.iter().all(|byte| matches!(byte, 0x20..=0x3f)),
        _ => false,
    }
}

fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        let (key, length) = match first {
            0x1b => sequence(rest),
            b'\r' | b'\n' => (Key::Enter, 1),
            0x08 | 0x7f => (Key::Backspace, 1),
            0x03 | 0x04 => (Key::Interrupt, 1),
            0x15 => (Key::Empty, 1),
            0x10 => (Key::Up, 1),
            0x0e => (Key::Down, 1),
            0..0x20 => (Key::Other, 1),
            _ => character(rest),
        };
        found.push(key);
        rest = &rest[length.min(rest.len())..];
    }
    found
}

fn character(bytes: &[u8]) -> (Key, usize) {
    let piece = &bytes[..bytes.len().min(4)];
    let text = match std::str::from_utf8(piece) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&piece[..error.valid_up_to()]).unwrap_or_default(),
    };
    match text.chars().next() {
        Some(c) => (Key::Character(c), c.len_utf8()),
        None => (Key::Other, 1),
    }
}

fn sequence(bytes: &[u8]) -> (Key, usize) {
    let Some([b'[' | b'O', rest @ ..]) = bytes.get(1..) else {
        return (Key::Escape, 1);
    };
    let Some(end) = rest.iter().position(|byte| matches!(byte, 0x40..=0x7e)) else {
        return (Key::Other, bytes.len());
    };
    let key = match (&rest[..end], rest[end]) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => Key::Other,
    };
    (key, end + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        use Key::{Character, Down, End, Enter, Escape, Home, Other, PageDown, PageUp, Up};
        for (bytes, expected) in [
            (
                &b" a/"[..],
                &[Character(' '), Character('a'), Character('/')][..],
            ),
            (b"\x1b[A\x1bOB\x1b[1;5B", &[Up, Down, Down]),
            (
                b"\x1b[5~\x1b[6~\x1b[H\x1b[4~",
                &[PageUp, PageDown, Home, End],
            ),
            (b"\r\n", &[Enter, Enter]),
            (b"\x1b", &[Escape]),
            (b"\x1bq", &[Escape, Character('q')]),
            (b"\x1b[15~x", &[Other, Character('x')]),
            ("表é".as_bytes(), &[Character('表'), Character('é')]),
            (
                b"\x7f\x03\x15",
                &[Key::Backspace, Key::Interrupt, Key::Empty],
            ),
            (b"\xff", &[Other]),
        ] {
            assert_eq!(keys(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn a_sequence_that_is_cut_is_waited_for() {
        for bytes in [
            &b"\x1b"[..],
            b"\x1b[",
            b"\x1b[1;5",
            b"j\x1bO",
            "é".as_bytes().split_at(1).0,
        ] {
            assert!(is_begun(bytes), "{bytes:?}");
        }
        for bytes in [&b"\x1b[A"[..], b"j", b"\x1bq", "é".as_bytes()] {
            assert!(!is_begun(bytes), "{bytes:?}");
        }
    }
}
