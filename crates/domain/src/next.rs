//! What to do now: the answer of `next`.
//!
//! Knows what the plan says of its tasks; what runs and what failed must be in it.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::graph::{Graph, Order, OrderRules, Overlap};
use crate::id::TaskId;
use crate::phase::{OpenPhases, Threshold};
use crate::task::{TaskHold, TaskStatus};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuleUse {
    #[default]
    Respected,
    Ignored,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NextRules {
    pub dependencies: RuleUse,
    /// Whether tasks that collide, or follow each other in a note, are kept apart.
    pub conflicts: RuleUse,
    pub threshold: Threshold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferReason {
    InProgress,
    Failed,
    Ready,
}

impl OfferReason {
    /// The sentence that scripts rely on.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress - should be completed first",
            Self::Failed => "failed - needs retry or manual intervention",
            Self::Ready => "pending - ready to implement",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub position: usize,
    pub reason: OfferReason,
}

/// Tasks in progress, or else failed ones and those that can start, up to `limit` in all.
pub fn next(graph: &Graph<'_>, limit: usize, rules: NextRules) -> Vec<Offer> {
    let in_progress = offers(graph, TaskStatus::InProgress, OfferReason::InProgress);
    if !in_progress.is_empty() {
        return in_progress.into_iter().take(limit).collect();
    }
    let mut offered = offers(graph, TaskStatus::Failed, OfferReason::Failed);
    let mut ready = Readiness::new(graph, rules);
    let failed = offered.len();
    offer_ready(graph, limit, &ready, &mut offered);
    if offered.len() == failed && ready.waits_for_loose_tasks {
        // Tasks in no phase may themselves need one of a phase.
        ready.waits_for_loose_tasks = false;
        offer_ready(graph, limit, &ready, &mut offered);
    }
    offered
}

fn offer_ready<'p>(
    graph: &Graph<'p>,
    limit: usize,
    ready: &Readiness<'_, 'p>,
    offered: &mut Vec<Offer>,
) {
    let mut declared: HashSet<&str> = HashSet::new();
    for offer in offered.iter() {
        declared.extend(files(graph, offer.position));
    }
    for position in by_phase(graph) {
        if offered.len() >= limit {
            break;
        }
        let collides = || {
            ready.rules.conflicts == RuleUse::Respected
                && files(graph, position).any(|file| declared.contains(file))
        };
        if ready.is_ready(position) && !collides() {
            declared.extend(files(graph, position));
            offered.push(Offer {
                position,
                reason: OfferReason::Ready,
            });
        }
    }
}

fn files<'p>(graph: &Graph<'p>, position: usize) -> impl Iterator<Item = &'p str> {
    graph.task(position).files.iter().map(String::as_str)
}

/// All positions, those in no phase first.
fn by_phase(graph: &Graph<'_>) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..graph.plan().tasks.len()).collect();
    positions.sort_by_key(|position| graph.task(*position).phase.unwrap_or_default());
    positions
}

fn offers(graph: &Graph<'_>, status: TaskStatus, reason: OfferReason) -> Vec<Offer> {
    let positions = by_phase(graph).into_iter();
    positions
        .filter(|position| graph.task(*position).status == status)
        .map(|position| Offer { position, reason })
        .collect()
}

/// Answers for one task whether it can start.
struct Readiness<'g, 'p> {
    graph: &'g Graph<'p>,
    rules: NextRules,
    phases: OpenPhases,
    /// Whether every phase waits for tasks that are in none.
    waits_for_loose_tasks: bool,
    /// Positions that wait for nothing at all, though their phase is closed.
    unheld: OnceCell<Vec<bool>>,
    broken: HashSet<&'g TaskId>,
    predecessors: HashMap<usize, Vec<usize>>,
    stage_of: HashMap<usize, usize>,
    open_stage: usize,
}

impl<'g, 'p> Readiness<'g, 'p> {
    fn new(graph: &'g Graph<'p>, rules: NextRules) -> Self {
        let index = graph.index();
        let at = |id: &TaskId| index.find(id.as_str());
        let broken = graph.errors().iter().flat_map(|error| &error.tasks);
        let phases = OpenPhases::for_next(graph.plan(), rules.threshold);
        let numbers = graph.plan().tasks.iter().filter_map(|task| task.phase);
        let mut ready = Self {
            graph,
            rules,
            waits_for_loose_tasks: numbers.min().is_some_and(|first| !phases.is_open(first)),
            phases,
            unheld: OnceCell::new(),
            broken: broken.collect(),
            predecessors: HashMap::new(),
            stage_of: HashMap::new(),
            open_stage: usize::MAX,
        };
        let plan = graph.plan();
        let one_by_one = plan.stages.iter().filter(|stage| !stage.can_parallel);
        let chains = plan.sequences.iter().map(|sequence| &sequence.tasks);
        for chain in chains.chain(one_by_one.map(|stage| &stage.tasks)) {
            let inside: Vec<usize> = chain.iter().filter_map(at).collect();
            for pair in inside.windows(2) {
                ready.predecessors.entry(pair[1]).or_default().push(pair[0]);
            }
        }
        for (number, stage) in plan.stages.iter().enumerate() {
            for position in stage.tasks.iter().filter_map(at) {
                ready.stage_of.entry(position).or_insert(number);
                if !graph.task(position).status.is_settled() {
                    ready.open_stage = ready.open_stage.min(number);
                }
            }
        }
        ready
    }

    fn is_ready(&self, position: usize) -> bool {
        let task = self.graph.task(position);
        let is_held = task.hold != TaskHold::None;
        if task.status != TaskStatus::Pending || is_held || self.broken.contains(&task.id) {
            return false;
        }
        let ignores_needs = self.rules.dependencies == RuleUse::Ignored;
        let is_open = |need: usize| !self.graph.task(need).status.is_settled();
        let needs_done = ignores_needs || !self.graph.own_needs(position).any(is_open);
        // Without its dependencies, a task has nothing but its phase to follow.
        let phase_open = !(task.follows_its_phase() || ignores_needs)
            || task
                .phase
                .is_none_or(|phase| self.phases.is_open(phase) || self.gives_way(position));
        let stage_open = self
            .stage_of
            .get(&position)
            .is_none_or(|stage| *stage <= self.open_stage);
        needs_done && phase_open && stage_open && self.is_next_in_its_chain(position)
    }

    fn gives_way(&self, position: usize) -> bool {
        // The order takes dependencies for what a task follows, even where they are to be ignored.
        let follows_its_phase = self.graph.task(position).follows_its_phase();
        !self.waits_for_loose_tasks && follows_its_phase && self.is_unheld(position)
    }

    /// A closed phase holds nothing up when all that keeps it closed waits for this very task.
    fn is_unheld(&self, position: usize) -> bool {
        let unheld = self.unheld.get_or_init(|| {
            let rules = OrderRules {
                overlap: Overlap::Allowed,
                threshold: self.rules.threshold,
            };
            let order = Order::new(self.graph, &self.graph.open_members(), rules);
            order.wave_of.iter().map(|wave| *wave == Some(1)).collect()
        });
        unheld[position]
    }

    /// Looks through settled tasks: the third of a chain waits for the first when the second is done.
    fn is_next_in_its_chain(&self, position: usize) -> bool {
        if self.rules.conflicts == RuleUse::Ignored {
            return true;
        }
        let mut stack = vec![position];
        let mut seen = HashSet::new();
        while let Some(at) = stack.pop() {
            for before in self.predecessors.get(&at).into_iter().flatten() {
                if !self.graph.task(*before).status.is_settled() {
                    return false;
                }
                if seen.insert(*before) {
                    stack.push(*before);
                }
            }
        }
        true
    }
}
