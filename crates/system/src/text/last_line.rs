//! The end of what a program printed, and its last line fit to be shown.
//!
//! Whatever the program printed, what comes out is one plain line.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::text::hidden::visible;

/// So much of the end of the output is looked at.
pub const TAIL: usize = 64 * 1024;

/// So many characters are shown of it.
const SHOWN: usize = 200;

/// The last line with something in it, without what would move the cursor or hide text.
pub fn last_line(output: &[u8]) -> Option<String> {
    let output = String::from_utf8_lossy(output);
    // A bar that is drawn over and over ends its lines with a carriage return.
    let mut lines = output.rsplit(['\n', '\r']).map(plain);
    let line = lines.find(|line| !line.is_empty())?;
    if line.chars().count() <= SHOWN {
        return Some(line);
    }
    let cut: String = line.chars().take(SHOWN - 1).collect();
    Some(cut + "…")
}

/// The end of a log; empty if there is none.
pub fn tail(log: &Path) -> Vec<u8> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        let most = TAIL as u64;
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().unwrap_or_default()
}

/// A line without what steers a terminal.
pub fn plain(line: &str) -> String {
    let mut chars = line.chars().peekable();
    let mut plain = String::new();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('\u{1b}', Some('[')) => {
                chars.next();
                // The sequence ends with its first letter or sign.
                chars.by_ref().find(|char| ('@'..='~').contains(char));
            }
            ('\u{1b}', Some(']')) => {
                while let Some(char) = chars.next() {
                    if char == '\u{7}' || (char == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            ('\t', _) => plain.push(' '),
            _ if char.is_control() => {}
            _ => plain.push(char),
        }
    }
    visible(plain.trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &[u8], expected: &str) {
        assert_eq!(last_line(output).as_deref(), Some(expected));
    }

    #[test]
    fn the_last_line_with_something_in_it_is_shown_plainly() {
        check(b"one\ntwo\n\n  \n", "two");
        check(b"10%\r50%\r100%\r\r\n", "100%");
        check(b"\x1b[1;31merror:\x1b[0m no \tluck\n", "error: no  luck");
        check(b"\x1b]0;title\x07done\x08\x00", "done");
        check(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link");
        check(
            "\u{202e}evil\u{202c} é".as_bytes(),
            "⟨U+202E⟩evil⟨U+202C⟩ é",
        );
        check(b"caf\xff", "caf\u{fffd}");
        check(b"text\x1b[", "text");
        check(b"real\n\x1b[0m\n", "real");
        assert_eq!(last_line(b""), None);
        assert_eq!(last_line(b"\n \r\n\x1b[0m"), None);
    }

    #[test]
    fn a_long_line_is_cut() {
        let line = last_line("é".repeat(5_000).as_bytes()).unwrap();
        assert_eq!(line.chars().count(), 200);
        assert!(line.ends_with("é…"));
        assert_eq!(last_line("x".repeat(200).as_bytes()).unwrap().len(), 200);
    }
}
