//! Takes tasks for a new batch out of batches that nobody runs.
//!
//! Whoever does so holds the lock of such a batch until the new one is stored: nobody goes on with it in between.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use pleach_domain::id::TaskId;
use pleach_log::database::{Database, DatabaseError, NewBatch, ProcessPurpose};
use pleach_log::ownership::BatchLock;
use pleach_system::process::{ProcessIdentity, end_leftovers, end_marked};
use pleach_system::state_folder::StateFolder;

use super::{RunError, replay};
use crate::batch_record::BatchRecord;

/// How long recovery waits for the wrapper of a dead engine, beyond what an agent may take to stop.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// What interrupted batches lose to a new one, and the hold on each of them.
#[derive(Debug)]
pub(super) struct TakenOver {
    pub(super) lost: Vec<(u32, Vec<TaskId>)>,
    #[expect(dead_code, reason = "holding them is their use")]
    locks: Vec<BatchLock>,
}

impl TakenOver {
    /// Ends what is left of agents at tasks of a new batch, and says which of them the batches lose that have them now.
    ///
    /// Tasks that such a batch has done stay there, and those of a batch that runs.
    pub(super) fn take(
        state: &StateFolder,
        database: &Database,
        new: &NewBatch<'_>,
    ) -> Result<Self, RunError> {
        let (mut lost, mut locks) = (Vec::new(), Vec::new());
        for (holder, tasks) in held(database, new)? {
            let Some(lock) = BatchLock::take(&state.batch(holder))? else {
                continue;
            };
            lost.push((holder, lose(state, database, holder, (new.project, tasks))?));
            locks.push(lock);
        }
        Ok(Self { lost, locks })
    }
}

/// The batches that have tasks of a new one, with the ids of those there.
fn held(
    database: &Database,
    new: &NewBatch<'_>,
) -> Result<BTreeMap<u32, Vec<TaskId>>, DatabaseError> {
    let mut held: BTreeMap<u32, Vec<TaskId>> = BTreeMap::new();
    database.look_at_boards(|tables| {
        let mut busy = HashMap::new();
        for task in new.tasks {
            let plan = task.plan(new.plan);
            if !busy.contains_key(plan) {
                busy.insert(plan, tables.holders(new.project, plan)?);
            }
            if let Some(holder) = busy[plan].get(task.key()) {
                let tasks = held.entry(holder.batch).or_default();
                tasks.push(holder.task.clone());
            }
        }
        Ok(held)
    })
}

/// The tasks that a batch which nobody runs loses to a new one; no agent is at any of them afterwards.
fn lose(
    state: &StateFolder,
    database: &Database,
    holder: u32,
    (project, tasks): (&str, Vec<TaskId>),
) -> Result<Vec<TaskId>, RunError> {
    let loaded = database.load(holder)?.ok_or(RunError::NoBatch(holder))?;
    let record: BatchRecord =
        serde_json::from_str(&loaded.record).map_err(|error| RunError::Unreadable {
            batch: loaded.number,
            message: error.to_string(),
        })?;
    let batch = replay(loaded.number, &record, &loaded.events)?;
    if batch.status.is_over() {
        // It ended a moment ago.
        return Ok(Vec::new());
    }
    let is_lost = |task: &TaskId| {
        let position = batch.position(task);
        position.is_some_and(|at| batch.tasks[at].state.may_be_taken_over())
    };
    let lost: Vec<TaskId> = tasks.into_iter().filter(is_lost).collect();
    let root = record.worktrees.as_ref().map(|root| root.0.as_path());
    let trees = state.worktrees(root, project, loaded.number);
    for noted in database.processes(holder)? {
        let ProcessPurpose::Attempt(task, _) = &noted.whose else {
            continue;
        };
        if !lost.contains(task) {
            continue;
        }
        let identity = ProcessIdentity {
            boot_id: noted.boot_id,
            pid: noted.pid,
            start_time: noted.start_time,
            nonce: noted.nonce,
        };
        if record.is_in_place() {
            end_marked(&identity, PATIENCE)?;
        } else {
            let tree = trees.join(format!("task-{}", record.segment(task)));
            end_leftovers(&identity, &tree, PATIENCE)?;
        }
    }
    Ok(lost)
}
