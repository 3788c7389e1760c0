//! Keeps the status file that a run was given: what runs, what is done, and what did not make it.
//!
//! Looks at where tasks stand and writes what differs from what it wrote last; a failed write is told and the run goes on.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use pleach_domain::task::TaskStatus;
use pleach_domain::task_state::{Ending, TaskState};
use pleach_formats::StatusFile;
use pleach_system::text::causes::with_causes;

use super::LoopNotice;
use super::run_loop::Loop;
use pleach_engine::batch_record::BatchRecord;
use pleach_engine::plan_file::PlanFile;

/// A status file that is kept, and what was written for each task.
#[derive(Debug)]
pub(super) struct KeptStatus {
    path: PathBuf,
    written: HashMap<usize, TaskStatus>,
}

impl KeptStatus {
    pub(super) fn of(record: &BatchRecord) -> Option<Self> {
        record.status_file.as_ref().map(|path| Self {
            path: path.0.clone(),
            written: HashMap::new(),
        })
    }
}

impl Loop<'_> {
    /// Writes the marks that have come together, in the plan and in the status file.
    pub(super) fn write_marks(&mut self) {
        self.marks.write(self.told);
        let Some(mut kept) = self.kept_status.take() else {
            return;
        };
        let mut news: BTreeMap<&'static str, (TaskStatus, Vec<String>)> = BTreeMap::new();
        for task in 0..self.batch.tasks.len() {
            let Some(status) = self.status_to_keep(task) else {
                continue;
            };
            if kept.written.insert(task, status) != Some(status) {
                let (_, ids) = news
                    .entry(status.as_str())
                    .or_insert_with(|| (status, Vec::new()));
                ids.push(self.id(task).to_string());
            }
        }
        for (status, ids) in news.into_values() {
            let edit = |text: &str| StatusFile::set(text, &ids, status);
            if let Err(error) = PlanFile::rewrite(&kept.path, edit) {
                let (path, why) = (kept.path.display(), with_causes(&error));
                (self.told)(LoopNotice::Note(format!("could not update {path}: {why}")));
            }
        }
        self.kept_status = Some(kept);
    }

    /// What a status file says of a task; nothing of one that was never touched.
    fn status_to_keep(&self, task: usize) -> Option<TaskStatus> {
        let known = &self.batch.tasks[task];
        let open = (known.attempts > 0).then_some(TaskStatus::Pending);
        match &known.state {
            // Another batch says it.
            _ if known.is_elsewhere => None,
            TaskState::Ended(Ending::Failed { .. } | Ending::TimedOut) => Some(TaskStatus::Failed),
            TaskState::Ended(
                Ending::Conflicted { .. } | Ending::Invalid { .. } | Ending::Blocked { .. },
            ) => Some(TaskStatus::Skipped),
            TaskState::Ended(Ending::Cancelled) => open,
            TaskState::Ended(_) if self.batch.is_done(task) => Some(TaskStatus::Completed),
            TaskState::Ended(_) if !self.awaits_proof(task) => open,
            _ if self.is_leaving() => open,
            TaskState::Queued | TaskState::Waiting { .. } if known.attempts == 0 => None,
            _ => Some(TaskStatus::InProgress),
        }
    }
}
