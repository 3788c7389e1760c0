//! The language in which people choose tasks: `63, 65-67 phase:1 next:5`.
//!
//! Knows the words; `resolve` finds the tasks.

mod resolve;
mod sentence;

use std::fmt;

pub use resolve::{ChosenTasks, closed_phases, done_among, resolve};

use self::sentence::check_is_selection;
use crate::id::{IdRange, PhaseNumber};

/// What was asked for, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    terms: Vec<SelectionTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectionTerm {
    Id(String),
    /// The tasks of a series between two numbers.
    Range {
        first: String,
        last: String,
    },
    /// The open tasks of a phase.
    Phase(PhaseNumber),
    /// All open tasks.
    All,
    Failed,
    /// The open tasks with a label.
    Label(String),
    /// What `next` would answer.
    Next(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SelectionError {
    pub message: String,
    pub hint: String,
    pub text: String,
    /// The byte range of the word.
    pub place: std::ops::Range<usize>,
}

impl SelectionError {
    /// The selection with carets below the wrong word, in two lines.
    pub fn pointer(&self) -> String {
        let before = self.text[..self.place.start].chars().count();
        let length = self.text[self.place.clone()].chars().count().max(1);
        format!(
            "{}\n{}{}",
            self.text,
            " ".repeat(before),
            "^".repeat(length)
        )
    }
}

impl Selection {
    pub fn terms(&self) -> &[SelectionTerm] {
        &self.terms
    }

    pub fn one(term: &SelectionTerm) -> Self {
        Self {
            terms: vec![term.clone()],
        }
    }

    /// Reads a selection; a word for which `is_id` holds is that task and nothing else.
    pub fn parse(text: &str, is_id: impl Fn(&str) -> bool) -> Result<Self, SelectionError> {
        let mut terms = Vec::new();
        let places = words(text)?;
        check_is_selection(text, &places, &is_id)?;
        for place in places {
            let word = &text[place.clone()];
            let term = if is_id(word) {
                Ok(SelectionTerm::Id(word.to_owned()))
            } else {
                term(word)
            };
            terms.push(term.map_err(|(message, hint)| SelectionError {
                message,
                hint,
                text: text.to_owned(),
                place,
            })?);
        }
        Ok(Self { terms })
    }
}

type TextRange = std::ops::Range<usize>;

/// Splits at white space and commas; nothing between two commas is an error.
fn words(text: &str) -> Result<Vec<TextRange>, SelectionError> {
    let empty = |place: TextRange| SelectionError {
        message: if text.trim().is_empty() {
            "the selection is empty".to_owned()
        } else {
            "nothing between the commas".to_owned()
        },
        hint: "select tasks, such as 63, 65-67, phase:1, next:5 or all".to_owned(),
        text: text.to_owned(),
        place,
    };
    let mut found = Vec::new();
    let mut start = 0;
    for piece in text.split(',') {
        let before = found.len();
        let mut offset = start;
        for word in piece.split(char::is_whitespace) {
            if !word.is_empty() {
                found.push(offset..offset + word.len());
            }
            let rest = &text[offset + word.len()..];
            offset += word.len() + rest.chars().next().map_or(0, char::len_utf8);
        }
        let end = start + piece.len();
        if found.len() == before {
            return Err(empty(end..text.len().min(end + 1)));
        }
        start = end + 1;
    }
    Ok(found)
}

type Refusal = (String, String);

fn term(word: &str) -> Result<SelectionTerm, Refusal> {
    if let Some((name, value)) = word.split_once(':') {
        return named_term(name, value);
    }
    match word {
        "all" => Ok(SelectionTerm::All),
        "failed" => Ok(SelectionTerm::Failed),
        _ if word.contains('-') => range_or_id(word),
        _ => Ok(SelectionTerm::Id(word.to_owned())),
    }
}

fn named_term(name: &str, value: &str) -> Result<SelectionTerm, Refusal> {
    match name {
        "phase" | "p" => match value.parse() {
            Ok(number) => Ok(SelectionTerm::Phase(PhaseNumber(number))),
            Err(_) => Err((
                format!("{value:?} is not a phase number"),
                "write phase:1".to_owned(),
            )),
        },
        "next" => match value.parse() {
            Ok(count) if count > 0 => Ok(SelectionTerm::Next(count)),
            _ => Err((
                format!("{value:?} is not a number of tasks"),
                "write next:5".to_owned(),
            )),
        },
        "label" if !value.is_empty() => Ok(SelectionTerm::Label(value.to_owned())),
        "label" => Err((
            "the label has no name".to_owned(),
            "write label:backend".to_owned(),
        )),
        _ => Err((
            format!("unknown selector {name}:"),
            "use phase:, label: or next:, or the id of a task".to_owned(),
        )),
    }
}

fn range_or_id(word: &str) -> Result<SelectionTerm, Refusal> {
    let dashes = word
        .match_indices('-')
        .map(|(at, _)| (&word[..at], &word[at + 1..]));
    let mut backwards = None;
    for (first, last) in dashes {
        if IdRange::between(first, last).is_some() {
            return Ok(SelectionTerm::Range {
                first: first.to_owned(),
                last: last.to_owned(),
            });
        }
        if IdRange::between(last, first).is_some() {
            backwards = Some((first, last));
        }
    }
    if let Some((first, last)) = backwards {
        return Err((
            format!("the range {word} runs backwards"),
            format!("write {last}-{first}"),
        ));
    }
    let hint = "write a range as 65-67 or 3.1-3.4".to_owned();
    if word.ends_with('-') {
        return Err((format!("the range {word} has no end"), hint));
    }
    if word.starts_with('-') {
        return Err((format!("the range {word} has no start"), hint));
    }
    let (first, last) = word.split_once('-').unwrap_or((word, ""));
    let both_numbers = [first, last]
        .iter()
        .all(|id| crate::id::SeriesMember::parse(id).is_some());
    if both_numbers && first.starts_with(|c: char| c.is_ascii_digit()) {
        return Err((format!("{first} and {last} do not form a range"), hint));
    }
    Ok(SelectionTerm::Id(word.to_owned()))
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, term) in self.terms.iter().enumerate() {
            if number > 0 {
                formatter.write_str(", ")?;
            }
            match term {
                SelectionTerm::Id(id) => formatter.write_str(id)?,
                SelectionTerm::Range { first, last } => write!(formatter, "{first}-{last}")?,
                SelectionTerm::Phase(phase) => write!(formatter, "phase:{phase}")?,
                SelectionTerm::All => formatter.write_str("all")?,
                SelectionTerm::Failed => formatter.write_str("failed")?,
                SelectionTerm::Label(label) => write!(formatter, "label:{label}")?,
                SelectionTerm::Next(count) => write!(formatter, "next:{count}")?,
            }
        }
        Ok(())
    }
}
