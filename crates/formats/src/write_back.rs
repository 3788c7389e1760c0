//! Writes how far tasks are into a plan's text, and changes nothing else.
//!
//! Text in, text out; the file and its races are somebody else's.

use std::collections::HashMap;
use std::ops::Range;

use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;

use crate::{Document, Identity, Mark, read};

/// What to write for one task, and how to find it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its id when the plan was read.
    pub id: TaskId,
    /// Its title when the plan was read.
    pub title: String,
    /// Whether the id or the text tells it apart.
    pub identity: Identity,
    pub to: Marker,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Marker {
    Pending,
    InProgress,
    Completed,
    /// The very text that stood there before it was in progress.
    Restored(String),
    /// The text that stood there before it was completed, if it still says so.
    TakenBack(String),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteBackError {
    #[error("task {id} ({title}) is no longer in the plan")]
    Gone { id: TaskId, title: String },
    #[error("several tasks in the plan are {id} ({title})")]
    Ambiguous { id: TaskId, title: String },
    #[error("task {id} cannot be marked {state}: {why}")]
    CannotHold {
        id: TaskId,
        state: &'static str,
        /// What the plan has instead.
        why: &'static str,
    },
}

impl Document {
    pub fn change(&self, position: usize, to: Marker) -> Change {
        let task = &self.plan.tasks[position];
        Change {
            id: task.id.clone(),
            title: task.title.clone(),
            identity: self.places[position].identity,
            to,
        }
    }

    pub fn refuses(&self, position: usize, to: &Marker) -> Option<&'static str> {
        match (&self.places[position].mark, to) {
            (Mark::Checkbox(_), Marker::InProgress) => Some("a checkbox is either open or done"),
            (Mark::None, _) => Some("it has no checkbox and no Status line"),
            _ => None,
        }
    }

    /// The text of a task's mark, to be restored later; of a checkbox, with those of the boxes inside.
    pub fn marker_text(&self, text: &str, position: usize) -> Option<String> {
        let place = &self.places[position];
        match &place.mark {
            Mark::Checkbox(at) => {
                let boxes = std::iter::once(at).chain(&place.nested);
                boxes.map(|at| text.get(at.clone())).collect()
            }
            Mark::Status(at) => text.get(at.clone()).map(str::to_owned),
            Mark::None => None,
        }
    }
}

impl WriteBackError {
    pub fn task(&self) -> &TaskId {
        match self {
            Self::Gone { id, .. } | Self::Ambiguous { id, .. } | Self::CannotHold { id, .. } => id,
        }
    }
}

struct TaskFinder<'d> {
    positions: HashMap<(Option<&'d TaskId>, &'d str), TaskMatches>,
}

#[derive(Debug, Clone, Copy)]
enum TaskMatches {
    Once(usize),
    Several,
}

impl<'d> TaskFinder<'d> {
    fn new(document: &'d Document) -> Self {
        let mut positions = HashMap::with_capacity(document.plan.tasks.len());
        let places = document.plan.tasks.iter().zip(&document.places).enumerate();
        for (position, (task, place)) in places {
            let key = identity(&task.id, &task.title, place.identity);
            let found = positions.entry(key).or_insert(TaskMatches::Once(position));
            if !matches!(found, TaskMatches::Once(first) if *first == position) {
                *found = TaskMatches::Several;
            }
        }
        Self { positions }
    }

    fn find(&self, change: &Change) -> Result<usize, WriteBackError> {
        let (id, title) = (change.id.clone(), change.title.clone());
        match self
            .positions
            .get(&identity(&change.id, &change.title, change.identity))
        {
            Some(TaskMatches::Once(position)) => Ok(*position),
            Some(TaskMatches::Several) => Err(WriteBackError::Ambiguous { id, title }),
            None => Err(WriteBackError::Gone { id, title }),
        }
    }
}

fn identity<'d>(
    id: &'d TaskId,
    title: &'d str,
    identity: Identity,
) -> (Option<&'d TaskId>, &'d str) {
    match identity {
        Identity::WrittenId => (Some(id), title),
        Identity::Text => (None, title),
    }
}

/// The text with all changes made, or `None` if it says all of that already.
pub fn set_markers(text: &str, changes: &[Change]) -> Result<Option<String>, WriteBackError> {
    let document = read(text);
    let finder = TaskFinder::new(&document);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for change in changes {
        let position = finder.find(change)?;
        if let Some(why) = document.refuses(position, &change.to) {
            return Err(WriteBackError::CannotHold {
                id: change.id.clone(),
                state: state_word(&change.to),
                why,
            });
        }
        edits.extend(edit(&document, position, &change.to));
        edits.extend(nested_edits(&document, text, position, &change.to));
    }
    edits.retain(|(at, new)| text[at.clone()] != **new);
    edits.sort_by_key(|(at, _)| at.start);
    edits.dedup();
    if edits.is_empty() {
        return Ok(None);
    }
    let mut edited = String::with_capacity(text.len() + 16 * edits.len());
    let mut copied = 0;
    for (at, new) in &edits {
        edited.push_str(&text[copied..at.start]);
        edited.push_str(new);
        copied = at.end;
    }
    edited.push_str(&text[copied..]);
    Ok(Some(edited))
}

fn edit(document: &Document, position: usize, to: &Marker) -> Option<(Range<usize>, String)> {
    let says_so_already = |wanted: TaskStatus| document.plan.tasks[position].status == wanted;
    let is_checkbox = matches!(document.places[position].mark, Mark::Checkbox(_));
    let (at, words) = match &document.places[position].mark {
        Mark::Checkbox(at) => (at, [" ", " ", "x"]),
        Mark::Status(at) => (at, ["[NOT STARTED]", "[IN PROGRESS]", "[COMPLETED]"]),
        Mark::None => return None,
    };
    let new = match to {
        Marker::Pending if says_so_already(TaskStatus::Pending) && !is_checkbox => return None,
        Marker::InProgress if says_so_already(TaskStatus::InProgress) => return None,
        Marker::Completed if says_so_already(TaskStatus::Completed) => return None,
        // Somebody else has said something of it meanwhile, and knows better.
        Marker::Restored(_) if !says_so_already(TaskStatus::InProgress) => return None,
        Marker::TakenBack(_) if !says_so_already(TaskStatus::Completed) => return None,
        Marker::Pending => words[0],
        Marker::InProgress => words[1],
        Marker::Completed => words[2],
        Marker::Restored(text) | Marker::TakenBack(text) => match document.places[position].mark {
            // What follows is about the boxes inside.
            Mark::Checkbox(_) => text.split_at_checked(1).map_or(" ", |(own, _)| own),
            _ => text,
        },
    };
    Some((at.clone(), new.to_owned()))
}

/// The boxes inside a checkbox are ticked with it, and get back what they had.
fn nested_edits(
    document: &Document,
    text: &str,
    position: usize,
    to: &Marker,
) -> Vec<(Range<usize>, String)> {
    let place = &document.places[position];
    let nested = place.nested.iter();
    let is_done = document.plan.tasks[position].status == TaskStatus::Completed;
    match (&place.mark, to) {
        (Mark::Checkbox(_), Marker::Completed) => {
            let open = nested.filter(|at| matches!(text[(*at).clone()].trim(), "" | "~" | "/"));
            open.map(|at| (at.clone(), "x".to_owned())).collect()
        }
        (Mark::Checkbox(_), Marker::TakenBack(before)) if is_done => {
            let before = before.chars().skip(1).map(String::from);
            // Boxes that came or went since then are somebody's work.
            if before.clone().count() != place.nested.len() {
                return Vec::new();
            }
            nested.cloned().zip(before).collect()
        }
        _ => Vec::new(),
    }
}

fn state_word(marker: &Marker) -> &'static str {
    match marker {
        Marker::Pending => "pending",
        Marker::InProgress => "in progress",
        Marker::Completed => "completed",
        Marker::Restored(_) | Marker::TakenBack(_) => "as it was",
    }
}
