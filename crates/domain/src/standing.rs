//! How people see where a task stands: its column on a board, its word, and what they can ask of it.
//!
//! The only place that decides it; whoever shows tasks shows what is said here.

use crate::batch::Batch;
use crate::task::TaskStatus;
use crate::task_state::{TaskOutcome, TaskWord};
use crate::task_status_word::TaskStatusWord;
use crate::words::words;

words! {
    /// A column of a board.
    pub enum BoardColumn {
        Todo = "todo",
        InProgress = "in_progress",
        NeedsYou = "needs_you",
        Done = "done",
        Cancelled = "cancelled",
    }
}

words! {
    /// What a person can ask of a task in a batch.
    pub enum TaskAction {
        /// That it stops, or does not start.
        Cancel = "cancel",
        /// That it is tried again.
        Retry = "retry",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub column: BoardColumn,
    pub word: TaskWord,
}

impl Standing {
    /// Where a task of a board stands: by what its plan says of it, and by where its last batch has or left it, unless
    /// a person said otherwise since.
    pub fn on_board(
        status: TaskStatus,
        last: Option<(TaskStatusWord, Option<TaskOutcome>)>,
    ) -> Self {
        use BoardColumn as Column;
        use TaskOutcome as Outcome;
        let (column, word) = match (status, last) {
            (_, Some((TaskStatusWord::Waiting, None))) => (Column::NeedsYou, TaskWord::Waiting),
            (_, Some((TaskStatusWord::Queued, None))) => (Column::InProgress, TaskWord::Queued),
            (_, Some((TaskStatusWord::Limited, None))) => (Column::InProgress, TaskWord::Limited),
            (_, Some((TaskStatusWord::Running, None))) => (Column::InProgress, TaskWord::Running),
            // Its batch is done with it, though the rest of the batch may go on.
            (
                TaskStatus::Completed | TaskStatus::InProgress,
                Some((_, Some(Outcome::NoChanges))),
            ) => (Column::Done, TaskWord::NoChanges),
            (TaskStatus::Completed, _)
            | (TaskStatus::InProgress, Some((_, Some(Outcome::Merged)))) => {
                (Column::Done, TaskWord::Completed)
            }
            (TaskStatus::Failed, _) => (Column::NeedsYou, TaskWord::Failed),
            (TaskStatus::Skipped, _) => (Column::Cancelled, TaskWord::Skipped),
            (TaskStatus::Cancelled, _) => (Column::Cancelled, TaskWord::Cancelled),
            (TaskStatus::Pending | TaskStatus::InProgress, Some((_, Some(outcome)))) => {
                match outcome {
                    Outcome::Merged | Outcome::NoChanges => (Column::Todo, TaskWord::Pending),
                    Outcome::Cancelled => (Column::Cancelled, TaskWord::Cancelled),
                    Outcome::Conflicted
                    | Outcome::Invalid
                    | Outcome::Failed
                    | Outcome::TimedOut
                    | Outcome::Blocked => (Column::NeedsYou, outcome.into()),
                }
            }
            (TaskStatus::InProgress, _) => (Column::InProgress, TaskWord::InProgress),
            (TaskStatus::Pending, _) => (Column::Todo, TaskWord::Pending),
        };
        Self { column, word }
    }

    /// Where a task of a batch stands, whose plan says nothing else.
    pub fn in_batch(status: TaskStatusWord, outcome: Option<TaskOutcome>) -> Self {
        Self::on_board(TaskStatus::InProgress, Some((status, outcome)))
    }
}

impl Batch {
    /// What a person can ask of a task now.
    pub fn can(&self, position: usize) -> Vec<TaskAction> {
        match self.tasks[position].state.ending() {
            None => vec![TaskAction::Cancel],
            Some(ending) if !ending.is_success() && self.takes_retries() => vec![TaskAction::Retry],
            Some(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written as `status batch-status/outcome -> column word`.
    #[track_caller]
    fn check(text: &str) {
        fn word<T: serde::de::DeserializeOwned>(text: &str) -> T {
            serde_json::from_str(&format!("\"{text}\"")).unwrap()
        }
        let (left, right) = text.split_once(" -> ").unwrap();
        let mut left = left.split([' ', '/']);
        let status = word(left.next().unwrap());
        let last = left.next().map(|last| (word(last), left.next().map(word)));
        let Standing { column, word } = Standing::on_board(status, last);
        assert_eq!(format!("{} {}", column.as_str(), word.as_str()), right);
    }

    #[test]
    fn a_task_that_no_batch_had_is_where_its_status_says() {
        check("pending -> todo pending");
        check("in_progress -> in_progress in_progress");
        check("completed -> done completed");
        check("cancelled -> cancelled cancelled");
        check("skipped -> cancelled skipped");
        check("failed -> needs_you failed");
    }

    #[test]
    fn a_task_of_a_batch_that_runs_is_where_the_batch_says() {
        check("pending queued -> in_progress queued");
        check("in_progress running -> in_progress running");
        check("in_progress limited -> in_progress limited");
        check("pending waiting -> needs_you waiting");
        check("completed running -> in_progress running");
    }

    #[test]
    fn a_task_that_did_not_make_it_needs_a_person() {
        for outcome in ["conflicted", "invalid", "blocked"] {
            check(&format!("pending skipped/{outcome} -> needs_you {outcome}"));
        }
        for outcome in ["failed", "timed_out"] {
            check(&format!("pending failed/{outcome} -> needs_you {outcome}"));
        }
        for outcome in ["conflicted", "failed"] {
            check(&format!(
                "in_progress failed/{outcome} -> needs_you {outcome}"
            ));
        }
        check("pending cancelled/cancelled -> cancelled cancelled");
    }

    #[test]
    fn a_task_that_its_batch_is_done_with_is_done() {
        check("in_progress completed/merged -> done completed");
        check("in_progress completed/no_changes -> done no_changes");
        check("completed completed/merged -> done completed");
        check("completed completed/no_changes -> done no_changes");
        check("pending completed/merged -> todo pending");
    }

    #[test]
    fn what_a_person_said_last_of_a_task_counts_more_than_its_last_batch() {
        check("completed failed/failed -> done completed");
        check("cancelled failed/failed -> cancelled cancelled");
        check("failed failed/timed_out -> needs_you failed");
    }
}
