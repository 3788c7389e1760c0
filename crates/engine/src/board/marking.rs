//! Says how far tasks are: in their plan file, as `pleach mark` does, or on the board.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_formats::{Change, Marker, WriteBackError, set_markers};
use pleach_log::database::board::TaskRow;
use pleach_log::database::{Database, DatabaseError, now};

use super::shown::tell_updated;
use super::to_run::refuse_link;
use super::{Board, BoardError};
use crate::plan_file::{DisplacedOutcome, PlanFile, RewriteError};
use crate::plan_to_run::PlanOrigin;

/// How long an editor that was just saving may take to finish.
const SLOW_EDITOR: Duration = Duration::from_millis(200);

/// How often a mark is made again when an editor saved over it.
const MOST_REPEATS: usize = 5;

impl Board {
    /// Marks a mirrored task in its file, and brings the rows in step with what is there then.
    pub(super) fn mark_in_file(
        &mut self,
        row: &TaskRow,
        status: TaskStatus,
    ) -> Result<(), BoardError> {
        let cannot = |why: &str| BoardError::CannotHold {
            key: row.key.clone(),
            status: status.as_str(),
            why: why.to_owned(),
        };
        let marker = match status {
            TaskStatus::Pending => Marker::Pending,
            TaskStatus::InProgress => Marker::InProgress,
            TaskStatus::Completed => Marker::Completed,
            TaskStatus::Failed | TaskStatus::Skipped | TaskStatus::Cancelled => {
                return Err(cannot("a plan file has no such status"));
            }
        };
        // The file may have been edited since the row was read.
        self.sync(&row.project)?;
        let row = self
            .database
            .look_at_boards(|tables| super::tasks::task_row(tables, &row.id))?;
        let change = Change {
            id: pleach_domain::id::TaskId::new(row.key.as_str()),
            title: row.title.clone(),
            identity: row.identity,
            to: marker,
        };
        let path = Path::new(&row.plan);
        refuse_link(path)?;
        for _ in 0..MOST_REPEATS {
            let edit = |text: &str| set_markers(text, std::slice::from_ref(&change));
            let written = PlanFile::rewrite(path, edit).map_err(|error| match error {
                RewriteError::Edit(WriteBackError::CannotHold { why, .. }) => cannot(why),
                RewriteError::Edit(_) => BoardError::Gone {
                    key: row.key.clone(),
                    title: row.title.clone(),
                    path: path.to_owned(),
                },
                RewriteError::File(error) => BoardError::PlanFile(error),
            })?;
            if written.displaced.settle_after(SLOW_EDITOR)? == DisplacedOutcome::Quiet {
                break;
            }
        }
        self.sync(&row.project)
    }
}

/// Says how far tasks of a project's board are, and logs each that changed; ids of no task are passed over.
pub fn mark_on_board(
    database: &mut Database,
    project: &str,
    states: &[(TaskId, TaskStatus)],
) -> Result<(), DatabaseError> {
    database.change_boards(|tables| {
        let wanted: HashMap<&str, TaskStatus> = states
            .iter()
            .map(|(task, state)| (task.as_str(), *state))
            .collect();
        let mut marked = Vec::new();
        for mut row in tables.tasks_of(project, PlanOrigin::BOARD)? {
            match wanted.get(row.key.as_str()) {
                Some(now_is) if *now_is != row.status => {
                    row.status = *now_is;
                    row.updated_at = now();
                    tables.update(&row)?;
                    marked.push(row);
                }
                _ => {}
            }
        }
        tell_updated(tables, project, &marked)
    })
}
