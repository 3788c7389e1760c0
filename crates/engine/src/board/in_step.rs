//! Brings the rows of a mirrored plan file to what the file says.
//!
//! A task is known again by its written id, or by its text where ids are positions: it keeps its own id, and what was said
//! of it on the board. Reads no file.

use std::collections::HashMap;

use pleach_domain::plan::Index;
use pleach_formats::{Document, Identity};
use pleach_log::database::board::{BoardTables, FileFields, TaskRow};
use pleach_log::database::{BoardEvent, now};
use pleach_log::task_ids;

use super::shown::{tell_created, tell_updated};
use super::tasks::blank;
use super::{BoardError, last_position};

/// Makes the rows of a plan those of a document that has no errors.
pub(super) fn bring_in_step(
    tables: BoardTables<'_>,
    project: &str,
    plan: &str,
    document: &Document,
) -> Result<(), BoardError> {
    let before = tables.tasks_of(project, plan)?;
    let matches = matched(document, &before);
    let kept: HashMap<usize, usize> = matches
        .iter()
        .enumerate()
        .filter_map(|(task, row)| Some(((*row)?, task)))
        .collect();
    for (place, row) in before.iter().enumerate() {
        if !kept.contains_key(&place) {
            tables.delete(&row.id)?;
            let task = row.id.clone();
            tables.note(project, &BoardEvent::TaskDeleted { task })?;
        }
    }
    for (place, task) in &kept {
        let row = &before[*place];
        if row.key != document.plan.tasks[*task].id.as_str() {
            tables.park_key(&row.id)?;
        }
    }
    let index = document.plan.index();
    let mut places = BoardPositions::read(tables, project)?;
    let (mut created, mut updated) = (Vec::new(), Vec::new());
    let mut ahead = None;
    for (at, task) in document.plan.tasks.iter().enumerate() {
        let row = if let Some(old) = matches[at] {
            let old = &before[old];
            let mut row = read_over(old, document, &index, at);
            if row != *old {
                row.updated_at = now();
                tables.update(&row)?;
                updated.push(row.clone());
            }
            row
        } else {
            let is_last = matches[at..].iter().all(Option::is_none);
            let position = places.behind(ahead.filter(|_| !is_last));
            let mut new = TaskRow {
                position,
                ..blank(project, plan, task.id.as_str())?
            };
            let (identity, title) = (document.places[at].identity, task.title.as_str());
            let id = task_ids::of_file(project, plan, (&task.id, title), identity);
            // A task that got another key keeps the id that it had by its first one.
            if tables.task(&id)?.is_none() {
                new.id = id;
            }
            let row = read_over(&new, document, &index, at);
            tables.insert(&row)?;
            created.push(row.clone());
            row
        };
        ahead = Some(row.position);
    }
    tell_created(tables, project, &created)?;
    Ok(tell_updated(tables, project, &updated)?)
}

/// Whether a task has a row and is not in a document any more.
pub(super) fn leaves_any_out(
    tables: BoardTables<'_>,
    project: &str,
    plan: &str,
    document: &Document,
) -> Result<bool, BoardError> {
    let before = tables.tasks_of(project, plan)?;
    let kept = matched(document, &before).into_iter().flatten().count();
    Ok(kept < before.len())
}

/// For each task of a document the row that it was until now.
fn matched(document: &Document, rows: &[TaskRow]) -> Vec<Option<usize>> {
    let mut found = vec![None; document.plan.tasks.len()];
    let mut taken = vec![false; rows.len()];
    let name = |identity, key, title| match identity {
        Identity::WrittenId => (Some(key), None),
        Identity::Text => (None, Some(title)),
    };
    let by_name: HashMap<(Option<&str>, Option<&str>), usize> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| (name(row.identity, row.key.as_str(), row.title.as_str()), at))
        .collect();
    for (at, task) in document.plan.tasks.iter().enumerate() {
        let identity = document.places[at].identity;
        let wanted = name(identity, task.id.as_str(), task.title.as_str());
        if let Some(row) = by_name.get(&wanted) {
            found[at] = Some(*row);
            taken[*row] = true;
        }
    }
    // Whoever gives ids to tasks that had none, or other ones, has not made other tasks of them.
    let mut by_title: HashMap<&str, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate().rev() {
        if !taken[at] {
            by_title.insert(&row.title, at);
        }
    }
    for (at, task) in document.plan.tasks.iter().enumerate() {
        if found[at].is_none() {
            found[at] = by_title.remove(task.title.as_str());
        }
    }
    found
}

fn read_over(row: &TaskRow, document: &Document, index: &Index, at: usize) -> TaskRow {
    let task = &document.plan.tasks[at];
    let said = FileFields {
        priority: task.priority,
        labels: task.labels.clone(),
    };
    let before = row.said.as_ref();
    let speaks_of_priority = before.is_none_or(|before| before.priority != said.priority);
    let speaks_of_labels = before.is_none_or(|before| before.labels != said.labels);
    let needs = task.needs.iter();
    TaskRow {
        key: task.id.to_string(),
        title: task.title.clone(),
        details: task.details.clone(),
        status: task.status,
        phase: task.phase.map(|phase| phase.0),
        depends_on: needs
            .filter_map(|need| index.find(need.on.as_str()))
            .map(|need| document.plan.tasks[need].id.to_string())
            .collect(),
        files: task.files.clone(),
        size: task.size.as_ref().map(|size| size.name.clone()),
        priority: if speaks_of_priority {
            said.priority
        } else {
            row.priority
        },
        labels: if speaks_of_labels {
            said.labels.clone()
        } else {
            row.labels.clone()
        },
        line: Some(task.line),
        identity: document.places[at].identity,
        said: Some(said),
        ..row.clone()
    }
}

struct BoardPositions {
    taken: Vec<f64>,
    last: f64,
}

impl BoardPositions {
    fn read(tables: BoardTables<'_>, project: &str) -> Result<Self, BoardError> {
        let rows = tables.tasks(project)?;
        Ok(Self {
            taken: rows.iter().map(|row| row.position).collect(),
            last: last_position(tables, project)?,
        })
    }

    /// A free place right behind another one, or behind everything.
    fn behind(&mut self, ahead: Option<f64>) -> f64 {
        let next = ahead.and_then(|ahead| {
            let behind = self.taken.iter().copied().filter(|place| *place > ahead);
            let next = behind.min_by(f64::total_cmp)?;
            Some(ahead + (next - ahead) / 2.0)
        });
        let place = next.unwrap_or(self.last + 1.0);
        self.last = self.last.max(place);
        self.taken.push(place);
        place
    }
}
