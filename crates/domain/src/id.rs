//! The names of things: tasks and phases.
//!
//! Knows what two ids have in common, not which ids exist.

use std::fmt;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// The id of a task, exactly as its plan writes it.
///
/// Ids are short and there may be half a million of them, so they are kept in place.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(CompactString);

impl TaskId {
    pub fn new(text: impl Into<CompactString>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::borrow::Borrow<str> for TaskId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The number of a batch within its project, counted from 1: what people call it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct BatchNumber(pub u32);

impl fmt::Display for BatchNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl std::str::FromStr for BatchNumber {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse()
            .map(Self)
            .map_err(|_| "write the number of a batch, such as 3")
    }
}

/// The number of a phase, as in `## Phase 2: Title`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct PhaseNumber(pub u32);

impl fmt::Display for PhaseNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// An id whose last part is a number: `3.4` is 4 in the series `3.`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesMember<'a> {
    /// Everything before the last number; `#12` and `12` are of one series.
    pub series: &'a str,
    pub number: u64,
    pub digits: usize,
}

impl<'a> SeriesMember<'a> {
    /// Splits `id` before its last number, if it ends in one.
    pub fn parse(id: &'a str) -> Option<Self> {
        let digits = id.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (series, number) = id.split_at(id.len() - digits);
        let number = number.parse().ok()?;
        let series = series.strip_prefix('#').unwrap_or(series);
        Some(Self {
            series,
            number,
            digits,
        })
    }
}

/// The ids from `first` to `last`, where both are members of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange<'a> {
    first: SeriesMember<'a>,
    last: u64,
}

impl<'a> IdRange<'a> {
    /// The range between two ids, or nothing if they are of different series or the wrong way round.
    pub fn between(first: &'a str, last: &str) -> Option<Self> {
        let from = SeriesMember::parse(first)?;
        let to = SeriesMember::parse(last)?;
        let same_series = from.series == to.series || to.series.is_empty();
        (same_series && from.number <= to.number).then_some(Self {
            first: from,
            last: to.number,
        })
    }

    pub fn series(&self) -> &'a str {
        self.first.series
    }

    /// The numbers that the range names, whether or not they exist.
    pub fn numbers(&self) -> std::ops::RangeInclusive<u64> {
        self.first.number..=self.last
    }

    pub fn contains(&self, id: &str) -> bool {
        SeriesMember::parse(id).is_some_and(|member| {
            member.series == self.series() && self.numbers().contains(&member.number)
        })
    }

    /// The ids that the range names, in order, with as many digits as the first.
    pub fn ids(&self) -> impl Iterator<Item = String> + '_ {
        let (series, digits) = (self.series(), self.first.digits);
        self.numbers()
            .map(move |number| format!("{series}{number:0digits$}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_runs_over_the_last_number_of_its_series() {
        let range = IdRange::between("3.2", "3.11").unwrap();
        assert!(range.contains("3.2") && range.contains("3.11"));
        assert!(!range.contains("3.1") && !range.contains("2.5") && !range.contains("3"));
        assert_eq!(range.ids().count(), 10);
    }

    #[test]
    fn a_range_needs_one_series_and_the_right_direction() {
        assert_eq!(IdRange::between("67", "65"), None);
        assert_eq!(IdRange::between("1.1", "2.3"), None);
        assert!(
            IdRange::between("ENG-7", "ENG-9")
                .unwrap()
                .contains("ENG-8")
        );
        assert!(IdRange::between("#3", "5").unwrap().contains("#4"));
        assert!(IdRange::between("3", "5").unwrap().contains("#4"));
        let padded: Vec<String> = IdRange::between("T009", "T010").unwrap().ids().collect();
        assert_eq!(padded, ["T009", "T010"]);
    }
}
