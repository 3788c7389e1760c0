//! Reads the lines `**Status**: …`, `**Dependencies**: …` of a TODO section.
//!
//! Knows single lines; which section they belong to is the reader's business.

use std::ops::Range;

use compact_str::CompactString;
use pleach_domain::task::TaskStatus;

use super::leading_id::is_id_shaped;

/// The keys that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    Status,
    Dependencies,
    Blocking,
    Priority,
    Effort,
    Files,
    Labels,
}

/// A key and the byte range of its value within the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) key: Key,
    pub(super) value: Range<usize>,
}

/// Reads one line, whatever has become of its asterisks.
pub(super) fn entry(line: &str) -> Option<Entry> {
    let is_decoration = |c: char| c == '*' || c == '_' || c.is_whitespace();
    let colon = line.find(':')?;
    let name = line[..colon].trim_matches(is_decoration);
    let key = key(name)?;
    let behind = &line[colon + 1..];
    let start = line.len() - behind.trim_start_matches(is_decoration).len();
    let end = start + line[start..].trim_end().len();
    Some(Entry {
        key,
        value: start..end,
    })
}

const KEYS: [(&str, Key); 13] = [
    ("status", Key::Status),
    ("dependencies", Key::Dependencies),
    ("dependency", Key::Dependencies),
    ("depends on", Key::Dependencies),
    ("blocking", Key::Blocking),
    ("blocks", Key::Blocking),
    ("priority", Key::Priority),
    ("effort", Key::Effort),
    ("estimated effort", Key::Effort),
    ("files affected", Key::Files),
    ("affected files", Key::Files),
    ("files", Key::Files),
    ("labels", Key::Labels),
];

fn key(name: &str) -> Option<Key> {
    let found = KEYS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, key)| *key)
}

/// The part of a Status value that is the status itself: the brackets, or the words up to a remark.
pub(super) fn status_range(value: &str) -> Range<usize> {
    if value.starts_with('[')
        && let Some(end) = value.find(']')
    {
        return 0..end + 1;
    }
    let remark = value.find(['(', '[', '|', ';', ',']).unwrap_or(value.len());
    let dash = value.find(" - ").unwrap_or(remark);
    let words = value[..remark.min(dash)].trim_end_matches(['*', '_', ' ', '\t']);
    0..words.len()
}

/// What a status value means.
pub(super) fn status(value: &str) -> TaskStatus {
    let inside = &value[status_range(value)];
    if inside.contains('✅') {
        return TaskStatus::Completed;
    }
    let mut words = inside
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase);
    let first = words.next().unwrap_or_default();
    match first.as_str() {
        "COMPLETE" | "COMPLETED" | "DONE" => TaskStatus::Completed,
        "ABANDONED" | "CANCELLED" | "CANCELED" | "EXPANDED" => TaskStatus::Cancelled,
        "IN" if words.next().as_deref() == Some("PROGRESS") => TaskStatus::InProgress,
        _ => TaskStatus::Pending,
    }
}

/// One part of a dependency list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// A task, and whether the text itself says that it is done.
    Task { id: CompactString, said_done: bool },
    /// Text that may open with a task's id, or mention one.
    Words { text: String, mentions: Vec<String> },
}

/// Splits a dependency list into tasks and words.
pub(super) fn named_tasks(value: &str) -> impl Iterator<Item = Named> {
    pieces(value).filter_map(named)
}

/// The parts between commas and "and", where those stand outside parentheses.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(value);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut depth = 0_u32;
        for (at, c) in text.char_indices() {
            let behind = match c {
                '(' => {
                    depth += 1;
                    continue;
                }
                ')' => {
                    depth = depth.saturating_sub(1);
                    continue;
                }
                ',' | ';' | '&' if depth == 0 => &text[at + 1..],
                ' ' if depth == 0 && text[at..].starts_with(" and ") => &text[at + 5..],
                _ => continue,
            };
            rest = Some(behind);
            return Some(&text[..at]);
        }
        rest = None;
        Some(text)
    })
}

fn named(piece: &str) -> Option<Named> {
    // Nearly all dependencies are just an id.
    if is_id_shaped(piece.trim()) {
        return Some(Named::Task {
            id: piece.trim().into(),
            said_done: false,
        });
    }
    let (outside, inside) = match piece.split_once('(') {
        Some((outside, inside)) => (outside, inside),
        None => (piece, ""),
    };
    let remark = inside.to_ascii_lowercase();
    let said_done = ["complete", "done", "✅"]
        .iter()
        .any(|word| remark.contains(word))
        && !remark.contains("not ");
    let bare = |c: char| {
        matches!(c, '*' | '_' | '`' | '[' | ']' | '.' | '-' | '—' | '–') || c.is_whitespace()
    };
    let text = outside.trim_matches(bare);
    let is_none = ["", "none", "n/a", "nothing", "no dependencies"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if is_none {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let names_task = |word: &str| {
        ["task", "tasks"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    };
    let id = match words.as_slice() {
        [only] => Some(*only),
        [task, id] if names_task(task) => Some(*id),
        _ => None,
    };
    if let Some(id) = id
        .map(|id| id.trim_end_matches([':', '.']))
        .filter(|id| is_id_or_range(id))
    {
        return Some(Named::Task {
            id: id.into(),
            said_done,
        });
    }
    let behind_task = words
        .windows(2)
        .filter(|pair| names_task(pair[0]))
        .map(|pair| pair[1]);
    let mentions = words.first().copied().into_iter().chain(behind_task);
    let mentions = mentions.map(|word| word.trim_end_matches([':', '.', ',']).to_owned());
    Some(Named::Words {
        text: piece
            .trim_matches(|c: char| c == '*' || c.is_whitespace())
            .to_owned(),
        mentions: mentions.filter(|word| is_id_shaped(word)).collect(),
    })
}

fn is_id_or_range(word: &str) -> bool {
    is_id_shaped(word)
        || word
            .match_indices('-')
            .any(|(at, _)| is_id_shaped(&word[..at]) && is_id_shaped(&word[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn value(line: &str) -> Option<(Key, &str)> {
        entry(line).map(|entry| (entry.key, &line[entry.value]))
    }

    #[test]
    fn keys_survive_lost_and_misplaced_asterisks() {
        assert_eq!(value("**Status**: [DONE]"), Some((Key::Status, "[DONE]")));
        assert_eq!(value("**Status:** [DONE]  "), Some((Key::Status, "[DONE]")));
        assert_eq!(value("*Effort**: 2h"), Some((Key::Effort, "2h")));
        assert_eq!(value("Priority: High"), Some((Key::Priority, "High")));
        assert_eq!(value("__Files Affected__:"), Some((Key::Files, "")));
        assert_eq!(value("**Status quo**: fine"), None);
        assert_eq!(value("no colon"), None);
    }

    #[test]
    fn the_status_is_parted_from_its_remarks() {
        let part = |value: &'static str| &value[status_range(value)];
        assert_eq!(part("[NOT STARTED]"), "[NOT STARTED]");
        assert_eq!(part("[COMPLETED] (yesterday)"), "[COMPLETED]");
        assert_eq!(part("COMPLETE (2 of 2)"), "COMPLETE");
        assert_eq!(part("✅ Done - at last"), "✅ Done");
        assert_eq!(part(""), "");
    }

    #[test]
    fn every_word_for_a_status_is_understood() {
        let all = |words: &[&str], expected| {
            for word in words {
                assert_eq!(status(word), expected, "{word}");
            }
        };
        all(
            &["[COMPLETE]", "COMPLETED", "[Done]", "✅", "[✅ shipped]"],
            TaskStatus::Completed,
        );
        all(
            &["[IN PROGRESS]", "in_progress", "In-Progress (me)"],
            TaskStatus::InProgress,
        );
        all(
            &["[ABANDONED]", "CANCELLED", "[EXPANDED]"],
            TaskStatus::Cancelled,
        );
        all(
            &[
                "[NOT STARTED]",
                "[BLOCKED]",
                "RESEARCHED",
                "PLANNED",
                "[PARTIAL]",
                "[WHATEVER]",
                "",
                "NOT DONE",
            ],
            TaskStatus::Pending,
        );
    }

    #[test]
    fn dependency_lists_are_read_as_people_write_them() {
        let all = |value| named_tasks(value).collect::<Vec<_>>();
        let task = |id: &str| Named::Task {
            id: id.into(),
            said_done: false,
        };
        let done = |id: &str| Named::Task {
            id: id.into(),
            said_done: true,
        };
        assert_eq!(all("61, 62"), [task("61"), task("62")]);
        assert_eq!(all("None"), []);
        assert_eq!(all("Task 263"), [task("263")]);
        assert_eq!(
            all("448 (completed), 473 (completed)"),
            [done("448"), done("473")]
        );
        assert_eq!(all("61 (not done, sorry) and 62"), [task("61"), task("62")]);
        assert_eq!(all("61-63"), [task("61-63")]);
        assert_eq!(
            all("Soundness (Complete)"),
            [Named::Words {
                text: "Soundness (Complete)".into(),
                mentions: vec![]
            }]
        );
        assert_eq!(
            all("Requires Task 61 to be merged"),
            [Named::Words {
                text: "Requires Task 61 to be merged".into(),
                mentions: vec!["61".into()]
            }]
        );
    }
}
