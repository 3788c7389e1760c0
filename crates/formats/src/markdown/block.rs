//! A run of inline text: where it stands, its plain words and its code spans.
//!
//! Knows nothing of tasks.

use std::ops::Range;

/// The text of one paragraph, heading or tight list item.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The words without markup; line breaks are kept.
    pub(super) plain: String,
    /// Where the text starts in the source.
    pub(super) start: usize,
    end: usize,
    code: Vec<Range<usize>>,
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
    }

    /// Widens the place in the source.
    pub(super) fn cover(&mut self, range: &Range<usize>) {
        if !std::mem::replace(&mut self.is_open, true) {
            self.start = range.start;
            self.end = range.end;
        }
        self.end = self.end.max(range.end);
    }

    /// The source itself.
    pub(super) fn raw<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    pub(super) fn code_spans(&self) -> impl Iterator<Item = &str> {
        self.code.iter().map(|range| &self.plain[range.clone()])
    }

    /// The same memory, for the next block.
    pub(super) fn emptied(mut self) -> Self {
        self.plain.clear();
        self.code.clear();
        self.is_open = false;
        self
    }
}
