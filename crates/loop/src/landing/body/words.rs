//! Numbers, times and lists in words.
//!
//! Knows nothing of what they are about.

use std::time::Duration;

use pleach_git::git::CommitId;
use pleach_system::text::neutral_text::{cut, escaped};

use super::{LONGEST_NAME, TaskAccount};

/// A task by id and title, for the start of a sentence.
pub(super) fn named(task: &TaskAccount) -> String {
    let id = escaped(&cut(task.id.as_str(), LONGEST_NAME / 2));
    match escaped(&cut(&task.title, LONGEST_NAME)).as_str() {
        "" => format!("Task {id}"),
        title => format!("Task {id}: {title}"),
    }
}

/// The beginning of a commit's id, which forges make a link of.
pub(super) fn short(commit: &CommitId) -> String {
    commit.as_str().chars().take(10).collect()
}

pub(super) fn number(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// A number at the start of a sentence.
pub(super) fn spelled(count: usize) -> String {
    const WORDS: [&str; 13] = [
        "No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
        "Eleven", "Twelve",
    ];
    match WORDS.get(count) {
        Some(word) => (*word).to_owned(),
        None => count.to_string(),
    }
}

pub(super) fn up_to(most: usize, names: impl ExactSizeIterator<Item = String>) -> String {
    let rest = names.len().saturating_sub(most);
    let shown: Vec<String> = names.take(most).collect();
    let shown = shown.join(", ");
    match rest {
        0 => shown,
        _ => format!("{shown} and {rest} more"),
    }
}

pub(super) fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, 1..10) => format!("{minutes} min {} s", seconds % 60),
        (0, _) => format!("{minutes} min"),
        _ => format!("{hours} h {minutes} min"),
    }
}

pub(super) fn dollars(amount: f64) -> String {
    // Not to be taken for the start of a formula.
    format!("{amount:.2} USD")
}
