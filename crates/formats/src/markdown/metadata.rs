//! Reads the lines `**Status**: …`, `**Dependencies**: …` of a TODO section.
//!
//! Knows single lines; which section they belong to is the reader's business.

use std::ops::Range;

use compact_str::CompactString;
use pleach_domain::task::TaskStatus;

use super::leading_id::is_id_shaped;
use super::ranges::with_ranges_joined;
use super::size::is_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetadataKey {
    Status,
    Dependencies,
    Blocking,
    Priority,
    Effort,
    Size,
    Files,
    Labels,
}

/// A key and the byte range of its value within the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MetadataEntry {
    pub(super) key: MetadataKey,
    pub(super) value: Range<usize>,
}

/// Reads one line, whatever has become of its asterisks.
pub(super) fn entry(line: &str) -> Option<MetadataEntry> {
    let is_decoration = |c: char| c == '*' || c == '_' || c.is_whitespace();
    let colon = line.find(':')?;
    let name = line[..colon].trim_matches(is_decoration);
    let key = key(name)?;
    let behind = &line[colon + 1..];
    let start = line.len() - behind.trim_start_matches(is_decoration).len();
    let end = start + line[start..].trim_end().len();
    // Much that is no task's has a size in words.
    if key == MetadataKey::Size && size(&line[start..end]).is_none() {
        return None;
    }
    Some(MetadataEntry {
        key,
        value: start..end,
    })
}

const KEYS: [(&str, MetadataKey); 15] = [
    ("status", MetadataKey::Status),
    ("dependencies", MetadataKey::Dependencies),
    ("dependency", MetadataKey::Dependencies),
    ("depends on", MetadataKey::Dependencies),
    ("depends", MetadataKey::Dependencies),
    ("blocking", MetadataKey::Blocking),
    ("blocks", MetadataKey::Blocking),
    ("priority", MetadataKey::Priority),
    ("effort", MetadataKey::Effort),
    ("estimated effort", MetadataKey::Effort),
    ("size", MetadataKey::Size),
    ("files affected", MetadataKey::Files),
    ("affected files", MetadataKey::Files),
    ("files", MetadataKey::Files),
    ("labels", MetadataKey::Labels),
];

fn key(name: &str) -> Option<MetadataKey> {
    let found = KEYS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, key)| *key)
}

/// The name of a size, without its decoration.
pub(super) fn size(value: &str) -> Option<&str> {
    let name = value.trim_matches(['*', '_', '`', '[', ']', ' ']);
    is_name(name).then_some(name)
}

const TICKS: [char; 3] = ['✅', '✔', '☑'];

/// The part of a Status value that is the status itself: the brackets, or the words up to a remark.
pub(super) fn status_range(value: &str) -> Range<usize> {
    let is_word = |c: char| c.is_alphanumeric();
    let start = value.find('[').filter(|at| !value[..*at].contains(is_word));
    if let Some(start) = start
        && let Some(length) = value[start..].find(']')
    {
        let end = start + length + 1;
        // A tick before the brackets says the same and must not outlive a change.
        let start = if value[..start].contains(TICKS) {
            0
        } else {
            start
        };
        let is_box = matches!(&value[end - length..end - 1], "" | " " | "x" | "X");
        return if is_box {
            start..end + words_before_remark(&value[end..])
        } else {
            start..end
        };
    }
    0..words_before_remark(value)
}

/// The length of the words up to a remark, without trailing decoration.
fn words_before_remark(value: &str) -> usize {
    let remark = value.find(['(', '[', '|', ';', ',']).unwrap_or(value.len());
    let dash = value.find(" - ").unwrap_or(remark);
    value[..remark.min(dash)]
        .trim_end_matches(['*', '_', '`', ' ', '\t'])
        .len()
}

pub(super) fn is_blocked(value: &str) -> bool {
    let inside = &value[status_range(value)];
    let mut words = inside.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty()).unwrap_or("");
    first.eq_ignore_ascii_case("blocked")
}

pub(super) fn status(value: &str) -> TaskStatus {
    let inside = &value[status_range(value)];
    if inside.contains(TICKS) {
        return TaskStatus::Completed;
    }
    let words = inside.trim_start_matches("[x]").trim_start_matches("[X]");
    let mut words = words
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DependencyPart {
    /// A task, and whether the text itself says that it is done.
    Task { id: CompactString, said_done: bool },
    /// Text that may open with a task's id, or mention one.
    Words { text: String, mentions: Vec<String> },
}

pub(super) fn named_tasks(value: &str) -> Vec<DependencyPart> {
    let value = with_ranges_joined(value);
    let mut found = Vec::new();
    for piece in pieces(&value) {
        named(piece, &mut found);
    }
    found
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

fn named(piece: &str, found: &mut Vec<DependencyPart>) {
    let task = |id: &str, said_done| DependencyPart::Task {
        id: id.into(),
        said_done,
    };
    // Nearly all dependencies are just an id.
    if is_id_shaped(piece.trim()) {
        found.push(task(piece.trim(), false));
        return;
    }
    let (outside, inside) = piece.split_once('(').unwrap_or((piece, ""));
    let remark = inside.to_ascii_lowercase();
    let is_ticked = piece.contains(['✅', '✓', '✔']);
    let said_done = is_ticked
        || ["complete", "done"]
            .iter()
            .any(|word| remark.contains(word))
            && !remark.contains("not ");
    let is_bare = |c: char| "*_`[].-–—✅✓✔".contains(c) || c.is_whitespace();
    let text = outside.trim_matches(is_bare);
    let is_none = ["", "none", "n/a", "nothing", "no dependencies"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word));
    if is_none {
        return;
    }
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '+' || c == '/')
        .map(|word| word.trim_end_matches([':', '.']))
        .filter(|word| !word.is_empty())
        .collect();
    let names_task = |word: &str| {
        ["task", "tasks"]
            .iter()
            .any(|name| word.eq_ignore_ascii_case(name))
    };
    let ids = || words.iter().filter(|word| !names_task(word));
    if ids().all(|word| is_id_or_range(word)) {
        found.extend(ids().map(|id| task(id, said_done)));
        return;
    }
    let behind_task = words
        .windows(2)
        .filter(|pair| names_task(pair[0]))
        .map(|pair| pair[1]);
    let mentions = words.first().copied().into_iter().chain(behind_task);
    let mentions = mentions.map(|word| word.trim_end_matches(',').to_owned());
    found.push(DependencyPart::Words {
        text: piece
            .trim_matches(|c: char| c == '*' || c.is_whitespace())
            .to_owned(),
        mentions: mentions.filter(|word| is_id_shaped(word)).collect(),
    });
}

pub(super) fn is_id_or_range(word: &str) -> bool {
    is_id_shaped(word)
        || word
            .match_indices('-')
            .any(|(at, _)| is_id_shaped(&word[..at]) && is_id_shaped(&word[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn value(line: &str) -> Option<(MetadataKey, &str)> {
        entry(line).map(|entry| (entry.key, &line[entry.value]))
    }

    #[test]
    fn keys_survive_lost_and_misplaced_asterisks() {
        assert_eq!(
            value("**Status**: [DONE]"),
            Some((MetadataKey::Status, "[DONE]"))
        );
        assert_eq!(
            value("**Status:** [DONE]  "),
            Some((MetadataKey::Status, "[DONE]"))
        );
        assert_eq!(value("*Effort**: 2h"), Some((MetadataKey::Effort, "2h")));
        assert_eq!(
            value("Priority: High"),
            Some((MetadataKey::Priority, "High"))
        );
        assert_eq!(value("__Files Affected__:"), Some((MetadataKey::Files, "")));
        assert_eq!(
            value("**Size**: `large`"),
            Some((MetadataKey::Size, "`large`"))
        );
        assert_eq!(value("Size: 12 kB at most"), None);
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
        assert_eq!(part("`[IN PROGRESS]`"), "[IN PROGRESS]");
        assert_eq!(part("🔄 [IN PROGRESS]"), "[IN PROGRESS]");
        assert_eq!(part("[x] DONE (late)"), "[x] DONE");
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
            &[
                "[COMPLETE]",
                "COMPLETED",
                "[Done]",
                "✅",
                "[✅ shipped]",
                "✔ [COMPLETED]",
                "[x] DONE",
                "`[DONE]`",
            ],
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
        let all = named_tasks;
        let task = |id: &str| DependencyPart::Task {
            id: id.into(),
            said_done: false,
        };
        let done = |id: &str| DependencyPart::Task {
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
        assert_eq!(all("Tasks 61 through 63"), [task("61-63")]);
        assert_eq!(all("61–63"), [task("61-63")]);
        assert_eq!(all("61 62"), [task("61"), task("62")]);
        assert_eq!(all("61 + 62/63"), [task("61"), task("62"), task("63")]);
        assert_eq!(all("1.1 ✅"), [done("1.1")]);
        assert_eq!(
            all("Soundness (Complete)"),
            [DependencyPart::Words {
                text: "Soundness (Complete)".into(),
                mentions: vec![]
            }]
        );
        assert_eq!(
            all("Requires Task 61 to be merged"),
            [DependencyPart::Words {
                text: "Requires Task 61 to be merged".into(),
                mentions: vec!["61".into()]
            }]
        );
    }
}
