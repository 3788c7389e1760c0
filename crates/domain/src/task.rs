//! A task as a person wrote it: what is wanted, and whether it is done.
//!
//! Knows nothing of attempts, branches or batches.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use crate::id::{PhaseNumber, TaskId};
use crate::words::words;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    /// One line of plain text.
    pub title: String,
    /// The same line in the plan's own Markdown, where that differs.
    pub markdown: Option<String>,
    /// The rest of what the agent is told, in the plan's own Markdown.
    pub details: String,
    pub status: TaskStatus,
    pub phase: Option<PhaseNumber>,
    pub needs: Vec<Dependency>,
    pub files: Vec<String>,
    /// Bare words that name such a file if the project has it.
    pub mentions: Vec<String>,
    /// What keeps it from being started by anything but its id.
    pub hold: TaskHold,
    pub priority: Priority,
    /// How long it is thought to take.
    pub effort: Option<Effort>,
    /// How large a part of a machine it wants, where it does not run on this one.
    pub size: Option<SizeChoice>,
    pub labels: Vec<String>,
    pub notes: Vec<String>,
    /// The line it starts at, counted from 1.
    pub line: u32,
}

impl Task {
    /// A pending task with an id, a title and nothing else.
    pub fn new(id: impl Into<CompactString>, title: impl Into<String>, line: u32) -> Self {
        Self {
            id: TaskId::new(id),
            title: title.into(),
            markdown: None,
            details: String::new(),
            status: TaskStatus::Pending,
            phase: None,
            needs: Vec::new(),
            files: Vec::new(),
            mentions: Vec::new(),
            hold: TaskHold::None,
            priority: Priority::Medium,
            effort: None,
            size: None,
            labels: Vec::new(),
            notes: Vec::new(),
            line,
        }
    }

    /// Its title as its plan writes it, for agents.
    pub fn written_title(&self) -> &str {
        self.markdown.as_deref().unwrap_or(&self.title)
    }

    /// Whether it waits for its phase to open; its own dependencies take the phase's place.
    pub fn follows_its_phase(&self) -> bool {
        self.phase.is_some() && self.needs.is_empty()
    }
}

/// What keeps a task that is open from being started by `all`, `phase:` or `next`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskHold {
    #[default]
    None,
    /// Its plan says that it is blocked.
    Blocked,
    /// It is in a batch that runs.
    InLiveBatch,
}

/// A size by its name, and where that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeChoice {
    pub name: String,
    pub line: u32,
}

/// A task that another one needs, and where that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The task that must be done first.
    pub on: TaskId,
    pub line: u32,
    pub if_unknown: IfUnknown,
}

/// What a dependency on a task that is not in the plan means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfUnknown {
    Error,
    /// The task was archived when it was finished.
    TakenAsDone,
    /// Something else says that it is done.
    SaidDone,
    /// It is open, and not among the tasks that were asked about.
    Unlisted,
}

words! {
    /// What a plan can say of a task.
    pub enum TaskStatus {
        /// Wanted, and nobody is at it.
        Pending = "pending",
        /// Somebody is at it.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Tried in vain.
        Failed = "failed",
        /// Left out by a person.
        Skipped = "skipped",
        /// No longer wanted.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether nothing is left to do: what waits for it may go on.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped | Self::Cancelled)
    }
}

/// How much a task matters, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    Low,
    Medium,
    High,
    Critical,
}

impl Priority {
    /// Reads a word such as CRITICAL in the title of a task, where only capitals say how much it matters.
    pub fn in_title(title: &str) -> Option<Self> {
        title
            .split(|c: char| !c.is_alphanumeric())
            .find_map(|word| match word {
                "CRITICAL" => Some(Self::Critical),
                "HIGH" => Some(Self::High),
                "LOW" => Some(Self::Low),
                _ => None,
            })
    }

    /// Reads the first word that names a priority; anything else is medium.
    pub fn read(text: &str) -> Self {
        text.split(|c: char| !c.is_alphanumeric())
            .find_map(|word| match word.to_ascii_lowercase().as_str() {
                "critical" | "urgent" | "blocker" | "p0" => Some(Self::Critical),
                "high" | "p1" => Some(Self::High),
                "medium" | "normal" | "p2" => Some(Self::Medium),
                "low" | "minor" | "p3" | "p4" => Some(Self::Low),
                _ => None,
            })
            .unwrap_or(Self::Medium)
    }
}

/// An estimate of the work, as minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(pub u32);

impl Effort {
    /// What a task without an estimate counts as.
    pub const UNKNOWN: Self = Self(120);

    /// Reads `2 hours`, `1-2 days`, `30m`, `S`, `Large`, …; the upper end of a range counts.
    pub fn read(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let words = split_number_from_unit(&lower);
        let mut number = None;
        for word in &words {
            if let Ok(value) = word.parse::<f64>() {
                number = Some(value);
                continue;
            }
            let unit = match *word {
                "m" | "min" | "mins" | "minute" | "minutes" if number.is_some() => 1.0,
                "h" | "hr" | "hrs" | "hour" | "hours" => 60.0,
                "d" | "day" | "days" => 480.0,
                "w" | "week" | "weeks" => 2400.0,
                "xs" | "trivial" | "tiny" => return Some(Self(30)),
                "s" | "small" => return Some(Self(60)),
                "m" | "medium" => return Some(Self(180)),
                "l" | "large" => return Some(Self(480)),
                "xl" | "xxl" | "huge" => return Some(Self(960)),
                _ => continue,
            };
            return number.map(|value| Self::minutes(value * unit));
        }
        None
    }

    fn minutes(value: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range of the type just before"
        )]
        Self(value.round().clamp(1.0, 1_000_000.0) as u32)
    }
}

fn split_number_from_unit(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.')) {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let (number, unit) = word.split_at(word.len() - digits.len());
        words.extend([number, unit].into_iter().filter(|part| !part.is_empty()));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_read_as_people_write_them() {
        let minutes = |text| Effort::read(text).map(|effort| effort.0);
        assert_eq!(minutes("2 hours"), Some(120));
        assert_eq!(minutes("1-2 days"), Some(960));
        assert_eq!(minutes("30m"), Some(30));
        assert_eq!(minutes("1.5h"), Some(90));
        assert_eq!(minutes("Small"), Some(60));
        assert_eq!(minutes("M"), Some(180));
        assert_eq!(minutes("who knows"), None);
        assert_eq!(minutes(""), None);
    }

    #[test]
    fn only_capitals_in_a_title_are_a_priority() {
        let read = Priority::in_title;
        assert_eq!(read("CRITICAL: stop the leak"), Some(Priority::Critical));
        assert_eq!(read("[HIGH] Log in"), Some(Priority::High));
        assert_eq!(read("Tidy up (LOW)"), Some(Priority::Low));
        assert_eq!(read("Draw the critical path, HIGHLIGHT it"), None);
    }

    #[test]
    fn priorities_are_read_from_the_first_word_that_names_one() {
        assert_eq!(Priority::read("High (blocks the release)"), Priority::High);
        assert_eq!(Priority::read("**P0**"), Priority::Critical);
        assert_eq!(Priority::read("whatever"), Priority::Medium);
    }
}
