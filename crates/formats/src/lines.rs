//! Turns byte offsets into line numbers.
//!
//! Remembers the last answer, because a reader asks in the order of the text.

#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    offset: usize,
    line: u32,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text: text.as_bytes(),
            offset: 0,
            line: 1,
        }
    }

    /// The line that the byte at `offset` stands on, counted from 1.
    pub(crate) fn at(&mut self, offset: usize) -> u32 {
        let offset = offset.min(self.text.len());
        if offset < self.offset {
            self.line -= newlines(&self.text[offset..self.offset]);
        } else {
            self.line += newlines(&self.text[self.offset..offset]);
        }
        self.offset = offset;
        self.line
    }
}

#[expect(
    clippy::naive_bytecount,
    reason = "the compiler vectorises it well enough for a crate less"
)]
fn newlines(bytes: &[u8]) -> u32 {
    let count = bytes.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_forwards_and_backwards() {
        let mut lines = Lines::new("a\nb\r\nc");
        assert_eq!(lines.at(0), 1);
        assert_eq!(lines.at(5), 3);
        assert_eq!(lines.at(2), 2);
        assert_eq!(lines.at(99), 3);
    }
}
