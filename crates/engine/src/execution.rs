//! How far the execution plan of a project is, and how it would best be run.
//!
//! Reads what is stored; starting and stopping is for others.

use pleach_domain::graph::{Graph, Order, Rules, Strictness};
use pleach_domain::plan::Plan;

use crate::database::{Among, BatchFilter, BatchRow, Database};
use crate::plan_to_run::PlanToRun;
use crate::state_folder::StateFolder;
use crate::view::{BatchView, ViewError};

/// How a plan is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Several tasks at once, stage by stage.
    Parallel,
    /// One by one.
    Sequential,
}

/// How far an execution plan is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// How it is run, or would be.
    pub manner: Manner,
    /// The batch that is at it, if one is.
    pub running: Option<u32>,
    /// When that began.
    pub started_at: Option<String>,
    /// How many stages there are.
    pub stages: usize,
    /// The stage that is under way, counted from 1.
    pub current: Option<usize>,
    /// How many are over.
    pub completed: usize,
}

impl Manner {
    /// Several at once where a stage allows that and has two open tasks.
    pub fn of(plan: &Plan) -> Self {
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
            Self::Parallel
        } else {
            Self::Sequential
        }
    }
}

/// The waves of what is open.
fn waves(plan: &Plan) -> Vec<Vec<usize>> {
    let graph = Graph::of(plan, Strictness::AsWritten);
    let members = vec![true; plan.tasks.len()];
    Order::of(&graph, &members, Rules::default()).waves
}

/// The last batch of a project that ran a plan, and whether it is not over.
pub fn last_batch(
    database: &Database,
    project: &str,
    plan: &PlanToRun,
) -> Result<Option<(u32, bool)>, ViewError> {
    let key = match plan.origin.settled() {
        Ok(origin) => origin.key(),
        // Nobody can have run what is not there.
        Err(_) => return Ok(None),
    };
    let rows = database.batches(BatchFilter {
        project: Some(project),
        among: Among::All,
    })?;
    let mut rows = rows.into_iter().filter(|row: &BatchRow| row.plan == key);
    let first = rows.next();
    // An older one may have been opened again.
    let open = first
        .iter()
        .cloned()
        .chain(rows)
        .find(|row| row.ended_at.is_none());
    Ok(match (open, first) {
        (Some(open), _) => Some((open.id, true)),
        (None, last) => last.map(|last| (last.id, false)),
    })
}

impl Execution {
    /// How far a project's execution plan is.
    pub fn load(state: &StateFolder, project: &str, plan: &PlanToRun) -> Result<Self, ViewError> {
        let database = Database::open(state)?;
        let written = &plan.document.plan;
        let idle = Self {
            manner: Manner::of(written),
            running: None,
            started_at: None,
            stages: stages_of(written),
            current: None,
            completed: 0,
        };
        let Some((number, is_open)) = last_batch(&database, project, plan)? else {
            return Ok(idle);
        };
        let Some(batch) = BatchView::load(state, &database, number)? else {
            return Ok(idle);
        };
        let over = |stage: &&crate::view::StageView| stage.completed_at.is_some();
        let (stages, completed, current) = if batch.stages.is_empty() {
            let completed = usize::from(!is_open && batch.status == "completed");
            (1, completed, is_open.then_some(1))
        } else {
            let completed = batch.stages.iter().filter(over).count();
            let under_way = |stage: &&crate::view::StageView| {
                stage.started_at.is_some() && stage.completed_at.is_none()
            };
            let current = batch.stages.iter().find(under_way);
            let current = current.map(|stage| stage.stage + 1).filter(|_| is_open);
            (batch.stages.len(), completed, current)
        };
        let manner = match batch.mode {
            "parallel" => Manner::Parallel,
            _ => Manner::Sequential,
        };
        Ok(Self {
            manner: if is_open { manner } else { idle.manner },
            running: is_open.then_some(number),
            started_at: batch.started_at.filter(|_| is_open),
            stages,
            current,
            completed,
        })
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
    fn check(plan: &str, expected: Manner) {
        assert_eq!(Manner::of(&pleach_formats::read(plan).plan), expected);
    }

    #[test]
    fn several_at_once_where_a_stage_allows_it_and_has_two_open_tasks() {
        let staged = |can: bool, done: &str| {
            format!(
                r#"{{"batches":[{{"batch_id":1,"task_ids":["a","b"],"can_parallel":{can}}}],
                "tasks":[{{"id":"a","title":"A","status":"{done}"}},{{"id":"b","title":"B"}}]}}"#
            )
        };
        check(&staged(true, "pending"), Manner::Parallel);
        check(&staged(false, "pending"), Manner::Sequential);
        check(&staged(true, "completed"), Manner::Sequential);
        check("- [ ] 1.1 A\n- [ ] 1.2 B\n", Manner::Parallel);
        check(
            "- [ ] 1.1 A\n- [ ] 1.2 B (depends: 1.1)\n",
            Manner::Sequential,
        );
    }
}
