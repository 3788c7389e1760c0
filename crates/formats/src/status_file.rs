//! Reads and edits a `status.json`, which may stand in for the states of a plan.
//!
//! Changes the one value that is asked for and keeps every other byte.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pleach_domain::id::PhaseNumber;
use pleach_domain::plan::{Phase, Plan};
use pleach_domain::task::{IfUnknown, Task, TaskStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::{IdText, place_of};
use crate::lines::Lines;
use crate::markdown::phase_title;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusFile {
    tasks: Vec<StatusTask>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct StatusTask {
    id: String,
    status: TaskStatus,
    status_at: Range<usize>,
    phase: Option<(PhaseNumber, String)>,
    description: Option<String>,
    line: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatusFileError {
    #[error("{message}")]
    Malformed { message: String, line: u32 },
    #[error("task {0} not found in the status file")]
    NoSuchTask(String),
}

#[derive(Deserialize)]
#[serde(expecting = "an object with a list of tasks")]
struct StatusDocument<'a> {
    #[serde(borrow)]
    tasks: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "a task is an object with id and status")]
struct StatusEntry<'a> {
    id: IdText,
    #[serde(borrow)]
    status: &'a RawValue,
    #[serde(default)]
    phase: Option<IdText>,
    #[serde(default)]
    description: Option<String>,
}

impl StatusFile {
    pub fn read(text: &str) -> Result<Self, StatusFileError> {
        let mut lines = Lines::new(text);
        let outer: StatusDocument<'_> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| malformed(&error, 1))?;
        let mut tasks = Vec::with_capacity(outer.tasks.len());
        let mut seen = HashSet::new();
        for raw in outer.tasks {
            let line = lines.at(place_of(text, raw.get()).start);
            let entry: StatusEntry<'_> =
                serde_json::from_str(raw.get()).map_err(|error| malformed(&error, line))?;
            let status = serde_json::from_str(entry.status.get())
                .map_err(|error| malformed(&error, line))?;
            let id = entry.id.into_text();
            if !seen.insert(id.clone()) {
                let message = format!("task {id} is listed twice in the status file");
                return Err(StatusFileError::Malformed { message, line });
            }
            tasks.push(StatusTask {
                id,
                status,
                status_at: place_of(text, entry.status.get()),
                phase: entry.phase.and_then(phase),
                description: entry.description,
                line,
            });
        }
        Ok(Self { tasks })
    }

    /// The text with the states of some tasks changed, or `None` if it says so already.
    pub fn set(
        text: &str,
        ids: &[String],
        to: TaskStatus,
    ) -> Result<Option<String>, StatusFileError> {
        let file = Self::read(text)?;
        let tasks: HashMap<&str, &StatusTask> = file
            .tasks
            .iter()
            .map(|task| (task.id.as_str(), task))
            .collect();
        let mut edits = Vec::new();
        for id in ids {
            let task = tasks.get(id.as_str());
            let task = task.ok_or_else(|| StatusFileError::NoSuchTask(id.clone()))?;
            if task.status != to {
                edits.push(task.status_at.clone());
            }
        }
        edits.sort_by_key(|at| at.start);
        edits.dedup();
        let mut edited = text.to_owned();
        for at in edits.iter().rev() {
            edited.replace_range(at.clone(), &format!("\"{}\"", to.as_str()));
        }
        Ok((!edits.is_empty()).then_some(edited))
    }

    /// The plan of these tasks, with what `written` adds: details, dependencies, files and notes.
    pub fn plan(&self, written: &Plan) -> Plan {
        let index = written.index();
        let mut plan = Plan {
            sequences: written.sequences.clone(),
            stages: written.stages.clone(),
            warnings: written.warnings.clone(),
            ..Plan::default()
        };
        for entry in &self.tasks {
            let known = index
                .find(&entry.id)
                .map(|position| &written.tasks[position]);
            let mut task = known
                .cloned()
                .unwrap_or_else(|| Task::new(&entry.id, &entry.id, entry.line));
            task.status = entry.status;
            if let Some(description) = &entry.description {
                task.title.clone_from(description);
            }
            task.phase = entry.phase.as_ref().map(|(number, _)| *number);
            if let Some((number, title)) = &entry.phase {
                add_phase(&mut plan.phases, written, *number, title);
            }
            for need in &mut task.needs {
                let open = index
                    .find(need.on.as_str())
                    .is_some_and(|position| !written.tasks[position].status.is_settled());
                need.if_unknown = if open {
                    IfUnknown::Unlisted
                } else {
                    IfUnknown::SaidDone
                };
            }
            plan.tasks.push(task);
        }
        plan
    }
}

fn add_phase(phases: &mut Vec<Phase>, written: &Plan, number: PhaseNumber, title: &str) {
    if phases.iter().any(|phase| phase.number == number) {
        return;
    }
    let known = written.phases.iter().find(|phase| phase.number == number);
    phases.push(Phase {
        number,
        title: title.to_owned(),
        line: known.map_or(0, |phase| phase.line),
        checks: known.map_or_else(Vec::new, |phase| phase.checks.clone()),
    });
    phases.sort_by_key(|phase| phase.number);
}

fn phase(text: IdText) -> Option<(PhaseNumber, String)> {
    match text {
        IdText::Number(number) => {
            let number = u32::try_from(number.as_u64()?).ok()?;
            Some((PhaseNumber(number), String::new()))
        }
        IdText::Text(text) => match text.trim().parse() {
            Ok(number) => Some((PhaseNumber(number), String::new())),
            Err(_) => phase_title(&text).map(|(number, title)| (number, title.to_owned())),
        },
    }
}

fn malformed(error: &serde_json::Error, first_line: u32) -> StatusFileError {
    let down = u32::try_from(error.line().saturating_sub(1)).unwrap_or(0);
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    StatusFileError::Malformed {
        message: message.to_owned(),
        line: first_line + down,
    }
}
