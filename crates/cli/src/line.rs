//! A line of text in several styles, which can be cut to a width.
//!
//! Knows columns, not what is written in them.

use std::fmt;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    spans: Vec<(Style, String)>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn and(mut self, style: Style, text: impl Into<String>) -> Self {
        self.push(style, text);
        self
    }

    pub(crate) fn push(&mut self, style: Style, text: impl Into<String>) {
        self.spans.push((style, text.into()));
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|(_, text)| text.width()).sum()
    }

    /// At most so many columns of it; the last one says that there is more.
    pub(crate) fn cut(self, width: usize) -> Self {
        if self.width() <= width {
            return self;
        }
        let Some(mut room) = width.checked_sub(1) else {
            return Self::new();
        };
        let mut kept = Self::new();
        for (style, text) in self.spans {
            let taken = text.width();
            if taken > room {
                let start = start_of(&text, room).trim_end();
                return kept.and(style, format!("{start}…"));
            }
            room -= taken;
            kept.push(style, text);
        }
        kept.and(Style::new(), "…")
    }

    pub(crate) fn plain(&self) -> String {
        self.spans.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (style, text) in &self.spans {
            write!(formatter, "{style}{text}{style:#}")?;
        }
        Ok(())
    }
}

/// As much of the start of a text as fits; marks stay with what they are on.
fn start_of(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            end = at;
            break;
        }
    }
    // Some sequences are wider than their characters one by one.
    while text[..end].width() > width {
        end = text[..end]
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at);
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style::new();
    const BOLD: Style = Style::new().bold();

    #[track_caller]
    fn check(parts: &[&str], width: usize, expected: &str) {
        let line = parts
            .iter()
            .fold(Line::new(), |line, part| line.and(BOLD, *part));
        let cut = line.cut(width);
        assert_eq!(cut.plain(), expected);
        assert!(cut.width() <= width);
    }

    #[test]
    fn a_line_is_cut_where_it_ends_whichever_style_that_is() {
        check(&["abc", "def"], 6, "abcdef");
        check(&["abc", "def"], 5, "abcd…");
        check(&["abc", "def"], 4, "abc…");
        check(&["abc", "def"], 3, "ab…");
        check(&["abc", "def"], 1, "…");
        check(&["abc", "def"], 0, "");
        check(&["ab ", "def"], 4, "ab …");
    }

    #[test]
    fn wide_characters_are_not_halved_and_marks_stay_where_they_are() {
        check(&["表示", "幅"], 6, "表示幅");
        check(&["表示", "幅"], 5, "表示…");
        check(&["表示", "幅"], 4, "表…");
        check(&["e\u{301}e\u{301}e\u{301}"], 2, "e\u{301}…");
        for width in 0..12 {
            check_width("👩‍👩‍👧 family ❤️❤️❤️❤️", width);
        }
    }

    #[track_caller]
    fn check_width(text: &str, width: usize) {
        let cut = Line::new().and(PLAIN, text).cut(width);
        assert!(cut.width() <= width, "{} at {width}", cut.plain());
    }

    #[test]
    fn styles_end_where_their_text_ends() {
        let line = Line::new().and(BOLD, "a").and(PLAIN, "b");
        assert_eq!(line.to_string(), "\u{1b}[1ma\u{1b}[0mb");
    }
}
