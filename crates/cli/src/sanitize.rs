//! Makes text of strangers harmless for a terminal: colours stay, everything else that steers one goes, and what would
//! not be seen is marked.
//!
//! Works piece by piece, wherever the pieces are cut.

use pleach_system::text::hidden::{push_visible, undecided};

/// No colour needs more than this.
const LONGEST_COLOUR: usize = 64;

/// What was read so far of something unfinished.
#[derive(Debug, Default)]
pub(crate) struct TerminalSanitizer {
    state: SanitizerState,
    /// The start of a character, or of a colour.
    held: Vec<u8>,
    after_return: bool,
    /// The last character that was printed.
    before: Option<char>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum SanitizerState {
    #[default]
    Text,
    /// After the escape character.
    Escape,
    /// In a sequence that may become a colour.
    Control,
    /// In a string that a terminal would take for itself.
    Hidden,
    /// In one, after an escape character that may end it.
    HiddenEscape,
}

impl TerminalSanitizer {
    /// The next piece, as it may be printed.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> String {
        let mut out = String::with_capacity(piece.len());
        for byte in piece {
            self.take(*byte, &mut out);
        }
        if self.state == SanitizerState::Text {
            self.release_whole(&mut out);
        }
        out
    }

    fn take(&mut self, byte: u8, out: &mut String) {
        match (self.state, byte) {
            (SanitizerState::Text, 0x1b) => {
                self.release_all(out);
                self.state = SanitizerState::Escape;
            }
            (SanitizerState::Text, _) => self.take_text(byte, out),
            (SanitizerState::Escape, b'[') => {
                self.state = SanitizerState::Control;
                self.held.clear();
            }
            (SanitizerState::Escape, b']' | b'P' | b'X' | b'^' | b'_') => {
                self.state = SanitizerState::Hidden;
            }
            // Sequences of two or three characters, such as those that choose a character set.
            (SanitizerState::Escape, 0x20..=0x2f | 0x1b) => {}
            (SanitizerState::Control, 0x20..=0x3f) if self.held.len() < LONGEST_COLOUR => {
                self.held.push(byte);
            }
            (SanitizerState::Control, _) => self.end_control(byte, out),
            (SanitizerState::Escape, _)
            | (SanitizerState::Hidden, 0x07)
            | (SanitizerState::HiddenEscape, b'\\') => {
                self.state = SanitizerState::Text;
            }
            (SanitizerState::Hidden, 0x1b) => self.state = SanitizerState::HiddenEscape,
            // One that never ends must not swallow everything.
            (SanitizerState::Hidden | SanitizerState::HiddenEscape, b'\n') => {
                self.state = SanitizerState::Text;
                out.push('\n');
            }
            (SanitizerState::Hidden, _) => {}
            (SanitizerState::HiddenEscape, _) => self.state = SanitizerState::Hidden,
        }
    }

    fn end_control(&mut self, byte: u8, out: &mut String) {
        let is_colour = byte == b'm'
            && self
                .held
                .iter()
                .all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        if is_colour {
            out.push_str("\x1b[");
            out.push_str(&String::from_utf8_lossy(&self.held));
            out.push('m');
        }
        self.held.clear();
        self.state = SanitizerState::Text;
        if matches!(byte, b'\n' | 0x1b) {
            self.take(byte, out);
        }
    }

    fn take_text(&mut self, byte: u8, out: &mut String) {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' => {
                self.release_all(out);
                self.before = None;
                if !after_return {
                    out.push('\n');
                }
            }
            // What was written over would be hidden by what comes next.
            b'\r' => {
                self.release_all(out);
                out.push('\n');
            }
            _ => self.held.push(byte),
        }
    }

    fn release_all(&mut self, out: &mut String) {
        let text = String::from_utf8_lossy(&self.held);
        let is_shown = |c: &char| *c == '\t' || !c.is_control();
        let text: String = text.chars().filter(is_shown).collect();
        push_visible(&text, self.before, None, out);
        self.before = text.chars().next_back().or(self.before);
        self.held.clear();
    }

    /// Everything but a character whose end, or what it joins, is still to come.
    fn release_whole(&mut self, out: &mut String) {
        let mut whole = match std::str::from_utf8(&self.held) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.held.len(),
        };
        let text = String::from_utf8_lossy(&self.held[..whole]);
        // What is undecided is whole characters, whose bytes are as they were read.
        whole -= undecided(&text);
        let rest = self.held.split_off(whole);
        self.release_all(out);
        self.held = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(TerminalSanitizer::default().pass(text.as_bytes()), expected);
        let mut harmless = TerminalSanitizer::default();
        let bytes = text.as_bytes().iter();
        let piecewise: String = bytes.map(|byte| harmless.pass(&[*byte])).collect();
        assert_eq!(piecewise, expected, "byte by byte");
    }

    #[test]
    fn colours_stay_and_everything_else_that_steers_a_terminal_goes() {
        check("a \x1b[1;31mred\x1b[0m b\n", "a \x1b[1;31mred\x1b[0m b\n");
        check("a\x1b[2J\x1b[Hb\x1b[?1049hc\x1b[>4md", "abcd");
        check("a\x1b]0;title\x07b\x1b]52;c;aGk=\x1b\\c", "abc");
        check("a\x1bPq#0\x1b\\b\x1bcc\x1b(Bd", "abcd");
        check("a\u{9b}2Jb\u{7}\u{8}c\u{202e}d", "a2Jbc⟨U+202E⟩d");
    }

    #[test]
    fn nothing_is_written_over_and_lines_stay_lines() {
        check("10%\r20%\r\ndone\r\n", "10%\n20%\ndone\n");
        check("\ttab äöü € 🌱\n", "\ttab äöü € 🌱\n");
        check("👨\u{200d}👩 می\u{200c}خ\n", "👨\u{200d}👩 می\u{200c}خ\n");
        check("s\u{200d}u\u{200d}\n", "s⟨U+200D⟩u⟨U+200D⟩\n");
        check("cut \x1b]0;never ends\nnext\n", "cut \nnext\n");
        check("cut \x1b[12\nnext\n", "cut \nnext\n");
    }

    #[test]
    fn bytes_that_are_no_text_become_marks() {
        let passed = TerminalSanitizer::default().pass(b"a\xffb\n");
        assert_eq!(passed, "a\u{fffd}b\n");
    }
}
