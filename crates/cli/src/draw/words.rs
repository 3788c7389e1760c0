//! The words that all drawings share, and text made safe to stand on one line.
//!
//! Knows columns of a terminal, not tasks or formats.

use std::fmt::Write as _;

pub(super) use crate::output::one_line;

/// `1 task`, `12 tasks`.
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// The first few of many, and how many there are besides.
pub(super) fn few<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(most).map(one_line).collect();
    let mut list = shown.join(", ");
    let more = names.count();
    if more > 0 {
        let _ = write!(list, " … and {more} more");
    }
    list
}

pub(super) fn duration(minutes: u64) -> String {
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// A count as a length.
#[expect(clippy::cast_precision_loss, reason = "no plan has 2^52 tasks")]
pub(super) fn real(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters_left() {
        assert_eq!(one_line(" a\tb\r\n\u{1b}[31mc\u{0} "), "a b [31mc");
        assert_eq!(one_line("a\u{202e}b\u{ffff}c\u{2028}d"), "a⟨U+202E⟩bc d");
    }

    #[test]
    fn long_lists_say_how_much_is_left() {
        assert_eq!(few(["a", "b"], 3), "a, b");
        assert_eq!(few(["a", "b", "c", "d"], 2), "a, b … and 2 more");
    }

    #[test]
    fn durations_read_like_speech() {
        assert_eq!(duration(45), "45 min");
        assert_eq!(duration(120), "2 h");
        assert_eq!(duration(150), "2 h 30 min");
    }
}
