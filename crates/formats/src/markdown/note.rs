//! Reads `**Execution Note:** Tasks 3.1-3.4 are [SEQUENTIAL] - reason`.
//!
//! Knows one note at a time; which tasks exist is the reader's business.

use super::metadata::is_id_or_range;
use super::ranges::with_ranges_joined;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// The tasks as written, such as `3.1-3.4` or `3.1, 3.3`.
    pub(super) group: String,
    pub(super) reason: String,
}

const TAG: &str = "[sequential";

/// Whether a text has a sequential tag at all; cheap, because it is asked of every block.
pub(super) fn has_tag(text: &str) -> bool {
    text.bytes().any(|byte| byte == b'[') && text.to_ascii_lowercase().contains(TAG)
}

pub(super) fn without_tag(heading: &str) -> (String, String) {
    let Some((before, inside, after)) = split_at_tag(heading) else {
        return (heading.trim().to_owned(), String::new());
    };
    let title = before.trim_end_matches([' ', '-', '–', '—', ':', '(']);
    if title.is_empty() {
        // `Phase 3 [SEQUENTIAL]: Docs` has its title behind the tag.
        let title = after.trim_start_matches([' ', '-', '–', '—', ':', ')']);
        return (title.trim_end().to_owned(), reason(inside, ""));
    }
    (title.to_owned(), reason(inside, after))
}

/// Why the tasks of a phase are in order, by a note that names none of them.
pub(super) fn reason_of_phase(text: &str) -> String {
    split_at_tag(text).map_or_else(String::new, |(_, inside, after)| reason(inside, after))
}

pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, inside, after)) = split_at_tag(rest) {
        // The text behind a tag runs up to the sentence that carries the next tag.
        let next = split_at_tag(after).map(|(before, _, _)| before);
        let end = next.map_or(after.len(), |before| {
            last_task_word(before).unwrap_or(before.len())
        });
        if let Some(group) = group(before) {
            found.push(Statement {
                group,
                reason: reason(inside, &after[..end]),
            });
        }
        rest = after;
    }
    found
}

fn split_at_tag(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.to_ascii_lowercase().find(TAG)?;
    let inside = &text[start + TAG.len()..];
    let end = inside.find(']')?;
    Some((&text[..start], &inside[..end], &inside[end + 1..]))
}

fn last_task_word(text: &str) -> Option<usize> {
    text.to_ascii_lowercase().rfind("task")
}

/// The ids right behind the word "task", up to the verb.
fn group(before: &str) -> Option<String> {
    let start = last_task_word(before)? + "task".len();
    let list = before[start..].trim_start_matches(['s', 'S']);
    let list = with_ranges_joined(list);
    let is_part = |word: &&str| {
        let word = word.trim_matches([',', ':', '*']);
        matches!(word, "" | "and" | "&") || word.split(',').all(is_id_or_range)
    };
    let words: Vec<&str> = list.split_whitespace().take_while(is_part).collect();
    let list = words.join(" ");
    let list = list.trim_matches([':', '*', ' ', ',']);
    (!list.is_empty()).then(|| list.to_owned())
}

fn reason(inside: &str, after: &str) -> String {
    let strip = |text: &str| {
        let text = text.lines().next().unwrap_or("");
        let text = text.trim_matches([' ', '\t', '-', '–', '—', ':', '*', ',', ';']);
        let bracketed = [('(', ')'), ('[', ']')]
            .iter()
            .find_map(|(open, close)| text.strip_prefix(*open)?.strip_suffix(*close));
        bracketed
            .unwrap_or(text)
            .trim()
            .trim_end_matches('.')
            .to_owned()
    };
    let inside = strip(inside);
    if inside.is_empty() {
        strip(after.trim_end_matches([' ', '.']))
    } else {
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = statements(text);
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|statement| (statement.group.as_str(), statement.reason.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn notes_name_tasks_and_a_reason() {
        check(
            "Execution Note: Tasks 3.1-3.4 are [SEQUENTIAL] - all modify same file",
            &[("3.1-3.4", "all modify same file")],
        );
        check("Execution Note: Task 3.2 is [SEQUENTIAL]", &[("3.2", "")]);
        check(
            "Execution Note: Tasks 1.1, 1.3 and 1.4 are [SEQUENTIAL] (one schema)",
            &[("1.1, 1.3 and 1.4", "one schema")],
        );
        check(
            "Tasks 1.1–1.2 are [SEQUENTIAL: shared lock]",
            &[("1.1-1.2", "shared lock")],
        );
        check(
            "Tasks 1.1-1.2 are [SEQUENTIAL] - a. Tasks 2.1-2.2 are [SEQUENTIAL] - b",
            &[("1.1-1.2", "a"), ("2.1-2.2", "b")],
        );
        check(
            "Tasks 3.1 - 3.4 should be executed [SEQUENTIAL]",
            &[("3.1-3.4", "")],
        );
        check(
            "Tasks ENG-7 through ENG-9 are [SEQUENTIAL]",
            &[("ENG-7-ENG-9", "")],
        );
        check("All tasks are [SEQUENTIAL] - one file", &[]);
        check("Everything is [SEQUENTIAL]", &[]);
        check("[SEQUENTIAL", &[]);
    }

    #[test]
    fn a_heading_loses_its_tag() {
        assert_eq!(
            without_tag("Core [SEQUENTIAL]"),
            ("Core".into(), String::new())
        );
        assert_eq!(
            without_tag("Core [SEQUENTIAL] - one file"),
            ("Core".into(), "one file".into())
        );
        assert_eq!(
            without_tag("[SEQUENTIAL]: Docs"),
            ("Docs".into(), String::new())
        );
        assert_eq!(
            without_tag("[SEQUENTIAL: one file] - Docs"),
            ("Docs".into(), "one file".into())
        );
    }
}
