//! The title of a task in its own Markdown, for the agents that work on it.
//!
//! Knows one line at a time.

use super::block::{Block, unguarded};
use super::depends::without_depends;
use super::leading_id::{IdSeparator, LeadingId};

/// The first line of a block as it is written, without annotations.
pub(super) fn first_line(block: &Block, text: &str) -> String {
    let raw = block.raw(text);
    if !raw.contains('(') {
        return raw.lines().next().unwrap_or("").trim().to_owned();
    }
    let (kept, _) = without_depends(&block.guarded_raw(text));
    unguarded(kept.lines().next().unwrap_or("").trim())
}

/// A number that is set off by being bold, such as `**10** Title`.
pub(super) fn bold_number<'t>(written: &str, title: &'t str) -> Option<LeadingId<'t>> {
    let inside = ["**", "__", "`"]
        .iter()
        .find_map(|mark| Some(written.strip_prefix(mark)?.split_once(mark)?.0))?;
    let is_number = !inside.is_empty() && inside.bytes().all(|byte| byte.is_ascii_digit());
    let rest = title.strip_prefix(inside).filter(|_| is_number)?;
    if rest.starts_with(|c: char| !c.is_whitespace()) {
        return None;
    }
    Some(LeadingId {
        ornament: "",
        id: &title[..inside.len()],
        rest: rest.trim_start(),
        set_off: IdSeparator::Mark,
    })
}

pub(super) fn without_id(written: &str, id: &str) -> String {
    let Some((before, behind)) = written.split_once(id) else {
        return written.to_owned();
    };
    // The id itself is a link, which says more than the id does.
    if behind.starts_with("](") {
        return written.to_owned();
    }
    let is_emphasis = |c: char| matches!(c, '*' | '_' | '`');
    let ornament: String = before.chars().filter(|c| !c.is_ascii()).collect();
    let mut emphasis: String = before.chars().filter(|c| is_emphasis(*c)).collect();
    let mut rest = behind.strip_prefix(']').unwrap_or(behind);
    for marks in [&['.', ':', ')'][..], &[]] {
        if let Some(closed) = rest.strip_prefix(emphasis.as_str()) {
            rest = closed;
            emphasis.clear();
        }
        rest = rest.strip_prefix(marks).unwrap_or(rest);
    }
    let rest = rest.trim_start();
    let dash = ["- ", "– ", "— ", ": "]
        .iter()
        .find_map(|dash| rest.strip_prefix(dash));
    let title = dash.unwrap_or(rest).trim_start();
    if before.is_empty() {
        return title.trim_end().to_owned();
    }
    // What is bold together with its id stays bold.
    let title = format!("{emphasis}{title}");
    format!("{ornament} {title}").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_title_loses_its_id_and_keeps_its_marks() {
        for (written, id, expected) in [
            (
                "1.1 Fix [it](https://x.org) in `a b.py`",
                "1.1",
                "Fix [it](https://x.org) in `a b.py`",
            ),
            ("**2.1** Bold id", "2.1", "Bold id"),
            ("**2.1:** Bold id", "2.1", "Bold id"),
            ("**2.1**: Bold id", "2.1", "Bold id"),
            (
                "**3.1 Bold title** and more",
                "3.1",
                "**Bold title** and more",
            ),
            ("🚀 4.1 Launch", "4.1", "🚀 Launch"),
            ("[ENG-7] Fix", "ENG-7", "Fix"),
            (
                "[ENG-7](https://x.org/7) Fix",
                "ENG-7",
                "[ENG-7](https://x.org/7) Fix",
            ),
            ("Task 5 - Write", "5", "Write"),
            ("7) ...and more", "7", "...and more"),
        ] {
            assert_eq!(without_id(written, id), expected, "{written}");
        }
    }
}
