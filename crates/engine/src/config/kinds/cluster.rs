//! The kinds of values that only clusters take.
//!
//! Knows which options of `sbatch` are Pleach's own business, and not what the others mean.

use std::time::Duration;

use toml_edit::Value;

use super::{List, Size, Time, UNITS_OF_TIME, ValueKind, in_largest_unit};

/// A time between two numbers of seconds.
pub(in crate::config) struct TimeBetween<const LEAST: u64, const MOST: u64>;

impl<const LEAST: u64, const MOST: u64> ValueKind for TimeBetween<LEAST, MOST> {
    type Value = Duration;

    fn wanted() -> String {
        let text = |seconds: u64| in_largest_unit(seconds.saturating_mul(1_000), &UNITS_OF_TIME);
        let least = text(LEAST);
        if MOST == u64::MAX {
            format!("a time of at least \"{least}\"")
        } else {
            format!("a time from \"{least}\" to \"{}\"", text(MOST))
        }
    }

    fn read(value: &Value) -> Option<Duration> {
        let fits = Duration::from_secs(LEAST)..=Duration::from_secs(MOST);
        Time::read(value).filter(|time| fits.contains(time))
    }

    fn write(value: &Duration) -> Value {
        Time::write(value)
    }
}

/// The memory of a unit, in bytes: at least a megabyte, which is what clusters count in.
pub(in crate::config) struct MemorySize;

impl ValueKind for MemorySize {
    type Value = u64;

    fn wanted() -> String {
        "a size of at least \"1MiB\", such as \"4GiB\"".to_owned()
    }

    fn read(value: &Value) -> Option<u64> {
        Size::read(value).filter(|bytes| *bytes >= 1 << 20)
    }

    fn write(value: &u64) -> Value {
        Size::write(value)
    }
}

/// Further options for `sbatch`, each a word with its value in it.
pub(in crate::config) struct SbatchOptions;

/// What Pleach says of a submission itself, and what would have `sbatch` do something else than submit.
const OURS: [&str; 24] = [
    "array",
    "chdir",
    "clusters",
    "error",
    "exclude",
    "export",
    "export-file",
    "help",
    "input",
    "job-name",
    "no-requeue",
    "nodes",
    "ntasks",
    "open-mode",
    "output",
    "parsable",
    "requeue",
    "signal",
    "test-only",
    "time",
    "usage",
    "version",
    "wait",
    "wrap",
];

/// The same in one letter.
const OUR_LETTERS: &str = "aDMexihJNnotVW";

impl ValueKind for SbatchOptions {
    type Value = Vec<String>;

    fn wanted() -> String {
        let ours: Vec<String> = OURS.iter().map(|name| format!("--{name}")).collect();
        format!(
            "a list of options for sbatch, each with its value in one word, as in [\"--licenses=a\"]; Pleach itself sets {}",
            ours.join(", ")
        )
    }

    fn read(value: &Value) -> Option<Vec<String>> {
        let words = List::read(value)?;
        words.iter().all(|word| is_theirs(word)).then_some(words)
    }

    fn write(value: &Vec<String>) -> Value {
        List::write(value)
    }
}

/// Whether a word is an option that Pleach leaves to its users; `sbatch` understands a part of a name, too.
fn is_theirs(word: &str) -> bool {
    if word.contains(char::is_control) {
        return false;
    }
    if let Some(option) = word.strip_prefix("--") {
        let name = option.split('=').next().unwrap_or(option);
        return !name.is_empty() && !OURS.iter().any(|ours| ours.starts_with(name));
    }
    let letter = word
        .strip_prefix('-')
        .and_then(|letters| letters.chars().next());
    letter.is_some_and(|letter| letter.is_ascii_alphabetic() && !OUR_LETTERS.contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_pleach_sets_itself_are_not_for_its_users() {
        for word in [
            "--partition=gpu",
            "--gres=gpu:a100:2",
            "--exclusive",
            "--time-min=10",
            "--wait-all-nodes=1",
            "-pgpu",
            "-Lansys",
        ] {
            assert!(is_theirs(word), "{word}");
        }
        for word in [
            "--array=1-5",
            "--arr=1-5",
            "--job-name=x",
            "--export=ALL",
            "--time=5",
            "--test-only",
            "--help",
            "-a1-5",
            "-Jx",
            "-",
            "--",
            "--=x",
            "gpu",
            "",
            "--licenses=a\nb",
        ] {
            assert!(!is_theirs(word), "{word}");
        }
    }
}
