//! The last lines of a terminal, drawn over again and again while other lines scroll by above them.
//!
//! Makes what is to be written, in one piece, so that nobody sees half of it; writes nothing itself.

use std::fmt::Write as _;

use crate::line::Line;

/// Terminals that know these show everything in between at once; others pass over them.
const TOGETHER: (&str, &str) = ("\x1b[?2026h", "\x1b[?2026l");
/// A line that a terminal finds wider than we do is cut by it instead of wrapped.
const UNWRAPPED: (&str, &str) = ("\x1b[?7l", "\x1b[?7h");

/// What a terminal does with lines that no longer fit when it becomes narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NarrowingEffect {
    /// They take several rows from then on.
    Wraps,
    Cuts,
}

impl NarrowingEffect {
    /// As the terminal at hand does it, as far as its name tells.
    pub(crate) fn of_terminal() -> Self {
        let kind = std::env::var("TERM").unwrap_or_default();
        let is_set = |name: &str| std::env::var_os(name).is_some();
        if kind.starts_with("linux") || is_set("XTERM_VERSION") || is_set("STY") {
            Self::Cuts
        } else {
            Self::Wraps
        }
    }
}

/// Lines that can be drawn over.
#[derive(Debug)]
pub(crate) struct Region {
    narrowed: NarrowingEffect,
    colours: bool,
    drawn: Vec<Line>,
    columns: usize,
}

impl Region {
    pub(crate) fn new(narrowed: NarrowingEffect, colours: bool) -> Self {
        Self {
            narrowed,
            colours,
            drawn: Vec::new(),
            columns: 0,
        }
    }

    /// What to write so that some lines scroll away above and others take the place of what was drawn.
    pub(crate) fn frame(&mut self, above: &[Line], lines: Vec<Line>, columns: usize) -> String {
        if above.is_empty() && lines == self.drawn && columns == self.columns {
            return String::new();
        }
        let mut out = format!("{}{}", TOGETHER.0, UNWRAPPED.0);
        out.push_str(&self.back_to_the_top(columns));
        for line in above {
            self.write(line, &mut out);
            out.push_str("\x1b[K\n");
        }
        for (place, line) in lines.iter().enumerate() {
            if place > 0 {
                out.push('\n');
            }
            self.write(line, &mut out);
            out.push_str("\x1b[K");
        }
        let _ = write!(out, "\x1b[J{}{}", UNWRAPPED.1, TOGETHER.1);
        self.drawn = lines;
        self.columns = columns;
        out
    }

    /// What was drawn stays where it is, and what comes is drawn below.
    pub(crate) fn forget(&mut self) {
        self.drawn.clear();
    }

    fn write(&self, line: &Line, out: &mut String) {
        let _ = if self.colours {
            write!(out, "{line}")
        } else {
            write!(out, "{}", line.plain())
        };
    }

    /// Where the first line stands that was drawn; the cursor is in the last one.
    fn back_to_the_top(&self, columns: usize) -> String {
        let rows = |line: &Line| match self.narrowed {
            NarrowingEffect::Wraps => line.width().div_ceil(columns.max(1)).max(1),
            NarrowingEffect::Cuts => 1,
        };
        let rows: usize = self.drawn.iter().map(rows).sum();
        match rows.saturating_sub(1) {
            0 => "\r".to_owned(),
            up => format!("\r\x1b[{up}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use anstyle::Style;
    use pleach_testkit::Screen;

    use super::*;

    fn lines(texts: &[&str]) -> Vec<Line> {
        let line = |text: &&str| Line::new().and(Style::new().bold(), *text);
        texts.iter().map(line).collect()
    }

    /// A terminal with a region, which shows `$ run` to begin with.
    struct Shown {
        screen: Screen,
        region: Region,
        columns: usize,
    }

    impl Shown {
        fn new(columns: u16, rows: u16) -> Self {
            let mut screen = Screen::new(columns, rows);
            screen.write(b"$ run\r\n");
            Self {
                screen,
                region: Region::new(NarrowingEffect::Cuts, true),
                columns: columns.into(),
            }
        }

        fn draw(&mut self, above: &[&str], below: &[&str]) -> String {
            let frame = self.region.frame(&lines(above), lines(below), self.columns);
            // The terminal's driver does this on the way.
            let frame = frame.replace('\n', "\r\n");
            self.screen.write(frame.as_bytes());
            frame
        }

        #[track_caller]
        fn check(&self, expected: &str) {
            assert_eq!(self.screen.text(), expected);
        }
    }

    #[test]
    fn lines_are_drawn_over_and_what_is_over_scrolls_away_above() {
        let mut shown = Shown::new(20, 6);
        shown.draw(&[], &["bar 0", "1 a", "2 b"]);
        shown.check("$ run\nbar 0\n1 a\n2 b");
        shown.draw(&["1 done"], &["bar 1", "2 b longer"]);
        shown.check("$ run\n1 done\nbar 1\n2 b longer");
        shown.draw(&["2 done", "3 done"], &["bar 3"]);
        shown.check("$ run\n1 done\n2 done\n3 done\nbar 3");
        shown.draw(&["4 done"], &[]);
        shown.check("$ run\n1 done\n2 done\n3 done\n4 done");
        assert_eq!(shown.screen.cursor(), (5, 0));
    }

    #[test]
    fn a_full_screen_scrolls() {
        let mut shown = Shown::new(20, 3);
        for number in 0..5 {
            let done = format!("{number} done");
            shown.draw(&[&done], &["bar", "at it"]);
            shown.check(&format!("{done}\nbar\nat it"));
        }
    }

    #[test]
    fn nothing_is_written_while_nothing_changes() {
        let mut shown = Shown::new(20, 6);
        assert_ne!(shown.draw(&[], &["bar"]), "");
        assert_eq!(shown.draw(&[], &["bar"]), "");
        shown.columns = 10;
        assert_ne!(shown.draw(&[], &["bar"]), "");
    }

    #[test]
    fn rows_that_a_narrower_terminal_wrapped_are_drawn_over_too() {
        let mut region = Region::new(NarrowingEffect::Wraps, true);
        region.frame(&[], lines(&["0123456789", "012345"]), 20);
        let frame = region.frame(&[], lines(&["01234"]), 6);
        assert!(frame.contains("\r\x1b[2A"), "{frame:?}");
        let mut region = Region::new(NarrowingEffect::Cuts, true);
        region.frame(&[], lines(&["0123456789", "012345"]), 20);
        let frame = region.frame(&[], lines(&["01234"]), 6);
        assert!(frame.contains("\r\x1b[1A"), "{frame:?}");
    }

    #[test]
    fn without_colours_nothing_is_styled() {
        let mut region = Region::new(NarrowingEffect::Cuts, false);
        let frame = region.frame(&lines(&["above"]), lines(&["below"]), 20);
        assert!(!frame.contains("\x1b[1m"), "{frame:?}");
        assert!(frame.contains("above") && frame.contains("below"));
    }

    #[test]
    fn what_is_forgotten_stays_where_it_is() {
        let mut shown = Shown::new(20, 6);
        shown.draw(&[], &["bar 0", "1 a"]);
        shown.screen.write(b"\r\n$ fg\r\n");
        shown.region.forget();
        shown.draw(&[], &["bar 1"]);
        shown.check("$ run\nbar 0\n1 a\n$ fg\nbar 1");
    }
}
