//! Reads an execution plan: JSON whose batches are stages.
//!
//! Keeps the places of tasks and stages, so that errors can name lines.

use std::ops::Range;

use pleach_domain::id::TaskId;
use pleach_domain::plan::{Plan, Stage};
use pleach_domain::problem::{Problem, ProblemCode};
use pleach_domain::task::{Dependency, IfUnknown, Priority, SizeChoice, Task, TaskStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::{Document, Identity, Mark, TaskPlace};

/// An id, which JSON plans write as text or as a number.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an id is a text or a number")]
pub(crate) enum IdText {
    Text(String),
    Number(serde_json::Number),
}

impl IdText {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with tasks and batches")]
struct ExecutionPlan<'a> {
    #[serde(borrow, default)]
    batches: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    tasks: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "a batch is an object with batch_id and task_ids")]
struct BatchEntry {
    batch_id: IdText,
    task_ids: Vec<IdText>,
    #[serde(default = "yes")]
    can_parallel: bool,
}

fn yes() -> bool {
    true
}

/// Other programs write these, so what is no id may be missing, null or of another kind.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a task is an object with an id")]
struct TaskEntry {
    id: IdText,
    title: Option<String>,
    prompt: Option<String>,
    depends_on: Option<Vec<IdText>>,
    files: Option<Vec<String>>,
    size: Option<String>,
    labels: Option<Vec<String>>,
    priority: Option<serde_json::Value>,
    status: Option<String>,
}

/// The byte range of a part of a text that was borrowed from it.
pub(crate) fn place_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// Reads an execution plan; what is wrong with it is among its errors.
pub(crate) fn read(text: &str) -> Document {
    let mut plan = Plan::default();
    let mut lines = Lines::new(text);
    match serde_json::from_str::<ExecutionPlan<'_>>(text.trim_start_matches('\u{feff}')) {
        Err(error) => plan.errors.push(bad_json(&error, 1)),
        Ok(found) => {
            for raw in found.tasks {
                let line = lines.at(place_of(text, raw.get()).start);
                match serde_json::from_str(raw.get()) {
                    Ok(entry) => plan.tasks.push(task(entry, line)),
                    Err(error) => plan.errors.push(bad_json(&error, line)),
                }
            }
            for raw in found.batches {
                let line = lines.at(place_of(text, raw.get()).start);
                match serde_json::from_str(raw.get()) {
                    Ok(entry) => plan.stages.push(stage(entry, line)),
                    Err(error) => plan.errors.push(bad_json(&error, line)),
                }
            }
        }
    }
    let place = TaskPlace {
        mark: Mark::None,
        nested: Vec::new(),
        identity: Identity::WrittenId,
    };
    Document {
        places: vec![place; plan.tasks.len()],
        plan,
    }
}

/// A parser counts lines from the start of what it was given.
fn bad_json(error: &serde_json::Error, first_line: u32) -> Problem {
    let down = u32::try_from(error.line().saturating_sub(1)).unwrap_or(0);
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    Problem::new(ProblemCode::BadPlan, format!("could not read the execution plan: {message}"))
        .at(first_line + down)
        .hint(r#"it has the form {"batches":[{"batch_id":1,"task_ids":["a"]}],"tasks":[{"id":"a","title":"…"}]}"#)
}

fn task(entry: TaskEntry, line: u32) -> Task {
    let id = entry.id.into_text();
    let title = entry.title.unwrap_or_else(|| id.clone());
    let depends_on = entry.depends_on.unwrap_or_default();
    let needs = depends_on.into_iter().map(|on| Dependency {
        on: TaskId::new(on.into_text()),
        line,
        if_unknown: IfUnknown::Error,
    });
    // As in Markdown, a word that is not known means that it is still to do.
    let status = entry.status.map(serde_json::Value::String);
    let status = status.and_then(|status| serde_json::from_value(status).ok());
    let priority = entry.priority.map(|priority| priority.to_string());
    Task {
        details: entry.prompt.unwrap_or_default(),
        status: status.unwrap_or(TaskStatus::Pending),
        needs: needs.collect(),
        files: entry.files.unwrap_or_default(),
        size: entry.size.map(|name| SizeChoice { name, line }),
        labels: entry.labels.unwrap_or_default(),
        priority: Priority::read(&priority.unwrap_or_default()),
        ..Task::new(id, title, line)
    }
}

fn stage(entry: BatchEntry, line: u32) -> Stage {
    Stage {
        id: entry.batch_id.into_text(),
        tasks: entry
            .task_ids
            .into_iter()
            .map(|id| TaskId::new(id.into_text()))
            .collect(),
        can_parallel: entry.can_parallel,
        line,
    }
}
