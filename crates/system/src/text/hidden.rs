//! Makes characters visible that hide something, or that make text read in another order than it is written in.
//!
//! Knows nothing of terminals and pages. `web/src/visible/visible.ts` is the same for the board; both are tested by
//! `web/src/visible/cases.json`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Tags behind it make the flag of a region.
const FLAG: char = '\u{1f3f4}';

/// How many tags a flag has before the one that ends it.
const FLAG_TAGS: std::ops::RangeInclusive<usize> = 3..=6;

/// The text with marks such as `⟨U+202E⟩` in the place of hidden and control characters; lines and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(|c| is_hidden(c) || is_control(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for piece in text.split_inclusive(is_control) {
        let control = piece.chars().next_back().filter(|c| is_control(*c));
        let plain = &piece[..piece.len() - control.map_or(0, char::len_utf8)];
        push_visible(plain, before, control, &mut out);
        if let Some(c) = control {
            push_mark(c, &mut out);
        }
        before = control;
    }
    Cow::Owned(out)
}

/// Writes a text with marks such as `⟨U+202E⟩` in the place of hidden characters; `before` and `behind` stand
/// around it.
pub fn push_visible(text: &str, before: Option<char>, behind: Option<char>, out: &mut String) {
    let mut before = before;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let next = rest.chars().next().or(behind);
        if is_hidden(c) && !is_part_of_writing(c, before, next) {
            push_mark(c, out);
        } else {
            out.push(c);
        }
        if c == FLAG {
            let (tags, after) = rest.split_at(flag_tags(rest));
            out.push_str(tags);
            rest = after;
        }
        before = Some(c);
    }
}

fn push_mark(c: char, out: &mut String) {
    // Writing to a text cannot fail.
    let _ = write!(out, "⟨U+{:04X}⟩", u32::from(c));
}

/// What Unicode has programs ignore, marks of direction, and ends of lines that most programs take for none.
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// How many bytes at the end of a text cannot be judged before what follows them is there.
pub fn undecided(text: &str) -> usize {
    if let Some(flag) = text.rfind(FLAG) {
        let tags = text[flag..].chars().skip(1);
        if tags.clone().all(is_flag_tag) && tags.count() <= *FLAG_TAGS.end() {
            return text.len() - flag;
        }
    }
    let last = text.chars().next_back();
    let last = last.filter(|last| is_joiner(*last) || *last == '\u{fe0f}');
    last.map_or(0, char::len_utf8)
}

/// Whether emoji and scripts are written so, such as a family of emoji or a sign in its coloured form.
fn is_part_of_writing(c: char, before: Option<char>, next: Option<char>) -> bool {
    match c {
        _ if is_joiner(c) => is_written(before) && is_written(next),
        '\u{fe0f}' if next == Some('\u{20e3}') => {
            matches!(before, Some('0'..='9' | '#' | '*'))
        }
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => before.is_some_and(has_variants),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, Some('\u{1820}'..='\u{18aa}')),
        _ => false,
    }
}

/// Of which writing systems and emoji are put together.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether it is of a script that uses joiners, or of an emoji.
fn is_written(c: Option<char>) -> bool {
    let is_hidden = |c| is_hidden(c) && !matches!(c, '\u{fe00}'..='\u{fe0f}');
    c.is_some_and(|c| c >= '\u{600}' && !c.is_whitespace() && !is_hidden(c))
}

/// Symbols, emoji and ideographs that have several forms.
fn has_variants(c: char) -> bool {
    matches!(
        c,
        '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{2bff}'
            | '\u{3001}'..='\u{303f}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{1f000}'..='\u{1faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// How many bytes at the start of a text make a flag of the one before them.
fn flag_tags(text: &str) -> usize {
    let tags: Vec<char> = text.chars().take_while(|c| is_flag_tag(*c)).collect();
    let bytes: usize = tags.iter().map(|c| c.len_utf8()).sum();
    let end = '\u{e007f}';
    if FLAG_TAGS.contains(&tags.len()) && text[bytes..].starts_with(end) {
        bytes + end.len_utf8()
    } else {
        0
    }
}

/// Letters and digits of the name of a region.
fn is_flag_tag(c: char) -> bool {
    matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Cases {
        marked: Vec<(String, String)>,
        kept: Vec<String>,
    }

    #[test]
    fn hidden_characters_are_marked_and_writing_stays_as_it_is_here_as_on_the_board() {
        let cases = include_str!("../../../../web/src/visible/cases.json");
        let cases: Cases = serde_json::from_str(cases).unwrap();
        for (text, expected) in cases.marked {
            assert_eq!(visible(&text), expected);
        }
        for text in cases.kept {
            assert_eq!(visible(&text), text);
        }
    }

    #[test]
    fn controls_are_marked_and_lines_stay() {
        assert_eq!(
            visible("a\u{1b}[2J\r\n\tb\u{9b}\u{200d}"),
            "a⟨U+001B⟩[2J⟨U+000D⟩\n\tb⟨U+009B⟩⟨U+200D⟩"
        );
    }

    #[test]
    fn what_may_become_part_of_writing_is_not_judged_yet() {
        for (text, expected) in [
            ("a", 0),
            ("👨\u{200d}", 3),
            ("1\u{fe0f}", 3),
            ("a🏴", 4),
            ("🏴\u{e0067}", 8),
            ("🏴\u{e0067}x", 0),
            ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e007f}", 0),
        ] {
            assert_eq!(undecided(text), expected, "{text:?}");
        }
    }
}
