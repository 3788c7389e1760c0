//! Cuts a large text at headings, so that the parser's tree of a piece stays in the cache.
//!
//! Cuts only where the parser would begin anew anyway; in doubt the text stays whole.

use std::ops::Range;

/// The ranges to parse one after the other, each of about `size` bytes or more.
pub(super) fn pieces(text: &str, start: usize, size: usize) -> Vec<Range<usize>> {
    let whole = || {
        vec![Range {
            start,
            end: text.len(),
        }]
    };
    if text.len() - start < size.saturating_mul(2) {
        return whole();
    }
    let mut found = Vec::new();
    let mut begin = start;
    let mut offset = start;
    let mut fence: Option<Fence> = None;
    for line in text[start..].split_inclusive('\n') {
        if let Some(open) = &fence {
            if open.is_closed_by(line) {
                fence = None;
            }
        } else if is_doubtful(line) {
            return whole();
        } else if is_heading(line) && offset - begin >= size {
            found.push(begin..offset);
            begin = offset;
        } else {
            fence = Fence::opened_by(line);
        }
        offset += line.len();
    }
    found.push(begin..text.len());
    found
}

/// A code fence at the left edge: it belongs to no list and so survives a heading.
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let mark = line
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let behind = line.trim_start_matches(mark);
        let length = line.len() - behind.len();
        let is_fence = length >= 3 && !(mark == '`' && behind.contains('`'));
        is_fence.then_some(Self { mark, length })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let behind = marks.trim_start_matches(self.mark);
        let is_near = line.len() - marks.len() <= 3;
        is_near && marks.len() - behind.len() >= self.length && behind.trim().is_empty()
    }
}

fn is_heading(line: &str) -> bool {
    let behind = line.trim_start_matches('#');
    let level = line.len() - behind.len();
    (1..=6).contains(&level) && (behind.trim().is_empty() || behind.starts_with([' ', '\t']))
}

/// Whether a line may open something that goes on behind headings, or means something to the
/// whole text: HTML, a fence that may or may not be in a list, a link's address, an old line end.
fn is_doubtful(line: &str) -> bool {
    let near = line.trim_start_matches(' ');
    let indent = line.len() - near.len();
    let is_fence = near.starts_with("```") || near.starts_with("~~~");
    let opens = near.starts_with('<') || (near.starts_with('[') && near.contains("]:"));
    let body = line.strip_suffix("\r\n").unwrap_or(line);
    (indent <= 3 && (opens || (indent > 0 && is_fence))) || body.contains('\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = pieces(text, 0, 1)
            .into_iter()
            .map(|range| &text[range])
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_are_cut_at_headings_outside_of_fences() {
        check("a\n# b\nc\n## d\n", &["a\n", "# b\nc\n", "## d\n"]);
        check(
            "a\n```\n# no\n```\n# yes\n",
            &["a\n```\n# no\n```\n", "# yes\n"],
        );
        check(
            "a\n~~~~\n# no\n~~~\n# no\n",
            &["a\n~~~~\n# no\n~~~\n# no\n"],
        );
        check("a\n``` `\n# yes\n", &["a\n``` `\n", "# yes\n"]);
    }

    #[test]
    fn doubtful_texts_stay_whole() {
        for text in [
            "a\n<!--\n# b\n-->\n",
            "- a\n  ```\nb\n```\n# c\n```\n",
            "a\n# b\n[x]: /y\n",
            "a\r# b\nc\n# d\n",
        ] {
            check(text, &[text]);
        }
    }
}
