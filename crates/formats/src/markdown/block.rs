//! A run of inline text: where it stands, its plain words, and which of them are code or links.
//!
//! Knows nothing of tasks.

use std::borrow::Cow;
use std::ops::Range;

/// The text of one paragraph, heading or tight list item.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The words without markup; line breaks are kept.
    pub(super) plain: String,
    pub(super) start: usize,
    end: usize,
    code: Vec<Range<usize>>,
    /// Code and links among the plain words.
    quoted: Vec<Range<usize>>,
    /// The same in the source.
    quoted_source: Vec<Range<usize>>,
    /// Where the links that are open begin among the plain words.
    links: Vec<usize>,
    is_open: bool,
}

impl Block {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    pub(super) fn push_text(&mut self, text: &str, range: &Range<usize>) {
        self.cover(range);
        self.plain.push_str(text);
    }

    pub(super) fn push_code(&mut self, code: &str, range: &Range<usize>) {
        self.cover(range);
        let start = self.plain.len();
        self.plain.push_str(code);
        self.code.push(start..self.plain.len());
        self.quoted.push(start..self.plain.len());
        self.quoted_source.push(range.clone());
    }

    pub(super) fn open_link(&mut self, range: &Range<usize>) {
        self.cover(range);
        self.links.push(self.plain.len());
        self.quoted_source.push(range.clone());
    }

    pub(super) fn close_link(&mut self) {
        if let Some(start) = self.links.pop() {
            self.quoted.push(start..self.plain.len());
        }
    }

    /// Takes a box off the start that is none to the parser: `[~]`, `[-]`, or `[ ]*` for an optional task.
    pub(super) fn take_odd_box(&mut self, text: &str) -> Option<(u8, Range<usize>)> {
        let [b'[', mark, b']', behind @ ..] = self.raw(text).as_bytes() else {
            return None;
        };
        let mark = *mark;
        let star = ["*", "\\*"]
            .iter()
            .find(|star| behind.starts_with(star.as_bytes()));
        let star = star.map_or(0, |star| star.len());
        let blanks = behind[star..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'));
        let blanks = blanks.count();
        let is_box = match mark {
            b' ' | b'x' | b'X' => star > 0,
            b'-' | b'~' | b'/' | b'>' => true,
            _ => false,
        };
        let plain = 3 + star.min(1) + blanks;
        if !is_box || blanks == 0 || !self.plain.starts_with('[') || self.plain.len() <= plain {
            return None;
        }
        let at = self.start + 1..self.start + 2;
        self.start += 3 + star + blanks;
        self.plain.drain(..plain);
        for range in self.code.iter_mut().chain(&mut self.quoted) {
            *range = range.start - plain..range.end - plain;
        }
        Some((mark, at))
    }

    /// Widens the place in the source.
    pub(super) fn cover(&mut self, range: &Range<usize>) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.start = range.start;
            self.end = range.end;
        }
        self.end = self.end.max(range.end);
    }

    pub(super) fn raw<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    pub(super) fn code_spans(&self) -> impl Iterator<Item = &str> {
        self.code.iter().map(|range| &self.plain[range.clone()])
    }

    /// Whether a place in the source lies within code or a link.
    pub(super) fn is_quoted(&self, offset: usize) -> bool {
        let behind = self
            .quoted_source
            .partition_point(|range| range.start < offset);
        let before = behind.checked_sub(1);
        before.is_some_and(|before| self.quoted_source[before].end > offset)
    }

    /// The plain words, in which no bracket of code or a link opens an annotation.
    pub(super) fn guarded(&self) -> Cow<'_, str> {
        guarded(&self.plain, &self.quoted, 0)
    }

    /// The source, in which no bracket of code or a link opens an annotation.
    pub(super) fn guarded_raw<'t>(&self, text: &'t str) -> Cow<'t, str> {
        guarded(self.raw(text), &self.quoted_source, self.start)
    }

    /// The plain words without code and links.
    pub(super) fn prose(&self) -> Cow<'_, str> {
        if self.quoted.is_empty() {
            return Cow::Borrowed(&self.plain);
        }
        let mut prose = String::with_capacity(self.plain.len());
        let mut copied = 0;
        for range in sorted(&self.quoted) {
            if range.start >= copied {
                prose.push_str(&self.plain[copied..range.start]);
                prose.push(' ');
            }
            copied = copied.max(range.end);
        }
        prose.push_str(&self.plain[copied..]);
        Cow::Owned(prose)
    }

    /// The same memory, for the next block.
    pub(super) fn emptied(mut self) -> Self {
        self.plain.clear();
        self.code.clear();
        self.quoted.clear();
        self.quoted_source.clear();
        self.links.clear();
        self.is_open = false;
        self
    }
}

/// What stands for brackets in code and links: characters that no text has.
const GUARDS: [(char, char); 2] = [('(', '\u{fdd0}'), ('[', '\u{fdd1}')];

/// A text whose brackets within the ranges, which count from `start`, are replaced.
fn guarded<'t>(text: &'t str, ranges: &[Range<usize>], start: usize) -> Cow<'t, str> {
    if ranges.is_empty() || !text.contains(['(', '[']) {
        return Cow::Borrowed(text);
    }
    let ranges = sorted(ranges);
    let mut ranges = ranges.iter().peekable();
    let replaced = text.char_indices().map(|(at, c)| {
        let at = at + start;
        while ranges.next_if(|range| range.end <= at).is_some() {}
        let is_quoted = ranges.peek().is_some_and(|range| range.start <= at);
        let guard = GUARDS.iter().find(|(open, _)| is_quoted && *open == c);
        guard.map_or(c, |(_, guard)| *guard)
    });
    Cow::Owned(replaced.collect())
}

fn sorted(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut ranges = ranges.to_vec();
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    ranges
}

pub(super) fn unguarded(text: &str) -> String {
    // The byte that every guard begins with.
    if !text.as_bytes().contains(&0xef) {
        return text.to_owned();
    }
    let char_of = |c: char| {
        let guard = GUARDS.iter().find(|(_, guard)| *guard == c);
        guard.map_or(c, |(open, _)| *open)
    };
    text.chars().map(char_of).collect()
}
