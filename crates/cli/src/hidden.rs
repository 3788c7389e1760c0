//! Makes characters visible that hide something, or that make text read in another order than it is written in.
//!
//! Knows nothing of terminals.

use std::fmt::Write as _;

/// Writes a text with marks such as `⟨U+202E⟩` in the place of hidden characters; `before` and `behind` stand
/// around it.
pub(crate) fn push_visible(
    text: &str,
    before: Option<char>,
    behind: Option<char>,
    out: &mut String,
) {
    let mut before = before;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().or(behind);
        if is_hidden(c) && !(is_joiner(c) && is_written(before) && is_written(next)) {
            // Writing to a text cannot fail.
            let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            out.push(c);
        }
        before = Some(c);
    }
}

/// Marks of direction, and what has no width.
pub(crate) fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Of which writing systems and emoji are put together.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether it is of a script that uses joiners, or of an emoji.
fn is_written(c: Option<char>) -> bool {
    c.is_some_and(|c| c >= '\u{600}' && !c.is_whitespace() && !is_hidden(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut out = String::new();
        push_visible(text, None, None, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn what_turns_text_around_or_has_no_width_is_marked() {
        check("pay \u{202e}live\u{202c}", "pay ⟨U+202E⟩live⟨U+202C⟩");
        check(
            "a\u{200b}b\u{2066}c\u{200e}d\u{61c}e\u{feff}f\u{2060}g",
            "a⟨U+200B⟩b⟨U+2066⟩c⟨U+200E⟩d⟨U+061C⟩e⟨U+FEFF⟩f⟨U+2060⟩g",
        );
        check("x\u{e0041}\u{e007f}", "x⟨U+E0041⟩⟨U+E007F⟩");
        check("s\u{200d}udo \u{200c}", "s⟨U+200D⟩udo ⟨U+200C⟩");
    }

    #[test]
    fn emoji_and_other_scripts_stay_as_they_are() {
        for text in [
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥",
            "שלום עולם",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
        ] {
            check(text, text);
        }
    }
}
