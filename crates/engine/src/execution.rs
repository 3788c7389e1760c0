//! How far the execution plan of a project is, and how it would best be run.
//!
//! Reads what is stored; starting and stopping is for others.

use pleach_domain::batch::BatchStatusWord;
use pleach_domain::choice::RunMode;
use pleach_domain::graph::{Graph, Order, OrderRules, Strictness};
use pleach_domain::plan::Plan;
use pleach_log::database::{Database, DatabaseError, ExecutionRow};
use pleach_log::view::{BatchView, ViewError};
use pleach_system::state_folder::StateFolder;

use crate::board::TasksToRun;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    pub mode: RunMode,
    /// The batch that is at it, if one is.
    pub running: Option<u32>,
    /// When its batch began, also of one that is over.
    pub started_at: Option<String>,
    pub stages: usize,
    /// The stage that is under way, counted from 1.
    pub current: Option<usize>,
    pub completed: usize,
}

/// Several at once where a stage allows that and has two open tasks, else one by one.
pub(crate) fn best_mode(plan: &Plan) -> RunMode {
    let is_open = |id: &pleach_domain::id::TaskId| {
        let mut tasks = plan.tasks.iter();
        tasks.any(|task| task.id == *id && !task.status.is_settled())
    };
    let has_two = if plan.stages.is_empty() {
        waves(plan).iter().any(|wave| wave.len() > 1)
    } else {
        plan.stages
            .iter()
            .filter(|stage| stage.can_parallel)
            .any(|stage| stage.tasks.iter().filter(|id| is_open(id)).count() > 1)
    };
    if has_two {
        RunMode::Parallel
    } else {
        RunMode::Serial
    }
}

/// The waves of what is open.
fn waves(plan: &Plan) -> Vec<Vec<usize>> {
    let graph = Graph::new(plan, Strictness::AsWritten);
    let members = vec![true; plan.tasks.len()];
    Order::new(&graph, &members, OrderRules::default()).waves
}

/// The batch that runs the execution plan of a project, if one does.
pub(crate) fn running_execution(
    state: &StateFolder,
    project: &str,
) -> Result<Option<u32>, DatabaseError> {
    let execution = Database::open(state)?.execution(project)?;
    let open = execution.filter(|execution| execution.is_open);
    Ok(open.map(|execution| execution.batch))
}

impl Execution {
    /// How far a project's execution plan is: as its batch tells, unless another plan was set since that ended.
    pub fn load(
        state: &StateFolder,
        project: &str,
        planned: &TasksToRun,
    ) -> Result<Self, ViewError> {
        let database = Database::open(state)?;
        let is_of_this_plan =
            |row: &ExecutionRow| row.is_open || Some(&row.revision) == planned.revision.as_ref();
        let batch = match database.execution(project)?.filter(is_of_this_plan) {
            Some(row) => BatchView::load(state, &database, row.batch)?.map(|batch| (row, batch)),
            None => None,
        };
        Ok(match batch {
            Some((row, batch)) => Self::of_batch(&row, &batch),
            None => Self::of_plan(&planned.plan.document.plan),
        })
    }

    fn of_plan(plan: &Plan) -> Self {
        Self {
            mode: best_mode(plan),
            running: None,
            started_at: None,
            stages: stages_of(plan),
            current: None,
            completed: 0,
        }
    }

    fn of_batch(row: &ExecutionRow, batch: &BatchView) -> Self {
        let is_open = row.is_open;
        let (stages, completed, current) = if batch.stages.is_empty() {
            let completed = usize::from(batch.status == BatchStatusWord::Completed);
            (1, completed, is_open.then_some(1))
        } else {
            let having = |status: BatchStatusWord| {
                batch
                    .stages
                    .iter()
                    .filter(move |stage| stage.status == status)
            };
            let current = having(BatchStatusWord::Running)
                .next()
                .map(|stage| stage.stage);
            let completed = having(BatchStatusWord::Completed).count();
            (batch.stages.len(), completed, current.filter(|_| is_open))
        };
        Self {
            mode: batch.mode,
            running: is_open.then_some(row.batch),
            started_at: batch.started_at.clone(),
            stages,
            current,
            completed,
        }
    }
}

/// A plan without stages is one.
fn stages_of(plan: &Plan) -> usize {
    match plan.stages.len() {
        0 => usize::from(!plan.tasks.is_empty()),
        stages => stages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(plan: &str, expected: RunMode) {
        assert_eq!(best_mode(&pleach_formats::read(plan).plan), expected);
    }

    #[test]
    fn several_at_once_where_a_stage_allows_it_and_has_two_open_tasks() {
        let staged = |can: bool, done: &str| {
            format!(
                r#"{{"batches":[{{"batch_id":1,"task_ids":["a","b"],"can_parallel":{can}}}],
                "tasks":[{{"id":"a","title":"A","status":"{done}"}},{{"id":"b","title":"B"}}]}}"#
            )
        };
        check(&staged(true, "pending"), RunMode::Parallel);
        check(&staged(false, "pending"), RunMode::Serial);
        check(&staged(true, "completed"), RunMode::Serial);
        check("- [ ] 1.1 A\n- [ ] 1.2 B\n", RunMode::Parallel);
        check("- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n", RunMode::Serial);
    }
}
