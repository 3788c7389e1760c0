//! Reads an execution plan: JSON whose batches are stages.
//!
//! Keeps the places of tasks and stages, so that errors can name lines.

use std::ops::Range;

use pleach_domain::id::TaskId;
use pleach_domain::plan::{Plan, Stage};
use pleach_domain::problem::{Code, Problem};
use pleach_domain::task::{Dependency, IfUnknown, Priority, Task, TaskStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::{Document, Identity, Mark, TaskPlace};

/// An id, which JSON plans write as text or as a number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum IdText {
    Text(String),
    Number(u64),
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
struct ExecutionPlan<'a> {
    #[serde(borrow, default)]
    batches: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    tasks: Vec<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct BatchEntry {
    batch_id: IdText,
    task_ids: Vec<IdText>,
    #[serde(default = "yes")]
    can_parallel: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
struct TaskEntry {
    id: IdText,
    title: Option<String>,
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    depends_on: Vec<IdText>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    priority: String,
    status: Option<TaskStatus>,
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
    Problem::new(Code::BadPlan, format!("the execution plan cannot be read: {message}"))
        .at(first_line + down)
        .hint(r#"it has the form {"batches":[{"batch_id":1,"task_ids":["a"]}],"tasks":[{"id":"a","title":"…"}]}"#)
}

fn task(entry: TaskEntry, line: u32) -> Task {
    let id = entry.id.into_text();
    let title = entry.title.unwrap_or_else(|| id.clone());
    let needs = entry.depends_on.into_iter().map(|on| Dependency {
        on: TaskId::new(on.into_text()),
        line,
        if_unknown: IfUnknown::Error,
    });
    Task {
        details: entry.prompt,
        status: entry.status.unwrap_or(TaskStatus::Pending),
        needs: needs.collect(),
        files: entry.files,
        labels: entry.labels,
        priority: Priority::read(&entry.priority),
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
