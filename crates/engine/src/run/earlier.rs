//! Work of earlier batches that tasks of a batch build on and its base lacks: found, compared, told.
//!
//! Reads batches and weaves in memory; how it comes into a basis is `ground`'s duty.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use pleach_domain::graph::{Graph, PredecessorKind, Strictness};
use pleach_domain::id::TaskId;
use pleach_domain::task::TaskStatus;
use pleach_domain::task_state::{Ending, TaskState};
use pleach_formats::Identity;
use pleach_git::git::{CommitId, Store};
use pleach_git::weave::{WeaveError, WeaveFolder};
use pleach_log::database::Database;
use pleach_log::earlier::{Earlier, EarlierBatch, EarlierTask, Presence};

use super::{RunError, RunRequest};
use crate::batch_record::BatchRecord;
use crate::plan_to_run::PlanOrigin;
use crate::stored_batch::StoredBatch;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarlierBatches {
    /// What the base lacks of it is woven into where tasks start.
    #[default]
    Weave,
    /// The base is said to have it.
    AssumeLanded,
}

#[derive(Debug, Default)]
pub(super) struct EarlierWork {
    pub(super) earlier: Earlier,
    /// For each chosen task the work that it builds on, by place.
    pub(super) of_each: Vec<Vec<usize>>,
    /// For each chosen task why it cannot start on that work, where it cannot.
    pub(super) conflicts: Vec<Option<String>>,
}

impl EarlierWork {
    /// Notes in the record of a batch which work its tasks build on.
    pub(super) fn note_in(self, record: &mut BatchRecord) {
        record.earlier = self.earlier;
        let tasks = record.design.tasks.iter_mut();
        for ((task, earlier), conflict) in tasks.zip(self.of_each).zip(self.conflicts) {
            (task.earlier, task.no_basis) = (earlier, conflict);
        }
    }

    /// What the chosen tasks build on and a base lacks.
    pub(super) fn find(
        request: &RunRequest,
        database: &Database,
        (project, plan): (&str, &PlanOrigin),
        (store, weave_folder): (&Store, &dyn Fn() -> Result<WeaveFolder, WeaveError>),
        base: &CommitId,
    ) -> Result<Self, RunError> {
        if request.earlier == EarlierBatches::AssumeLanded {
            return Ok(Self::default());
        }
        let joined = request.plan.joined.iter().map(|joined| &joined.origin);
        let mut merged = Vec::new();
        for plan in std::iter::once(plan).chain(joined) {
            let of_plan = database.merged_tasks(project, &plan.key())?.into_iter();
            merged.extend(of_plan.map(|(batch, key)| (batch, plan, key)));
        }
        if merged.is_empty() {
            return Ok(Self::default());
        }
        merged.sort_by_key(|(batch, _, _)| Reverse(*batch));
        let wanted = EarlierSearch::new(request, plan);
        let mut found = wanted.look_up(database, &merged);
        found
            .earlier
            .drop_where(|task| !has_work(store, task), &mut found.of_each);
        if found.earlier.tasks.is_empty() {
            return Ok(Self::default());
        }
        let all: Vec<usize> = (0..found.earlier.tasks.len()).collect();
        let weave_folder = weave_folder()?;
        let presence = found.earlier.presence(&weave_folder, base, &all)?;
        let mut presence = presence.into_iter();
        found.earlier.drop_where(
            |task| match presence.next() {
                Some(Presence::There) | None => true,
                // It merely came before, so nobody waits for somebody to settle that.
                Some(Presence::Conflict) => !task.is_needed,
                Some(Presence::Lacking) => false,
            },
            &mut found.of_each,
        );
        found.find_conflicts(&weave_folder, base)?;
        Ok(found)
    }

    /// Finds out who could not start.
    fn find_conflicts(
        &mut self,
        weave_folder: &WeaveFolder,
        base: &CommitId,
    ) -> Result<(), WeaveError> {
        let mut known: BTreeMap<&[usize], Option<String>> = BTreeMap::new();
        known.insert(&[], None);
        for places in &self.of_each {
            if !known.contains_key(places.as_slice()) {
                let conflict = self.earlier.conflict(weave_folder, base, places)?;
                known.insert(places, conflict);
            }
            self.conflicts.push(known[places.as_slice()].clone());
        }
        Ok(())
    }
}

/// Work that is older than everything that is kept has landed, or nobody wants it.
fn has_work(store: &Store, task: &EarlierTask) -> bool {
    let commits = [Some(&task.commit), task.basis.as_ref()];
    let mut commits = commits.into_iter().flatten();
    commits.all(|commit| commit.parse().is_ok_and(|commit| store.has_commit(&commit)))
}

/// A batch, and a task that it merged: its plan, and its id there.
type MergedTask<'r> = (u32, &'r PlanOrigin, TaskId);

/// Which tasks of the plan are looked for in earlier batches.
struct EarlierSearch<'r> {
    request: &'r RunRequest,
    plan: &'r PlanOrigin,
    /// For each chosen task the positions of what is before it and done.
    of_each: Vec<Vec<usize>>,
    all: BTreeSet<usize>,
    needed: BTreeSet<usize>,
}

impl<'r> EarlierSearch<'r> {
    fn new(request: &'r RunRequest, first: &'r PlanOrigin) -> Self {
        let plan = &request.plan.document.plan;
        let graph = Graph::new(plan, Strictness::AsWritten);
        let chosen: HashSet<usize> = request.chosen.iter().copied().collect();
        let is_done = |task: usize| {
            !chosen.contains(&task) && plan.tasks[task].status == TaskStatus::Completed
        };
        let (mut all, mut needed) = (BTreeSet::new(), BTreeSet::new());
        let of_each = request.chosen.iter().map(|position| {
            let mut before = graph.predecessors(*position);
            before.retain(|(task, _)| is_done(*task));
            for (task, bond) in &before {
                all.insert(*task);
                if *bond == PredecessorKind::Needs {
                    needed.insert(*task);
                }
            }
            before.into_iter().map(|(task, _)| task).collect()
        });
        let of_each = of_each.collect();
        Self {
            request,
            plan: first,
            of_each,
            all,
            needed,
        }
    }

    /// Looks for them in the batches that merged them, the last ones first.
    fn look_up(&self, database: &Database, merged: &[MergedTask<'_>]) -> EarlierWork {
        let mut open = self.all.clone();
        let mut numbers: Vec<u32> = merged.iter().map(|(batch, ..)| *batch).collect();
        numbers.dedup();
        // By batch, and there by the order of weaving.
        let mut found: BTreeMap<(u32, usize), (usize, EarlierTask)> = BTreeMap::new();
        let mut batches = BTreeMap::new();
        for number in numbers {
            let may_have = |position: &usize| self.may_be_in(*position, number, merged);
            if !open.iter().any(may_have) {
                continue;
            }
            let Ok(stored) = StoredBatch::load(database, number) else {
                continue;
            };
            if stored.batch.rolled_back || stored.is_in_place() {
                continue;
            }
            for (order, at) in stored.batch.woven.iter().enumerate() {
                let Some(position) = self.same_task(&open, &stored, *at) else {
                    continue;
                };
                if let Some(task) = work_of(&stored, *at) {
                    open.remove(&position);
                    found.insert((number, order), (position, task));
                    batches
                        .entry(number)
                        .or_insert_with(|| earlier_batch(&stored));
                }
            }
        }
        let places: Vec<u32> = batches.keys().copied().collect();
        let mut earlier = Earlier {
            batches: batches.into_values().collect(),
            tasks: Vec::new(),
        };
        let mut place_of = BTreeMap::new();
        for ((number, _), (position, task)) in found {
            place_of.insert(position, earlier.tasks.len());
            let batch = places.binary_search(&number).unwrap_or_default();
            earlier.tasks.push(EarlierTask {
                batch,
                is_needed: self.needed.contains(&position),
                ..task
            });
        }
        let of_each = self.of_each.iter().map(|before| {
            let places = before.iter().filter_map(|task| place_of.get(task).copied());
            places.collect::<BTreeSet<_>>().into_iter().collect()
        });
        EarlierWork {
            of_each: of_each.collect(),
            earlier,
            conflicts: Vec::new(),
        }
    }

    /// Whether a batch may have merged a task; where ids are positions, only its record tells.
    fn may_be_in(&self, position: usize, batch: u32, merged: &[MergedTask<'_>]) -> bool {
        let is_text = self.request.plan.document.places[position].identity == Identity::Text;
        let (plan, key) = self.home_of(position);
        let is_it = |task: &MergedTask<'_>| *task == (batch, plan, key.clone());
        is_text || merged.iter().any(is_it)
    }

    /// The plan of a task, settled, and its id there.
    fn home_of(&self, position: usize) -> (&PlanOrigin, &TaskId) {
        let plan = &self.request.plan;
        let origin = match plan.home_of(position) {
            Some(_) => plan.origin_of(position),
            None => self.plan,
        };
        (origin, plan.key_of(position))
    }

    fn same_task(&self, open: &BTreeSet<usize>, stored: &StoredBatch, at: usize) -> Option<usize> {
        let document = &self.request.plan.document;
        let record = &stored.record.tasks[at];
        let home = stored.record.home_of(record);
        let is_same = |position: &&usize| {
            let (plan, key) = self.home_of(**position);
            plan == home.0
                && match document.places[**position].identity {
                    Identity::Text => document.plan.tasks[**position].title == record.title,
                    Identity::WrittenId => key == home.1,
                }
        };
        open.iter().find(is_same).copied()
    }
}

fn work_of(stored: &StoredBatch, at: usize) -> Option<EarlierTask> {
    let task = &stored.batch.tasks[at];
    let TaskState::Ended(Ending::Merged { commit }) = &task.state else {
        return None;
    };
    let record = &stored.record.tasks[at];
    Some(EarlierTask {
        batch: 0,
        id: record.id.clone(),
        title: record.title.clone(),
        commit: commit.0.clone(),
        basis: task.basis.as_ref().map(|basis| basis.0.clone()),
        is_needed: false,
    })
}

fn earlier_batch(stored: &StoredBatch) -> EarlierBatch {
    let (batch, record) = (&stored.batch, &stored.record);
    let base = batch.base.as_ref().map_or(&record.base, |base| &base.0);
    let tip = batch.tip.as_ref();
    EarlierBatch {
        number: stored.number,
        branch: match &batch.published {
            Some((branch, _)) => branch.clone(),
            None => record.branches.batch(stored.number),
        },
        pr_url: batch.pr_url.clone(),
        result: tip.map(|tip| (tip.0.clone(), base.clone())),
    }
}
