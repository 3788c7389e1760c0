//! Plans as text: Markdown in three dialects and JSON, read with places and edited byte for byte.
//!
//! Text in, plan or edited text out; opens no file.

mod json;
mod lines;
mod markdown;
mod status_file;
mod write_back;

use std::ops::Range;

use pleach_domain::plan::Plan;
use serde::{Deserialize, Serialize};

pub use markdown::events_alone;
pub use status_file::{StatusFile, StatusFileError};
pub use write_back::{Change, Marker, WriteBackError, set_markers};

/// A plan together with the places where its marks stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub plan: Plan,
    /// For each task of the plan, how it is told apart and where its state is written.
    pub places: Vec<TaskPlace>,
}

/// Where a task's state stands in its text, and what its identity is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskPlace {
    pub mark: Mark,
    /// The boxes inside a checkbox, which are ticked together with it.
    pub nested: Vec<Range<usize>>,
    /// Whether the id was written or merely counted.
    pub identity: Identity,
}

/// What tells a task apart from others when the file is edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Identity {
    /// Its id and its text.
    WrittenId,
    /// Its text alone; the id is its position.
    Text,
}

/// The bytes that say how far a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// The character between the brackets of a checkbox.
    Checkbox(Range<usize>),
    /// The value of a Status line, brackets included.
    Status(Range<usize>),
    /// Nothing that Pleach would change.
    None,
}

/// Reads a plan: JSON if it opens like an object, Markdown otherwise.
pub fn read(text: &str) -> Document {
    let body = text.trim_start_matches('\u{feff}').trim_start();
    let inside = body.strip_prefix('{').map(str::trim_start);
    if inside.is_some_and(|inside| inside.is_empty() || inside.starts_with(['"', '}'])) {
        json::read(text)
    } else {
        markdown::read(text)
    }
}
