//! Makes text of strangers harmless in a pull request, whatever the forge does to it.
//!
//! Forges look for mentions, references and addresses in what Markdown has become, where no escape is left, and
//! some in the text as it was sent. So what they look for is broken up by a character that nobody sees, and what
//! Markdown looks for is escaped on top of that.

use std::fmt::Write as _;

use crate::text::hidden::visible;

/// A space without width: what stands on both sides of it is no word any more.
pub const BREAK: char = '\u{200b}';

/// Text on one line that mentions nobody, closes nothing and commands nothing; for places without Markdown.
pub fn neutral(text: &str) -> String {
    let shown = shown(text);
    let words: Vec<&str> = shown.split_whitespace().collect();
    broken_up(&words.join(" "))
}

/// Several lines that do nothing of the kind, and that nobody has signed off.
pub fn neutral_lines(text: &str) -> String {
    let lines = text.lines().filter(|line| !is_sign_off(line));
    lines.map(|text| line(text) + "\n").collect()
}

pub fn is_sign_off(line: &str) -> bool {
    let (name, _) = line.split_once(':').unwrap_or_default();
    name.trim().eq_ignore_ascii_case("signed-off-by")
}

/// The same for a place within a line of Markdown, a cell of a table included.
pub fn escaped(text: &str) -> String {
    let text = neutral(text);
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Not every parser of tables agrees on what a backslash does to it.
            '|' => out.push_str("&#124;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '^' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Text in the letters of code, outside of tables.
pub fn code(text: &str) -> String {
    let text = neutral(text);
    if text.is_empty() {
        return "(nothing)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    // A space on both sides is taken away again, and keeps backticks of the text from the fence.
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Text of several lines as a block of code; lines beyond `most` are counted.
pub fn block(text: &str, most: usize) -> String {
    let lines: Vec<String> = text.lines().map(line).collect();
    let kept = &lines[..lines.len().min(most)];
    let longest = kept.iter().map(|line| longest_run(line)).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let mut out = format!("{fence}text\n");
    for line in kept {
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(&fence);
    out.push('\n');
    if lines.len() > most {
        let rest = lines.len() - most;
        writeln!(out, "\n({rest} more lines)").expect("writing to a string works");
    }
    out
}

/// Text of at most so many characters, cut at a word.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most.saturating_sub(1)).collect();
    let at_word = head.trim_end().rfind(char::is_whitespace);
    // One endless word is cut anywhere.
    let end = at_word.filter(|end| *end > head.len() / 2);
    format!("{}…", head[..end.unwrap_or(head.len())].trim_end())
}

/// One line of several, with its indentation.
fn line(text: &str) -> String {
    broken_up(shown(text).trim_end())
}

/// A text as it may be shown: what only programs see is marked, but for controls and for our own breaks, which may be
/// in it already and hide nothing.
fn shown(text: &str) -> String {
    let chars = text.chars().filter_map(|c| match c {
        _ if c.is_whitespace() => Some(' '),
        _ => (!c.is_control() && c != BREAK).then_some(c),
    });
    let text: String = chars.collect();
    visible(&text).into_owned()
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

fn broken_up(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    for (place, c) in chars.iter().enumerate() {
        out.push(*c);
        if means_something(&chars, place) {
            out.push(BREAK);
        }
    }
    out
}

/// Whether a forge would make something of a character and what follows it.
fn means_something(text: &[char], place: usize) -> bool {
    let (before, rest) = (&text[..place], &text[place + 1..]);
    let Some(next) = rest.first() else {
        return false;
    };
    match text[place] {
        // People and teams; footnotes, tasks, pages of a wiki, `[skip ci]`, `[vulnerability:1]`.
        '@' | '[' => !next.is_whitespace(),
        // Issues, merge requests, epics, milestones, labels, snippets, alerts.
        '#' | '!' | '&' | '%' | '~' | '$' | '^' => {
            next.is_alphanumeric() || matches!(next, '_' | '"' | '\'')
        }
        // Changes within a line.
        '{' => matches!(next, '+' | '-'),
        ':' => rest.starts_with(&['/', '/']) || is_shortcode(before, rest),
        '-' => next.is_ascii_digit() && ends_in_key(before),
        // `/merge` at the start of a line is an order.
        '/' => next.is_alphabetic() && before.iter().all(|c| c.is_whitespace()),
        // An address that wants no scheme.
        'w' | 'W' => *next == '.' && ends_in_ww(before),
        _ => false,
    }
}

/// Whether a colon begins `:octocat:`, which is an image; `a::b::c` has none.
fn is_shortcode(before: &[char], rest: &[char]) -> bool {
    let is_letter = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
    let length = rest.iter().take_while(is_letter).count();
    before.last() != Some(&':') && length > 0 && rest.get(length) == Some(&':')
}

/// Whether text ends in the name of a tracker, as in `GH-12` and `ENG_2-7`.
fn ends_in_key(before: &[char]) -> bool {
    let is_key = |c: &&char| c.is_ascii_uppercase() || c.is_ascii_digit() || **c == '_';
    let mut key = before.iter().rev().take_while(is_key);
    key.any(char::is_ascii_uppercase) || matches!(before, [.., 'g' | 'G', 'h' | 'H'])
}

fn ends_in_ww(before: &[char]) -> bool {
    matches!(before, [.., 'w' | 'W', 'w' | 'W'])
}
